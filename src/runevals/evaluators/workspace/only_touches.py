"""The attempt changed nothing but what it may."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.workspace.evidence import PathsCheck, fits
from runevals.lib.text.numbers import first_of
from runevals.records import Verdict


@evaluator("only_touches")
@dataclass(frozen=True, kw_only=True)
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

    def of_paths(self, paths: Sequence[str]) -> Verdict:
        others = [path for path in paths if not fits(path, self.paths)]
        if not others:
            return Verdict(1.0, "nothing else was changed")
        return Verdict(0.0, f"also changed: {first_of(others, 5)}", {"paths": others})
