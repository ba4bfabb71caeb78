"""Agent Skills: the cases of `evals/evals.json` beside a `SKILL.md`, and queries that should load the skill.

No specification says what is in these files. What is understood is read; what is likely to decide and is not
understood is named. A case is never without a check and green.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import field
from msgspec.structs import replace

from runevals.lib.nullable import known, without_none
from runevals.lib.parsing.shapes import entries_of, is_number, object_in, objects_in, text_in
from runevals.lib.parsing.source import JsonPath, Source, pointer
from runevals.lib.text.numbers import phrase
from runevals.lib.text.suggest import MISSPELT, nearest
from runevals.records import Case, EvaluatorSpec, FileProblem, Problem, Suite, Turn, cut_name, one_line
from runevals.records.agent import SKILL_TRIGGERS
from runevals.records.errors import UnrecognisedSuite
from runevals.suites.dialects import checking
from runevals.suites.dialects.agent_skills_checks import CHECKS, AgentSkillChecks, has_checks, unread_checks
from runevals.suites.dialects.case_files import digests, find_files, place_of
from runevals.suites.dialects.conservation import content_in_case, content_of, decides, describes
from runevals.suites.dialects.options import LoadOptions
from runevals.suites.dialects.skill_folder import SkillFolder, skill_of
from runevals.suites.dialects.synonyms import first_of, is_id, is_string, is_text
from runevals.suites.fingerprint import Fingerprints, case_fingerprints, key_of_prompts

NAME = "agent-skills"
_CONVENTION = (
    "write {skill_name, evals: [{id, prompt, expected_output, files, assertions or expectations}]}, "
    "or a list of {query, should_trigger}"
)
# Keys of a file under which its cases stand, and those of queries that should all load the skill, or should not.
_CASES = (
    "evals", "cases", "test_cases", "tests", "eval_cases", "behavior_evals", "behavioral_evals", "quality_evals",
    "trigger_evals", "trigger_cases", "trigger_queries", "trigger_tests", "triggers", "queries",
)  # fmt: skip
_SHOULD = ("should_trigger", "positive", "positives", "positive_cases", "should_trigger_queries")
_SHOULD_NOT = ("should_not_trigger", "negative", "negatives", "negative_cases", "should_not_trigger_queries")
_EXPECTED = {**dict.fromkeys(_SHOULD, True), **dict.fromkeys(_SHOULD_NOT, False)}
_LISTS = (*_CASES, *_EXPECTED)
_OTHERS = frozenset({"schemaVersion", "items", "samples", "rows", "messages"})  # files of other formats
_DESCRIBES = ("about",)
_OWN_TRIGGER = "should_trigger"  # the id of the check whether the suite's own skill is loaded
_SKILL = ("skill_name", "skill", "skillName", "agent_name")
_PROMPTS = ("prompt", "query", "input", "user_prompt", "task", "request", "user_request")
_TRIGGER = ("should_trigger", "shouldTrigger", "should_activate", "expected_trigger", "expect_trigger")
_YES_OR_NO = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n"})
_IN_WORDS = ("expect", "expected")  # which may hold one of these words in place of should_trigger
_WORDS = {
    **dict.fromkeys(("trigger", "should_trigger", "triggers"), True),
    **dict.fromkeys(("no_trigger", "not_trigger", "should_not_trigger", "does_not_trigger"), False),
}
# What describes a case to its author. A target and a check may read it, so it is part of the exact fingerprint.
_ABOUT = (
    "title", "description", "intent", "reason", "rationale", "kind", "type", "priority", "difficulty", "language",
    "suite", "failure_mode",
)  # fmt: skip
_DESCRIPTIVE = (
    *_ABOUT, "id", "name", "eval_name", "notes", "category", "tags", "critical", "files", "expected_output",
    "timeout_seconds", "timeout_s", "timeout_ms", "timeout",
)  # fmt: skip
_READ = frozenset({*_PROMPTS, *_TRIGGER, *_DESCRIPTIVE, *CHECKS, "expected_skill", "expect_skill"})
_NAMED_SKILL = ("expected_skill", "expect_skill")  # which one, in a suite of several skills
_LOST = ("assertions", "expectations", *_TRIGGER)  # what decides over a case: misspelt, its checks are lost
_LIKELY = 75.0  # of 100: so alike is a misspelt `query`, and `trigger` is not `should_trigger`
# Of the cases in a bare list: keys that no other format has.
_OF_SKILLS = (
    *_TRIGGER, "expected_output", "expectations", "expect", "expected_behavior", "anti_expectations", "fail",
)  # fmt: skip
_OF_OTHERS = frozenset({
    "sample_id", "testId", "expected_response", "turns", "skill", "actual_output", "retrieval_context",
})  # fmt: skip
# Keys that say how a case is run.
_SETS_UP = re.compile(
    r"setup|set_up|fixture|precondition|^tools$|^models?$|query_flow|^turns$|^env$", re.IGNORECASE
)


def recognises(value: object) -> bool:
    """An object with cases under one of the usual keys, or a list of cases or of trigger queries."""
    if isinstance(value, list):
        return any(map(_is_ours, objects_in(value)))
    if not isinstance(value, dict) or _OTHERS & value.keys():
        return False
    if {"evals", "skill_name"} & value.keys():
        return True
    lists = {key: value[key] for key in _LISTS if isinstance(value.get(key), list)}
    if any(isinstance(query, str) for query in [*lists.get(_SHOULD[0], ()), *lists.get(_SHOULD_NOT[0], ())]):
        return True
    has_prompts = any(one.keys() & {"prompt", "query"} for each in lists.values() for one in objects_in(each))
    return bool(lists) and ("skill" in value or has_prompts)


def is_meant(file_name: str, value: object) -> bool:
    """Whether a list in a file that is called as trigger queries are is empty, or has their keys misspelt."""
    if file_name not in SKILL_TRIGGERS:
        return False
    keys = {key for entry in objects_in(value) for key in entry}
    return value == [] or any(nearest(key, ("query", "should_trigger"), least=_LIKELY) for key in keys)


def load(source: Source, options: LoadOptions) -> Suite:
    """Cases → suite, with every problem found. Raises UnrecognisedSuite if no case has expectations."""
    value: Any = source.value
    document: Mapping[str, Any] = {"": value} if isinstance(value, list) else value
    skill_name = first_of(document, _SKILL, is_string)
    skill = skill_of(options.folder, options.root, skill_name)
    reader = _Reader(source=source, options=options, skill=skill)
    problems = checking.schema_problems(source, NAME)[0] or [*reader.unusable(document)]
    cases = [] if problems else reader.cases(document)
    if not any((problems, reader.problems, *(turn.checks for case in cases for turn in case.turns))):
        message = f"no case says what is expected of its answer in words that we read; {_CONVENTION}"
        raise UnrecognisedSuite([source.problem((), message, rule="no-checks")])
    triggers = bool(cases) and all(_is_trigger(case) for case in cases)
    problems += [*reader.problems, *reader.remarks(document, skill_name, triggers=triggers), *skill.problems]
    cases, alike = checking.with_numbered_keys(cases, lambda index: pointer(reader.places[index]), "id")
    return checking.suite_of(
        source.path,
        NAME,
        cases,
        [*problems, *alike],
        name=f"{skill.name} triggers" if triggers else skill.name,
        description=text_in(document.get("description")) or None,
        files=tuple(dict.fromkeys((*skill.files, *(path for case in cases for path in case.files.values())))),
        skill=skill.folder,
        skill_name=None if "agent_name" in document else skill_name,
    )


class _Reader(checking.Reader, frozen=True, kw_only=True):
    """Reads the cases of one file."""

    options: LoadOptions
    skill: SkillFolder
    places: list[JsonPath] = field(default_factory=list)  # of the cases
    unread: dict[str, list[tuple[JsonPath, str]]] = field(default_factory=dict)

    def unusable(self, document: Mapping[str, Any]) -> Iterator[FileProblem]:
        """Why the file is not a suite: no cases, or cases under a key that is not read."""
        if not any(document.get(key) for key in ("", *_LISTS) if isinstance(document.get(key), list)):
            guess = None if "evals" in document else nearest("evals", document)
            hint = phrase(guess, "; '{}' is not read, did you mean 'evals'?")
            yield self.source.problem((), f"holds no cases{hint}; {_CONVENTION}", rule="schema")
        for key, value in document.items():
            content = "" if key in ("", *_LISTS) else content_of(key, value)
            if content == "cases" or (content and isinstance(value, list)):
                message = (
                    f"'{key}' holds {content} and is not read; put them under 'evals', or into a file of their own"
                )
                yield self.source.problem((key,), message, key=True, rule="unknown-key")

    def cases(self, document: Mapping[str, Any]) -> list[Case]:
        """The cases of all lists, in the order of the file."""
        result: list[Case] = []
        for key, entries in document.items():
            if key in ("", *_LISTS) and isinstance(entries, list):
                root: JsonPath = (key,) if key else ()
                expected = _EXPECTED.get(key)
                for index, entry in enumerate(entries):
                    raw = {"query": entry} if isinstance(entry, str) and expected is not None else entry
                    case = self._case(raw, (*root, index), expected)
                    if case is not None:
                        result.append(case)
                        self.places.append((*root, index))
        return result

    def remarks(
        self, document: Mapping[str, Any], skill_name: str | None, *, triggers: bool
    ) -> Iterator[FileProblem]:
        """What the author should know of how the file was read."""
        notice = partial(self.source.problem, level="notice")
        if "" in document:
            if not triggers:  # a list of queries is what is usual
                yield notice((), f"a bare list is read as the cases of the skill '{self.skill.name}'")
        elif skill_name is None:
            yield notice((), f"has no 'skill_name'; the skill is '{self.skill.name}'")
        elif self.skill.folder is not None and skill_name != self.skill.name:
            key = next(key for key in _SKILL if document.get(key) == skill_name)
            yield notice((key,), f"is '{skill_name}', but the skill's SKILL.md says '{self.skill.name}'")
        first = next(filter(document.__contains__, _CASES), "evals")
        if not triggers and first != "evals":
            message = f"the cases stand under '{first}'; the convention calls it 'evals'"
            yield notice((first,), message, key=True)
        for key in filter(None, document):
            known = key in _SKILL or (key in _LISTS and isinstance(document[key], list))
            if not known and (key in _LISTS or decides(key) or not describes(key)):
                message = f"'{key}' is not read and changes nothing here"
                yield self.source.warning((key,), message, key=True, rule="unknown-key")
        for places in self.unread.values():
            place, message = places[0]
            message += checking.in_cases(len(places))
            yield self.source.warning(place, message, key=True, rule="unknown-key")

    def _case(self, raw: Mapping[str, Any], place: JsonPath, expected: bool | None) -> Case | None:  # noqa: FBT001
        prompt = first_of(object_in(raw), _PROMPTS, is_string)
        if not is_text(prompt):
            self.wrong(place, _nothing_to_send(raw, prompt), rule="schema")
            return None
        checks = AgentSkillChecks(source=self.source, problems=self.problems)
        at_trigger, _ = _trigger_of(raw)
        of_checks = {key: value for key, value in raw.items() if (key,) != at_trigger}
        specs = (*self._triggers(raw, place, expected), *checks.specs(of_checks, place))
        self._note_unread(of_checks, place, raw)
        files, problem = self._files(raw.get("files") or [], (*place, "files"))
        location, described = self.source.locate(place), first_of(raw, ["expected_output"], is_text)
        turn = Turn(prompt=prompt, expected=described, checks=specs, location=location)
        name = first_of(raw, ("name", "eval_name", "title"), is_text)
        timeout_s = _timeout_s(raw)
        extra = {"files": digests(files), **without_none(timeout_s=timeout_s)}
        optional = {
            "others": {key: value for key, value in raw.items() if key not in _READ and not has_checks(key)},
            "about": {key: raw[key] for key in _ABOUT if key in raw},
        }
        extra |= {name: part for name, part in optional.items() if part}  # a check may read them
        return Case(
            suite=self.source.path,
            key=_key(raw, prompt),
            name=cut_name(one_line(name or prompt)),
            turns=(turn,),
            location=location,
            category=first_of(raw, ["category"], is_text),
            tags=tuple(filter(is_text, _list(raw.get("tags")))),
            critical=raw.get("critical") is True,
            metadata=dict(raw),
            files=files,
            problem=problem,
            timeout_s=timeout_s,
            **self._fingerprints(turn, extra),
        )

    def _fingerprints(self, turn: Turn, extra: Mapping[str, object]) -> Fingerprints:
        """The fingerprints of a case; the normalised one leaves out the skill's name, so that that can change."""
        prints = case_fingerprints([turn], extra, ignored=_DESCRIBES)
        unnamed = replace(turn, checks=tuple(map(self._without_own_name, turn.checks)))
        if unnamed == turn:
            return prints
        content = case_fingerprints([unnamed], extra, ignored=_DESCRIBES)
        normalised = content["normalised_fingerprint"] or content["fingerprint"]
        return Fingerprints(fingerprint=prints["fingerprint"], normalised_fingerprint=normalised)

    def _without_own_name(self, spec: EvaluatorSpec) -> EvaluatorSpec:
        if spec.id != _OWN_TRIGGER or spec.options.get("skill") != self.skill.name:
            return spec
        return replace(spec, options={**spec.options, "skill": None})

    def _triggers(self, raw: Mapping[str, Any], place: JsonPath, expected: bool | None) -> Iterator[EvaluatorSpec]:  # noqa: FBT001
        """`should_trigger`: whether the skill is to be loaded, or the names of those that are."""
        at_trigger, value = _trigger_of(raw, expected)
        if value is None:
            return
        at = (*place, *at_trigger)
        own = isinstance(value, bool)
        names = [first_of(raw, _NAMED_SKILL, is_text) or self.skill.name] if own else _list(value)
        if not names or not all(map(is_text, names)):
            self.wrong(at, "must be true, false, or the name of a skill")
            return
        if not own and (quoted := next((name for name in names if name.casefold() in _YES_OR_NO), None)):
            message = f"'{quoted}' is text, and would be the name of a skill; write true or false without quotes"
            self.wrong(at, message)
            return
        for name in names:
            yield EvaluatorSpec(
                name="skill_triggered",
                id=_OWN_TRIGGER if own else f"should_trigger {name}",
                options={"skill": name, "should_trigger": value is not False},
                location=self.source.locate(at),
            )

    def _note_unread(self, of_checks: Mapping[str, Any], place: JsonPath, raw: Mapping[str, Any]) -> None:
        sent = next(key for key in _PROMPTS if isinstance(raw.get(key), str))
        for key in of_checks:
            if key in _PROMPTS and key != sent and raw[key] not in (None, "", raw[sent]):
                self.unread.setdefault(key, []).append(((*place, key), f"'{key}' is not sent: '{sent}' is"))
            if key in _READ or has_checks(key):
                continue
            if guess := nearest(key, sorted(_READ), least=MISSPELT):
                message = f"'{key}' is not read; did you mean '{guess}'?"
                is_note = key.startswith(f"{guess}_")
                is_said = bool(_trigger_of(raw)[0] if guess in _TRIGGER else raw.get(guess))
                if guess in _LOST and not is_note and not is_said:  # it would be decided without it
                    self.wrong((*place, key), message, key=True, rule="unknown-key")
                    continue
            elif _SETS_UP.search(key):
                message = f"'{key}' is not read: the case is run without it"
            elif decides(key) or content_in_case(key, of_checks[key]):
                message = unread_checks(of_checks, key)
            elif not describes(key):
                message = f"'{key}' is not read"
            else:
                continue
            self.unread.setdefault(key, []).append(((*place, key), message))

    def _files(self, value: Any, place: JsonPath) -> tuple[Mapping[str, Path], Problem | None]:
        """The case's files by their path in the workspace; a problem if one of them is missing."""
        names = {name: index for index, name in enumerate(map(_file_name, _list(value))) if name}
        bases = known([self.skill.folder, self.options.folder, self.options.root])
        by_name = find_files(tuple(names), bases, self.options.root)
        missing = [name for name, path in by_name.items() if path is None]
        for name in missing:
            self.warn(
                (*place, names[name]) if isinstance(value, list) else place,
                f"there is no file {name} in the skill, beside this file or in the repository"
                f"{' (write a relative path)' if name.startswith(('/', '~')) else ''}; "
                "the case is errored, and not run without it",
            )
        files = {place_of(name): path for name, path in by_name.items() if path is not None}
        message = f"its files are missing: {', '.join(missing)}"
        return files, Problem(code="file_missing", message=message) if missing else None


