"""A step of the action with several targets: a result, a base and files of each, and one comment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from runevals.cli import explained
from runevals.cli.action_report import JobResult, mask_keys, output_folder, report
from runevals.cli.action_several import Part, Results, Step, finished
from runevals.cli.preload import load_sdk_beside
from runevals.cli.progress import progress
from runevals.cli.terminal import tell, warn, warn_runner
from runevals.github.accept_losses import proposed_losses, with_approved_losses
from runevals.github.job import action_input
from runevals.github.job_attempts import attempted, measured_before
from runevals.github.stored_baseline import stored_base
from runevals.github.stored_mark import stored_mark
from runevals.github.without_secrets import not_measured
from runevals.lib.terminal import notice, say, terminal_text
from runevals.records.errors import InvalidSettings
from runevals.reports import side_by_side
from runevals.run import pipeline
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.load import suites_of
from runevals.run.nothing_measured import ended_by
from runevals.run.preflight_container import require_reachable
from runevals.run.request import RunRequest
from runevals.run.targets import requests_of_each
from runevals.run.world.build_cache import require_cache
from runevals.settings.resolve import ignored_changes
from runevals.settings.targets import choose_one

if TYPE_CHECKING:
    from pathlib import Path

    from runevals.cli.action_report import Runner
    from runevals.github.job import JobContext
    from runevals.records import Conclusion
    from runevals.run.resume.unfinished import UnfinishedRun
    from runevals.settings.resolve import RawSettings, Settings


def run_job_of_targets(settings: Settings, raw: RawSettings, here: JobContext, runner: Runner) -> int:
    """The targets that the settings name, in the same rounds. `settings` are those of all."""
    folder: Path | None = None
    try:
        folder = output_folder(settings)
        step = Step(settings=settings, raw=raw, here=here, runner=runner, folder=folder)
        parts, attempt = _measured(step)
    except Exception as error:  # noqa: BLE001 - an older verdict must not remain
        code = explained(error)
        report(JobResult(ended_by(error, settings), ended=error), folder, settings, here, runner)
        return code
    conclusions = {part.name: part.conclusion for part in parts}
    _tell(conclusions)
    results = Results(
        parts=parts,
        kind="target",
        table=side_by_side.render_markdown(conclusions, headlines=False),
        page=side_by_side.render_page(conclusions, {}),  # is an artifact of its own, without the other pages
        attempt=attempt,
    )
    return finished(results, step)


def _tell(conclusions: Mapping[str, Conclusion]) -> None:
    for name, conclusion in conclusions.items():
        say(f"\n== {terminal_text(name)}")
        tell(replace(conclusion, against=None))  # it stands below the table
    say("\n" + terminal_text("\n".join(side_by_side.lines(conclusions))))


def _measured(step: Step) -> tuple[Sequence[Part], UnfinishedRun | None]:
    """A part for each target, and the answers of this attempt. Raises RunevalsError for what stops all of them."""
    settings, here, environment = step.settings, step.here, step.runner.environment
    _require_whole(step)
    require_cache(settings)
    proposed = proposed_losses(settings, here, environment)  # before any program runs
    loaded = suites_of(settings)
    warn(loaded.problems)
    request = RunRequest(settings=settings, raw=step.raw, suites=loaded, progress=progress)
    requests = {one.name: one for one in requests_of_each(request)}
    for request in requests.values():
        mask_keys(environment, request.settings)
    keyless = {} if here.job.has_secrets else _without_keys(requests)
    requests = {name: _of_job(name, request, step) for name, request in requests.items() if name not in keyless}
    measured, attempt = _run(requests, step) if requests else ({}, None)
    conclusions = {**keyless, **measured}
    parts = []
    for name in settings.targets:
        stored = requests[name].stored if name in requests else None
        conclusion = with_approved_losses(conclusions[name], settings, proposed)
        result = JobResult(conclusion, stored or StoredBase())
        parts.append(Part(name=name, settings=settings, here=replace(here, project=name), result=result))
    return parts, attempt


def _require_whole(step: Step) -> None:
    """Raises InvalidSettings for a shard, and for shards to merge."""
    if step.settings.selection.shard is not None or action_input("mode", step.raw.inputs) == "merge":
        raise InvalidSettings(f"shards are of one target; {choose_one(step.settings.targets)}")


def _without_keys(requests: Mapping[str, RunRequest]) -> Mapping[str, Conclusion]:
    """What is concluded of the targets that lack a key, as a fork's job has none."""
    keyless = {name: not_measured(request.settings, request.raw) for name, request in requests.items()}
    return {name: conclusion for name, conclusion in keyless.items() if conclusion is not None}


def _of_job(name: str, request: RunRequest, step: Step) -> RunRequest:
    """The request with what earlier runs and attempts stored of this target."""
    settings, here = request.settings, replace(step.here, project=name)
    require_reachable(settings)
    load_sdk_beside(settings)
    return replace(
        request,
        stored=_stored(request, here),
        find_mark=partial(stored_mark, settings, here),
        earlier=measured_before(here, step.runner.environment, warn_runner),
        weakenings=ignored_changes(request.raw),
    )


def _stored(request: RunRequest, here: JobContext) -> StoredBase:
    """The stored result of the base; one that had a single target has none of this name, and is run instead."""
    side = request.raw.base_side
    stored = stored_base(request.settings, request.raw, here, notice)
    had_one = side is not None and side.file is not None and "target" in side.file.values
    if had_one and stored.baseline is None and stored.unreadable is None:
        return replace(stored, unreadable="", notices=(), later=None)
    return stored


def _run(requests: Mapping[str, RunRequest], step: Step) -> tuple[Mapping[str, Conclusion], UnfinishedRun | None]:
    """The conclusions; with stored answers of an earlier attempt, if there are any."""
    inputs, of_each = step.raw.inputs, [request.settings for request in requests.values()]
    attempt = attempted(of_each, step.here, inputs, warn_runner) if action_input("resume", inputs) else None
    with nullcontext() if attempt is None else attempt.journal(*of_each) as journal:
        own = [replace(request, journal=journal) for request in requests.values()]
        return dict(zip(requests, pipeline.run_each(own, step.settings), strict=True)), attempt
