"""Evaluators whose rule is code of the suite's author, run in the sandbox."""
