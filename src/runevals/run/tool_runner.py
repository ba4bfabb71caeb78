"""Single cases of another tool run again: the program of `rerun` writes their results, which are read like any."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec.structs import replace

from runevals.lib.text.numbers import phrase, plural, short_list
from runevals.programs.processes import make_for_programs
from runevals.records import AttemptReport, Conclusion, Finding, RunReport
from runevals.records.errors import EmptyResults, RunevalsError
from runevals.records.suite import called
from runevals.run.baseline.checkout import base_checkout
from runevals.run.baseline.dependencies import lacking_files
from runevals.run.baseline.prepare import WORKTREE_HAS, folder_of, prepare
from runevals.run.head import alike_earlier
from runevals.run.redaction.omit_content import without_content
from runevals.run.redaction.redactors import report_without_either, without_either
from runevals.run.sides import commit_of_base
from runevals.run.target_runner import Runner, lost_cases
from runevals.run.tool_results import fresh_with_lost_scores, in_suites_of, report_of
from runevals.targets.command import failure_of
from runevals.targets.environment import cleaned
from runevals.verdict.outcome import Baseline, conclusion_of, decision, since_mark, with_context
from runevals.verdict.settle import settled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runevals.run.request import RunRequest
    from runevals.settings.resolve import Settings
    from runevals.verdict.case_runs import RunSide
    from runevals.verdict.matching import Key, Pair

TIMEOUT_S = 600.0  # of one run of one case
_PLACEHOLDER = re.compile(r"\{(suite|key|name|test|pattern|output)\}")
_SELECTS_NONE = (
    "; {} selects no such test: name it so (promptfoo: a `description`), or write `rerun` without a filter"
)
_ELSEWHERE = "; it is named as seen from another folder: start `rerun` where your tool is started"
_VARIABLES = {
    "suite": "RUNEVALS_SUITE",
    "key": "RUNEVALS_KEY",
    "name": "RUNEVALS_NAME",
    "output": "RUNEVALS_OUTPUT",
}
NOT_AS_A_WHOLE = "results of another tool are not measured again as a whole"


def concluded(report: RunReport, baseline: Baseline | None, request: RunRequest) -> Conclusion:
    """compare → gate → conclude; cases that look lost are run again if the settings say how."""
    rules = request.settings.rules
    if baseline is None or not request.settings.compare.rerun:
        return decision(report, baseline, rules, mark=request.mark, weakenings=request.weakenings)
    with tool_runner(report, baseline, request) as runner:
        report, comparison = settled(runner, baseline.report, baseline.source, rules.regression)
    why = phrase(runner.why_no_base_commit, "rerun ran only this side: {}")
    notices = filter(None, {why for finding in comparison.findings if finding.head is not None})
    report = replace(report, run=replace(report.run, notices=(*report.run.notices, *notices)))
    comparison = with_context(comparison, baseline, request.weakenings)
    return conclusion_of(report, comparison, rules, since_mark(report, request.mark, rules.regression))


def tool_runner(report: RunReport, baseline: Baseline, request: RunRequest) -> ToolRunner:
    """What runs cases again, on both sides if the base's commit is in this checkout."""
    commit, why_not = commit_of_base(request.settings, baseline.report.run.commit)
    return ToolRunner(
        head=report,
        request=request,
        lacking=lambda: lacking_files(request.settings, commit or "", report.run.started_at.timestamp()),
        open_base=lambda: _base(request, commit or ""),
        why_no_base_commit="verify: off" if request.settings.compare.verify == "off" else why_not,
        lost_before=lost_cases(alike_earlier(request, report)),
    )


@contextmanager
def _base(request: RunRequest, commit: str) -> Iterator[Settings]:
    """The base's commit in a worktree of its own, prepared as the settings say."""
    with base_checkout(request.settings, commit, request.raw) as there:
        prepare(request.settings, there, request.budget.stop)
        yield there


