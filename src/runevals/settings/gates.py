"""The gates of a settings file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import convert

from runevals.lib.text.suggest import did_you_mean
from runevals.records import Gate
from runevals.records.errors import InvalidSettings
from runevals.settings.target_names import OF_SKILL

PRESET_GATES = ("no_regression", "replay", "regression", "redteam", "min_pass_rate", "measured")
GATE_METRICS: Mapping[str, str] = {
    "pass_rate": "passed attempts, 0–1; each case counts the same, however often it was run",
    "composite": "the mean of the layers' scores, 1–5",
    "share": "the same from 0 to 1",
    "errors": "cases that were not measured, 0–1; failing it is exit 3",
    "regressions": "cases that passed on the base and fail now, but for those that fresh runs cleared",
    "new_failures": "these, and added cases that fail",
    "cost_usd": "what one run of each case costs; `max_cost` limits a whole run",
    "cost_change": "by which share a run of the cases that both sides answered became dearer",
    "latency_p95_s": "seconds that 95 % of the answers do not exceed",
    "tokens": "what one run of each case takes, input and output together",
    "weakening": "how many checks, cases and settings the change made weaker",
    "judge_coverage": "results of the judge that were measured, 0–1; failing it is exit 3",
    "mark_drop": "what was lost since the mark, 0–1",
    "against_drop": "the smallest margin at which this target would be called not worse than `against`, 0–1",
    "lift": "what the skill is shown to be worth against `against: without-skill`, 0–1",
    "same_path_as_base": "how far the tools called, in their order, are those of the base's runs: F1, 0–1",
}
SHARES = ("pass_rate", "share", "judge_coverage", "mark_drop", "against_drop", "lift", "same_path_as_base")


def gates_of(entries: Any) -> tuple[Gate, ...]:
    """The gates of a settings file that has been checked with `gate_problems`."""
    return tuple(convert({**entry, "name": _name(entry)}, Gate) for entry in entries)


def gate_problems(entries: Any) -> Iterator[tuple[int, str, str]]:
    """(number, key, problem) for each gate with an unknown metric, a duplicate name or options that do not fit."""
    names: set[str] = set()
    for number, entry in enumerate(entries):
        metric = entry["metric"]
        if metric not in GATE_METRICS and not metric.startswith("evaluator:"):
            yield number, "metric", f"there is no metric '{metric}'{did_you_mean(metric, GATE_METRICS)}"
        if metric in SHARES and entry["limit"] > 1:
            percent = entry["limit"]
            yield number, "limit", f"{metric} is a share from 0 to 1; write {percent / 100:g} for {percent:g} %"
        if metric == "composite" and not 1 <= entry["limit"] <= 5:
            yield number, "limit", "composite is a score from 1 to 5; the metric `share` is the same from 0 to 1"
        if entry.get("bound") == "wilson" and (metric != "pass_rate" or entry["op"] != ">="):
            yield number, "bound", "wilson is for `pass_rate` with `>=` only"
        if entry.get("name") == "measured" and metric != "errors":
            yield number, "name", "'measured' is about errors; give this gate another name"
        if metric in ("mark_drop", "against_drop", "lift") and entry.get("scope"):
            yield number, "scope", f"{metric} is of all cases; leave out its scope"
        if _name(entry) in names:
            yield number, "name" if "name" in entry else "metric", f"the name '{_name(entry)}' is used twice"
        names.add(_name(entry))


def _name(entry: Mapping[str, Any]) -> str:
    return entry.get("name") or f"{entry['metric']} {entry['op']} {entry['limit']:g}"


def check_names(fail_on: Sequence[str], gates: Sequence[Gate], prefix: str = "") -> None:
    """Raises InvalidSettings for a name in `fail_on` that no gate has: a typo must not switch gates off."""
    known = (*PRESET_GATES, *(gate.name for gate in gates), "none")
    for name in fail_on:
        if name not in known:
            names = f"it is one of {', '.join(known)}{did_you_mean(name, known)}"
            raise InvalidSettings(f"{prefix}there is no gate '{name}'; {names}")


def check_mark(mark: object, gates: Sequence[Gate]) -> None:
    """Raises InvalidSettings for a gate on the mark if `mark` is not set: it would never measure anything."""
    if mark is None and any(gate.metric == "mark_drop" for gate in gates):
        raise InvalidSettings("gates: mark_drop needs a `mark`: 30d for days, the name of a tag, or best")


def check_target(against: object, gates: Sequence[Gate]) -> None:
    """Raises InvalidSettings for a gate on another side that `against` does not name: it would measure nothing."""
    metrics = {gate.metric for gate in gates}
    if against in (None, *OF_SKILL) and "against_drop" in metrics:
        raise InvalidSettings("gates: against_drop needs `against`: the name of one of the `targets`")
    if against not in OF_SKILL and "lift" in metrics:
        raise InvalidSettings(f"gates: lift needs `against`: {' or '.join(OF_SKILL)}")
