"""Evaluators of what a skill returned, or how it ended."""
