"""Stands in for a coding agent: it fixes what it is asked to fix, and prints the events of Claude Code."""

import json
import sys
from pathlib import Path

request = json.load(sys.stdin)
file = Path("prices.py")
old, new = "100 + discount", "100 - discount"
file.write_text(file.read_text().replace(old, new))
if "--careless" in sys.argv:
    Path("tests/test_prices.py").write_text("")

edit = {"type": "tool_use", "id": "1", "name": "Edit", "input": {"file_path": "prices.py", "old": old, "new": new}}
result = {"type": "tool_result", "tool_use_id": "1", "content": "prices.py was changed"}
for event in (
    {"type": "system", "subtype": "init", "session_id": "stub-1", "model": "stub"},
    {"type": "assistant", "message": {"content": [edit]}},
    {"type": "user", "message": {"content": [result]}},
    {"type": "result", "subtype": "success", "result": "The sign of the discount was wrong.", "num_turns": 2},
):
    print(json.dumps(event))
