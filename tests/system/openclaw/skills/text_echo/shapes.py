"""The ways in which a text can be given back."""

SHAPES = {"uppercase": str.upper, "lowercase": str.lower, "title": str.title}
