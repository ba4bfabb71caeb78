"""The description of an evaluator, from its class and docstring."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Iterator, Mapping
from importlib import import_module

from msgspec import Struct

from runevals.evaluators import catalogue
from runevals.evaluators.kinds import Check, Composite, Evaluator, Judged
from runevals.records import Scale

_SECTIONS = re.compile(r"^(Options|Example):$", re.MULTILINE)
_OPTION = re.compile(r"^    (\w+): ", re.MULTILINE)
_ANSWER = re.compile(r"^(passes|fails): (.*)$", re.MULTILINE)
_WORDS = {bool: "true or false", int: "whole number", float: "number", str: "text", object: "any JSON"}


class Option(Struct, frozen=True, kw_only=True):
    """One option, in words; `default` None is required."""

    name: str
    kind: str
    default: str | None
    meaning: str


class EvaluatorDescription(Struct, frozen=True, kw_only=True):
    """One evaluator, for its readers. `answers` are (passes or fails, an answer) to its example."""

    name: str
    aliases: tuple[str, ...]
    family: str
    summary: str
    prose: str
    options: tuple[Option, ...]
    example: str
    answers: tuple[tuple[str, str], ...]
    facts: str


def describe(cls: type[Evaluator]) -> EvaluatorDescription:
    """The description of an evaluator."""
    prose, *parts = _SECTIONS.split(inspect.getdoc(cls) or "")
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    _, *words = _OPTION.split(sections.get("Options", ""))
    meanings = {name: " ".join(text.split()) for name, text in zip(words[::2], words[1::2], strict=True)}
    example = inspect.cleandoc(sections.get("Example", ""))
    return EvaluatorDescription(
        name=cls.name,
        aliases=catalogue.aliases_of(cls.name),
        family=cls.__module__.rpartition(".")[0].rpartition(".")[2],
        summary=_first_line(import_module(cls.__module__), cls),
        prose=prose.strip(),
        options=tuple(_options(cls, meanings)),
        example=_ANSWER.sub("", example).strip(),
        answers=tuple((match[1], match[2]) for match in _ANSWER.finditer(example)),
        facts=_facts(cls),
    )


def family_title(cls: type[Evaluator]) -> str:
    """The title of an evaluator's family."""
    return _first_line(import_module(cls.__module__.rpartition(".")[0]))


def _first_line(*documented: object) -> str:
    """The first line of the first docstring that there is: plugins may have none."""
    return next(filter(None, map(inspect.getdoc, documented)), "").partition("\n")[0]


def _options(cls: type[Evaluator], meanings: Mapping[str, str]) -> Iterator[Option]:
    hints = typing.get_type_hints(cls)
    for field in catalogue.options_of(cls):
        default_ = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        default = None if default_ is dataclasses.MISSING else _default(default_)
        yield Option(
            name=field.name, kind=_words(hints[field.name]), default=default, meaning=meanings.get(field.name, "")
        )


def _default(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "none"
    text = repr(value)
    return text if len(text) <= 40 else "one of ours"


def _words(hint: object) -> str:
    """A type in plain words."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_words(argument) for argument in arguments if argument is not types.NoneType)
    if origin is typing.Literal:
        return " or ".join(f"`{argument}`" for argument in arguments)
    if origin is tuple:
        return f"list of {_words(arguments[0])}"
    return _WORDS.get(typing.cast("type", hint), "object")


def _facts(cls: type[Evaluator]) -> str:
    """Kind, layer, scale, threshold."""
    own_layer = not issubclass(cls, Composite) or "layer" in vars(cls)
    scale: object = cls.scale  # a property if each instance has its own
    if cls.default_threshold is not None:
        threshold = f"default threshold {cls.default_threshold:g}"
    else:
        threshold = "it passes or fails" if cls.threshold_option is None else f"`{cls.threshold_option}` passes"
    facts = [
        f"Kind: {_kind(cls)}",
        f"Layer: {cls.layer if own_layer else 'that of its parts, behavior where they differ'}",
        f"Scale: {scale if isinstance(scale, Scale) else 'as its options say'}, {threshold}",
        *(["Needs an expected response"] if cls.needs_expected else []),
    ]
    return f"{'. '.join(facts)}."


def _kind(cls: type[Evaluator]) -> str:
    if issubclass(cls, Check):
        return "check, looks by itself"
    if issubclass(cls, Judged):
        return "judged, asks a model"
    return "combines others" if issubclass(cls, Composite) else "scripted, runs in the sandbox"
