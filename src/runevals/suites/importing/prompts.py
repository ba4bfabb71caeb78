"""promptfoo's prompts: texts and chats, in the configuration or in files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runevals.records.errors import ToldWrong
from runevals.suites.importing.files import PREFIX, Files
from runevals.suites.importing.remarks import Remarks
from runevals.suites.importing.templates import NotPlain, rendered

_TEXTS = (".txt", ".md", ".j2")
_CHATS = (".json", ".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One prompt: `text`, or the messages of a chat."""

    label: str
    text: str = ""
    chat: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A prompt with the values of a test in it."""

    system: str | None
    user: str
    others: int  # messages before the last that are no system message


def read_prompts(told: Any, files: Files, remarks: Remarks) -> list[Prompt]:
    """The prompts of a configuration; those that cannot be read are remarked."""
    found: list[Prompt] = []
    for number, (reference, label) in enumerate(_listed(told), start=1):
        where = f"prompt {number}" + (f" ({label})" if label else "")
        try:
            for text, own in _texts(reference, files):
                found.append(_prompt(text, label or own or f"prompt-{len(found) + 1}"))
        except ToldWrong as reason:
            remarks.lost(where, str(reason))
    return found


def fill(prompt: Prompt, values: Mapping[str, Any]) -> Filled:
    """The prompt of one test. Raises NotPlain for a template that computes."""
    if not prompt.chat:
        return Filled(system=None, user=rendered(prompt.text, values), others=0)
    messages = [(str(told.get("role")), _content(told)) for told in prompt.chat]
    if messages[-1][0] != "user":
        raise NotPlain("the last message of the chat is not the user's")
    systems = [rendered(text, values) for role, text in messages[:-1] if role in ("system", "developer")]
    return Filled(
        system="\n\n".join(systems) if systems else None,
        user=rendered(messages[-1][1], values),
        others=len(messages) - 1 - len(systems),
    )


def _listed(told: Any) -> Iterator[tuple[str, str]]:
    """(text or reference, label), from a text, a list of texts and objects, or an object of file → label."""
    if isinstance(told, str):
        yield told, ""
    elif isinstance(told, Mapping):
        yield from ((str(reference), str(label)) for reference, label in told.items())
    elif isinstance(told, list):
        for one in told:
            if isinstance(one, Mapping):
                yield str(one.get("raw") or one.get("id") or ""), str(one.get("label") or "")
            else:
                yield str(one), ""


def _texts(reference: str, files: Files) -> Iterator[tuple[str, str]]:
    """(the text of each prompt behind a reference, a label of its own). Raises ToldWrong."""
    suffixes = (*_TEXTS, *_CHATS, ".jsonl", ".csv", ".js", ".cjs", ".mjs", ".ts", ".py")
    is_file = reference.startswith(PREFIX) or ("\n" not in reference and reference.endswith(suffixes))
    if not is_file:
        yield reference, ""
        return
    for path in files.named(reference):
        if path.suffix in _TEXTS:
            parts = files.text(path).split("\n---\n")
            for number, part in enumerate(parts, start=1):
                yield part.strip("\n"), path.stem if len(parts) == 1 else f"{path.stem}-{number}"
        elif path.suffix in _CHATS:
            yield _chat_text(path, files), path.stem
        else:
            raise ToldWrong(f"{reference} computes its prompt, or is a table of prompts; write the prompts out")


def _chat_text(path: Path, files: Files) -> str:
    text = files.text(path)
    if path.suffix == ".json":
        return text
    return json.dumps(files.value(path), ensure_ascii=False)


def _prompt(text: str, label: str) -> Prompt:
    """A prompt; one whose text is a list of messages is a chat."""
    try:
        value = json.loads(text) if text.lstrip().startswith("[") else None
    except (ValueError, RecursionError):
        value = None
    is_chat = (
        isinstance(value, list) and value and all(isinstance(told, dict) and "role" in told for told in value)
    )
    return Prompt(label=label, chat=tuple(value)) if is_chat and value else Prompt(label=label, text=text)


def _content(told: Mapping[str, Any]) -> str:
    content = told.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(
        isinstance(part, dict) and part.get("type") == "text" for part in content
    ):
        return "\n".join(str(part.get("text", "")) for part in content)
    raise NotPlain("a message of the chat holds more than text")
