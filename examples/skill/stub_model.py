"""Stands in for a model: it writes release notes as the skill says, if it has the skill."""

import json
import sys

WITH = {
    "1.4.0": "## 1.4.0 – 2026-11-20\n\n- Search is faster.\n- There is a dark mode.\n",
    "2.0.0": "## 2.0.0 – 2026-11-21\n\n- **Breaking**: programs that use the old API must change.\n- New icons.\n",
}
WITHOUT = {
    "1.4.0": "Release 1.4.0\n\n* SHOP-12 faster search\n* SHOP-15 dark mode\n",
    "2.0.0": "Release 2.0.0\n\n* SHOP-20 new icons\n* SHOP-21 the old API is gone\n",
}

request = json.load(sys.stdin)
answers = WITH if request.get("system") else WITHOUT
version = next(version for version in answers if version in request["prompt"])
cost = 0.012 if request.get("system") else 0.008
print(json.dumps({"output": answers[version], "cost_usd": cost}))
