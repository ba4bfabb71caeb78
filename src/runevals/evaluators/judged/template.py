"""Prompt templates of `llm` evaluators: parsed once, filled once, and not expanded again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

_TAG = re.compile(r"\{\{\s*(#if\s+[\w.]+|/if|[\w.]+)\s*\}\}")
MOST_DEEP = 20
VARIABLES = ("input", "output", "expected")


class Text(Struct, frozen=True):
    """Words of the template."""

    text: str


class Variable(Struct, frozen=True):
    """`{{name}}`."""

    name: str


class If(Struct, frozen=True):
    """`{{#if name}}…{{/if}}`; an empty or absent value is false."""

    name: str
    body: tuple[Text | Variable | If, ...]


Node = Text | Variable | If


def parse_template(template: str) -> tuple[Node, ...]:
    """The template's parts. Raises ValueError for an unknown variable, and an `if` that is open or too deep."""
    tokens = _TAG.split(template)
    nodes, at = _block(tokens, 0, ())
    if at < len(tokens):
        raise ValueError("the template closes an {{#if}} that it did not open")
    return nodes


def _block(tokens: list[str], at: int, inside: tuple[str, ...]) -> tuple[tuple[Node, ...], int]:
    nodes: list[Node] = []
    while at < len(tokens):
        if at % 2 == 0:
            nodes += [Text(tokens[at])] if tokens[at] else []
        elif tokens[at] == "/if":
            return tuple(nodes), at + 1
        elif tokens[at].startswith("#if"):
            name = _checked_name(tokens[at].split()[1])
            if len(inside) == MOST_DEEP:
                raise ValueError(f"the template nests {{{{#if}}}} more than {MOST_DEEP} deep")
            body, at = _block(tokens, at + 1, (*inside, name))
            nodes.append(If(name, body))
            continue
        else:
            nodes.append(Variable(_checked_name(tokens[at])))
        at += 1
    if inside:
        raise ValueError(f"the template opens {{{{#if {inside[-1]}}}}} and does not close it")
    return tuple(nodes), at


def template_problems(template: str) -> Iterator[str]:
    """What makes a prompt unusable: a mistake in it, or that the judge would not see the answer."""
    try:
        parse_template(template)
    except ValueError as error:
        yield str(error)
        return
    if "output" not in _TAG.findall(template):
        yield "the judge would not see the answer: write {{output}} where it belongs"


def _checked_name(name: str) -> str:
    if name not in VARIABLES and not name.startswith("metadata."):
        names = ", ".join((*VARIABLES, "metadata.NAME"))
        raise ValueError(f"the template has no variable '{name}'; it has {names}")
    return name


def fill_template(nodes: tuple[Node, ...], values: Mapping[str, str | None]) -> tuple[str, tuple[str, ...]]:
    """(the template with each variable named by the label of its data, the variables used).

    The values themselves stay apart: what a model wrote is data, never part of the instructions.
    """
    used: dict[str, None] = {}
    return "".join(_pieces(nodes, values, used)), tuple(used)


def _pieces(nodes: tuple[Node, ...], values: Mapping[str, str | None], used: dict[str, None]) -> Iterator[str]:
    for node in nodes:
        match node:
            case Text(text):
                yield text
            case Variable(name):
                used[name] = None
                yield f"(the text marked {label_of(name)})" if values.get(name) is not None else "(none)"
            case If(name, body):
                if values.get(name):
                    yield from _pieces(body, values, used)


def label_of(name: str) -> str:
    """How a variable's data is marked."""
    return name.replace(".", " ").upper()
