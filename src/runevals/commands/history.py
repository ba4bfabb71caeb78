"""`runevals history`: pass rate and score over past runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from runevals.commands.kept import newest, readable
from runevals.commands.options import KEPT_RESULTS
from runevals.commands.telling import shown
from runevals.errors import InvalidSettings
from runevals.inert import one_line
from runevals.records import Conclusion
from runevals.reporters.console import MARKS
from runevals.wording import money, percent, plural, score

BARS = "▁▂▃▄▅▆▇█"


@click.command("history")
@click.argument("documents", nargs=-1, type=click.Path(path_type=Path, exists=True), metavar="[DOC]...")
@click.option("--last", type=click.IntRange(min=1), default=20, show_default=True, help="How many runs.")
def command(documents: tuple[Path, ...], last: int) -> None:
    """Show pass rate and score of past runs, the oldest first: of .evals/results, or of the DOCs named.

    A DOC is a results document or a folder of them. What is none is named and passed over.

    \b
    Example:
      runevals history --last 5
    """
    named = documents or ((KEPT_RESULTS,) if KEPT_RESULTS.is_dir() else ())
    files = [file for path in named for file in (newest(path, last) if path.is_dir() else [path])]
    runs = sorted(readable(dict.fromkeys(files)), key=lambda run: run[1].report.run.started_at)[-last:]
    if not runs:
        where = ", ".join(map(str, named)) or KEPT_RESULTS.as_posix()
        raise InvalidSettings(f"no results documents in {where}; `runevals` without --output writes one")
    for line in _lines(runs):
        click.echo(shown(line))


def sparkline(values: Sequence[float | None], low: float, high: float) -> str:
    """One bar a value, on a scale from `low` to `high`; a dot where it is unknown."""
    span = high - low
    return "".join(
        "·" if value is None else BARS[round(min(max((value - low) / span, 0.0), 1.0) * (len(BARS) - 1))]
        for value in values
    )


def _lines(runs: Sequence[tuple[Path, Conclusion]]) -> Iterator[str]:
    """Runs of the same suites stand together: others are not comparable."""
    groups: dict[tuple[str, ...], list[tuple[Path, Conclusion]]] = {}
    for path, run in runs:
        groups.setdefault(tuple(suite.path for suite in run.report.run.suites), []).append((path, run))
    for number, (suites, group) in enumerate(groups.items()):
        if number:
            yield ""
        yield one_line(", ".join(suites), 76)
        totals = [run.report.totals for _, run in group]
        yield from _trend("pass rate", [total.pass_rate for total in totals], (0.0, 1.0))
        yield from _trend("score", [total.composite for total in totals], (1.0, 5.0))
        for path, run in group:
            yield _row(path, run)


def _trend(name: str, values: Sequence[float | None], scale: tuple[float, float]) -> Iterator[str]:
    known = [value for value in values if value is not None]
    if len(known) > 1:
        wording = percent if name == "pass rate" else score
        yield f"  {name:<9}  {sparkline(values, *scale)}  {wording(known[0])} → {wording(known[-1])}"


def _row(path: Path, run: Conclusion) -> str:
    report = run.report
    commit = "–" if report.run.commit is None else one_line(report.run.commit, 40)[:7]
    cost = "" if report.totals.cost_usd is None else f"  {money(report.totals.cost_usd)}"
    return (
        f"  {MARKS[run.verdict.outcome]} {report.run.started_at.astimezone():%Y-%m-%d %H:%M}  {commit:<7}"
        f"  {plural(report.totals.cases, 'case'):>9}  {percent(report.totals.pass_rate):>7}"
        f"  {score(report.totals.composite):>4}{cost}  {one_line(path.name, 40)}"
    )
