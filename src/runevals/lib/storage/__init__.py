"""What is kept on disk: cache, spooled values and file locks."""
