"""An evaluator and a reporter for runevals."""
