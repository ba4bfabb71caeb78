"""Chat completions: the endpoint, its transport and its prices."""
