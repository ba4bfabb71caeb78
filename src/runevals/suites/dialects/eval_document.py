"""The versioned eval document, its older shapes, and single bare items."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from runevals.evaluators.retrieval.citations import FORMATS
from runevals.lib.nullable import without
from runevals.lib.parsing.schema import Complaint, complaints, schema
from runevals.lib.parsing.shapes import object_in, objects_in, text_in
from runevals.lib.parsing.source import JsonPath, Level, Source, pointer
from runevals.lib.text.numbers import phrase
from runevals.records import (
    NOTHING,
    Case,
    Citation,
    EvaluatorSpec,
    FileProblem,
    Location,
    Response,
    SimulatedUser,
    Suite,
    Turn,
    Workspace,
    cut_name,
    one_line,
)
from runevals.records.suite import EVAL_DOCUMENT
from runevals.records.trace import MOST_PROMPTS
from runevals.repository.fresh_copy import content_hash
from runevals.suites.dialects import checking
from runevals.suites.dialects.columns import is_table
from runevals.suites.dialects.conservation import content_of, describes
from runevals.suites.dialects.options import LoadOptions
from runevals.suites.dialects.stored_checks import CheckStore
from runevals.suites.dialects.synonyms import first_of, is_id
from runevals.suites.fingerprint import key_of_prompts, with_notes
from runevals.suites.workspace import Places, Unusable, files_of, workspace_fingerprint, workspace_of

NAME = EVAL_DOCUMENT
CURRENT_VERSION = "1.2.0"
NEWEST_KNOWN = (1, 11, 0)
CLOSED_SINCE = (1, 2, 0)  # older documents may have unknown keys
EVALUATORS_SINCE = (1, 2, 0)
SYSTEM_DEFAULTS: Mapping[str, Mapping[str, object]] = {"Relevance": {}, "Coherence": {}}
WITHOUT_A_JUDGE: Mapping[str, Mapping[str, object]] = {"PartialMatch": {}}  # for prompts that are in no file
_OF_EXTENSION = frozenset({"critical", "vars", "workspace", "files"})
PREVIEW = 2  # of Microsoft's schema
_BY_CALLS = "; tools_called, tool_arguments and tool_sequence look at calls"
LOST = {
    **dict.fromkeys(("RetrievalQuery", "RetrievalResult"), ""),
    **dict.fromkeys(("ToolCallSelection", "ToolCallExecution"), _BY_CALLS),
}  # Microsoft's evaluators of what only its agents report
_CHECKS = ("default_evaluators", "evaluators", "evaluators_mode")

Version = tuple[int, int, int]
Checks = dict[str, EvaluatorSpec]  # by the names of their entries
Shape = Literal["versioned", "unversioned", "array", "parallel", "item"]
# Of an object, by the first of these keys that it has.
_SHAPES: Mapping[str, Shape] = {
    "schemaVersion": "versioned", "items": "unversioned", "prompts": "parallel",
    "prompt": "item", "turns": "item", "expected_response": "item", "testId": "item",
}  # fmt: skip
_ADDED_STEPS: Mapping[Shape | None, int] = {"array": 1, "item": 2}  # to a path, by the upgrade


def recognises(value: object) -> bool:
    """Whether `value` has one of the shapes of this dialect, and its entries a key like one of ours, if any."""
    keys = {key for one in objects_in(object_in(value).get("items", value)) for key in one}
    return shape_of(value) is not None and (not keys or any(checking.is_misspelt(key, *_SHAPES) for key in keys))


def shape_of(value: object) -> Shape | None:
    """Which shape `value` has, None if none."""
    if isinstance(value, list):
        return None if is_table(value) else "array"
    return next((shape for key, shape in _SHAPES.items() if key in object_in(value)), None)


def upgraded(value: Any) -> dict[str, Any]:
    """Any shape → the versioned one, the items untouched."""
    match shape_of(value):
        case "array":
            return {"schemaVersion": CURRENT_VERSION, "items": value}
        case "unversioned":
            return {"schemaVersion": CURRENT_VERSION, **value}
        case "parallel":
            return {
                "schemaVersion": CURRENT_VERSION,
                **without(value, ("prompts", "expected_responses")),
                "items": zipped(value.get("prompts"), value.get("expected_responses", [])),
            }
        case "item":
            return {"schemaVersion": CURRENT_VERSION, "items": [value]}
        case _:
            return dict(value)


def with_known_keys(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with the keys that older shapes let pass, and the current one does not, under `extensions`."""
    keys = schema("runevals.suites.dialects", NAME)
    items = [_extended(one, keys["$defs"]["thread" if "turns" in one else "single"]) for one in document["items"]]
    return _extended({**document, "items": items}, keys)


