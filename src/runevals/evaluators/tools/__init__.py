"""Evaluators that look at what tools were called."""
