"""Takes hunks of the prompts out, runs all cases without them, and writes the smallest prompt as a patch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from functools import partial
from pathlib import Path
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.nullable import grouped, if_known, mean
from runevals.lib.statistics.non_inferiority import non_inferiority_p_value
from runevals.lib.terminal import terminal_text
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import money, p_value, plural, points, short_list
from runevals.records import AttemptReport, Hunk
from runevals.records.errors import ExternalError, InvalidSettings
from runevals.run.blame.hunks import ChangedFile, ChangeHunks, hunks_of
from runevals.run.blame.put_back import Key, PutBackRunner, outcomes, put_back_runner
from runevals.run.blame.search import require_runnable
from runevals.run.call_limit import calls_of_attempt
from runevals.run.cost_estimate import CHARACTERS_OF_A_TOKEN
from runevals.run.default_target import with_target
from runevals.run.prompt_changes import PROMPTS, TEXTS, prompt_files
from runevals.run.request import RunRequest
from runevals.suites.plan import make_plan
from runevals.verdict.ablate_search import Ablation, Values, ablation, planned_runs
from runevals.verdict.blame_search import NOTHING, HunkSet

_FRONT = re.compile(rb"\A---\r?\n.*?\r?\n---\r?\n", re.DOTALL)  # of a SKILL.md: without it, it is none
MOST_LINES = 40
LEVEL = 0.05  # of the test that the smallest prompt is not worse


class AblationReport(Struct, frozen=True, kw_only=True):
    """What can be left out of the prompts."""

    hunks: Sequence[Hunk]
    cases: int  # that are looked at
    result: Ablation
    patch: str  # empty if nothing can be left out, or that is not sure
    saved_tokens: int  # of the prompts
    cost_usd: tuple[float | None, float | None]  # of an answer: before and after
    margin: float
    p_value: float | None  # that the smallest prompt is worse by the margin or more
    loss: float  # of its mean pass rate
    calls: int
    why_ended: str = ""

    def places(self, hunks: HunkSet) -> list[str]:
        """The hunks by file and line."""
        return [self.hunks[number].place for number in sorted(hunks)]


def ablated(request: RunRequest, only: Sequence[str]) -> AblationReport:
    """Searches the prompts of the settings, or those of these files. Raises RunevalsError."""
    settings = with_target(request.settings, request.suites.suites).repeated(1)
    request = replace(request, settings=settings)
    head = settings.head.commit
    if head is None:
        raise InvalidSettings("runevals ablate needs a git repository with a commit: it works in a worktree")
    require_runnable(settings, head)
    change = _whole_prompts(request, only)
    keys = [(case.suite, case.key) for case in make_plan(request.suites.suites, settings.selection).cases]
    deterministic = settings.target is not None and settings.target.deterministic
    calls = calls_of_attempt(settings, request.suites)
    most = planned_runs(len(change.hunks), len(keys), deterministic=deterministic)
    limit = settings.measure.limits.calls
    allowed = most if limit is None else min(most, limit * len(keys) // max(1, calls))
    what = f"{plural(len(change.hunks), 'hunk')} of {plural(len(change.files), 'file')}"
    planned = plural(allowed * calls // max(1, len(keys)), "call")
    request.tell(f"Taking out {what}: at most {plural(allowed, 'run')} of a case, {planned} of target and judge")
    with request.budget.timed(), put_back_runner(request, head, change) as runner:
        spent: dict[HunkSet, list[AttemptReport]] = {}
        measure = partial(_values, runner, spent)
        result = ablation(len(change.hunks), keys, measure, deterministic=deterministic, limit=allowed)
        if not any(result.whole.values()):
            raise ExternalError(f"no case could be run: {one_line(runner.trouble, 300)}")
        return _report(runner, result, spent, request)


def _whole_prompts(request: RunRequest, only: Sequence[str]) -> ChangeHunks:
    """The prompts as if every line were new. Raises InvalidSettings if there is none."""
    settings = request.settings
    root = settings.repository.resolve()
    own = if_known(Path.resolve, settings.file_path)
    names = [(settings.cwd / name).resolve() for name in only] or [
        root / name
        for name in prompt_files(settings, request.suites)
        if name.endswith(TEXTS) and not name.endswith(PROMPTS) and root / name != own
    ]
    if missing := [name for name in names if not (name.is_file() and name.is_relative_to(root))]:
        raise InvalidSettings(f"{missing[0].name}: there is no such file in the repository")
    change = hunks_of(_file(path.relative_to(root).as_posix(), path) for path in names)
    if not change.hunks:
        raise InvalidSettings("the settings name no prompt and no skill; name the file: runevals ablate FILE")
    return change


def _file(name: str, path: Path) -> ChangedFile:
    content = path.read_bytes()
    front = _FRONT.match(content)
    return ChangedFile(old_path=name, path=name, before=b"" if front is None else front[0], now=content)


def _values(
    runner: PutBackRunner,
    spent: dict[HunkSet, list[AttemptReport]],
    hunks: HunkSet,
    cases: Sequence[Key],
    number: int,
) -> Values | None:
    """The outcomes of so many runs of each case; None: the search is to stop."""
    runs = runner.runs(hunks, dict.fromkeys(cases, number))
    spent.setdefault(hunks, []).extend(run for some in (runs or {}).values() for run in some)
    return if_known(partial(outcomes, lost={}), runs)


def _report(
    runner: PutBackRunner, result: Ablation, spent: Mapping[HunkSet, Sequence[AttemptReport]], request: RunRequest
) -> AblationReport:
    settings, change = request.settings, runner.change
    losses = [fmean(result.whole[key]) - fmean(values) for key, values in result.smallest.items() if values]
    margin = settings.compare.margin
    contents = {file.path or "": file.now or b"" for file, _ in change.files}
    now = change.contents(result.idle)
    saved = sum(len(contents[name]) - len(now[name] or b"") for name in contents)
    stop = request.budget.stop.problem
    sides = [spent.get(hunks, ()) for hunks in (NOTHING, result.idle)]
    return AblationReport(
        hunks=change.hunks,
        cases=len({*result.whole} - {*result.noisy}),
        result=result,
        patch=_patch(contents, now) if result.confirmed else "",
        saved_tokens=saved // CHARACTERS_OF_A_TOKEN,
        cost_usd=(_cost(sides[0]), _cost(sides[1])),
        margin=margin,
        p_value=non_inferiority_p_value(losses, margin) if losses else None,
        loss=fmean(losses) if losses else 0.0,
        calls=sum(runner.calls.values()),
        why_ended="" if stop is None else stop.message,
    )


def _patch(before: Mapping[str, bytes], now: Mapping[str, bytes | None]) -> str:
    """What `git apply` takes."""
    lines: list[str] = []
    for name, content in before.items():
        old, new = (
            text.decode(errors="replace").splitlines(keepends=True) for text in (content, now[name] or b"")
        )
        lines += unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _cost(runs: Sequence[AttemptReport]) -> float | None:
    return mean(turn.cost_usd for run in runs for turn in run.turns if turn.error is None)


def described(report: AblationReport) -> Iterator[str]:
    """The result for a reader at a terminal."""
    result = report.result
    hunks, cases = plural(len(report.hunks), "hunk"), plural(report.cases, "case")
    calls = plural(report.calls, "call")
    idle = f"{len(result.idle)} of {hunks} change nothing in {cases}"
    yield f"{idle if report.cases else 'Nothing was taken out: it takes cases that pass'} ({calls} of the target)"
    for title, numbers in (("idle", result.idle), ("needed", result.needed), ("not tried", result.untried)):
        places = report.places(numbers)
        yield from (terminal_text(f"  {title}: {place}") for place in places[:MOST_LINES])
        if len(places) > MOST_LINES:
            yield f"  … and {len(places) - MOST_LINES} more: {title}"
    left_out = grouped(
        ("fail too often" if result.whole.get(case) else "could not be measured", case[1]) for case in result.noisy
    )
    for why, keys in left_out.items():
        yield terminal_text(f"Not looked at, as they {why} with the whole prompt: {short_list(keys)}")
    if report.why_ended:
        yield terminal_text(f"Ended early: {report.why_ended}")
    if result.idle and not result.confirmed:
        yield "Not confirmed: fresh runs without all of these lose a case; nothing is proposed. Run it again"
    elif result.idle:
        yield from _of_smallest(report)


def _of_smallest(report: AblationReport) -> Iterator[str]:
    before, after = report.cost_usd
    cost = "" if not before or after is None else f", {money(before)} → {money(after)} an answer"
    yield f"The smallest prompt has about {report.saved_tokens} tokens less{cost}"
    runs = sum(map(len, report.result.smallest.values()))
    change = f"{points(-report.loss)} in {plural(runs, 'fresh run')}"
    margin = f"at most {100 * report.margin:g} points worse"
    if report.p_value is not None and report.p_value <= LEVEL:
        yield f"Its pass rate: {change}; it is {margin} ({p_value(report.p_value)})"
    else:
        yield f"Its pass rate: {change}; that it is {margin} is not shown by so few runs"
    yield "That no case notices a line says as much of the suite as of the line."
