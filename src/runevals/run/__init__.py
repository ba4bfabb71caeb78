"""One run: converse, evaluate, and the order of all stages."""
