"""Which hunks of a change lost its cases: they are put back, and the cases run again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import zip_longest

from msgspec.structs import replace

from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import plural
from runevals.records import Blame, BlamedCase, CauseKind, Comparison, Conclusion, Outcome, State
from runevals.records.errors import ExternalError, InvalidSettings
from runevals.run.baseline.checkout import is_here
from runevals.run.blame.changed import ChangedFiles, files_since
from runevals.run.blame.hunks import ChangeHunks, hunks_of
from runevals.run.blame.put_back import PASSES, CannotPutBack, Key, Least, PutBackRunner, put_back_runner
from runevals.run.call_limit import calls_of_attempt
from runevals.run.default_target import with_target
from runevals.run.preflight import require_present
from runevals.run.redaction.redactors import without_either
from runevals.run.request import RunRequest
from runevals.run.sides import can_run_again
from runevals.settings.resolve import Settings
from runevals.suites.load import LoadedSuites
from runevals.suites.selection import is_selected
from runevals.verdict.blame_search import SearchResult, most_runs, search_case, searched, usual_runs
from runevals.verdict.causes import IN_DOUBT, causes
from runevals.verdict.evidence import OUTCOME, entrant_of
from runevals.verdict.lost_together import cleared_keys, lost_keys
from runevals.verdict.matching import Pair

MOST_CASES = 10  # that are searched in one go


def lost_cases(comparison: Comparison) -> dict[Key, Least]:
    """The cases that are lost, also in fresh runs, confirmed ones first, each with what it lost.

    That is its outcome, else checks, or scores with the value from which one is as on the base.
    """
    proven = {each.key for each in comparison.cases(State.WORSE)}
    regressed = {(change.suite, change.key) for change in comparison.of_kind("regressed")}
    among = regressed - cleared_keys(comparison) | lost_keys(comparison) | proven
    lost: dict[Key, Least] = {}
    for change in sorted(comparison.changes, key=lambda one: (one.suite, one.key) not in proven):
        key, base, head = (change.suite, change.key), change.base, change.head
        if key in among and base is not None and head is not None:
            entrant = entrant_of(Pair.of(base, head), deterministic=comparison.deterministic)
            if entrant is not None or head.status is Outcome.FAILED:
                lost[key] = PASSES if entrant is None or OUTCOME in entrant.cuts else entrant.cuts
    return lost


def blamed(
    conclusion: Conclusion,
    base: str,
    request: RunRequest,
    *,
    code: bool,
    job: bool = False,
    runs: int | None = None,
) -> Blame:
    """The hunks since the commit `base` that lost the cases of a comparison. Raises RunevalsError.

    Code is put back, too, with `code`, or if nothing runs without it.
    In a job: one confirmed case of each cause, as many as have so many runs, of all together, for an answer.
    """
    assert conclusion.comparison is not None  # noqa: S101 - the caller chose it for that
    settings = with_target(request.settings, request.suites.suites).repeated(1, cached=True)
    request = replace(request, settings=settings)
    head = settings.head.commit or ""
    lost = lost_cases(conclusion.comparison)
    alike = examples(conclusion, ("lost",), each=1) if job else _searched_cases(conclusion, request, lost)
    files, change = hunks_since(base, request, code=code)
    deterministic = conclusion.comparison.deterministic
    if lost.keys() & {(one.suite, one.key) for one in conclusion.comparison.of_kind("edited")}:
        change = replace(change, files=(*change.files, *((form, ()) for form in files.forms)))
    runs_of = partial(_allowed_runs, settings, request.suites, runs)
    keys = list(alike)
    if job:
        keys = _with_enough_runs(keys, usual_runs(len(change.hunks), deterministic=deterministic), runs_of)
    limit = min(most_runs(len(change.hunks)), runs_of(keys))
    what = f"{plural(len(change.hunks), 'hunk')} in {plural(len(files.files), 'file')}"
    request.tell(
        f"Searching {what} for what lost {plural(len(keys), 'case')}: at most {plural(limit, 'run')} a case"
    )
    searches = {key: search_case(len(change.hunks), deterministic=deterministic, limit=limit) for key in keys}
    try:
        with request.budget.timed(), put_back_runner(request, head, change, lost) as runner:
            results = searched(searches, runner.measure)
        if all(result.why_not == "unmeasured" for result in results.values()):
            kind = CannotPutBack if any(each.head for each in results.values()) else ExternalError
            raise kind(f"the lost cases could not be run again: {one_line(runner.trouble, 300)}")
    except CannotPutBack as error:
        if not files.left_out:
            raise
        request.tell(f"Code is put back, too (--code), as {error.first_line}")
        return blamed(conclusion, base, request, code=True, job=job, runs=runs)
    cases = [_case(key, result, runner, files, alike[key]) for key, result in results.items()]
    return without_either(replace(not_searched(base, files, change), cases=tuple(cases)), settings)


def not_searched(base: str, files: ChangedFiles, change: ChangeHunks) -> Blame:
    """What can be put back, before anything is."""
    return Blame(base=base, hunks=len(change.hunks), files=len(files.files), uncommitted=files.uncommitted)


def _searched_cases(conclusion: Conclusion, request: RunRequest, lost: Collection[Key]) -> dict[Key, int]:
    """The lost cases that are here and that the filters leave in; of many, examples of each cause.

    Raises InvalidSettings.
    """
    selection = request.settings.selection
    here = {(case.suite, case.key): is_selected(case, selection) for case in request.suites.cases}
    if missing := [key for key in lost if key not in here]:
        raise InvalidSettings(f"no suite here has the lost case {missing[0][1]}; name its suite with --suite PATH")
    chosen = [key for key in lost if here[key]]
    if not chosen:
        raise InvalidSettings("no lost case is left by --category, --tag and --filter")
    if len(chosen) <= MOST_CASES:
        return dict.fromkeys(chosen, 0)
    of_causes = examples(conclusion, IN_DOUBT, each=MOST_CASES)
    some = {key: alike for key, alike in of_causes.items() if here[key]} or dict.fromkeys(chosen[:MOST_CASES], 0)
    request.tell(f"Searching examples, {len(some)} of {len(chosen)} lost cases; choose others with --filter")
    return some


def examples(conclusion: Conclusion, kinds: Sequence[CauseKind], *, each: int) -> dict[Key, int]:
    """Ten cases at most, so many of each cause → how many others failed as the first of it did."""
    every = causes(conclusion.report, conclusion.comparison)
    rows = [row for one in every if one.kind in kinds for group in one.groups for row in group.rows]
    names = [[(name.suite, name.key) for name in row.examples[:each]] for row in rows]
    some = [key for rank in zip_longest(*names) for key in filter(None, rank)][:MOST_CASES]
    alike = {keys[0]: row.cases - sum(key in some for key in keys) for row, keys in zip(rows, names, strict=True)}
    return {key: alike.get(key, 0) for key in some}


def _with_enough_runs(keys: list[Key], usual: int, runs_of: Callable[[list[Key]], int]) -> list[Key]:
    """As many of these as have so many runs each. Raises InvalidSettings if none has."""
    for number in range(len(keys), 0, -1):
        if runs_of(keys[:number]) >= usual:
            return keys[:number]
    why = f"that takes about {plural(usual, 'run')}, more than may be made (by default, a fifth of the run's)"
    raise InvalidSettings(f"{why}; `blame: {{max_runs: {usual}}}` allows them")


def require_runnable(settings: Settings, base: str) -> None:
    """Raises InvalidSettings if nothing can be run with hunks of this commit put back."""
    if settings.targets:
        raise InvalidSettings(f"several targets are set, {', '.join(settings.targets)}; name one: --target NAME")
    if not can_run_again(settings):
        raise InvalidSettings("recorded answers cannot be asked again with hunks put back; name a target")
    if not is_here(settings, base):
        raise InvalidSettings(
            f"the base commit {base[:7]} is not in this checkout; fetch it, or name another: --base"
        )
    require_present(settings)


def hunks_since(base: str, request: RunRequest, *, code: bool) -> tuple[ChangedFiles, ChangeHunks]:
    """What can be put back, at least one hunk. Raises InvalidSettings if nothing can, ExternalError."""
    require_runnable(request.settings, base)
    files = files_since(base, request.settings, request.suites, code=code)
    change = hunks_of(files.files)
    if not change.hunks:
        raise InvalidSettings(f"no text that the target reads changed since {base[:7]}{files.with_code}")
    return files, change


def _allowed_runs(settings: Settings, loaded: LoadedSuites, runs: int | None, keys: Sequence[Key]) -> int:
    """How often each case may run so that `max_calls` holds, and so many runs of all of them."""
    most = settings.measure.limits.calls
    of_each = most_runs(1_000_000) if runs is None else runs // len(keys)
    if most is None:
        return of_each
    of_cases = loaded.only(lambda case: (case.suite, case.key) in keys)
    return min(of_each, most // max(1, calls_of_attempt(settings, of_cases)))


def _case(key: Key, result: SearchResult, runner: PutBackRunner, files: ChangedFiles, alike: int) -> BlamedCase:
    hunks = runner.change.hunks
    return BlamedCase(
        suite=key[0],
        key=key[1],
        hunks=tuple(hunks[number] for number in sorted(result.lost_by)),
        put_back=tuple(hunks[number] for number in sorted(result.put_back)),
        head_passed=_passed(result.head),
        head_runs=len(result.head),
        restored_passed=_passed(result.restored),
        restored_runs=len(result.restored),
        calls=runner.calls[key],
        cost_usd=runner.costs.get(key),
        alike=alike,
        reason=_reason(result, runner, files),
    )


def _passed(values: Sequence[float]) -> int:
    return sum(value >= 1.0 for value in values)


def _reason(result: SearchResult, runner: PutBackRunner, files: ChangedFiles) -> str:
    """Why nothing was found."""
    stop = runner.request.budget.stop.problem
    all_hunks = f"all {len(runner.change.hunks)} hunks" if len(runner.change.hunks) > 1 else "the only hunk"
    match result.why_not:
        case None:
            return ""
        case "stopped":
            return getattr(stop, "message", "the search was stopped")
        case "limit":
            return "it takes more runs than may be made"
        case "unmeasured" if not result.head:
            return "its runs errored"
        case "unmeasured":
            why = one_line(runner.trouble, 300)
            return f"its runs errored with {all_hunks} put back: {why}{files.with_code}"
        case "passes":
            return f"it passes now, {_of(result.head)}; --coverage looks at all cases together"
        case "elsewhere":
            return f"still lost with {all_hunks} put back, {_of(result.restored)}{files.with_code}"
        case "noise":
            both = f"{_of(result.head)} now, {_of(result.restored)} with {all_hunks} put back"
            return f"its runs differ too little to tell: {both}"


def _of(values: Sequence[float]) -> str:
    return f"{_passed(values)} of {len(values)}"
