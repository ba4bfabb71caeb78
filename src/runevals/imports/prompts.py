"""promptfoo's prompts: texts and chats, in the configuration or in files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.imports.files import PREFIX, Files
from runevals.imports.remarks import Remarks
from runevals.imports.templates import NotPlain, rendered, variables_of
from runevals.lib.parsing.json_forms import json_in
from runevals.lib.parsing.shapes import entries_of, list_in, object_in
from runevals.lib.text.numbers import phrase
from runevals.records.errors import UsageError

_TEXTS = (".txt", ".md", ".j2")
_CHATS = (".json", ".yaml", ".yml")
_ROLES = ("system", "developer", "user", "assistant")
_READ = frozenset({"raw", "id", "label", "description", "config"})


class Prompt(Struct, frozen=True, kw_only=True):
    """A template; `file` is the one that holds it and nothing else, in a form that `prompt_file` reads."""

    label: str
    messages: tuple[tuple[str, str], ...]  # (role, content), the last of them the user's
    source: str = ""  # the file that it was read from
    file: Path | None = None
    config: Mapping[str, Any] = {}  # of the requests with it

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of its variables. Raises NotPlain."""
        return tuple(dict.fromkeys(name for _, content in self.messages for name in variables_of(content)))

    @property
    def suffix(self) -> str:
        """The ending of a file that holds it."""
        return ".txt" if len(self.messages) == 1 else ".json"

    @property
    def text(self) -> str:
        """What such a file holds."""
        if len(self.messages) == 1:
            return self.messages[0][1].strip("\n") + "\n"
        chat = [{"role": role, "content": content} for role, content in self.messages]
        return json.dumps(chat, ensure_ascii=False, indent=2) + "\n"

    def between(self, prefix: str, suffix: str) -> Prompt:
        """The prompt with a text before and after what the user says."""
        if not prefix and not suffix:
            return self
        *earlier, (role, content) = self.messages
        return replace(self, messages=(*earlier, (role, f"{prefix}{content}{suffix}")), file=None)

    def is_empty(self, values: Mapping[str, Any]) -> bool:
        """Whether nothing of what the user says is left with these values."""
        return not rendered(self.messages[-1][1], values).strip()


def read_prompts(value: Any, files: Files, remarks: Remarks) -> list[Prompt]:
    """The prompts of a configuration; those that cannot be read, or that compute, are remarked."""
    prompts: list[Prompt] = []
    number = 0
    for position, (reference, label, config, rest) in enumerate(_entries(value), start=1):
        location = f"prompt {position}{phrase(label, ' ({})')}"
        for key in rest:
            remarks.not_converted(location, f"'{key}' has no equivalent in runevals")
        try:
            for text, own, file in _texts(reference, files):
                number += 1
                name = label or own or f"prompt-{number}"
                prompt = _prompt(text, name, location if label or not own else f"{location} ({own})", remarks)
                if prompt is not None:
                    usable = _usable(file, prompt, files)
                    source = reference.removeprefix(PREFIX) if _is_file(reference) else ""
                    prompts.append(replace(prompt, source=source, file=usable, config=config))
        except UsageError as reason:
            remarks.not_converted(location, str(reason))
    return prompts


def _entries(value: Any) -> Iterator[tuple[str, str, Mapping[str, Any], list[str]]]:
    """(text or reference, label, config, the other fields), from a text, a list, or an object of file → label."""
    if isinstance(value, Mapping):
        value = [{"raw": str(reference), "label": str(label)} for reference, label in value.items()]
    for item in entries_of(value) if isinstance(value, str | list) else ():
        fields = item if isinstance(item, Mapping) else {"raw": str(item)}
        reference, label, id_ = (str(fields.get(key) or "") for key in ("raw", "label", "id"))
        yield reference or id_, label, object_in(fields.get("config")), sorted(map(str, fields.keys() - _READ))


def _is_file(reference: str) -> bool:
    suffixes = (*_TEXTS, *_CHATS, ".jsonl", ".csv", ".js", ".cjs", ".mjs", ".ts", ".py")
    return reference.startswith(PREFIX) or ("\n" not in reference and reference.endswith(suffixes))


def _texts(reference: str, files: Files) -> Iterator[tuple[str, str, Path | None]]:
    """(the text of each prompt behind a reference, a label of its own, its file). Raises UsageError."""
    if not _is_file(reference):
        yield reference, "", None
        return
    for path in files.data(reference, "prompt"):
        if path.suffix in _TEXTS:
            parts = re.split(r"\r?\n---\r?\n", files.text(path))
            for number, part in enumerate(parts, start=1):
                alone = len(parts) == 1
                yield part.strip("\r\n"), path.stem if alone else f"{path.stem}-{number}", path if alone else None
        elif path.suffix in _CHATS:
            chat = (
                files.text(path) if path.suffix == ".json" else json.dumps(files.value(path), ensure_ascii=False)
            )
            yield chat, path.stem, path
        else:
            raise UsageError(f"{reference} is neither a text nor a chat; write the prompts out")


def _prompt(text: str, label: str, location: str, remarks: Remarks) -> Prompt | None:
    """A prompt; one whose text is a list of messages is a chat. None, with a remark, for one that computes."""
    value: Any = json_in(text)
    is_chat = all("role" in object_in(message) for message in list_in(value))
    try:
        messages = _messages(value) if list_in(value) and is_chat else (("user", text),)
        prompt = Prompt(label=label, messages=messages)
        if not prompt.variables and prompt.is_empty({}):
            raise NotPlain("it is empty")
    except NotPlain as reason:
        remarks.not_converted(location, f"{reason}; write the prompt out")
        return None
    return prompt


def _messages(chat: list[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    messages = tuple((str(message.get("role")), _content(message)) for message in chat)
    for role, _ in messages:
        if role not in _ROLES:
            raise NotPlain(f"a message of the chat is of the role '{role}'")
    if messages[-1][0] != "user":
        raise NotPlain("the last message of the chat is not the user's")
    return messages


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(object_in(part).get("type") == "text" for part in content):
        return "\n".join(str(part.get("text", "")) for part in content)
    raise NotPlain("a message of the chat holds more than text")


def _usable(file: Path | None, prompt: Prompt, files: Files) -> Path | None:
    """The file, if a target reads the same from it."""
    if file is None:
        return None
    if file.suffix in _TEXTS:
        return file if prompt.suffix == ".txt" else None
    try:
        value = files.value(file)
    except UsageError:  # a text that merely is in such a file
        return None
    return file if value == [{"role": role, "content": content} for role, content in prompt.messages] else None
