"""The base of a comparison: its sources, and when it can be reused."""
