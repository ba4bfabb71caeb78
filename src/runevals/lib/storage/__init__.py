"""Files on disk: cache, spooled values and file locks."""