def _nothing_to_send(raw: object, prompt: str | None) -> str:
    if prompt is not None:
        return "has an empty prompt"
    word = "query" if _trigger_of(object_in(raw))[0] else "prompt"
    return f"has no '{word}', which is what is sent" + phrase(nearest(word, object_in(raw)), "; '{}' is not read")


def _is_ours(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of a list is a case of a skill, and of no other format."""
    if _OF_OTHERS & entry.keys():
        return False
    if not any(isinstance(entry.get(key), str) for key in _PROMPTS):
        return False
    prose = any(isinstance(one, str) for one in _list(entry.get("assertions")))
    return prose or any(key in entry for key in _OF_SKILLS)


def _trigger_of(raw: Mapping[str, Any], expected: object = None) -> tuple[JsonPath, Any]:
    """(the path of what says whether the skill is to be loaded, what it says); else its list says `expected`."""
    for key in _TRIGGER:
        if raw.get(key) is not None:
            return (key,), raw[key]
    for key in _IN_WORDS:
        word = str(raw.get(key)).lower().replace("-", "_").replace(" ", "_")
        if word in _WORDS:
            return (key,), _WORDS[word]
    return (), expected


def is_trigger_suite(suite: Suite) -> bool:
    """Whether a suite only asks whether a skill is loaded."""
    return suite.dialect == NAME and bool(suite.cases) and all(map(_is_trigger, suite.cases))


def _is_trigger(case: Case) -> bool:
    return {spec.name for turn in case.turns for spec in turn.checks} == {"skill_triggered"}


def _key(raw: Mapping[str, Any], prompt: str) -> str:
    """`id` as text, else the name, else a hash of the prompt, and of the names of files if there are any."""
    number = raw.get("id", raw.get("eval_id"))
    if is_id(number):
        return str(number)
    name: str | None = first_of(raw, ("name", "eval_name"), is_text)
    return name or key_of_prompts([prompt, *filter(None, map(_file_name, _list(raw.get("files"))))])


def _file_name(entry: object) -> str | None:
    if isinstance(entry, Mapping):
        entry = first_of(entry, ("path", "file", "name"), is_text)
    return entry if is_text(entry) else None


def _timeout_s(raw: Mapping[str, Any]) -> float | None:
    for key, unit in (("timeout_seconds", 1.0), ("timeout_s", 1.0), ("timeout", 1.0), ("timeout_ms", 1000.0)):
        value = raw.get(key)
        if is_number(value) and 0 < value <= 86_400 * unit:
            return value / unit
    return None


def _list(value: Any) -> Sequence[Any]:
    return [] if value is None else entries_of(value)
