"""The attempt left some files as they were."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.workspace.evidence import PathsCheck, fits


@evaluator("unchanged")
class Unchanged(PathsCheck):
    """Passes when none of these paths, and nothing in these folders, was added, changed or removed.

    A target without a workspace makes this an error (`evidence_missing`).

    Options:
        paths: files, folders, and patterns in which * stands for any text.

    Example:
        "evaluators": {"unchanged": {"paths": ["tests"]}}
        passes: {"output": "Done.", "workspace": {"changes": [{"path": "src/app.py", "change": "changed"}]}}
        fails: {"output": "Done.", "workspace": {"changes": [{"path": "tests/test_app.py", "change": "changed"}]}}
    """

    passes = "they are as they were"
    fails = "changed"

    def is_wrong(self, path: str) -> bool:
        return fits(path, self.paths)
