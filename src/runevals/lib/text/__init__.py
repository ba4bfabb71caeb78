"""Text: escaping, suggestions for misspelled words, and secrets."""
