"""The names of formats that `--format` takes, beside `results`."""

from __future__ import annotations

EVAL_DOCUMENT = "eval-document"
AGENTSKILLS = "agentskills"  # the words of agentskills.io in files for skill authors
