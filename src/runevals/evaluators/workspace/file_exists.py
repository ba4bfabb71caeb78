"""A file is in the workspace."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject, either
from runevals.evaluators.workspace.evidence import OfFile, file_of
from runevals.records import Problem, Verdict


@evaluator("file_exists")
class FileExists(OfFile, Check):
    """Passes when a file is at this path of the workspace after the answer. A link is not a file.

    A target without a workspace makes this an error (`evidence_missing`).

    Options:
        path: the path in the workspace.

    Example:
        "evaluators": {"file_exists": {"path": "report.md"}}
        passes: {"output": "Done.", "workspace": {"files": [{"path": "report.md", "kind": "file"}]}}
        fails: {"output": "Done.", "workspace": {"files": [{"path": "report.md", "kind": null}]}}
    """

    def check(self, subject: Subject) -> Verdict | Problem:
        file = file_of(subject, self.path)
        if isinstance(file, Problem):
            return file
        fails = f"there is no {self.path}" if file.kind is None else f"{self.path} is a {file.kind}"
        return either(f"{self.path} is there", fails, passed=file.kind == "file")
