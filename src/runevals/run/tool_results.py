"""The results of another tool as a report of ours, which is compared and gated as that of a run is."""

from __future__ import annotations

import operator
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.nullable import if_known
from runevals.lib.parsing.canonical import fingerprint
from runevals.lib.record_from import record_from
from runevals.lib.text.numbers import phrase, plural, short_list
from runevals.records import (
    AND,
    OF_TOOL,
    AttemptReport,
    Case,
    CaseReport,
    CheckResult,
    Layer,
    Location,
    ModelIdentity,
    Outcome,
    Problem,
    RunInfo,
    RunReport,
    SuiteInfo,
    TurnReport,
)
from runevals.records.errors import EmptyResults, ExternalError, InvalidDocument, InvalidSettings, InvalidSuite
from runevals.records.rules import AS_IT_SAYS, Reading
from runevals.reports import results_document
from runevals.repository import git
from runevals.settings.resolve import Settings
from runevals.verdict.outcome import Baseline
from runevals.verdict.score import case_report, over_attempts, over_turns, run_report

if TYPE_CHECKING:
    from runevals.imports.results.records import ImportedAttempt, ImportedCase, ImportedRun
    from runevals.verdict.matching import Key


OLDER = "{} is older than the commit that is checked out: if your tool did not write it for that, run it again"


_OF_PROJECT = re.compile(r"(.*) \((.*)\)", re.DOTALL)  # a suite, as `suite_of` calls it


class ResultsRequest(Struct, frozen=True, kw_only=True):
    """Which files to read, and what they do not say of themselves."""

    paths: tuple[Path, ...]
    deterministic: bool | None = None  # what ran gives the same result each time; None: as the file shows
    parameters_are_attempts: bool = False

    def settings(self, settings: Settings) -> Settings:
        """The settings with which these results and those of the base are read."""
        own = settings.compare
        reading = replace(own.reading, parameters_are_attempts=self.parameters_are_attempts, of_tool=True)
        return replace(settings, compare=replace(own, reading=reading))


def report_of_tool(request: ResultsRequest, settings: Settings) -> RunReport:
    """The results in these files as a run of the commit that is checked out.

    Raises InvalidDocument, which names file and place, for what cannot be read; InvalidSettings for a file of the
    change itself.
    """
    from runevals.run.provenance import of_this_checkout  # most comparisons are of our own documents

    require_not_committed(request.paths, settings)
    other = if_known(lambda name: Path(name).resolve(), settings.compare.baseline)
    report = report_of_files(request.paths, replace(settings.compare.reading, other_side=other))
    run, since_s = of_this_checkout(report.run, settings), git.committed_at(settings.repository)
    old = short_list([str(path) for path in request.paths if path.stat().st_mtime < since_s])
    run = replace(run, notices=tuple(filter(None, (*run.notices, phrase(old, OLDER)))))
    return with_declared_determinism(replace(report, run=run), request.deterministic)


def report_of_files(paths: Sequence[Path], reading: Reading) -> RunReport:
    """The results in these files and folders. Raises InvalidDocument, which names what cannot be read."""
    from runevals.imports.results import read_results

    return report_of(read_results(paths, reading), written_at=_newest(paths))


def require_not_committed(paths: Sequence[Path], settings: Settings) -> None:
    """Raises InvalidSettings for results that a change could have brought instead of a step of its job."""
    root = settings.repository
    for path in () if settings.base_side is None else paths:
        is_in_one = path.is_dir() and git.tracked_in(root.resolve(), path.resolve()) != frozenset()
        if is_in_one or git.may_be_committed(root, path):
            raise InvalidSettings(
                f"{path} is, or has, a file of the repository: a change could bring its own results. "
                "Write them where git tracks nothing"
            )


def read_report(path: Path, name: str = "", reading: Reading = AS_IT_SAYS) -> RunReport:
    """A results document of ours, or the results of another tool. Raises InvalidDocument or InvalidSuite."""
    try:
        return results_document.read_conclusion(path, name).report
    except (InvalidDocument, InvalidSuite):
        from runevals.imports.results import parse_results
        from runevals.imports.results.opened import MAX_BYTES

        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            raise
        if (imported := parse_results(path.read_bytes(), path, name or str(path), reading)) is None:
            raise
    return report_of(imported, written_at=_newest([path]))


def parse_report(content: bytes, display_path: str, reading: Reading = AS_IT_SAYS) -> RunReport:
    """Reads the results in a file's content, such as a file of another commit."""
    try:
        return results_document.parse(
            results_document.content_of(content, display_path).decode(errors="replace"), display_path
        ).report
    except InvalidDocument:
        from runevals.imports.results import parse_results

        if (imported := parse_results(content, Path(display_path), display_path, reading)) is None:
            raise
    return report_of(imported, written_at=datetime.now(UTC))


