"""The attempt changed nothing but what it may."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.workspace.evidence import PathsCheck, fits


@evaluator("only_touches")
class OnlyTouches(PathsCheck):
    """Passes when every path that was added, changed or removed is one of these, or lies in one of these folders.

    Git's own files and caches (`__pycache__`, `.pytest_cache`, `.mypy_cache`, `.ruff_cache`) do not count. A
    target without a workspace makes this an error (`evidence_missing`).

    Options:
        paths: files, folders, and patterns in which * stands for any text.

    Example:
        "evaluators": {"only_touches": {"paths": ["src", "docs/*.md"]}}
        passes: {"output": "Done.", "workspace": {"changes": [{"path": "src/app.py", "change": "changed"}]}}
        fails: {"output": "Done.", "workspace": {"changes": [{"path": "tests/test_app.py", "change": "changed"}]}}
    """

    passes = "nothing else was changed"
    fails = "also changed"

    def is_wrong(self, path: str) -> bool:
        return not fits(path, self.paths)
