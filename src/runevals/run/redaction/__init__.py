"""What must not leave a run: secrets, patterns and content."""
