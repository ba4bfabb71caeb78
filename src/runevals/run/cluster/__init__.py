"""Target calls on the nodes of a Ray cluster; everything else runs on this machine."""
