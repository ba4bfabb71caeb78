"""Sharded runs: merging their results, and the verdict over all of them."""
