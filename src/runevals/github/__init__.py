"""Everything that knows GitHub exists."""
