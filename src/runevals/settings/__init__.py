"""Everything a run can be given, and how it is resolved."""
