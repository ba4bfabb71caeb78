"""The comparison of a results document as earlier versions wrote it → as it is written now.

They had a verdict of eight words, hypotheses about the whole and the parts, and suspects; now all of these are
findings in one of three states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runevals.lib.nullable import without
from runevals.records import Reason, State
from runevals.verdict.reasons import MEANINGS

Json = dict[str, Any]

_STATES: Mapping[str, State] = {
    "regression": State.WORSE,
    "inconclusive": State.NOT_KNOWN,
    "incomparable": State.NOT_KNOWN,
    "no_baseline": State.NOT_KNOWN,
}  # all others: not worse
_CLEAN = frozenset({"improved", "no_change"})
_WHY: Mapping[str, Reason] = {"inconclusive": Reason.BUDGET, "incomparable": Reason.INCOMPARABLE}
_HYPOTHESES: Mapping[str, Reason] = {
    "lost": Reason.EXACT,
    "small": Reason.SMALL,
    "unclear": Reason.BUDGET,
    "errors": Reason.ERRORS,
    "none": Reason.BY_CHANCE,
}
_SUSPECTS: Mapping[str, Reason] = {
    "confirmed": Reason.PROVEN,
    "dropped": Reason.BASE_ALIKE,
    "cleared": Reason.PASSED_AGAIN,
    "open": Reason.BUDGET,
    "unrun": Reason.BY_CHANCE,
}
_REPLACED = frozenset({"verdict", "hypotheses", "suspects", "inexact_base", "verification"})


def upgraded(document: Any) -> Any:
    """The document with its comparison as it is written now; any other is returned as it is.

    Raises KeyError, TypeError or ValueError for one that no version wrote.
    """
    comparison = document.get("comparison") if isinstance(document, dict) else None
    if not isinstance(comparison, dict) or "state" in comparison or "verdict" not in comparison:
        return document
    word, inexact = comparison["verdict"], comparison.get("inexact_base", "")
    verification = comparison.get("verification") or {"state": "off", "reason": ""}
    rest = without(comparison, _REPLACED)
    warns = document["verdict"]["exit_code"] == 0 and (word not in _CLEAN or bool(inexact))
    now = {
        **rest,
        "state": _STATES.get(word, State.NOT_WORSE),
        "improved": word == "improved",
        "findings": [*_findings(comparison)],
        "remarks": [inexact] if inexact else [],
        "fresh": verification["reason"] if verification["state"] in ("confirmed", "not_confirmed") else "",
    }
    return {**document, "comparison": now, "verdict": {"warns": warns, **document["verdict"]}}


def _findings(comparison: Json) -> Iterator[Json]:
    for each in comparison.get("hypotheses", ()):
        rest = without(each, ("finding", "corrected_p"))
        yield {**rest, **_because(_HYPOTHESES[each["finding"]])}
    if (why := comparison.get("why")) and comparison["verdict"] in _WHY:
        yield {"family": "whole", "name": "", **_because(_WHY[comparison["verdict"]], why)}
    for each in comparison.get("suspects", ()):
        names = {"family": "case", "name": each["key"], "title": each["name"]}
        rest = without(each, ("key", "name", "state", "reason"))
        yield {**rest, **names, **_because(_SUSPECTS[each["state"]], each.get("reason", ""))}


def _because(reason: Reason, detail: str = "") -> Json:
    return {"state": MEANINGS[reason].state, "reason": reason, "detail": detail}
