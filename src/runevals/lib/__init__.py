"""Parts that could each be a library: nothing here knows suites, cases or judges."""
