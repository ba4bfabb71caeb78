"""What the jobs of these tests are called, and what they store."""

from __future__ import annotations

from runevals.github.comments import marker

ARTIFACT = "runevals-evals-test"
IDS = {"INPUT_COMMENT_ID": "evals-test"}
MARKER = marker("evals-test")
