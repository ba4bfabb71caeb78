"""What a job can see of its own rights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DEPENDABOT = "dependabot[bot]"


def token_name(environment: Mapping[str, str]) -> str | None:
    """The variable that holds the job's token, None where it was not handed on."""
    return next((name for name in ("INPUT_GITHUB_TOKEN", "GITHUB_TOKEN") if environment.get(name)), None)


def read_only(environment: Mapping[str, str]) -> str | None:
    """Why GitHub gives this job a token that cannot write, and no secrets; None where nothing says so."""
    if environment.get("GITHUB_EVENT_NAME") != "pull_request":
        return None
    if environment.get("GITHUB_ACTOR") == DEPENDABOT:
        return "Dependabot opened this pull request"
    try:
        event: Any = json.loads(Path(environment.get("GITHUB_EVENT_PATH", "")).read_text(encoding="utf-8"))
        change = event["pull_request"]
        forked = change["head"]["repo"]["full_name"] != change["base"]["repo"]["full_name"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return "this pull request comes from a fork" if forked else None
