"""The permutation test, its power, and agreement between raters."""
