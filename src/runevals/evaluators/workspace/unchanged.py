"""The attempt left some files as they were."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.evaluators.workspace.evidence import fits, path_problems, short_paths, touched
from runevals.records import Layer, Problem, Verdict


@evaluator("unchanged")
@dataclass(frozen=True, kw_only=True)
class Unchanged(Check):
    """Passes when none of these paths, and nothing in these folders, was added, changed or removed.

    A target without a workspace makes this an error (`evidence_missing`).

    Options:
        paths: files, folders, and patterns in which * stands for any text.

    Example:
        "evaluators": {"unchanged": {"paths": ["tests"]}}
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
        changed = [path for path in paths if fits(path, self.paths)]
        if not changed:
            return Verdict(1.0, "they are as they were")
        return Verdict(0.0, f"changed: {short_paths(changed)}", {"paths": changed})