def report_of(imported: ImportedRun, *, written_at: datetime) -> RunReport:
    """The results, scored. They are of the time that they say, else of the time when they were written."""
    if not imported.cases:
        raise EmptyResults(f"{imported.path} has no test{EmptyResults.why}")
    # At the others nothing looks, and tools call them passed.
    cases = [case for case in imported.cases if any(one.turn.results or one.turn.error for one in case.attempts)]
    left_out = len(imported.cases) - len(cases)
    if not cases:
        raise InvalidDocument(f"{imported.path} has no case with a check: add one to the eval, and run it again")
    notices = (f"left out: {plural(left_out, 'case')} without a check",) if left_out else ()
    run = RunInfo(
        started_at=min(imported.started_at or written_at, datetime.now(UTC)),
        duration_s=imported.duration_s,
        target=ModelIdentity(type=imported.tool, model=AND.join(sorted(imported.models)) or None),
        judge=ModelIdentity(type=imported.tool, model=AND.join(sorted(imported.judges)))
        if imported.judges
        else None,
        suites=tuple(_suites(imported, cases)),
        repeat=max(1, *(len(case.attempts) for case in cases)),
        notices=(*imported.notices, *notices),
        stopped=Problem(code="refused", message=imported.stopped) if imported.stopped else None,
    )
    return run_report(run, [_case(case, imported.path) for case in cases], complete=not imported.stopped)


def _newest(paths: Sequence[Path]) -> datetime:
    return datetime.fromtimestamp(max(path.stat().st_mtime for path in paths), UTC)


def _suites(imported: ImportedRun, cases: Sequence[ImportedCase]) -> Iterator[SuiteInfo]:
    for name in dict.fromkeys(case.suite for case in cases):
        own = [case for case in cases if case.suite == name]
        contents = fingerprint([[case.key, case.content] for case in own])
        files = {case.file for case in own}
        path = imported.path if len(files) > 1 else next(filter(None, files), imported.path)
        yield SuiteInfo(name=name, path=path, dialect=f"{OF_TOOL}{imported.tool}", fingerprint=contents)


def _case(imported: ImportedCase, path: str) -> CaseReport:
    case = record_from(
        Case,
        imported,
        turns=(),
        location=Location(file=imported.file or path, line=imported.line),
        fingerprint=fingerprint([imported.content]),
    )
    both = zip(imported.attempts, _with_checks([attempt.turn for attempt in imported.attempts]), strict=True)
    return case_report(case, [_attempt(number, *one) for number, one in enumerate(both, start=1)])


def _attempt(number: int, imported: ImportedAttempt, turn: TurnReport) -> AttemptReport:
    """The attempt, which passed if the tool says so: it may allow some of its checks to fail."""
    attempt = over_turns(number, [turn])
    if imported.passed is None or not attempt.status.measured:
        return attempt
    return replace(attempt, status=Outcome.PASSED if imported.passed else Outcome.FAILED)


def _with_checks(turns: Sequence[TurnReport]) -> Iterator[TurnReport]:
    """The turns; one without an answer has the checks of another attempt, none of them made."""
    skipped = tuple(
        replace(result, outcome=Outcome.SKIPPED, score=None, value=None, reason="", error=None, details={})
        for result in next((turn.results for turn in turns if turn.results), ())
    )
    for turn in turns:
        yield turn if turn.results or turn.error is None else replace(turn, results=skipped)


def not_measured_here(commit: str) -> Baseline:
    """What is asked for to measure the base now. Raises ExternalError: only the tool could do that."""
    raise ExternalError(f"the results of {commit[:7]} come from another tool, which runs in a job of that commit")


def with_lost_scores(report: RunReport, base: RunReport) -> RunReport:
    """The report, in which a check without a score is an error where every run of the base has one.

    Not of a scorer that was removed altogether: the cases are others then.
    """
    if not _may_lack_scores(report):
        return report
    still = _names_of_scores(report)
    scored = {(case.suite, case.key, case.fingerprint): _scored(case, still) for case in base.cases}
    cases = [
        _with_lost_scores(case, scored.get((case.suite, case.key, case.fingerprint), {})) for case in report.cases
    ]
    changed = any(case is not own for case, own in zip(cases, report.cases, strict=True))
    return run_report(report.run, cases, complete=report.complete) if changed else report


def fresh_with_lost_scores(fresh: CaseReport, base: CaseReport, head: RunReport) -> CaseReport:
    """Restores the scores of a case that was run again, on either side of the comparison of `head`."""
    return _with_lost_scores(fresh, _scored(base, _names_of_scores(head))) if _may_lack_scores(head) else fresh


def _may_lack_scores(report: RunReport) -> bool:
    """Whether its tool leaves out the score of a scorer that failed."""
    return report.run.target.type in ("inspect", "rows", "langsmith", "pydantic-evals")


def _names_of_scores(report: RunReport) -> frozenset[str]:
    return frozenset(name for case in report.cases for attempt in case.attempts for name in _scores(attempt))


def _scored(case: CaseReport, still: Collection[str]) -> Mapping[str, CheckResult]:
    """The checks that were measured in every run and are `still` made, by their ids."""
    first, *others = [_scores(attempt) for attempt in case.attempts] or [{}]
    return {
        name: result for name, result in first.items() if name in still and all(name in other for other in others)
    }


