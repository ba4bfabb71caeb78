"""The file of a target's prompt template: a text, the messages of a chat, or a text that marks who says what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runevals.lib.parsing.shapes import object_in
from runevals.lib.parsing.source import JsonPath, Source, read_source, read_text
from runevals.lib.terminal import notice
from runevals.lib.text.variables import other_markup
from runevals.records import FileProblem, Message, PromptTemplate
from runevals.records.errors import InvalidSuite

_CHATS = (".json", ".yaml", ".yml")
_OF_MODEL = frozenset({"model", "modelParameters", "responseFormat", "jsonSchema"})  # of a `.prompt.yml`
_ROLES = "(system|developer|user|assistant|model|tool|function)"
# The marks of who speaks next in Prompty and Dotprompt, and who speaks before the first of them.
_MARKS = {
    ".prompty": (re.compile(rf"(?im)^[ \t]*#?[ \t]*{_ROLES}[ \t]*(?:\[.*\])?[ \t]*:[ \t]*$"), "system"),
    ".prompt": (re.compile(rf"\{{\{{\s*role\s+[\"']{_ROLES}[\"']\s*\}}\}}"), "user"),
}
_NAMES = {"model": "assistant"}
_FRONT_MATTER = re.compile(r"(?s)\A(?:(?:#[^\n]*|[ \t]*)\n)*---[ \t]*\n(?:.*?\n)?---[ \t]*(?:\n|\Z)")


def read_prompt_file(path: Path, display_path: str) -> PromptTemplate:
    """The template in a file. Raises InvalidSuite with every problem of it.

    Blank lines around a text are removed: editors end a file with a line break.
    """
    if path.suffix in _CHATS:
        source = read_source(path, display_path)
        problems = list(_chat_problems(source))
    else:
        text = read_text(path, display_path).replace("\r\n", "\n")
        source = Source(display_path, text, [{"role": "user", "content": text.strip("\n")}])
        source = _by_speaker(source, *_MARKS[path.suffix]) if path.suffix in _MARKS else source
        problems = list(_text_problems(source))
    if problems:
        raise InvalidSuite(problems)
    at, messages = _messages(source)
    if at and (unread := sorted(object_in(source.value).keys() & _OF_MODEL)):
        notice(f"{display_path}: {', '.join(unread)} not used; the target's settings are")
    return PromptTemplate(display_path=display_path, messages=tuple(Message(**message) for message in messages))


def _messages(source: Source) -> tuple[JsonPath, Any]:
    """(where they are, the messages): a `.prompt.yml` has more beside them."""
    value: Any = source.value
    return (("messages",), value["messages"]) if isinstance(value, dict) else ((), value)


def _by_speaker(source: Source, marks: re.Pattern[str], first: str) -> Source:
    """A text with marks as messages; marks and front matter are blank in it."""
    text, of_model = _FRONT_MATTER.subn(lambda front: "\n" * front[0].count("\n"), source.text)
    if of_model:
        notice(f"{source.path}: its front matter is not used; the target's settings are")
    pieces = [first, *marks.split(text)]
    turns = [(role.lower(), piece.strip()) for role, piece in zip(pieces[::2], pieces[1::2], strict=True)]
    messages = [{"role": _NAMES.get(role, role), "content": content} for role, content in turns if content]
    return Source(source.path, marks.sub(lambda mark: " " * len(mark[0]), text), messages, has_marks=True)


def _chat_problems(source: Source) -> Iterator[FileProblem]:
    if problems := source.schema_problems("runevals.settings", "prompt-file"):
        yield from problems
        return
    at, messages = _messages(source)
    if messages[-1]["role"] != "user":
        place = (*at, len(messages) - 1, "role")
        yield source.problem(place, "the last message must be the user's: it is the prompt that is answered")
    for number, message in enumerate(messages):
        markup = other_markup(message["content"], comments=False)
        if markup is not None:
            yield source.problem((*at, number, "content"), _more_than_variables(message["content"], *markup))


def _text_problems(source: Source) -> Iterator[FileProblem]:
    markup = other_markup(source.text, comments=False)
    if markup is not None:
        message = _more_than_variables(source.text, *markup)
        yield FileProblem(location=source.at(markup[0]), pointer="", message=message)
    elif not source.text.strip():
        yield FileProblem(location=source.at(0), pointer="", message="is empty: it must hold the prompt")
    else:
        yield from _chat_problems(source)


def _more_than_variables(text: str, offset: int, what: str) -> str:
    quoted = " ".join(text[offset : offset + 40].split())
    return f"has {what}, {quoted!r}; only {{{{name}}}} is filled in, without filters, conditions or loops"
