"""Badges for shields.io's endpoint: the newest run of each suite and target, and the strength of suites."""

from __future__ import annotations

import json
from collections.abc import Sequence

from runevals.lib.text.numbers import plural
from runevals.reports.history import PastRun, of_all_cases, of_like

_COLOURS = {"failed": "red", "unmeasured": "lightgrey", "skipped": "lightgrey", "passed": "brightgreen"}

_SHARES = {0.9: "brightgreen", 0.8: "green", 0.6: "yellow", 0.4: "orange", 0.0: "red"}


def render(runs: Sequence[PastRun]) -> str:
    """`runs` in the order of time. The worst verdict decides the colour."""
    newest = [of_all_cases(like)[-1] for like in of_like(runs).values()]
    outcomes = {run.conclusion.verdict.outcome for run in newest}
    colour = next(colour for outcome, colour in _COLOURS.items() if outcome in outcomes)
    totals = [run.report.totals for run in newest]
    cases = sum(total.cases - total.skipped for total in totals)
    return _badge("evals", f"{sum(total.passed for total in totals)} of {plural(cases, 'case')} pass", colour)


def of_strength(noticed: float | None) -> str:
    """The share of wrong answers that suites notice, coloured as coverage usually is."""
    if noticed is None:
        return _badge("eval strength", "unknown", "lightgrey")
    colour = next(colour for least, colour in _SHARES.items() if noticed >= least)
    return _badge("eval strength", f"{100 * noticed:.0f} %", colour)


def _badge(label: str, message: str, colour: str) -> str:
    return json.dumps({"schemaVersion": 1, "label": label, "message": message, "color": colour}, indent=1) + "\n"
