"""The settings that the base decides for a change, so that no change judges itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from runevals.models.chat.prices import Price, Prices
from runevals.settings.file import BaseSide, SettingsFile
from runevals.settings.table import ROUNDS_IN_CI, SETTINGS

if TYPE_CHECKING:
    from runevals.records import Weakening

_FILE_ONLY = ("blame", "gates", "redact_patterns", "url_fetch")  # protected too, and in no table
PROTECTED = tuple(sorted({setting.name for setting in SETTINGS if setting.protected} | set(_FILE_ONLY)))
_DEFAULTS = {setting.name: setting.default for setting in SETTINGS}
_BUDGETS = ("max_calls", "max_cost", "max_duration", "max_tokens")
_WITH_TARGET = ("against", "margin")  # they decide only with a gate on `against_drop`
_REDACTED = ("full", "hashes", "none")  # from least to most redacted


def effective_source(
    name: str, file: SettingsFile, base_side: BaseSide | None, *, judged: bool = True
) -> tuple[Mapping[str, Any], str]:
    """(values, their origin) that decide this setting: the base's if it is protected, otherwise the head's.

    Of budgets and redaction the stricter side is used. `judged`: the base has a judge; otherwise a change that
    introduces one could never pass.
    """
    if base_side is None or not _decides(name, base_side.values, judged=judged):
        return file.values, file.display_name
    if name == "redact_patterns":
        both = dict.fromkeys((*base_side.values.get(name, ()), *file.values.get(name, ())))
        return {name: list(both)}, base_side.display_name
    if _is_stricter(name, file.values, base_side.values):
        return file.values, file.display_name
    return base_side.values, base_side.display_name


def _decides(name: str, of_base: Mapping[str, Any], *, judged: bool) -> bool:
    """Whether this setting decides over a change, with these settings of its base."""
    if name in _WITH_TARGET:
        return any(gate["metric"] in ("against_drop", "lift") for gate in of_base.get("gates", ()))
    return name in PROTECTED and (name != "judge" or judged)


def _is_stricter(name: str, values: Mapping[str, Any], than: Mapping[str, Any]) -> bool:
    """Whether these settings have a smaller budget or redact more than the others."""
    here, there = _value_of(values, name), _value_of(than, name)
    if here == there:
        return False
    if name == "redact":
        return _REDACTED.index(str(here)) > _REDACTED.index(str(there))
    if name == "redact_patterns":
        return set(values.get(name, ())) >= set(than.get(name, ()))
    return (
        name in _BUDGETS and isinstance(here, int | float) and (not isinstance(there, int | float) or here < there)
    )


def prices_of(file: SettingsFile, base_side: BaseSide | None) -> Prices:
    """The prices of models. A change cannot set them: it could hide its cost."""
    values = file.values if base_side is None else base_side.values
    return Prices({name: Price(**price) for name, price in values.get("prices", {}).items()})


def changes_not_applied(file: SettingsFile, base_side: BaseSide, *, judged: bool) -> Iterator[Weakening]:
    """The protected settings that the head's file changes and that are therefore not applied."""
    from runevals.records import Weakening

    before = base_side.values if base_side.forked is None else base_side.forked.values
    suite = file.display_name if base_side.file is None else base_side.file.display_name
    for name in (*PROTECTED, "prices"):
        if name in _WITH_TARGET and not _decides(name, base_side.values, judged=judged):
            continue
        if _value_of(file.values, name) != _value_of(before, name) and not _is_stricter(name, file.values, before):
            holds = "this one holds, as the base has none"
            if judged or name != "judge":
                holds = f"until that is merged, the base's {'holds' if base_side.file else 'default holds'}"
            yield Weakening(suite=suite, key=name, message=f"the setting was changed; {holds}")
    if file.values.get("repeat", ROUNDS_IN_CI) < before.get("repeat", ROUNDS_IN_CI):
        yield Weakening(suite=suite, key="repeat", message="fewer runs a case")
    yield from _targets_changed(file, base_side, before, suite)


def _targets_changed(
    file: SettingsFile, base_side: BaseSide, before: Mapping[str, Any], suite: str
) -> Iterator[Weakening]:
    """The targets that are removed, no longer deterministic, or another one to compare with."""
    from runevals.records import Weakening

    now, reference = _targets(file.values), base_side.values.get("against")
    for key, target in _targets(before).items():
        if key not in now and key != "target":
            yield Weakening(suite=suite, key=key, message="the target was removed")
        instead = [now[key]] if key in now else now.values()
        if _is_deterministic(target) and not all(map(_is_deterministic, instead)):
            message = "the target is no longer called deterministic; until that is merged, one of its type is"
            yield Weakening(suite=suite, key=key, message=message)
        if key == f"targets.{reference}" and key in now and now[key] != target:
            message = "the target that others are compared with was changed"
            yield Weakening(suite=suite, key=key, message=message)


def _value_of(values: Mapping[str, Any], name: str) -> object:
    """The value or the default; an empty list counts as not set."""
    return values.get(name, _DEFAULTS.get(name)) or None


def _targets(values: Mapping[str, Any]) -> Mapping[str, object]:
    """Each target by its key in the file."""
    several = {f"targets.{name}": target for name, target in values.get("targets", {}).items()}
    return several or {"target": values.get("target")}


def _is_deterministic(target: object) -> bool:
    return isinstance(target, Mapping) and target.get("deterministic") is True
