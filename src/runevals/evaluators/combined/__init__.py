"""Evaluators that combine others."""
