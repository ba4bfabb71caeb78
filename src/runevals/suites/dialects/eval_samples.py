"""Eval samples: a prompt each, with rubric or dimensions, assertions and metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from runevals.lib.nullable import known, without
from runevals.lib.parsing.schema import schema
from runevals.lib.parsing.shapes import entries_of, list_in, object_in, objects_in
from runevals.lib.parsing.source import JsonPath, Source, lies_inside
from runevals.lib.text.escape import in_fence
from runevals.records import LABELS, Case, EvaluatorSpec, Requires, Suite, Turn, cut_name, one_line
from runevals.suites.dialects import checking
from runevals.suites.dialects.assertions import Assertions
from runevals.suites.dialects.options import LoadOptions
from runevals.suites.fingerprint import case_fingerprints

NAME = "eval-samples"
_CHECKS = ("assertions", "rubric", "dimensions")
_OWN_KEYS = frozenset({"sample_id", *_CHECKS})
# What a case has in fields of its own. All else is content, as a target or check may read it; notes only exactly.
_FIELDS = frozenset(
    {"sample_id", "prompt", "context", "category", "tags", "critical", "judge_threshold", *_CHECKS}
)
_NOTES = frozenset({"name", "title", "description", "notes", "comment", *LABELS})


def recognises(value: object) -> bool:
    """A list of samples, an object with `samples`, or a single sample."""
    if isinstance(value, dict):
        return "samples" in value or _is_one(value)
    return any(_OWN_KEYS & item.keys() for item in objects_in(value))


def is_meant(file_name: str, value: object) -> bool:
    """Whether a file is called as samples are, and holds prompts without what makes them another format."""
    prompts = [entry for entry in objects_in(value) if "prompt" in entry]
    others = {"expected_response", "testId", "turns", "evaluators"}
    return (
        file_name.startswith(f"{NAME}.")
        and bool(prompts)
        and len(prompts) == len(list_in(value))
        and not any(others & entry.keys() for entry in prompts)
    )


def load(source: Source, options: LoadOptions) -> Suite:
    """Samples → suite, with every problem found."""
    if _is_one(source.value):
        return load(_alone(source), options)
    file = checking.wrapped_list(source, NAME, "samples")
    document, root, problems = file.document, file.root, file.problems
    cases: list[Case] = []
    files: dict[Path, None] = {}
    keys = schema("runevals.suites.dialects", NAME)["$defs"]["sample"]["properties"]
    for index in file.valid_entries:
        sample, at = document["samples"][index], (*root, index)
        reader = Assertions(
            source=source, sample=sample, folder=options.folder, root=options.root, definitions=options.definitions
        )
        cases.append(_case(source, at, sample, reader))
        if "cwd" in sample and not lies_inside(reader.root, reader.root / sample["cwd"]):
            problems.append(source.problem((*at, "cwd"), f"'{sample['cwd']}' lies outside the repository"))
        problems += [*reader.problems, *checking.unread_keys(source, at, sample, keys, _CHECKS)]
        files |= dict.fromkeys(reader.files)
    problems += checking.duplicate_keys(cases, file.pointer_of)
    requires = document.get("requires") if all(problem.level != "error" for problem in problems) else None
    required = convert(requires, Requires) if requires else None
    return checking.suite_of(source.path, NAME, cases, problems, requires=required, files=tuple(files))


def _is_one(value: object) -> bool:
    """Whether a file is one sample, as the format's documentation prints them."""
    return object_in(value).keys() & {"sample_id", "samples", "items"} == {"sample_id"}


def _alone(source: Source) -> Source:
    """A file that is one sample, as a list of it."""
    text = f"[{source.text}]" if not source.has_marks else source.text
    marks = {(0, *json_path): offsets for json_path, offsets in source.marks.items()}
    return replace(source, text=text, value=[source.value], marks=marks)


def together(suites: Sequence[Suite], name: str) -> Suite:
    """The files of one folder as one suite under its name; what each of them requires, all of it requires."""
    requirements = [suite.requires for suite in suites if suite.requires is not None]
    return checking.joined_suites(suites, name, NAME, requires=_union(requirements) if requirements else None)


def _union(requirements: Sequence[Requires]) -> Requires:
    names = ("tools", "files", "env")
    every = {name: dict.fromkeys(item for one in requirements for item in getattr(one, name)) for name in names}
    return Requires(**{name: tuple(items) for name, items in every.items()})


def _case(source: Source, json_path: JsonPath, sample: Mapping[str, Any], reader: Assertions) -> Case:
    location = source.place(json_path)
    if "mocks" in sample:
        sample = {**sample, "mocks": reader.mocks(json_path)}
    turn = Turn(
        prompt=assembled(sample),
        author_prompt=sample.get("prompt"),
        context=sample.get("context"),
        checks=(*reader.specs(json_path), *_judge_specs(source, json_path, sample)),
        location=location,
    )
    return Case(
        suite=source.path,
        key=sample["sample_id"],
        name=cut_name(one_line(sample.get("prompt") or sample["sample_id"])),
        turns=(turn,),
        location=location,
        category=sample.get("category"),
        tags=tuple(sample.get("tags", ())),
        critical=bool(sample.get("critical", False)),
        metadata=dict(sample),
        variables=sample.get("vars", {}),
        mocked=bool(sample.get("mocks")) or bool(sample.get("mocksStrict")),
        cwd=reader.root / sample["cwd"] if "cwd" in sample else None,
        **case_fingerprints([turn], without(sample, _FIELDS), _NOTES),
    )


def _judge_specs(source: Source, json_path: JsonPath, sample: Mapping[str, Any]) -> tuple[EvaluatorSpec, ...]:
    """The rubric, or the dimensions, which take its place."""
    threshold, dimensions = sample.get("judge_threshold"), sample.get("dimensions")
    if dimensions:
        at = (*json_path, "dimensions")
        parts = tuple(
            EvaluatorSpec(name="rubric", id=name, options={"rubric": text, "dimension": name})
            for name, text in dimensions.items()
        )
        spec = EvaluatorSpec(name="dimensions", children=parts, threshold=threshold)
    elif "rubric" in sample:
        at = (*json_path, "rubric")
        spec = EvaluatorSpec(name="rubric", options={"rubric": sample["rubric"]}, threshold=threshold)
    else:
        return ()
    return (replace(spec, location=source.locate(at, key=True)),)


def assembled(sample: Mapping[str, Any]) -> str:
    """What is sent: the environment, the prompt, and the context in a fence longer than any in it.

    It is empty for a sample that has only variables: the target's prompt template is filled with those.
    """
    parts = [*_environment(sample.get("environment") or {}), *known([sample.get("prompt")])]
    context = sample.get("context")
    if context:
        parts.append(in_fence(context))
    return "\n\n".join(parts)


def _environment(fields: Mapping[str, Any]) -> list[str]:
    lines = [f"- available command: {name}" for name in fields.get("cli_available", ())]
    lines += [f"- available file: {name}" for name in fields.get("files_available", ())]
    lines += [f"- {note}" for note in entries_of(fields.get("notes", []))]
    return ["\n".join(["Environment, set up already:", *lines])] if lines else []
