"""Evaluators: what must hold of an answer, one evaluator a file."""
