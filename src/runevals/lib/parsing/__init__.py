"""JSON and YAML: positions, schemas, templates and paths."""
