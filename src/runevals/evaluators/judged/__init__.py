"""Evaluators that ask a judge."""