def _scores(attempt: AttemptReport) -> Mapping[str, CheckResult]:
    return {result.id: result for turn in attempt.turns for result in turn.results if result.outcome.measured}


def _with_lost_scores(case: CaseReport, scored: Mapping[str, CheckResult]) -> CaseReport:
    from runevals.imports.results.field_map import NO_SCORE
    from runevals.imports.results.records import errored

    attempts = []
    for attempt in case.attempts:
        turn, *others = attempt.turns  # the tool knows one
        results = {result.id: result for result in turn.results}
        lost = [name for name in scored if name not in results or results[name].reason == NO_SCORE]
        if attempt.status.measured and lost:
            results |= {name: errored(results.get(name, scored[name]), NO_SCORE) for name in lost}
            attempt = over_turns(attempt.attempt, [replace(turn, results=tuple(results.values())), *others])  # noqa: PLW2901
        attempts.append(attempt)
    return case if all(map(operator.is_, attempts, case.attempts)) else over_attempts(case, attempts)


def in_projects_of(base: RunReport, head: RunReport) -> RunReport:
    """The tests of the base in the suites of `head`, if one of them has reports of several projects, by folder.

    Raises InvalidSettings for a test of the other one that may be of any of them.
    """
    if head.run.target.type != "junit":
        return base
    there, here = _by_project(base), _by_project(head)
    cases = [case for unit, own in there.items() for case in _in_projects(unit[1], own, here.get(unit, {}))]
    return replace(base, cases=tuple(cases))


def _by_project(report: RunReport) -> Mapping[Key, Mapping[str, CaseReport]]:
    """(suite without a project, key) → folder of the project → case."""
    projects: dict[Key, dict[str, CaseReport]] = {}
    for case in report.cases:
        match = _OF_PROJECT.fullmatch(case.suite)
        name, folder = match.groups() if match else (case.suite, "")
        projects.setdefault((name, case.key), {})[folder] = case
    return projects


def _in_projects(key: str, base: Mapping[str, CaseReport], head: Mapping[str, CaseReport]) -> Iterable[CaseReport]:
    """The cases of the base, each in the suite of its project in `head`."""
    several, one = (head, base) if len(head) > 1 else (base, head)
    if len(several) < 2 or "" not in one:
        return base.values()
    alone = one[""]
    where = Path(alone.file).absolute().parent.as_posix()
    match [folder for folder in several if where.endswith(f"/{folder}")]:
        case [own] if several is head:
            return [replace(alone, suite=head[own].suite)]
        case [own]:
            return {**base, own: replace(base[own], suite=alone.suite)}.values()
        case _:
            of_which, way = (
                ("the base's", "--baseline FOLDER") if several is head else ("its", "runevals gate FOLDER")
            )
            raise InvalidSettings(
                f"{key}: is a test of several projects ({', '.join(several)}), and {of_which} results do not say "
                f"of which; name a folder that has those of each project in a folder of its name: {way}"
            )


def in_suites_of(report: RunReport, other: RunReport) -> RunReport:
    """`report` with its suites called as in `other`: with their model if that has several, without if it has one.

    Otherwise the cases of one model would be compared with those of another.
    """
    own, there = ({case.suite: None for case in one.cases} for one in (report, other))
    if own.keys() <= there.keys():
        return report
    from runevals.imports.results import suite_of  # most comparisons need no format of another tool

    model, of_other = report.run.target.model, other.run.target.model
    names = {suite: suite_of(suite, model) for suite in own if model}
    names |= {suite_of(suite, of_other): suite for suite in there if of_other}
    new = {suite: name for suite in own if suite not in there and (name := names.get(suite)) in there}
    if not new or not own.keys().isdisjoint(new.values()):
        return report
    cases = [replace(case, suite=new.get(case.suite, case.suite)) for case in report.cases]
    return replace(report, cases=tuple(cases))


def with_declared_determinism(report: RunReport, deterministic: bool | None) -> RunReport:  # noqa: FBT001 - None: the file says
    """The results, which are said to be the same each time, or not; None: as they are.

    JUnit XML in which no test has two outcomes, skips apart, shows nothing random. Scores of plain rows that are
    said to be the same each time are no judgements.
    """
    from runevals.imports.results import junit, rows

    if deterministic is None:
        steady = all(len({run.status for run in case.runs} - {Outcome.SKIPPED}) <= 1 for case in report.cases)
        deterministic = report.run.target.type == junit.NAME and steady
    elif deterministic and report.run.target.type == rows.NAME:
        report = replace(report, cases=tuple(map(_of_facts, report.cases)))
    return replace(report, run=replace(report.run, target=replace(report.run.target, deterministic=deterministic)))


def _of_facts(case: CaseReport) -> CaseReport:
    """The case without a check that a model may have decided; its outcomes stay."""

    def turn_of_facts(turn: TurnReport) -> TurnReport:
        return replace(turn, results=tuple(replace(each, layer=Layer.FACT) for each in turn.results))

    attempts = [replace(one, turns=tuple(map(turn_of_facts, one.turns))) for one in case.attempts]
    return replace(case, attempts=tuple(attempts))