def _extended(fields: Mapping[str, Any], rules: Mapping[str, Any]) -> dict[str, Any]:
    known = {key: value for key, value in fields.items() if key in rules["properties"]}
    if others := without(fields, known):
        known["extensions"] = {**known.get("extensions", {}), "earlier": others}
    return known


def as_text(document: Mapping[str, Any]) -> str:
    """The text of a file with this document."""
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def key_of(item: Mapping[str, Any]) -> str:
    """What base and head are matched by."""
    key = first_of(item, ("testId", "name", "id"), is_id)
    return str(key) if key is not None else key_of_prompts(prompt_of(turn) for turn in item.get("turns", [item]))


def prompt_of(turn: Mapping[str, Any]) -> str:
    """The prompt of a turn; of a simulated user, its description."""
    return str(_user(turn["user"])) if "user" in turn else str(turn["prompt"])


def _user(raw: Mapping[str, Any]) -> SimulatedUser:
    facts = raw.get("facts", ())
    return SimulatedUser(
        persona=raw["persona"],
        goal=raw["goal"],
        facts=tuple(f"{name}: {value}" for name, value in facts.items())
        if isinstance(facts, dict)
        else tuple(facts),
        max_turns=raw.get("max_turns", MOST_PROMPTS),
        stop_when=raw.get("stop_when"),
    )


def version_of(declared: object) -> Version | None:
    """Three numbers; None if `declared` is not such a version."""
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", text_in(declared))
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


def load(source: Source, options: LoadOptions) -> Suite:
    """Document → suite, with every problem found."""
    return _Loader(source, options).suite()


