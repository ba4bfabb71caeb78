"""Evaluators about what the answer rests on."""
