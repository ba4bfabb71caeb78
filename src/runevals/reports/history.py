"""Past runs on one page: a chart of their trend and a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from runevals.lib.nullable import grouped
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import money, percent, plural, score, seconds
from runevals.records import Conclusion, RunReport
from runevals.reports.html import filled
from runevals.reports.identity import moment
from runevals.verdict.score import score_of

Json = dict[str, Any]
Wording = Callable[[float | None], str]
# `sections.js` has the tables of a page
SCRIPTS = ("dom.js", "sections.js", "theme.js", "history.js")


class PastRun(Struct, frozen=True, kw_only=True):
    """One run: its document's name, and the address of its report's page as the history's page has it."""

    name: str
    conclusion: Conclusion
    link: str | None = None

    @property
    def report(self) -> RunReport:
        """What was measured."""
        return self.conclusion.report


def of_like(runs: Sequence[PastRun]) -> Mapping[tuple[str, str], Sequence[PastRun]]:
    """(suites, target) → its runs, in their order: others cannot be compared. A suite's targets are adjacent."""
    groups = grouped(
        ((", ".join(suite.path for suite in run.report.run.suites), _target(run.report)), run) for run in runs
    )
    first = list(dict.fromkeys(suites for suites, _ in groups))
    return dict(sorted(groups.items(), key=lambda group: first.index(group[0][0])))


def of_all_cases(runs: Sequence[PastRun]) -> Sequence[PastRun]:
    """These without the runs of some cases, which are no part of a trend; all of them if there are no others."""
    return [run for run in runs if not run.report.run.of_some_cases] or runs


def name_of(suites: str, target: str, alike: Collection[tuple[str, str]]) -> str:
    """The title of a group: its suites, with the target if they have several."""
    several = sum(suites == other for other, _ in alike) > 1
    return f"{one_line(suites, 50)} · {one_line(target, 24)}" if several else one_line(suites, 76)


def _target(report: RunReport) -> str:
    """One of several targets by its name in the settings, too."""
    target, name = report.run.target, str(report.run.settings.get("target", ""))
    kind = " ".join(filter(None, (target.type, target.model)))
    return kind if ":" in name or name in ("", target.type) else f"{name} ({kind})"


def render(runs: Sequence[PastRun]) -> str:
    """The whole page; `runs` in the order of time."""
    alike = of_like(runs)
    groups = [{"name": name_of(*names, alike), **_group(*names, like)} for names, like in alike.items()]
    days = " to ".join(dict.fromkeys(moment(run.report.run)[:10] for run in (runs[0], runs[-1])))
    return filled("history.html", SCRIPTS, title=f"{plural(len(runs), 'run')}, {days}", groups=json.dumps(groups))


def _group(suites: str, target: str, runs: Sequence[PastRun]) -> Json:
    whole = of_all_cases(runs)
    rates = [run.report.totals.pass_rate for run in whole]
    scores = [score_of(run.report) for run in whole]
    return {
        "title": one_line(suites, 200),
        "target": f"Target: {one_line(target, 200)}",
        "trends": [
            {"name": "Pass rate", "axis": "%", "scale": [0, 1], "points": _points(whole, rates, percent)},
            {"name": "Score", "axis": "", "scale": [1, 5], "points": _points(whole, scores, score)},
        ],
        "runs": [_row(run) for run in runs],
    }


def _points(runs: Sequence[PastRun], values: Sequence[float | None], wording: Wording) -> list[Json]:
    return [
        {
            "value": value,
            "text": wording(value),
            "moment": moment(run.report.run),
            "day": moment(run.report.run)[:10],
            "outcome": run.conclusion.verdict.outcome,
            "verdict": one_line(run.conclusion.verdict.headline),
        }
        for run, value in zip(runs, values, strict=True)
    ]


def _row(run: PastRun) -> Json:
    report, verdict = run.report, run.conclusion.verdict
    totals = report.totals
    cost = money(totals.cost_usd)
    if totals.judge_cost_usd is not None:
        cost = f"{cost}, judge {money(totals.judge_cost_usd)}"
    return {
        "moment": moment(run.report.run),
        "commit": one_line(report.run.commit or "", 40)[:7],
        "ref": one_line(report.run.ref or ""),
        "outcome": verdict.outcome,
        "headline": one_line(verdict.headline, 200),
        "cases": str(totals.cases),
        "passRate": percent(totals.pass_rate),
        "score": score(score_of(report)),
        "cost": cost,
        "took": seconds(report.run.duration_s),
        "file": one_line(run.name, 80),
        "link": run.link,
    }
