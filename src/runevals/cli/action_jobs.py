"""What a step of the action measures: one target or several, shards to merge, or results of another tool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from runevals.cli import explained
from runevals.cli.action_report import Part, Results, Step, mask_keys, report_error
from runevals.cli.preload import load_sdk_beside
from runevals.cli.progress import progress
from runevals.cli.terminal import tell, warn, warn_runner
from runevals.github.accept_losses import ProposedLosses, proposed_losses, with_approved_losses
from runevals.github.collect_shards import collected
from runevals.github.job import results_of_job
from runevals.github.job_attempts import attempted, measured_before
from runevals.github.stored_baseline import stored_base
from runevals.github.stored_mark import stored_mark
from runevals.github.this_job import action_input, change_event
from runevals.github.without_secrets import not_measured, without_keys_of_programs
from runevals.lib.terminal import notice, say
from runevals.records.errors import ExternalError, InvalidSettings, RunevalsError
from runevals.reports import html, side_by_side
from runevals.run import pipeline
from runevals.run.baseline.protected_side import protected_side
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.load import suites_of
from runevals.run.nothing_measured import ended_by
from runevals.run.preflight import require_reachable
from runevals.run.request import RunRequest
from runevals.run.shards.merge import merged
from runevals.run.shards.split import with_durations
from runevals.run.shards.verdict import not_merged
from runevals.run.targets import requests_of_each
from runevals.run.tool_results import report_of_tool
from runevals.run.world.build_cache import require_cache
from runevals.settings.file import SettingsFile
from runevals.settings.resolve import resolve
from runevals.settings.targets import choose_one

if TYPE_CHECKING:
    from runevals.github.job import JobContext
    from runevals.records import Conclusion
    from runevals.run.resume.unfinished import UnfinishedRun
    from runevals.settings.file import BaseSide
    from runevals.settings.resolve import RawSettings, Settings

# The settings that decide where a verdict is reported: enough of the base's if the change's are invalid.
_WHERE_TO_REPORT = frozenset({"comment", "comment_id", "baseline_artifact", "annotations", "redact"})


def resolved(raw: RawSettings) -> tuple[Settings, RunevalsError | None]:
    """The settings of the job; if they or the base's are invalid, what is left of them, and why.

    What is left are the base's, or the defaults: they decide where the problem is reported. Raises RunevalsError
    where the inputs themselves are wrong.
    """
    side: BaseSide | None = None
    try:
        side = protected_side(raw, change_event(raw))
        return resolve(replace(raw, base_side=side)), None
    except RunevalsError as error:
        left = None if side is None else side.file
        left = left or SettingsFile(base=raw.cwd)
        where = {name: value for name, value in left.values.items() if name in _WHERE_TO_REPORT}
        try:
            return resolve(raw, replace(left, values=where)), error
        except RunevalsError:
            raise error from None


def results_of(step: Step, problem: RunevalsError | None, measure: Callable[[Step], Results]) -> Results:
    """What the step finds, or what ends it: `problem`, or an error."""
    try:
        if problem is not None:
            raise problem
        return measure(step)
    except Exception as error:  # noqa: BLE001 - an older verdict must not remain
        explained(error)
        report_error(error, step.runner.environment, step.settings.key_names)
        conclusion = ended_by(error, step.settings)
        return Results(parts=[Part(settings=step.settings, here=step.here, conclusion=conclusion)])


def measured(step: Step, proposed: ProposedLosses | None = None) -> Results:
    """The results of one project. `proposed` were read before, or are now: before any program runs.

    Raises RunevalsError for what stops all of its targets.
    """
    require_cache(step.settings)
    proposed = proposed or proposed_losses(step.settings, step.here, step.runner.environment)
    parts, attempt = _parts(step)
    parts = [
        replace(part, conclusion=with_approved_losses(part.conclusion, step.settings, proposed)) for part in parts
    ]
    conclusions = {part.name: part.conclusion for part in parts}
    if len(parts) == 1:
        tell(parts[0].conclusion)
        return Results(parts=parts, attempt=attempt)
    for name, conclusion in conclusions.items():
        say(f"\n== {name}")
        tell(replace(conclusion, against=None))  # it stands below the table
    say("\n".join(("", *side_by_side.lines(conclusions))))
    return Results(
        parts=parts,
        kind="target",
        table=side_by_side.render_markdown(conclusions, headlines=False),
        page=html.render_several(conclusions, {}),  # is an artifact of its own, without the other pages
        attempt=attempt,
    )


def _parts(step: Step) -> tuple[Sequence[Part], UnfinishedRun | None]:
    """A part for each target, and the answers of this attempt."""
    settings, mode = step.settings, action_input("mode", step.raw.inputs)
    request = RunRequest(settings=settings, raw=step.raw, progress=progress)
    if mode == "gate":
        request = _of_job(request, step)
        return [_part(request, _gated(request), step)], None
    if settings.targets and (settings.selection.shard is not None or mode == "merge"):
        raise InvalidSettings(f"shards are of one target; {choose_one(settings.targets)}")
    requests = requests_of_each(request)
    keyless: dict[str, Part] = {}
    for one in requests:
        mask_keys(step.runner.environment, one.settings)
        without = None if step.here.job.has_secrets else not_measured(one.settings, one.raw)
        if without is not None:
            keyless[one.name] = _part(one, without, step)
    left = [_of_job(one, step) for one in requests if one.name not in keyless]
    if mode == "merge":
        return [*keyless.values(), *(_part(one, _merged(one), step) for one in left)], None
    conclusions, attempt = _measured(left, step) if left else ((), None)
    parts = {one.name: _part(one, conclusion, step) for one, conclusion in zip(left, conclusions, strict=True)}
    return [(keyless | parts)[one.name] for one in requests], attempt


def _part(request: RunRequest, conclusion: Conclusion, step: Step) -> Part:
    return Part(
        name=request.name,
        settings=step.settings,
        here=_place(request, step),
        conclusion=conclusion,
        stored=request.stored or StoredBase(),
    )


def _place(request: RunRequest, step: Step) -> JobContext:
    """The job; of one of several targets, with its name."""
    return replace(step.here, project=request.name) if request.name else step.here


def _of_job(request: RunRequest, step: Step) -> RunRequest:
    """The request with what earlier runs and attempts stored of this target."""
    here, settings = _place(request, step), request.settings
    request = replace(
        request,
        find_mark=partial(stored_mark, settings, here),
        has_page=settings.selection.shard is None,
        finds_lines=here.job.has_secrets and not request.name,  # not for a fork
    )
    if settings.selection.shard is not None:
        return request
    earlier = measured_before(here, step.runner.environment, warn_runner)
    return replace(request, stored=stored_base(settings, request.raw, here, notice), earlier=earlier)


def _measured(requests: Sequence[RunRequest], step: Step) -> tuple[Sequence[Conclusion], UnfinishedRun | None]:
    """The suites, run for each target; with stored answers of an earlier attempt, if there are any."""
    inputs, of_each = step.raw.inputs, [request.settings for request in requests]
    for settings in of_each:
        require_reachable(settings)
        load_sdk_beside(settings)
    loaded = suites_of(step.settings)
    warn(loaded.problems)
    if durations := str(action_input("durations", inputs)):
        of_each = [with_durations(settings, loaded.suites, durations) for settings in of_each]
    attempt = attempted(of_each, step.here, inputs, warn_runner) if action_input("resume", inputs) else None
    with nullcontext() if attempt is None else attempt.journal(*of_each) as journal:
        requests = [
            replace(request, settings=settings, suites=loaded, journal=journal)
            for request, settings in zip(requests, of_each, strict=True)
        ]
        run = partial(pipeline.run_each, requests, step.settings)
        return run() if step.here.job.has_secrets else without_keys_of_programs(of_each, run), attempt


def _merged(request: RunRequest) -> Conclusion:
    """The shards as one run; not measured if results are missing, which the comment says too."""
    settings = request.settings
    try:
        shards = merged(collected(settings, str(action_input("shards", request.raw.inputs))))
    except ExternalError as missing:
        return not_merged(settings, str(missing))
    return pipeline.merge(shards, request)


def _gated(request: RunRequest) -> Conclusion:
    """The results that another tool wrote in a step before this one."""
    results = results_of_job(request.raw.inputs, request.settings.cwd)
    request = replace(request, settings=results.settings(request.settings))
    return pipeline.gate(report_of_tool(results, request.settings), request, deterministic=results.deterministic)
