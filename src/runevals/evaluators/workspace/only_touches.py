"""The attempt changed nothing but what it may."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.evaluators.workspace.evidence import fits, path_problems, short_paths, touched
from runevals.records import Layer, Problem, Verdict


@evaluator("only_touches")
@dataclass(frozen=True, kw_only=True)
class OnlyTouches(Check):
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

    layer = Layer.BEHAVIOR
    needs_workspace = True

    paths: tuple[str, ...]

    def problems(self) -> Iterable[tuple[str | None, str]]:
        return path_problems("paths", self.paths)

    def check(self, subject: Subject) -> Verdict | Problem:
        paths = touched(subject)
        if isinstance(paths, Problem):
            return paths
        others = [path for path in paths if not fits(path, self.paths)]
        if not others:
            return Verdict(1.0, "nothing else was changed")
        return Verdict(0.0, f"also changed: {short_paths(others)}", {"paths": others})
