"""Asking the target from the nodes of a Ray cluster; everything else of a run stays on this machine."""
