"""General modules that do not depend on suites, cases or judges."""
