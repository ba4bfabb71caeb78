"""Addresses in prompts: fetched, or read by MCP servers."""
