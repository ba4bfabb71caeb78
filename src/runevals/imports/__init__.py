"""Other tools' configurations, converted into suites and settings of ours."""
