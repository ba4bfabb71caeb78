"""The base of a comparison: where it comes from, and when it can be reused."""
