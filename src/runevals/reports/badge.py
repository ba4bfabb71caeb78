"""A badge for shields.io's endpoint: the newest run of each suite and target."""

from __future__ import annotations

import json
from collections.abc import Sequence

from runevals.lib.text.numbers import plural
from runevals.reports.history import PastRun, of_like

_COLOURS = {"failed": "red", "unmeasured": "lightgrey", "skipped": "lightgrey", "passed": "brightgreen"}


def render(runs: Sequence[PastRun]) -> str:
    """`runs` in the order of time. The worst verdict decides the colour."""
    newest = [like[-1] for like in of_like(runs).values()]
    outcomes = {run.conclusion.verdict.outcome for run in newest}
    colour = next(colour for outcome, colour in _COLOURS.items() if outcome in outcomes)
    totals = [run.report.totals for run in newest]
    cases = sum(total.cases - total.skipped for total in totals)
    message = f"{sum(total.passed for total in totals)} of {plural(cases, 'case')} pass"
    badge = {"schemaVersion": 1, "label": "evals", "message": message, "color": colour}
    return json.dumps(badge, indent=1) + "\n"
