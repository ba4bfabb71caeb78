"""Evaluators that bound length, cost, time and turns."""
