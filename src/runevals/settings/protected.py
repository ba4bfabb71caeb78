"""What of a change's settings the base decides, so that no change judges itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runevals.lib.chat.prices import Price, Prices, is_known
from runevals.records import Weakening
from runevals.settings.file import GUARDED, BaseSide, SettingsFile

# No settings of a change say these, also where the base has none: they decide what the base is.
ONLY_OF_BASE = frozenset({"base_setup", "share"})


def who_tells(name: str, file: SettingsFile, guarding: BaseSide | None) -> tuple[Mapping[str, Any], str]:
    """(the file values, their origin) that settle this setting: the base's where they decide over the head."""
    if guarding is None or guarding.file is None or name not in GUARDED:
        return file.values, file.shown
    if name == "judge" and name not in guarding.file.values:
        return file.values, file.shown  # the first change that brings a judge could never pass else
    return guarding.file.values, guarding.shown


def guarding_values(guarding: BaseSide | None) -> Mapping[str, Any]:
    """What the base's settings file says; nothing where it has none."""
    return {} if guarding is None or guarding.file is None else guarding.file.values


def prices_told(file: SettingsFile, guarding: BaseSide | None) -> Prices:
    """What models cost. A change sets prices for models that are new: with others it would hide what it costs."""
    written = {name: Price(**told) for name, told in file.values.get("prices", {}).items()}
    if guarding is None or guarding.file is None:
        return Prices(written)
    of_base = {name: Price(**told) for name, told in guarding.file.values.get("prices", {}).items()}
    return Prices({**{name: price for name, price in written.items() if not is_known(name)}, **of_base})


def held_back(file: SettingsFile, guarding: BaseSide) -> Iterator[Weakening]:
    """What the head's settings file says otherwise about how it is judged."""
    assert guarding.file is not None  # noqa: S101 - guarding only with a file
    before = (guarding.forked or guarding.file).values
    for name in (*GUARDED, "prices"):
        if file.values.get(name) != before.get(name):
            message = "the setting was changed; until that is merged, the base's holds"
            yield Weakening(suite=guarding.file.shown, key=name, message=message)
    if file.values.get("repeat", 1) < before.get("repeat", 1):
        yield Weakening(suite=guarding.file.shown, key="repeat", message="fewer runs a case")
    if _called_deterministic(before) and not _called_deterministic(file.values):
        message = "the target is no longer called deterministic, so that a lost case may count as noise"
        yield Weakening(suite=guarding.file.shown, key="target", message=message)


def _called_deterministic(values: Mapping[str, Any]) -> bool:
    target = values.get("target")
    return isinstance(target, Mapping) and target.get("deterministic") is True
