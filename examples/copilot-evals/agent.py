"""Answers one prompt, which it reads as JSON; `worse` has forgotten a limit."""

import json
import sys

PLANS = {"Basic": "10 GB", "Team": "1 TB"}
if "worse" in sys.argv:
    PLANS["Basic"] = "some space"

prompt = json.load(sys.stdin)["prompt"]
plan = next((name for name in PLANS if name in prompt), None)
print(f"With {plan} you may store {PLANS[plan]}." if plan else "Change it in the settings, under Plan.")
