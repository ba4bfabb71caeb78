"""The integration with GitHub."""
