"""Which columns of a data set are the prompt and the expected text, by their usual names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from runevals.lib.parsing.shapes import list_in, object_in, objects_in
from runevals.suites.dialects.options import LoadOptions
from runevals.suites.dialects.variables import as_text

OF_QUESTION = ("question", "input", "query", "message", "user_message", "user_input", "text", "request")
RESPONSE = "response"  # the answer that is scored, which is no part of a case
_NAMES: Mapping[str, tuple[str, ...]] = {
    "input": (
        *("input", "prompt", "question", "query", "input_text", "user_input", "instruction", "inputs"),
        *("user_message", "user_prompt", "message", "request", "text"),
    ),
    "expected": (
        *("expected", "expected_response", "expected_output", "expected_answer", "expected_text"),
        *("ground_truth", "groundtruth", "truth", "reference", "reference_answer", "correct_answer", "ideal"),
        *("gold", "target", "answer", "outputs", "output", "completion"),
    ),
}
_NO_PROMPTS = frozenset({"id", "category", "tags", "critical", *_NAMES["expected"]})
_ANSWER = {RESPONSE: ("response", "actual_output", "prediction", "answer", "output", "outputs", "completion")}
# The keys of `columns`
OURS = {"prompt": "input", "expected": "expected", "id": "id", "category": "category", "response": RESPONSE}
_OF_CASES = frozenset({"prompt", "turns", "testId", "expected_response", "sample_id", "skill", "evaluators"})
_CHAT = "messages"
_HISTORY = ("history", "chat_history")  # the messages before the prompt, which is in a column of its own


def is_table(value: object) -> bool:
    """Whether a list holds rows of a data set, and no cases of another format."""
    rows = list_in(value)
    if not rows or not all(isinstance(row, dict) for row in rows):
        return False
    if all("input" in row for row in rows):
        return True
    names = {*_NAMES["input"], _CHAT}
    return all(_OF_CASES.isdisjoint(row) for row in rows) and any(names & row.keys() for row in rows)


def has_prompts(rows: Sequence[object]) -> bool:
    """Whether they are all objects whose only key of a case of another format is `prompt`."""
    return all("prompt" in object_in(row) and object_in(row).keys() & _OF_CASES == {"prompt"} for row in rows)


def fill(rows: Sequence[object], options: LoadOptions) -> dict[str, str]:
    """Gives rows our columns `input` and `expected`, from those with another name → ours by theirs.

    The settings may name columns. If the columns are variables of the prompt file and have no usual name, the
    first of them stands for the prompt: another prompt file does not make other cases. Answers that are scored
    are in a column that is neither of the two.
    """
    columns = columns_of(rows)
    own = [name for name in columns if name not in _NO_PROMPTS]
    has_variables = "input" not in columns and not set(own).isdisjoint(options.variables)
    renamed = {OURS[key]: column for key, column in options.columns.items()}
    for ours, names in {**_NAMES, **(_ANSWER if options.evaluate_only else {})}.items():
        column = next(filter([name for name in columns if name not in renamed.values()].__contains__, names), None)
        if ours == "input" and has_variables:
            column = next(filter(own.__contains__, (*OF_QUESTION, *own)))
        if ours not in renamed and column is not None:
            renamed[ours] = column
    for row in objects_in(rows):
        prompt = row.get(renamed.get("input", ""))
        if not isinstance(prompt, str):
            _read_chat(row, renamed["input"] if isinstance(prompt, list) else _CHAT)
        elif (before := next(filter(row.get, _HISTORY), None)) and _is_chat(row[before]) and not row.get(_CHAT):
            row[_CHAT] = [*row.pop(before), {"role": "user", "content": prompt}]
        for ours, column in renamed.items():
            if row.get(column) is not None and row.get(ours) is None:
                value = row[column] if isinstance(row[column], str) and ours != RESPONSE else row.pop(column)
                row[ours] = _text(value)
        row.update({name: _text(row[name]) for name in ("id", "category") if name in row})
    if _CHAT in columns and "input" not in renamed:
        renamed["input"] = _CHAT
    return {ours: column for ours, column in renamed.items() if ours != column}


def columns_of(rows: Sequence[object]) -> list[str]:
    """The columns of rows, in their order; rows of exports are unwrapped for good."""
    return list(dict.fromkeys(column for row in objects_in(rows) for column in _unwrapped(row)))


def _unwrapped(row: dict[str, Any]) -> dict[str, Any]:
    """A row as exports wrap it: {row_idx, row: {…}} of Hugging Face, {item: {…}} of OpenAI."""
    inner = row.get("row") if "row_idx" in row else row.get("item") if row.keys() == {"item"} else None
    if isinstance(inner, dict):
        row.clear()
        row.update(inner)
    return row


def _read_chat(row: dict[str, Any], column: str) -> None:
    """The last message of the user as the prompt, and an answer behind it as the expected text."""
    chat = row.get(column)
    if (prompt := _prompt_of(chat)) is None:
        return
    row[_CHAT] = chat
    row["input"] = prompt
    if chat and chat[-1]["role"] == "assistant":
        row.setdefault("expected", chat[-1]["content"])


def _is_chat(value: object) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and all(
        isinstance(one, dict) and {str} == {type(one.get(key)) for key in ("role", "content")} for one in value
    )


def _prompt_of(chat: object) -> str | None:
    """What the user says last in a list of messages, to which at most one answer is there."""
    if not _is_chat(chat):
        return None
    messages = chat[:-1] if chat and chat[-1]["role"] == "assistant" else chat
    return str(messages[-1]["content"]) if messages and messages[-1]["role"] == "user" else None


def has_other_chat(row: Mapping[str, Any]) -> bool:
    """Whether a row has a chat beside its prompt, which would not be sent."""
    return bool(row.get(_CHAT)) and not isinstance(row[_CHAT], str) and _prompt_of(row[_CHAT]) != row["input"]


def opening_of(row: Mapping[str, Any]) -> Sequence[Mapping[str, str]]:
    """The messages of a row's chat before the prompt."""
    chat = row.get(_CHAT)
    if not isinstance(chat, list) or _prompt_of(chat) != row["input"]:
        return ()
    return chat[: max(at for at, message in enumerate(chat) if message["role"] == "user")]


def _text(value: object) -> object:
    """A number as text; of an object or a list with one value, that value. Others stay, and are reported."""
    inner = list(value.values()) if isinstance(value, dict) else value
    if isinstance(inner, list) and len(inner) == 1:
        return _text(inner[0])
    return as_text(value) if isinstance(value, int | float) else value
