"""`runevals run` with several targets: one plan, a results document each, and one table with a column each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from runevals.cli.answers import show_answers
from runevals.cli.output import free_names, kept_results, require_kept_results
from runevals.cli.terminal import tell, warn
from runevals.lib.storage.files import STANDARD_STREAM, write_whole
from runevals.lib.terminal import fitted, say, terminal_text
from runevals.records import Conclusion
from runevals.records.errors import CannotWrite, InvalidSettings
from runevals.reports import VERDICT, html, is_packed_name, results, side_by_side, suffix_of, summary
from runevals.reports.publish import check_outputs, publish
from runevals.run.acceptance import with_waiting
from runevals.run.baseline.from_files import is_remote
from runevals.run.export_suite import separated
from runevals.run.projects import worst
from runevals.run.targets import run_targets
from runevals.run.world.build_cache import require_cache
from runevals.settings.resolve import RawSettings, Settings, each_target, resolve
from runevals.settings.target_names import file_name

if TYPE_CHECKING:
    from runevals.run.request import RunRequest
    from runevals.run.resume.unfinished import UnfinishedRun


def run_several(
    request: RunRequest,
    raw: RawSettings,
    options: Mapping[str, Any],
    journal_for: Callable[..., UnfinishedRun | None],
) -> int:
    """One run of all targets that the settings name → the worst exit code. `raw` has the base's side.

    `journal_for` gets the settings of each target.
    """
    settings = request.settings
    outputs = _outputs(options)
    require_cache(settings)
    requests = requests_of_each(request, raw)
    of_each = [of_one.settings for of_one in requests.values()]
    run = journal_for(*of_each)
    warn(request.suites.problems)
    with nullcontext() if run is None else run.journal(*of_each) as journal:
        conclusions = {
            name: with_waiting(conclusion, settings)
            for name, conclusion in run_targets(requests, settings, journal).items()
        }
    checked: dict[str, Conclusion] = {}
    for name, conclusion in conclusions.items():
        say(f"\n== {terminal_text(name)}")
        if not (options["prompts"] and show_answers(conclusion)):
            checked[name] = conclusion
            tell(replace(conclusion, against=None))  # it stands below the table
    if not checked and not outputs:
        if run is not None:
            run.end(*conclusions.values(), written=True)
        return 0
    say("\n" + terminal_text("\n".join(side_by_side.lines(conclusions))))
    default = kept_results(datetime.now().astimezone())
    problem: CannotWrite | None = None
    with nullcontext(outputs) if outputs else free_names(default) as paths:
        try:
            files = _write(conclusions, paths, options["form"])
            say("\n".join(fitted(f"Written: {', '.join(map(str, files))}")))
        except CannotWrite as error:
            problem = error
            say(f"Error: {error}", err=True)
    if run is not None and (way := run.end(*conclusions.values(), written=problem is None)):
        say(way)
    code = worst([0, *(conclusion.verdict.exit_code for conclusion in checked.values())])
    return code or (0 if problem is None else problem.exit_code)


def of_target(path: Path, name: str) -> Path:
    """The file of one target: `results.json` → `results.mini.json`."""
    suffix = f"{suffix_of(results)}.gz" if is_packed_name(path.name) else path.suffix
    return path.with_name(f"{path.name[: -len(suffix)]}.{file_name(name)}{suffix}")


def _outputs(options: Mapping[str, Any]) -> Sequence[Path]:
    """The files of the command line. Raises InvalidSettings for what is of one target only."""
    outputs = [Path(name) for name in options["output"]]
    check_outputs(outputs)
    if not outputs:
        require_kept_results()
    reports, documents = separated(outputs, options["form"])
    of_one = {
        "--format": documents or options["form"] == VERDICT,
        "--open": options["opened"],
        "--output -": STANDARD_STREAM in outputs,
    }
    for option, is_given in of_one.items():
        if is_given:
            raise InvalidSettings(f"{option} is of one target; choose one with --target or --model")
    return reports


def requests_of_each(request: RunRequest, raw: RawSettings) -> Mapping[str, RunRequest]:
    """What each target is run with, as if it were the only one. `raw` has the base's side."""
    requests = {}
    for name, of_one in each_target(request.settings, request.raw).items():
        settings = _with_own_baseline(resolve(replace(of_one, base_side=raw.base_side)), name)
        requests[name] = replace(request, settings=settings, raw=of_one)
    return requests


def _with_own_baseline(settings: Settings, name: str) -> Settings:
    """Each target has a base of its own: `base.json` → `base.mini.json`. Raises InvalidSettings."""
    source = settings.compare.baseline
    if source is None:
        return settings
    if is_remote(source) or Path(source).is_dir():
        raise InvalidSettings(
            "baseline: of several targets, it is a file (base.json means "
            f"{of_target(Path('base.json'), name)} and so on); name one, or run the base itself with --base REF"
        )
    return settings.with_baseline(str(of_target(Path(source), name)))


def _write(conclusions: Mapping[str, Conclusion], outputs: Sequence[Path], form: str) -> Sequence[Path]:
    """The files of each target, and the table where a page or a summary was asked for. Raises CannotWrite."""
    files = []
    for name, conclusion in conclusions.items():
        own = [of_target(path, name) for path in outputs]
        publish(conclusion, own, form=form)
        files += own
    for path in outputs:
        if path.suffix == suffix_of(html):
            pages = {name: of_target(path, name).name for name in conclusions}
            write_whole(path, side_by_side.render_page(conclusions, pages))
            files.append(path)
        elif path.suffix == suffix_of(summary):
            write_whole(path, side_by_side.render_markdown(conclusions))
            files.append(path)
    return files
