"""A file of the workspace contains every one of the given phrases."""

from __future__ import annotations

from collections.abc import Iterable

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject, unless
from runevals.evaluators.workspace.evidence import OfFile, file_of
from runevals.records import Problem, Verdict


@evaluator("file_contains")
class FileContains(OfFile, Check):
    """Passes when the file at this path of the workspace contains all phrases after the answer.

    Files up to 256 KiB are read. A target without a workspace makes this an error (`evidence_missing`).

    Options:
        path: the path in the workspace.
        values: the phrases.
        ignore_case: whether capitals do not count.

    Example:
        "evaluators": {"file_contains": {"path": "r.md", "values": ["Total"]}}
        passes: {"output": "OK", "workspace": {"files": [{"path": "r.md", "kind": "file", "text": "Total: 3"}]}}
        fails: {"output": "OK", "workspace": {"files": [{"path": "r.md", "kind": "file", "text": "none"}]}}
    """

    values: tuple[str, ...]
    ignore_case: bool = False

    def problems(self) -> Iterable[tuple[str | None, str]]:
        yield from super().problems()
        if not all(self.values):
            yield "values", "an empty phrase is in every file"

    def check(self, subject: Subject) -> Verdict | Problem:
        file = file_of(subject, self.path)
        if isinstance(file, Problem):
            return file
        if file.text is None:
            return Verdict(0.0, f"there is no text at {self.path}")
        text = self._folded(file.text)
        lacking = [phrase for phrase in self.values if self._folded(phrase) not in text]
        return unless(lacking, f"{self.path} contains every phrase", f"{self.path} does not contain")

    def _folded(self, text: str) -> str:
        return text.casefold() if self.ignore_case else text