@dataclass
class _Loader:
    source: Source
    options: LoadOptions
    problems: list[FileProblem] = field(default_factory=list)
    defaults: Checks | None = None
    context: str | None = None
    hash_of: Callable[[Path], str] = field(default_factory=lambda: cache(content_hash))  # its cases share fixtures

    def suite(self) -> Suite:
        self.shape = shape_of(self.source.value)
        document = self._without_lost(upgraded(self.source.value), ())
        self.version = self._version(document)
        self._shape_notices()
        items = self._valid_items(document)
        cases = [self._case(document, index) for index in items]
        if cases:
            self._version_notice(document)
        places = [pointer(self._in_file(("items", index))) for index in items]
        cases, alike = checking.with_numbered_keys(cases, places.__getitem__, "testId")
        about = {"description": document.get("description"), "legacy": self.shape != "versioned"}
        return checking.suite_of(self.source.path, NAME, cases, [*self.problems, *alike], **about)

    # -- the document as a whole

    def _valid_items(self, document: Mapping[str, Any]) -> Sequence[int]:
        """Reports the violations of the schema; returns the valid items, none if a violation affects all."""
        json_paths: list[JsonPath] = [()] if _has_error(self.problems) else []
        for complaint in complaints("runevals.suites.dialects", NAME, document):
            if complaint.json_path == ("schemaVersion",):
                continue  # `_version` says it
            count = len(self.problems)
            self._complain(complaint, document)
            json_paths += [complaint.json_path] if _has_error(self.problems[count:]) else []
        return checking.valid_entries(json_paths, ("items",), document.get("items"))

    def _version(self, document: Mapping[str, Any]) -> Version:
        declared = document.get("schemaVersion")
        version = version_of(declared)
        if version is None:
            message = f"schemaVersion must be three numbers such as {CURRENT_VERSION}, but is {declared!r}"
            self._report(("schemaVersion",), message)
            return NEWEST_KNOWN
        if version[0] == PREVIEW:
            message = f"schemaVersion {declared} is a preview of Microsoft's; read as {CURRENT_VERSION}"
            self._report(("schemaVersion",), message, "notice")
        elif version[0] != 1:
            message = f"schemaVersion {declared} is not supported; use 1.x.y, such as {CURRENT_VERSION}"
            self._report(("schemaVersion",), message)
        return version

    def _without_lost(self, entry: dict[str, Any], json_path: JsonPath) -> dict[str, Any]:
        """A document or a part without Microsoft's evaluators that nothing here measures, each with a warning."""
        fields = dict(entry)
        for key in ("default_evaluators", "evaluators"):
            checks = object_in(fields.get(key))
            if lost := list(filter(LOST.__contains__, checks)):
                fields[key] = without(checks, LOST)
            for name in lost:
                message = f"'{name}' is lost: no evaluator here measures it{LOST[name]}"
                self._report((*json_path, key, name), message, "warning", key=True)
        for key in ("items", "turns"):
            if isinstance(parts := fields.get(key), list):
                fields[key] = [
                    self._without_lost(part, (*json_path, key, at)) if isinstance(part, dict) else part
                    for at, part in enumerate(parts)
                ]
        return fields

    def _shape_notices(self) -> None:
        if self.shape in ("array", "unversioned", "parallel", "item"):
            message = (
                f"has no schemaVersion; read as {CURRENT_VERSION} "
                f"(`runevals upgrade {self.source.path}` writes it so)"
            )
            self._report((), message, "notice")
        if self.shape == "parallel":
            value: Any = self.source.value
            prompts, expected = value.get("prompts"), value.get("expected_responses")
            if isinstance(prompts, list) and isinstance(expected, list) and len(prompts) != len(expected):
                message = f"has {len(expected)} entries for {len(prompts)} prompts; they must be equally many"
                self.problems.append(self.source.problem(("expected_responses",), message))

    def _version_notice(self, document: Mapping[str, Any]) -> None:
        newer = _newer_fields(document) if self.version < EVALUATORS_SINCE and self.shape == "versioned" else []
        if newer:
            belong = f"belong{'s' if len(newer) == 1 else ''} to schemaVersion {CURRENT_VERSION}"
            message = f"{', '.join(newer)} {belong} and can be used; raise the version"
            self._report(("schemaVersion",), message, "notice")

    def _complain(self, complaint: Complaint, document: Mapping[str, Any]) -> None:
        level: Level = "error"
        if complaint.key:
            at_root = len(complaint.json_path) == 1
            declared = self.shape == "versioned" and CLOSED_SINCE <= self.version <= NEWEST_KNOWN
            key = str(complaint.json_path[-1])
            value: Any = document
            for step in complaint.json_path:
                value = value[step]
            is_error = checking.is_misspelt(key, *_CHECKS) or content_of(key, value)
            level = "error" if is_error or (declared and not at_root) else "warning"
            if level == "warning" and describes(key):
                return
        message = complaint.message
        if complaint.key and complaint.json_path[-1] in _OF_EXTENSION:
            place = phrase(complaint.json_path[:-1] == ("extensions", "runevals"), " of each item")
            message += f'; write it as "extensions": {{"runevals": {{"{complaint.json_path[-1]}": …}}}}{place}'
        self._report(complaint.json_path, message, level, key=complaint.key, rule=complaint.rule)

    # -- one item

    def _case(self, document: Mapping[str, Any], index: int) -> Case:
        item = document["items"][index]
        json_path: JsonPath = ("items", index)
        raw = [(turn, (*json_path, "turns", number)) for number, turn in enumerate(item.get("turns", ()))]
        entries = self._merge(self._defaults(document), item, json_path)
        self.context = item.get("context") if raw else None  # a thread's context is every turn's
        location = self._place(json_path)
        parts = [(turn, at, self._merge(entries, turn, at), self._place(at)) for turn, at in raw]
        turns = [self._load_turn(*part) for part in parts or [(item, json_path, entries, location)]]
        extension = item.get("extensions", {}).get("runevals", {})
        outer = document.get("extensions", {}).get("runevals", {}).get("workspace")
        workspace, files, content = self._workspace(extension, outer, json_path)
        if others := {name: value for name, value in item.get("extensions", {}).items() if name != "runevals"}:
            content = {**content, "extensions": others}  # targets and checks may read them
            self._require_spelling(others, (*json_path, "extensions"))
        variables = {"vars": extension["vars"]} if content and extension.get("vars") else extension.get("vars", {})
        return Case(
            suite=self.source.path,
            key=key_of(item),
            name=item.get("name") or cut_name(one_line(turns[0].prompt)),
            turns=tuple(map(self.store.offload, turns)),
            location=location,
            category=item.get("category"),
            tags=tuple(item.get("tags", ())),
            critical=bool(extension.get("critical", False)),
            metadata={name: item[name] for name in ("notes", "extensions") if name in item} or NOTHING,
            variables=extension.get("vars", NOTHING),
            workspace=workspace,
            files=files,
            **with_notes(turns, {**variables, **content}, item.get("notes")),
        )

    def _require_spelling(self, names: Iterable[str], json_path: JsonPath) -> None:
        """An error for a misspelt `runevals`: what is in it would be lost, such as `critical`."""
        for name in names:
            if checking.is_misspelt(name, "runevals"):
                message = f"'{name}' is not read; did you mean 'runevals'?"
                self._report((*json_path, name), message, key=True, rule="unknown-key")

    def _workspace(
        self, extension: Mapping[str, Any], outer: Mapping[str, Any] | None, json_path: JsonPath
    ) -> tuple[Workspace | None, Mapping[str, Path], Mapping[str, object]]:
        """(the workspace of an item, its files, what its fingerprint has of both)."""
        declared = extension.get("workspace", outer)
        if declared is None and not extension.get("files"):
            return None, NOTHING, NOTHING
        root = self.options.root
        places = Places(base=self.options.folder or root, root=root)
        own = "workspace" in extension or declared is None
        at: JsonPath = (*(json_path if own else ()), "extensions", "runevals")
        try:
            workspace = None if declared is None else workspace_of(declared, places)
            at = (*json_path, "extensions", "runevals") if extension.get("files") else at
            files = files_of(extension.get("files", ()), places)
            return workspace, files, workspace_fingerprint(workspace, files, self.hash_of)
        except Unusable as error:
            self._report(at, f"workspace: {error}")
            return None, {}, {}

    def _defaults(self, document: Mapping[str, Any]) -> Checks:
        if self.defaults is None:
            if "default_evaluators" in document:
                self.defaults = self._checks(document["default_evaluators"], ("default_evaluators",))
            else:
                self.defaults = {
                    name: EvaluatorSpec(name=name, options=options) for name, options in SYSTEM_DEFAULTS.items()
                }
            self.store = CheckStore(self.source, self.defaults.values(), cases=len(document["items"]))
        return self.defaults

    def _merge(self, outer: Checks, item: Mapping[str, Any], json_path: JsonPath) -> Checks:
        own = self._checks(item["evaluators"], (*json_path, "evaluators")) if "evaluators" in item else {}
        return own if item.get("evaluators_mode") == "replace" else {**outer, **own}

    def _checks(self, evaluators: Mapping[str, Any], json_path: JsonPath) -> Checks:
        """The specs of these entries, shared by all turns to which they apply."""
        checks: Checks = {}
        at, definitions = self._in_file(json_path), self.options.definitions
        for name, declared in evaluators.items():
            options = self._with_known_format(declared, (*at, name)) if name == "Citations" else declared
            checks[name] = spec = checking.spec_of(name, options, definitions, self.source.place(at, name))
            self.problems += checking.evaluator_problems(
                self.source, (*at, name), name, options, definitions, spec
            )
        return checks

    def _with_known_format(self, options: Mapping[str, Any], at: JsonPath) -> Mapping[str, Any]:
        """The options of Citations, without an unknown format: the documents' own schema permits any text."""
        declared = options.get("citation_format")
        if not isinstance(declared, str) or declared in FORMATS:
            return options
        message = f"'{declared}' is not one of {', '.join(FORMATS)}; read as {FORMATS[0]}, the default"
        self.problems.append(self.source.warning((*at, "citation_format"), message, key=True))
        return {name: option for name, option in options.items() if name != "citation_format"}

    def _load_turn(self, raw: Mapping[str, Any], json_path: JsonPath, checks: Checks, location: Location) -> Turn:
        expected, specs = raw.get("expected_response"), tuple(checks.values())
        text = raw.get("response") if self.options.evaluate_only else None
        recorded = None if text is None else Response(text=text, citations=_citations(raw.get("citations")))
        if expected is None:
            if needing := [name for name, spec in checks.items() if checking.needs_expected(spec)]:
                message = f"expected_response is missing, but {', '.join(needing)} compares with it"
                self._report(json_path, message, rule="no-expected")
        else:
            expected_at = self._in_file((*json_path, "expected_response"))
            self.problems += checking.expected_problems(self.source, expected_at, expected, specs)
        return Turn(
            prompt=prompt_of(raw),
            user=_user(raw["user"]) if "user" in raw else None,
            expected=expected,
            context=raw.get("context", self.context),
            checks=specs,
            recorded=recorded,
            location=location,
        )

    # -- json_paths and problems

    def _place(self, json_path: JsonPath) -> Location:
        return self.source.place(self._in_file(json_path))

    def _in_file(self, json_path: JsonPath) -> JsonPath:
        """The path in the file of a path in the upgraded document."""
        if json_path[:1] != ("items",):
            return json_path
        if self.shape == "parallel":
            return ("expected_responses" if "expected_response" in json_path[2:] else "prompts", *json_path[1:2])
        return json_path[_ADDED_STEPS.get(self.shape, 0) :]

    def _report(
        self, at: JsonPath, message: str, level: Level = "error", *, key: bool = False, rule: str = "meaning"
    ) -> None:
        self.problems.append(self.source.problem(self._in_file(at), message, key=key, rule=rule, level=level))


def _citations(value: object) -> tuple[Citation, ...] | None:
    """The sources beside a recorded response; None if the list is not valid."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return None
    texts = [(item.get("text", item.get("source", "")), item.get("source")) for item in value]
    if not all(isinstance(text, str) and isinstance(source, str | None) for text, source in texts):
        return None
    return tuple(Citation(text=text, source=source) for text, source in texts)


def _newer_fields(document: Mapping[str, Any]) -> list[str]:
    """The fields of a document that came with version 1.2.0."""
    items = objects_in(document["items"])
    turns = [turn for item in items for turn in objects_in(item.get("turns"))]
    used = {key for fields in (document, *items, *turns) for key in fields}
    return [name for name in (*_CHECKS, "turns") if name in used]


def zipped(prompts: object, expected: object) -> list[object]:
    """The items of parallel lists; the last ones may have no expected text, and there are none without lists."""
    if not isinstance(prompts, list) or not isinstance(expected, list):
        return []
    return [
        {"prompt": prompt, **({"expected_response": expected[index]} if index < len(expected) else {})}
        for index, prompt in enumerate(prompts)
    ]


def _has_error(problems: Iterable[FileProblem]) -> bool:
    return any(problem.level == "error" for problem in problems)
