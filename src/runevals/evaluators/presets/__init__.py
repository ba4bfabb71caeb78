"""The preset evaluators of evaluator documents, by their fixed ids."""
