"""Several targets by name (`targets:`, or `--model` given twice), each of which is run as the one target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.nullable import if_known
from runevals.lib.text.numbers import phrase, short_list
from runevals.lib.text.suggest import did_you_mean
from runevals.records.errors import InvalidSettings
from runevals.settings.file import BaseSide, SettingsFile
from runevals.settings.target_names import NONE, OF_SKILL, file_name, is_name
from runevals.settings.words import target_words
from runevals.targets.kinds import kind_of


class TargetChoice(Struct, frozen=True, kw_only=True):
    """The targets of a run: one, by its name if it has one, or several."""

    file: SettingsFile
    base_side: BaseSide | None
    several: tuple[str, ...] = ()  # empty if there is one, or none
    name: str | None = None  # in `targets`
    known: tuple[str, ...] = ()  # every name in `targets`, or every model
    removed: tuple[str, ...] = ()  # in `targets` of the base only


def choose_targets(
    file: SettingsFile, base_side: BaseSide | None, target: object, models: Sequence[str], against: object
) -> TargetChoice:
    """Which targets run, and the settings files with only the one that is chosen. Raises InvalidSettings.

    `target` is the option with this name, `models` are those of `--model`. With the name of one of several
    targets, the one that it is to be compared with runs too.
    """
    of_file: Mapping[str, Any] = file.values.get("targets", {})
    word = if_known(str, target)
    if len(models) > 1:
        return _of_models(file, base_side, word, tuple(models))
    if word is not None and word not in of_file:
        if of_file and is_name(word):  # neither a target's name nor a type
            hint = did_you_mean(word, of_file)
            raise InvalidSettings(f"there is no target '{word}'; `targets` has {', '.join(of_file)}{hint}")
        return TargetChoice(
            file=_with_target(file, None), base_side=_of_base(base_side, None), known=tuple(of_file)
        )
    if not of_file:
        return TargetChoice(file=file, base_side=_of_base(base_side, None), removed=_removed(base_side, of_file))
    of_base = {} if base_side is None else base_side.values.get("targets", {})
    # One that the base has not may be a removed one by another name.
    removed = () if word in of_base else _removed(base_side, of_file)
    others = {str(against), word} if against in of_file else {word}
    several = tuple(of_file) if word is None else tuple(name for name in of_file if name in others)
    if len(several) > 1:
        if models:
            which = f"of which target? Name one with --target: {', '.join(several)}"
            raise InvalidSettings(f"--model {models[0]}: {which}")
        return TargetChoice(file=file, base_side=base_side, several=several, known=tuple(of_file), removed=removed)
    name = several[0]
    return TargetChoice(
        file=_with_target(file, name),
        base_side=_of_base(base_side, name),
        name=name,
        known=tuple(of_file),
        removed=removed,
    )


def _of_models(
    file: SettingsFile, base_side: BaseSide | None, word: str | None, models: tuple[str, ...]
) -> TargetChoice:
    """One target with each of the models."""
    of_file = file.values.get("targets", {})
    if word is None and len(of_file) > 1:
        which = f"of which target? Name one with --target: {', '.join(of_file)}"
        raise InvalidSettings(f"--model {models[0]}: {which}")
    name = next(iter(of_file), None) if word is None else word
    section = word or file.values.get("target") or "openai"
    if name in of_file:
        file, base_side, section = _with_target(file, name), _of_base(base_side, name), of_file[name]
    kind = target_words(section)["type"]
    if not kind_of(kind).traits.takes_model:
        raise InvalidSettings(
            f"--model was given {len(models)} times, but the {kind} target answers alike with any; leave it out, "
            "or name several `targets` in runevals.yaml"
        )
    names = [file_name(model) for model in models]
    for number, model in enumerate(models):
        if names[number] in names[:number]:
            raise InvalidSettings(f"--model {model} was given twice; leave one out")
        if model in (*OF_SKILL, NONE):
            raise InvalidSettings(f"--model {model}: --against has its own meaning for this name")
    return TargetChoice(file=file, base_side=base_side, several=models, known=models)


def check_against(against: object, source: str, targets: TargetChoice) -> None:
    """Raises InvalidSettings if there is nothing of this name to compare with, or only the target itself."""
    known = (*OF_SKILL, NONE, *targets.known)
    when = "too" if "against" in targets.file.values else "and the base's gates on it, in a change before this one"
    way = f"; the change removes {{}} from `targets`: remove `against`, {when}"
    removed = phrase(short_list(targets.removed, 5), way)
    if against is None or against == NONE:
        return
    if against not in known:
        hint = did_you_mean(str(against), known) or "; for two models, name both: --model A --model B"
        raise InvalidSettings(f"{source} is '{against}'; it must be one of {', '.join(known)}{removed or hint}")
    if against in OF_SKILL and targets.several:
        raise InvalidSettings(f"{source}: {against} is of one target; {choose_one(targets.several)}")
    if against in targets.known and not targets.several and (source.startswith("--") or len(targets.known) == 1):
        why = "the target would be compared with itself" if against == targets.name else "it does not run"
        raise InvalidSettings(f"{source} is {against}: {why}{removed or '; name another, or choose no target'}")


def choose_one(names: Sequence[str]) -> str:
    """What to do if only one target can be run."""
    return f"there are several targets ({', '.join(names)}); choose one with --target or --model"


def _with_target(file: SettingsFile, name: str | None) -> SettingsFile:
    """The file as if it named only this one of its targets; None: none of them."""
    if "targets" not in file.values:
        return file
    values = {key: value for key, value in file.values.items() if key != "targets"}
    target = file.values["targets"].get(name)
    return replace(file, values=values if target is None else {**values, "target": target})


def _removed(side: BaseSide | None, of_change: Mapping[str, object]) -> tuple[str, ...]:
    """The targets that the base has, and had when the change left it, and that the change does not have."""
    if side is None or side.file is None:
        return ()
    known = [file.values.get("targets", {}) for file in (side.file, side.forked) if file is not None]
    return tuple(name for name in known[0] if name not in of_change and all(name in each for each in known))


def _of_base(side: BaseSide | None, name: str | None) -> BaseSide | None:
    if side is None:
        return None
    file, forked = (None if one is None else _with_target(one, name) for one in (side.file, side.forked))
    return replace(side, file=file, forked=forked)
