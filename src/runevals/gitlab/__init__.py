"""Merge requests on GitLab."""
