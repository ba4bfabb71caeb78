"""Resuming an unfinished run: its journal and the fingerprint of the code under test."""
