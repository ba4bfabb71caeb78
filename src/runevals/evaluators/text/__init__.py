"""Evaluators that read the answer as text."""
