"""What of a change's settings the base decides, so that no change judges itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runevals.lib.chat.prices import Price, Prices
from runevals.records import Weakening
from runevals.settings.file import GUARDED, BaseSide, SettingsFile
from runevals.settings.table import ROUNDS_IN_CI, SETTINGS

_DEFAULTS = {setting.name: setting.default for setting in SETTINGS}
_BUDGETS = ("max_calls", "max_cost", "max_duration", "max_tokens")
_REDACTED = ("full", "hashes", "none")  # each more than the one before


def who_tells(
    name: str, file: SettingsFile, guarding: BaseSide | None, *, judged: bool = True
) -> tuple[Mapping[str, Any], str]:
    """(the file values, their origin) that settle this setting: the base's where they decide over the head.

    Of budgets and of what is redacted the stricter side holds. `judged`: the base has a judge. The first change
    that brings one could never pass else.
    """
    if guarding is None or name not in GUARDED or (name == "judge" and not judged):
        return file.values, file.shown
    if name == "redact_patterns":
        both = dict.fromkeys((*guarding.values.get(name, ()), *file.values.get(name, ())))
        return {name: list(both)}, guarding.shown
    if _is_stricter(name, file.values, guarding.values):
        return file.values, file.shown
    return guarding.values, guarding.shown


def _is_stricter(name: str, values: Mapping[str, Any], than: Mapping[str, Any]) -> bool:
    """Whether a budget is smaller, or less is written of prompts and answers, than by other settings."""
    here, there = _said(values, name), _said(than, name)
    if here == there:
        return False
    if name == "redact":
        return _REDACTED.index(str(here)) > _REDACTED.index(str(there))
    if name == "redact_patterns":
        return set(values.get(name, ())) >= set(than.get(name, ()))
    return (
        name in _BUDGETS and isinstance(here, int | float) and (not isinstance(there, int | float) or here < there)
    )


def prices_told(file: SettingsFile, guarding: BaseSide | None) -> Prices:
    """What models cost. A change sets none: it would hide what it costs."""
    values = file.values if guarding is None else guarding.values
    return Prices({name: Price(**told) for name, told in values.get("prices", {}).items()})


def held_back(file: SettingsFile, guarding: BaseSide, *, judged: bool) -> Iterator[Weakening]:
    """What the head's settings file says otherwise about how it is judged."""
    before = guarding.values if guarding.forked is None else guarding.forked.values
    suite = file.shown if guarding.file is None else guarding.file.shown
    for name in (*GUARDED, "prices"):
        if _said(file.values, name) != _said(before, name) and not _is_stricter(name, file.values, before):
            holds = "this one holds, as the base has none"
            if judged or name != "judge":
                holds = f"until that is merged, the base's {'holds' if guarding.file else 'default holds'}"
            yield Weakening(suite=suite, key=name, message=f"the setting was changed; {holds}")
    if file.values.get("repeat", ROUNDS_IN_CI) < before.get("repeat", ROUNDS_IN_CI):
        yield Weakening(suite=suite, key="repeat", message="fewer runs a case")
    if _called_deterministic(before) and not _called_deterministic(file.values):
        message = "the target is no longer called deterministic; until that is merged, one of its type is"
        yield Weakening(suite=suite, key="target", message=message)


def _said(values: Mapping[str, Any], name: str) -> object:
    """What settings say of this, in words or by default; nothing is as good as an empty list."""
    return values.get(name, _DEFAULTS.get(name)) or None


def _called_deterministic(values: Mapping[str, Any]) -> bool:
    target = values.get("target")
    return isinstance(target, Mapping) and target.get("deterministic") is True
