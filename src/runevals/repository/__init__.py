"""Git, the trees of commits, worktrees and copies of folders."""
