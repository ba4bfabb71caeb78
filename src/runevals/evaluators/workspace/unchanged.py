"""The attempt left some files as they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.workspace.evidence import PathsCheck, fits
from runevals.lib.text.numbers import first_of
from runevals.records import Verdict


@evaluator("unchanged")
@dataclass(frozen=True, kw_only=True)
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

    def of_paths(self, paths: Sequence[str]) -> Verdict:
        changed = [path for path in paths if fits(path, self.paths)]
        if not changed:
            return Verdict(1.0, "they are as they were")
        return Verdict(0.0, f"changed: {first_of(changed, 5)}", {"paths": changed})
