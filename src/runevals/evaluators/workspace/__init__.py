"""What an attempt left in its workspace."""
