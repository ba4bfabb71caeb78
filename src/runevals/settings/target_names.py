"""The names that `targets` of a settings file may have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from runevals.lib.parsing.source import JsonPath
from runevals.targets.kinds import KINDS

WITHOUT_SKILL, PLACEBO_SKILL = "without-skill", "placebo-skill"
OF_SKILL = (WITHOUT_SKILL, PLACEBO_SKILL)
NONE = "none"
OF_ONE_TARGET = "has a name for each target; for a single one write `target:`"
RESERVED = (*OF_SKILL, NONE, "https", *KINDS)


def is_of_one_target(targets: object) -> bool:
    """Whether this value of `targets` is that of `target`: a text, or the keys of one target."""
    return not isinstance(targets, dict) or isinstance(targets.get("type"), str)


def target_problems(values: Mapping[str, Any]) -> Iterator[tuple[JsonPath, str]]:
    """(place, problem) in the targets of a settings file that has the form of its schema."""
    if {"target", "targets"} <= values.keys():
        yield ("targets",), "stands beside 'target'; name one, or list them all here"
    for name in values.get("targets", {}):
        if name in RESERVED:
            yield ("targets", name), "is a word that --target and --against know; give this target another name"
        elif re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", name) is None:
            yield ("targets", name), "has no usable name: letters, digits, and . _ - between them, 64 at most"


def is_name(word: str) -> bool:
    """Whether a word that chooses a target is a name in `targets`, and not a type."""
    return ":" not in word and word not in RESERVED


def file_name(name: str) -> str:
    """The target's name as part of the name of a file."""
    return re.sub(r"[^\w.-]+", "-", name)
