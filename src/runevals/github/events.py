"""What the event that started a job says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PULL_REQUEST_EVENTS = frozenset({"pull_request", "pull_request_target", "merge_group"})


def is_change(environment: Mapping[str, str]) -> bool:
    """Whether the job looks at a proposed change, which must not decide how it is judged."""
    return environment.get("GITHUB_EVENT_NAME", "") in PULL_REQUEST_EVENTS


def base_commit(environment: Mapping[str, str]) -> str | None:
    """The commit that the change would be merged into; None where the event does not say it."""
    try:
        event: Any = json.loads(Path(environment.get("GITHUB_EVENT_PATH", "")).read_text(encoding="utf-8"))
        if environment.get("GITHUB_EVENT_NAME") == "merge_group":
            commit = event["merge_group"]["base_sha"]
        else:
            commit = event["pull_request"]["base"]["sha"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return commit if isinstance(commit, str) else None
