"""GitHub's prompt files (`.prompt.yml`): messages with variables, test data, evaluators.

The messages and the model are what is under test, so neither a case's key nor its fingerprint depends on them: a
rewritten prompt is compared, case by case, with the old one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from runevals.lib.nullable import if_known, without
from runevals.lib.parsing.canonical import canonical
from runevals.lib.parsing.json_forms import json_in
from runevals.lib.parsing.shapes import is_whole, list_in, object_in, objects_in, text_in
from runevals.lib.parsing.source import Source, pointer
from runevals.lib.text.escape import one_line
from runevals.lib.text.suggest import did_you_mean
from runevals.lib.text.variables import VARIABLE, fill_variables
from runevals.records import LABELS, Case, FileProblem, Message, Suite, Turn
from runevals.records.errors import UnrecognisedSuite
from runevals.suites.dialects import checking
from runevals.suites.dialects.options import LoadOptions
from runevals.suites.dialects.prompt_evaluators import Evaluators
from runevals.suites.dialects.variables import as_text
from runevals.suites.fingerprint import case_fingerprints, key_of_prompts

NAME = "prompt-yml"
SUFFIXES = (".prompt.yml", ".prompt.yaml")
_MARKS = frozenset({"testData", "evaluators", "modelParameters"})  # any of them, beside messages
_CAPITAL = re.compile(r"(?<=[a-z0-9])[A-Z]")
_OURS_TO_SEND = frozenset({"model", "messages", "stream"})
_IDS = ("testId", "id")
_DESCRIPTIVE = frozenset({*_IDS, *LABELS, "category", "tags", "critical"})
_NOT_METADATA = frozenset({"mocks", "mocksStrict"})  # here, they are variables like others


def recognises(value: object) -> bool:
    """An object with messages, and with what else a prompt file has."""
    document = object_in(value)
    return isinstance(document.get("messages"), list) and not _MARKS.isdisjoint(document)


def _without_question(source: Source, document: object) -> list[FileProblem]:
    """What is wrong with messages that end with an answer."""
    roles = [one.get("role") for one in objects_in(object_in(document).get("messages"))]
    if roles[-1:] in ([], ["user"]):
        return []
    message = "the last message must be the user's: it is the prompt that is answered"
    return [source.problem(("messages", len(roles) - 1, "role"), message)]


def load(source: Source, options: LoadOptions) -> Suite:  # noqa: ARG001 - a dialect's signature
    """A prompt file → suite, with every problem found. Raises UnrecognisedSuite for one without test data."""
    document: Any = source.value
    if not object_in(document).get("testData"):
        message = "has no testData: it is a prompt, not a suite; add testData, or name it as `target.prompt_file`"
        problem = source.problem((), message, rule="unknown-format")
        raise UnrecognisedSuite([problem, *_without_question(source, document)])
    problems = checking.schema_problems(source, NAME)[0]
    cases: list[Case] = []
    messages: tuple[Message, ...] = ()
    if not any(problem.level == "error" for problem in problems):
        messages = tuple(Message(role=one["role"], content=one["content"]) for one in document["messages"])
        reader = _Reader.of(source, document)
        cases = [reader.case(index, entry) for index, entry in enumerate(document["testData"])]
        problems += dict.fromkeys(reader.problems)
        problems += checking.without_expected(
            source, ("testData",), cases, enumerate(document["testData"]), "case"
        )
        cases, alike = checking.with_numbered_keys(cases, lambda index: pointer(("testData", index)), "id")
        problems += alike
    description = document.get("description") if isinstance(document.get("description"), str) else None
    return checking.suite_of(source.path, NAME, cases, problems, description=description, messages=messages)


class _Reader(checking.Reader, frozen=True, kw_only=True):
    """Reads the cases of one file, of which several may have the same problem."""

    document: Mapping[str, Any]
    parameters: Mapping[str, object]
    variables: frozenset[str]  # that a message or an evaluator names
    evaluators: Evaluators

    @classmethod
    def of(cls, source: Source, document: Mapping[str, Any]) -> _Reader:
        names = tuple(dict.fromkeys(name for entry in document["testData"] for name in entry))
        file = checking.Reader(source=source, problems=_without_question(source, document))
        declared = document.get("evaluators", ())
        return cls(
            source=source,
            document=document,
            parameters=_parameters(file, document),
            variables=frozenset(VARIABLE.findall(canonical([document["messages"], document.get("evaluators")]))),
            evaluators=Evaluators(source=source, declared=declared, names=names, problems=file.problems),
            problems=file.problems,
        )

    def case(self, index: int, entry: Mapping[str, Any]) -> Case:
        """One entry of the test data."""
        values = {name: as_text(value) for name, value in entry.items()}
        *opening, last = self._messages(index, values)
        location = self.source.locate(("testData", index))
        turn = Turn(
            prompt=last.content,
            expected=if_known(as_text, entry.get("expected")),
            context=if_known(as_text, entry.get("context")),
            checks=self.evaluators.specs(values, ("testData", index)),
            location=location,
        )
        variables = {name: value for name, value in entry.items() if name != "expected"}
        explicit = [entry[name] for name in _IDS if text_in(entry.get(name)) or is_whole(entry.get(name))]
        description = values.get("input") or " · ".join(values[name] for name in variables if name not in _IDS)
        category, tags = entry.get("category"), entry.get("tags")
        return Case(
            suite=self.source.path,
            key=str(explicit[0]) if explicit else key_of_prompts([canonical(variables)]),
            name=one_line(description, 80),
            turns=(turn,),
            location=location,
            opening=tuple(opening),
            model=self.document.get("model"),
            parameters=self.parameters,
            category=text_in(category) or None,
            tags=tuple(filter(text_in, list_in(tags))),
            critical=entry.get("critical") is True,
            metadata=without(entry, _NOT_METADATA),
            **case_fingerprints([replace(turn, prompt="")], variables, _DESCRIPTIVE - self.variables),
        )

    def _messages(self, index: int, values: Mapping[str, str]) -> list[Message]:
        messages: list[Message] = []
        for number, entry in enumerate(self.document["messages"]):
            content, missing = fill_variables(entry["content"], values)
            messages.append(Message(role=entry["role"], content=content))
            for name in missing:
                line = self.source.locate(("messages", number, "content")).line
                message = f"has no '{name}', which the message at line {line} uses; it is sent as '{{{{{name}}}}}'"
                message += did_you_mean(name, values)
                self.warn(("testData", index), message)
        return messages


def _parameters(file: checking.Reader, document: Mapping[str, Any]) -> Mapping[str, object]:
    """`modelParameters` and the format of the answer, as the chat API calls them."""
    parameters: dict[str, object] = {}
    for key, value in document.get("modelParameters", {}).items():
        name = _CAPITAL.sub(lambda match: f"_{match[0].lower()}", key)
        if name in _OURS_TO_SEND:
            file.wrong(("modelParameters", key), f"'{key}' is not a parameter of a model", key=True)
        parameters[name] = value
    kind = document.get("responseFormat")
    if kind == "json_schema":
        parameters["response_format"] = {"type": kind, "json_schema": _json_schema(file, document)}
    elif kind is not None:
        parameters["response_format"] = {"type": kind}
    return parameters


def _json_schema(file: checking.Reader, document: Mapping[str, Any]) -> object:
    """`jsonSchema` as the chat API wants it: `{name, schema}`; a bare schema gets a name."""
    value: Any = json_in(document.get("jsonSchema"))
    if not isinstance(value, dict):
        file.wrong(("jsonSchema",), "responseFormat json_schema needs 'jsonSchema', a JSON object {name, schema}")
        return {}
    return value if {"name", "schema"} <= value.keys() else {"name": "response", "schema": value}
