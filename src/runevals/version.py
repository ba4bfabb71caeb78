"""The version of runevals."""

__version__ = "0.1.0"
