"""Cases proposed from the statements of a prompt, to be replaced by their author."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from runevals.lib.text.variables import variables_in
from runevals.suites.dialects.columns import OF_QUESTION
from runevals.suites.load import PLACEHOLDER
from runevals.suites.prompt import PROMPT

CASES = 3
_OF_QUESTION = (PROMPT, *OF_QUESTION)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_FENCED = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"#{1,6} +(.+?)[ #]*")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)]) +(.+)")
_SENTENCE = re.compile(r".+?[.!?](?=\s|$)|.+")
_MARKUP = re.compile(r"(?<!\w)([*_`]{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)")  # in pairs: a "* " is text
_SHORTEST, _LONGEST = 15, 300  # characters of a statement


class _Statement(Struct, frozen=True):
    text: str
    heading: str
    line: int
    is_rule: bool  # an item of a list


def proposed_cases(text: str, name: str) -> list[dict[str, object]]:
    """Up to three items of an eval document, of three sections if possible: rules first, then sentences."""
    statements = sorted(dict.fromkeys(_statements(text)), key=lambda statement: not statement.is_rule)
    firsts = list({one.heading: one for one in reversed(statements) if one.heading}.values())
    selection = sorted(firsts, key=statements.index)[:CASES]
    selection += [statement for statement in statements if statement not in selection][: CASES - len(selection)]
    names = variables_in(text)
    return [
        _item(f"proposed-{number}", statement, f"{name}:{statement.line}", names, by_heading=statement in firsts)
        for number, statement in enumerate(selection, start=1)
    ]


def _item(
    key: str, statement: _Statement, place: str, names: Sequence[str], *, by_heading: bool
) -> dict[str, object]:
    """`names`: the variables of the prompt's text."""
    question = f"What applies to “{statement.heading}”?" if by_heading else f"What is right here? {statement.text}"
    return {
        "testId": key,
        "prompt": question,
        "expected_response": statement.text,
        "notes": f"{PLACEHOLDER}: proposed from {place}",
        **with_variables(question, names),
    }


def with_variables(question: str, names: Sequence[str]) -> dict[str, object]:
    """What an item has of the variables `names` of a prompt: one is the question, or cases would not differ."""
    of_question = next((name for name in _OF_QUESTION if name in names), names[-1] if names else PROMPT)
    variables = {name: question if name == of_question else PLACEHOLDER for name in names if name != PROMPT}
    return {"extensions": {"runevals": {"vars": variables}}} if variables else {}


def _statements(text: str) -> Iterator[_Statement]:
    """Statements in their order; no code, front matter or template markup."""
    text = text.replace("\r\n", "\n")
    for skipped in (_FRONT_MATTER, _FENCED):
        text = skipped.sub(lambda match: "\n" * match[0].count("\n"), text)
    heading = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if title := _HEADING.fullmatch(line):
            heading = _plain(title[1])
            continue
        item = _ITEM.fullmatch(line)
        for sentence in _SENTENCE.findall(_plain(item[1] if item else line)):
            if _SHORTEST <= len(sentence.strip()) <= _LONGEST and "{" not in sentence:
                yield _Statement(sentence.strip(), heading, number, item is not None)


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\2", _MARKUP.sub(r"\2", text)).strip()  # also *within **another***
