"""From files to what will be run: discover, load, plan."""
