"""Evaluators that read the answer as structured data."""
