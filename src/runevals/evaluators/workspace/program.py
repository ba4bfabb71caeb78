"""A program that is run in the workspace after the answer ends well."""

from __future__ import annotations

from collections.abc import Iterable

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject, either, missing
from runevals.evaluators.workspace.evidence import path_problems, workspace_of
from runevals.lib.parsing.json_forms import json_in
from runevals.lib.parsing.shapes import is_number
from runevals.lib.text.numbers import phrase
from runevals.lib.text.secrets import beginning
from runevals.records import Probe, Problem, ProgramEnded, ProgramProbe, Verdict

LONGEST_S = 3600.0


@evaluator("program")
class Program(Check):
    """Passes when the program ends with exit code 0; its last lines are the reason if it does not.

    It is run without a shell, as the target is, with a new HOME and nothing of the job's environment but paths,
    language, proxies and certificates. A program that does not end in time fails, and so does one that prints more
    than 1 MiB, or a file of the workspace (`./check.sh`) that cannot be started. Another program that cannot be
    started makes this an error, as does a target without a workspace (`evidence_missing`).

    Options:
        argv: the program and its arguments.
        timeout_s: how long it may take.
        restore: files and folders that are put back as they were before the attempt, such as its tests.
        result: whether the last line that it prints is its result: {"passed", "score", "reason"}. Without one, it
            fails if its exit code is not 0, and else it is an error.

    Example:
        "evaluators": {"program": {"argv": ["make"]}}
        passes: {"output": "OK", "workspace": {"programs": [{"probe": {"argv": ["make"]}, "exit_code": 0}]}}
        fails: {"output": "OK", "workspace": {"programs": [{"probe": {"argv": ["make"]}, "exit_code": 1}]}}
    """

    needs_workspace = True

    argv: tuple[str, ...]
    timeout_s: float = 60.0
    restore: tuple[str, ...] = ()
    result: bool = False

    def problems(self) -> Iterable[tuple[str | None, str]]:
        yield from path_problems("restore", self.restore)
        for path in self.restore:
            if "*" in path:
                yield "restore", f"{path!r} is a pattern; restore takes files and folders"
        if not 0 < self.timeout_s <= LONGEST_S:
            yield "timeout_s", f"timeout_s must be above 0 and at most {LONGEST_S:g}"
        if not self.argv[0]:
            yield "argv", "argv names no program"

    def probes(self) -> tuple[Probe, ...]:
        return (self._probe,)

    @property
    def _probe(self) -> ProgramProbe:
        return ProgramProbe(argv=self.argv, timeout_s=self.timeout_s, restore=self.restore)

    def check(self, subject: Subject) -> Verdict | Problem:
        workspace = workspace_of(subject)
        if isinstance(workspace, Problem):
            return workspace
        ended = next((one for one in workspace.programs if one.probe == self._probe), None)
        if ended is None:
            return missing(f"{self.argv[0]} was not run in the workspace")
        if ended.problem is not None:
            return Problem(code="evaluator_crashed", message=f"{self.argv[0]} cannot be run: {ended.problem}")
        if ended.too_much:
            return Verdict(0.0, f"{self.argv[0]} printed more than 1 MiB")
        if ended.exit_code is None:
            return Verdict(0.0, f"{self.argv[0]} did not end in {self.timeout_s:g} s")
        return _result(ended) if self.result else _verdict(ended)


def _verdict(ended: ProgramEnded) -> Verdict:
    fails = f"exit code {ended.exit_code}{phrase(ended.last_lines, ': {}')}"
    return either("exit code 0", fails, passed=ended.exit_code == 0)


def _result(ended: ProgramEnded) -> Verdict | Problem:
    """The JSON of its last line."""
    last = next((line for line in reversed(ended.stdout.splitlines()) if line.strip()), "")
    document = json_in(last)
    if not isinstance(document, dict) or not isinstance(document.get("passed"), bool):
        if ended.exit_code != 0:
            return _verdict(ended)
        excerpt = beginning(last, 80) if last else "it printed nothing"
        message = f"the last line of {ended.probe.argv[0]} is not a result with `passed`: {excerpt}"
        return Problem(code="evaluator_bad_result", message=message)
    score = document.get("score", float(document["passed"]))
    if not is_number(score) or not 0 <= score <= 1:
        return Problem(
            code="evaluator_bad_result", message=f"the score of {ended.probe.argv[0]} is not a number from 0 to 1"
        )
    return Verdict(float(score), str(document.get("reason", "")), passed=document["passed"])
