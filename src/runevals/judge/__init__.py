"""Judges: a question about a response becomes a judgement."""
