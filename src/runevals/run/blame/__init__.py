"""Which changed lines lost a case: the hunks of a change, put back in a worktree until the case passes again."""
