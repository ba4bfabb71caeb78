"""`runevals history`: pass rate and score over past runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import click

from runevals.cli.browser import open_in_browser
from runevals.cli.options import kept_folder, or_kept
from runevals.github.stored_history import api_here, stored_history
from runevals.lib.nullable import if_known, known
from runevals.lib.storage.files import path_from, write_whole
from runevals.lib.terminal import notice, say
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import money, percent, phrase, plural, score
from runevals.records.errors import InvalidSettings
from runevals.reports import badge
from runevals.reports.console import verdict_mark
from runevals.reports.history import PastRun, name_of, of_all_cases, of_like, render
from runevals.reports.past_results import newest_results, readable
from runevals.repository import git
from runevals.run.project_folders import way_to_projects
from runevals.verdict.score import score_of

BARS = "▁▂▃▄▅▆▇█"
PAGE = "history.html"  # beside the folder of results
_PAGES = (".html", ".htm")


@click.command("history")
@click.argument("documents", nargs=-1, type=click.Path(path_type=Path, exists=True), metavar="[DOC]...")
@click.option("--last", type=click.IntRange(min=1), default=20, show_default=True, help="How many runs.")
@click.option(
    "--from",
    "source",
    type=click.Choice(["artifacts"]),
    help="Read the results that this repository's default branch stored on GitHub (GITHUB_TOKEN).",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a page, FILE.html, or a badge for shields.io, FILE.json; repeatable.",
)
@click.option(
    "--open", "opened", is_flag=True, help=f"Open the page in a browser; without --output, it is .evals/{PAGE}."
)
def command(
    documents: tuple[Path, ...], last: int, source: str | None, outputs: tuple[Path, ...], *, opened: bool
) -> None:
    """Show pass rate and score of past runs, the oldest first: of .evals/results, or of the DOCs named.

    A DOC is a results document or a folder of them. Other files are reported and skipped.

    \b
    Examples:
      runevals history --last 5
      runevals history --output history.html --open
      runevals history --from artifacts -o index.html -o badge.json
    """
    pages = [output for output in outputs if output.suffix.lower() in _PAGES]
    if opened and not pages:
        pages = [kept_folder().parent / PAGE]
        outputs = (*outputs, *pages)
    for output in outputs:
        if output.suffix.lower() not in (*_PAGES, ".json"):
            raise InvalidSettings(
                f"--output {output}: the history is a page or a badge; name it FILE.html or .json"
            )
    if source is not None and documents:
        raise InvalidSettings("DOC and --from do not go together; use one of them")
    runs = _runs(documents, last, next(iter(pages), None)) if source is None else _of_artifacts(last)
    if not outputs:
        for line in _lines(runs):
            say(line)
    for output in outputs:
        write_whole(output, render(runs) if output in pages else badge.render(runs))
        say(f"Written: {output}")
    if opened:
        open_in_browser(pages[0])


def _of_artifacts(last: int) -> list[PastRun]:
    """The runs in the order of time. Raises InvalidSettings if there are none, GitHubRefused."""
    api, repository = api_here(os.environ)
    branch = git.default_branch(Path.cwd()) or "main"
    stored = list(stored_history(api, repository, branch, last, notice))
    if not stored:
        raise InvalidSettings(
            f"no artifact of a run of {branch} in {repository} has results; the action stores them"
        )
    stored.sort(key=lambda run: run[1].report.run.started_at)
    return [PastRun(name=name, conclusion=conclusion) for name, conclusion in stored]


def _runs(documents: tuple[Path, ...], last: int, page: Path | None) -> list[PastRun]:
    """The runs in the order of time. Raises InvalidSettings if there are none."""
    paths = or_kept(documents)
    files = dict.fromkeys(path for path in paths if not path.is_dir())
    past = dict(readable(files))
    for path in paths:
        past |= reversed([*newest_results(path, last, files)]) if path.is_dir() else ()
    runs = sorted(past.items(), key=lambda run: run[1].report.run.started_at)[-last:]
    if not runs:
        where, way = ", ".join(map(str, paths)) or kept_folder().as_posix(), way_to_projects(Path.cwd())
        raise InvalidSettings(f"no results documents in {where}; `runevals` writes one{way}")
    return [PastRun(name=path.name, conclusion=run, link=_link(path, page)) for path, run in runs]


def _link(document: Path, page: Path | None) -> str | None:
    """The address of a run's own report, relative to `page`; None if there is no report."""
    report = document.with_name(document.name.removesuffix(".gz")).with_suffix(".html")
    if page is None or not report.is_file():
        return None
    return quote(os.fsencode(path_from(report.resolve(), page.resolve().parent)))


def sparkline(values: Sequence[float | None], low: float, high: float) -> str:
    """One bar per value, on a scale from `low` to `high`; a dot for unknown values."""
    return "".join(
        "·" if value is None else BARS[round(min(max((value - low) / (high - low), 0.0), 1.0) * (len(BARS) - 1))]
        for value in values
    )


def _lines(runs: Sequence[PastRun]) -> Iterator[str]:
    alike = of_like(runs)
    for number, (names, like) in enumerate(alike.items()):
        if number:
            yield ""
        yield name_of(*names, alike)
        reports = [run.report for run in of_all_cases(like)]
        yield from _trend("pass rate", [report.totals.pass_rate for report in reports], (0.0, 1.0))
        yield from _trend("score", list(map(score_of, reports)), (1.0, 5.0))
        for run in like:
            yield _row(run)


def _trend(name: str, values: Sequence[float | None], scale: tuple[float, float]) -> Iterator[str]:
    numbers = known(values)
    if len(numbers) > 1:
        wording = percent if name == "pass rate" else score
        yield f"  {name:<9}  {sparkline(values, *scale)}  {wording(numbers[0])} → {wording(numbers[-1])}"


def _row(run: PastRun) -> str:
    report = run.report
    commit = "–" if report.run.commit is None else one_line(report.run.commit, 40)[:7]
    cost = phrase(if_known(money, report.totals.cost_usd), "  {}")
    return (
        f"  {verdict_mark(run.conclusion)} {report.run.started_at.astimezone():%Y-%m-%d %H:%M}"
        f"  {commit:<7}  {plural(report.totals.cases, 'case'):>9}  {percent(report.totals.pass_rate):>7}"
        f"  {score(score_of(report)):>4}{cost}  {one_line(run.name, 40)}"
    )