class ToolRunner(Runner, kw_only=True):
    """Runs cases of another tool, one at a time."""

    head: RunReport
    open_base: Callable[[], AbstractContextManager[Settings]]
    why_no_base_commit: str
    lost_before: Sequence[Finding] = ()
    all_rounds: bool = True
    of_branch: bool = False
    can_run: bool = True
    why_no_rounds: str = NOT_AS_A_WHOLE
    _base_settings: Settings | None = None

    @property
    def planned(self) -> int:
        """The results are there: all of their rounds are made."""
        return self.head.run.repeat

    def next_round(self) -> RunReport:
        """All results."""
        return self.head

    def fresh_rounds(self, only: Sequence[Pair] | None, why: str) -> str:  # noqa: ARG002 - a runner's signature
        """Nothing is run for the whole or a part."""
        return self.why_no_rounds

    @property
    def why_no_base(self) -> str:
        """Why the base cannot be run; empty if it can. Tries it."""
        if not self.why_no_base_commit and self._base_settings is None:
            try:
                self._base_settings = self._opened.enter_context(self.open_base())
            except RunevalsError as error:
                self.why_no_base_commit = f"the base cannot be run: {error.first_line}"
        return self.why_no_base_commit

    def again(self, side: RunSide, cases: Sequence[Pair]) -> Mapping[Key, AttemptReport]:
        """One fresh run of each of these cases, without those whose results were not written."""
        if side == "old form" or (side == "base" and self.why_no_base):
            return {}
        self.request.tell(f"rerun: {plural(len(cases), 'case')} of the {side}")
        attempts = {pair.key: self._attempt(side, pair) for pair in cases}
        return {key: attempt for key, attempt in attempts.items() if attempt is not None}

    def _attempt(self, side: RunSide, pair: Pair) -> AttemptReport | None:
        from runevals.imports.results import read_results, suite_of

        of_run = self.request.settings
        settings = of_run if side == "head" else self._base_settings
        assert settings is not None  # noqa: S101 - the base was opened
        case = pair.head if side == "head" else pair.base
        with TemporaryDirectory(prefix="runevals-rerun-") as top:
            make_for_programs(Path(top), "results")
            folder = str(Path(top, "results"))
            values = {"suite": case.suite, "key": case.key, "name": case.name, "output": folder}
            values |= {"test": case.name.partition("[")[0], "pattern": re.escape(case.name)}
            failure = self._failure(values, settings)
            try:
                report = report_of(
                    read_results([Path(folder)], of_run.compare.reading), written_at=datetime.now(UTC)
                )
                report = without_content(report_without_either(report, of_run), of_run.redaction.redact)
                cases = in_suites_of(report, self.head).cases
            except EmptyResults:
                cases = ()
            except RunevalsError as error:
                trouble = failure or f"rerun of {case.key}: {error.first_line}".replace(folder, "{output}")
                trouble += "" if any(Path(folder).iterdir()) else "; it wrote nothing into {output}"
                return self._without_result(side, trouble)
        of_folder = {(suite_of(c.suite, os.path.relpath(Path(c.file).parent, folder)), c.key): c for c in cases}
        fresh = (of_folder | {(c.suite, c.key): c for c in cases}).get((case.suite, case.key))
        if fresh is None or not fresh.attempts:
            there = short_list([f"{called(one.key, one.name)} of {one.suite}" for one in cases])
            why = phrase(there, ", only {}") or phrase(failure, " ({})")
            place = phrase(case.suite.partition(" (")[2][:-1], "; JUnit XML of that suite goes into {{output}}/{}")
            filters = [word for word in of_run.compare.rerun if {*_PLACEHOLDER.findall(word)} - {"output"}]
            both = (sorted((f".{one.key}", f".{case.key}"), key=len) for one in cases)
            is_elsewhere = any(long.endswith(short) for short, long in both)
            selects_none = phrase(short_list([filled(word, values) for word in filters]), _SELECTS_NONE)
            hint = phrase(is_elsewhere, _ELSEWHERE) or selects_none
            missing = f"rerun gave no result of {called(case.key, case.name)} of {case.suite}"
            return self._without_result(side, f"{missing}{why}{place}{hint}")
        return fresh_with_lost_scores(fresh, pair.base, self.head).attempts[-1]

    def _without_result(self, side: RunSide, why: str) -> AttemptReport | None:
        """No fresh run, and why."""
        trouble = why if side == "head" else f"on the base, {why}; {WORKTREE_HAS}"
        self.trouble = without_either(trouble, self.request.settings)
        return None

    def _failure(self, values: Mapping[str, str], settings: Settings) -> str | None:
        """Runs the program; why it failed, which it may if it writes results all the same."""
        try:
            command = [filled(word, values) for word in self.request.settings.compare.rerun]
        except ValueError as error:
            return str(error)
        stop = self.request.budget.stop
        variables = {variable: values[name] for name, variable in _VARIABLES.items()}
        failure = failure_of(
            command,
            cwd=settings.repository / folder_of(self.request.settings),
            env={**cleaned(settings.environment), **variables},
            timeout_s=TIMEOUT_S,
            stopped=lambda: stop.problem is not None,
        )
        return None if failure is None else f"rerun ({command[0]}) {failure}"


def filled(word: str, values: Mapping[str, str]) -> str:
    """An argument with `{key}`, `{name}`, `{suite}` and `{output}` filled in.

    `{test}` is the name without what pytest adds in brackets, `{pattern}` a regular expression of the name.

    Raises ValueError if a case's own text would make an option of it.
    """
    text = _PLACEHOLDER.sub(lambda match: values[match[1]], word)
    if text.startswith("-") and not word.startswith("-"):
        raise ValueError(f"rerun: {text!r} would be read as an option; write {word} after another text, or use --")
    return text
