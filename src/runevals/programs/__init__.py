"""Programs that we start, and how we talk with them: lines, MCP, spans."""
