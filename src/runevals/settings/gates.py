"""The gates of a settings file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runevals.lib.text.suggest import did_you_mean
from runevals.records import Gate, Scope
from runevals.records.errors import InvalidSettings

PRESET_GATES = ("no_regression", "replay", "regression", "redteam", "min_pass_rate", "measured")
GATE_METRICS = (
    "pass_rate",
    "composite",
    "share",
    "errors",
    "regressions",
    "new_failures",
    "cost_usd",
    "cost_change",
    "latency_p95_s",
    "tokens",
    "weakening",
    "judge_coverage",
    "mark_drop",
    "same_path_as_base",
)


def gates_of(written: Any, source: str) -> tuple[Gate, ...]:
    """The settings file's gates. Raises InvalidSettings for an unknown metric or a duplicate name."""
    gates: list[Gate] = []
    for entry in written:
        metric = entry["metric"]
        if metric not in GATE_METRICS and not metric.startswith("evaluator:"):
            hint = did_you_mean(metric, GATE_METRICS)
            raise InvalidSettings(f"{source}: gates: there is no metric '{metric}'{hint}")
        if entry.get("bound") == "wilson" and (metric != "pass_rate" or entry["op"] != ">="):
            raise InvalidSettings(f"{source}: gates: bound: wilson is for `pass_rate` with `>=` only")
        if entry.get("name") == "measured" and metric != "errors":
            raise InvalidSettings(f"{source}: gates: 'measured' is about errors; give this gate another name")
        if metric == "mark_drop" and entry.get("scope"):
            raise InvalidSettings(f"{source}: gates: mark_drop is of all cases; leave out its scope")
        name = entry.get("name") or f"{metric} {entry['op']} {entry['limit']:g}"
        if name in {gate.name for gate in gates}:
            raise InvalidSettings(f"{source}: gates: the name '{name}' is used twice")
        more = {key: entry[key] for key in ("on_missing", "bound", "level") if key in entry}
        scope = Scope(**entry.get("scope", {}))
        gates.append(
            Gate(name=name, metric=metric, op=entry["op"], limit=float(entry["limit"]), scope=scope, **more)
        )
    return tuple(gates)


def check_names(fail_on: Sequence[str], source: str, gates: Sequence[Gate]) -> None:
    """Raises InvalidSettings for a name in `fail_on` that no gate has: a typo must not switch gates off."""
    known = (*PRESET_GATES, *(gate.name for gate in gates), "none")
    for name in fail_on:
        if name not in known:
            names = f"it is one of {', '.join(known)}{did_you_mean(name, known)}"
            raise InvalidSettings(f"fail_on ({source}): there is no gate '{name}'; {names}")


def check_mark(mark: object, gates: Sequence[Gate]) -> None:
    """Raises InvalidSettings for a gate on the mark if `mark` is not set: it would never measure anything."""
    if mark is None and any(gate.metric == "mark_drop" for gate in gates):
        raise InvalidSettings("gates: mark_drop needs a `mark`: 30d for days, the name of a tag, or best")
