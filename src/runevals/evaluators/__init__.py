"""Evaluators: checks of answers, one evaluator per file."""
