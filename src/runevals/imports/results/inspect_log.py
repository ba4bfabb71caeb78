"""The logs of Inspect: `.eval` archives, and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import isnan

from msgspec import Struct
from msgspec.structs import replace

from runevals.imports.results.archive import Archive
from runevals.imports.results.field_map import NO_SCORE, CheckMap, FieldMap, Keyed, Limit
from runevals.imports.results.fields import LARGEST, Json
from runevals.imports.results.opened import OpenedResults, loaded
from runevals.imports.results.records import ImportedRun
from runevals.lib.nullable import if_known, known
from runevals.lib.parsing.canonical import canonical
from runevals.lib.parsing.source import decoded
from runevals.records import one_line
from runevals.records.errors import InvalidDocument
from runevals.records.rules import AS_IT_SAYS, Reading

NAME = "inspect"
HEADER, START, SAMPLES = "header.json", "_journal/start.json", "samples/"
NOT_SCORED = "the sample was not scored"
NO_REASON = "no reason"
_TOKENS = ("input_tokens", "output_tokens")
_WORDS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_ENDS: Mapping[str | None, str] = {
    "success": "",
    "cancelled": "Inspect was interrupted",
    "started": "Inspect had not finished",
}


def recognises(file: OpenedResults) -> bool:
    """A log as JSON, or an archive with a log's header or journal."""
    if file.archive is not None:
        return any(name in (HEADER, START) for name in file.archive.names())
    return INSPECT.recognises(file)


def read(file: OpenedResults, _: Reading = AS_IT_SAYS) -> ImportedRun:
    """The log. Raises InvalidDocument."""
    log = _header(file.archive) if file.archive is not None else file.document
    assert log is not None  # noqa: S101 - it was recognised
    samples = list(_samples(file.archive) if file.archive is not None else log["samples"].entries)
    if not samples and log["status"].value == "success":
        raise InvalidDocument(f"{file.display_path} has no samples; Inspect writes them with --log-samples")
    known = _Scorers.of(samples)
    rows = tuple(_completed(one, log["eval"]["scorers"], known) for one in sorted(samples, key=_epoch))
    run = INSPECT.read(OpenedResults(path=file.path, display_path=file.display_path, document=log, rows=rows))
    completed_at = log["stats"]["completed_at"].moment_or_none
    took = (completed_at - run.started_at).total_seconds() if run.started_at and completed_at else 0.0
    planned = log["results"]["total_samples"].count_or_none or 0
    is_cut = planned > len(samples) and log["status"].value == "success"
    notices = {
        f"not compared, as they give words that are no score: {', '.join(sorted(known.words))}": known.words,
        f"Inspect's log has {len(samples)} of {planned} samples": is_cut,
    }
    return replace(
        run,
        duration_s=max(0.0, took),
        commit=log["eval"]["revision"]["commit"].text_or_none,
        notices=(*run.notices, *filter(notices.get, notices)),
        stopped=_stopped(log),
    )


def _header(archive: Archive) -> Json:
    """The header; what a log that was not finished has in its place."""
    if HEADER in archive.names():
        return _json(archive, HEADER)
    start = _json(archive, START)
    return Json({**start.fields, "status": "started"}, start.file)


def _samples(archive: Archive) -> Iterator[Json]:
    for name in archive.names():
        if name.startswith(SAMPLES) and name.endswith(".json"):
            yield _json(archive, name)


def _json(archive: Archive, name: str) -> Json:
    place = f"{archive.display_path}/{name}"
    try:
        return Json(loaded(decoded(archive.read(name), place)), place)
    except (json.JSONDecodeError, RecursionError, ValueError) as error:
        raise InvalidDocument(f"{place} is not JSON: {error}") from None


def _stopped(log: Json) -> str:
    """Why Inspect did not finish; empty if it did."""
    if log["status"].value == "error" or log["error"].value is not None:
        return f"Inspect ended with an error: {one_line(log['error']['message'].text_or_none or NO_REASON)[:200]}"
    end = _ENDS.get(log["status"].text_or_none)
    if end is None:
        raise log["status"].wrong("started, success, cancelled or error")
    return end


class _Scorers(Struct, frozen=True, kw_only=True):
    """The ids of all checks of a log, and what is known of those that are no shares."""

    ids: frozenset[str]
    outside: frozenset[str]  # some score is a number outside of 0 to 1
    words: frozenset[str]  # all are words that are no score
    left_out: tuple[str, ...]  # these, and those that gave no score: nothing of them is compared

    @classmethod
    def of(cls, samples: Sequence[Json]) -> _Scorers:
        scores = [(name, _number(value), value) for one in samples for name, _, value, _ in _values(one["scores"])]
        numbers = [(name, number) for name, number, _ in scores if number is not None]
        shares = {name for name, number in numbers if 0 <= number <= 1}
        outside = frozenset(name for name, number in numbers if not 0 <= number <= 1)
        ids = frozenset(name for name, _, _ in scores)
        words = {name for name, number, value in scores if number is None and value.value is not None}
        left_out = tuple(sorted(outside | (ids - shares)))
        return cls(ids=ids, outside=outside, words=frozenset(words - shares - outside), left_out=left_out)


def _completed(sample: Json, scorers: Json, known: _Scorers) -> Json:
    """The sample with its texts and checks as a table has them.

    A scorer that gave no score is an error, if no other one gave any.
    """
    scores = [*_values(sample["scores"])]
    numbers = {name: _number(value) for name, _, value, _ in scores if name not in known.words}
    silent = {name for name, number in numbers.items() if number is None} - known.outside
    is_decided = numbers.keys() - silent - known.outside
    own = [sample.fields.get(name) for name in ("input", "target", "choices")]
    usage = [used for _, used in sample["model_usage"].members]
    return sample.with_fields(
        epoch=_epoch(sample),
        prompt=_text(sample["input"]),
        expected=_target(sample["target"]),
        answer=_answer(sample["output"]),
        content=[*own, scorers.value, *known.left_out],
        why=_why(sample) or (NOT_SCORED if known.ids and not scores else None),
        checks=[
            {
                "name": name,
                "scorer": scorer,
                "score": numbers[name],
                "reason": reason,
                "error": NO_SCORE if name in silent and not is_decided else None,
            }
            for name, scorer, _, reason in scores
            if name in numbers
        ],
        calls=[call.value for one in sample["messages"].entries for call in one["tool_calls"].entries],
        **{name: _sum(used[name].count_or_none for used in usage) for name in _TOKENS},
    )


def _keyed(samples: Sequence[Json]) -> list[Keyed]:
    """The id, the input, and what the first epoch says of a sample."""
    contents = {sample["id"].text: canonical(sample["content"].value) for sample in reversed(samples)}
    return [(key := sample["id"].text, sample["prompt"].name_or_empty or key, contents[key]) for sample in samples]


def _epoch(sample: Json) -> int:
    return sample["epoch"].count_or_none or 1


def _why(sample: Json) -> str | None:
    """Why a sample was not measured; of one that Inspect cancelled, its message names only its own insides."""
    if sample["error"].value is not None:
        message = sample["error"]["message"].text_or_none or ""
        return "cancelled, as the run ended" if message.startswith("CancelledError(") else message or NO_REASON
    reason = sample["invalidation"]["reason"].text_or_none or NO_REASON
    return if_known(lambda _: f"invalidated: {reason}", sample["invalidation"].value)


def _sum(counts: Iterator[int | None]) -> int | None:
    reported = known(counts)
    return sum(reported) if reported else None


def _text(value: Json) -> str:
    """The text of an input: itself, or what its messages say."""
    if isinstance(value.value, str):
        return value.value
    return "\n\n".join(_content(message["content"]) for message in value.entries)


def _content(content: Json) -> str:
    """A message's text; of its parts, those that are text."""
    if isinstance(content.value, str):
        return content.value
    return "\n".join(part["text"].text_or_none or "" for part in content.entries if part["type"].value == "text")


def _target(target: Json) -> str | None:
    if isinstance(target.value, list):
        return "\n".join(one.text_or_none or "" for one in target.entries) or None
    return target.text_or_none or None


def _answer(output: Json) -> str:
    if isinstance(output["completion"].value, str):
        return output["completion"].value
    return next((_content(choice["message"]["content"]) for choice in output["choices"].entries), "")


def _values(scores: Json) -> Iterator[tuple[str, str, Json, str]]:
    """(id of a check, scorer, value, explanation): one for a value, several for a dictionary or a list."""
    for scorer, score in scores.members:
        value, reason = score["value"], score["explanation"].text_or_none or ""
        if isinstance(value.value, dict):
            parts = [(f"{scorer}/{name}", part) for name, part in value.members]
        elif isinstance(value.value, list):
            parts = [(f"{scorer}/{number}", part) for number, part in enumerate(value.entries, start=1)]
        else:
            parts = [(scorer, value)]
        yield from ((name, scorer, part, reason) for name, part in parts)


def _number(value: Json) -> float | None:
    """A score as Inspect itself counts it: C, P, I and N, yes and no, a number; None for anything else."""
    text = value.name_or_empty.lower()
    number = value.value if isinstance(value.value, int | float) else _WORDS.get(text, text)
    try:
        score = float(number)
    except OverflowError:
        return LARGEST
    except ValueError:
        return None
    return None if isnan(score) else min(max(score, -LARGEST), LARGEST)


INSPECT = FieldMap(
    NAME=NAME,
    marks=("eval.task", "version|plan"),
    version="version",
    versions=("1", "2"),
    suite="eval.task",
    case={"key": "id", "file": "task_file", "category": "metadata.category"},
    keyed=_keyed,
    number="epoch",
    error="why",
    errors_decide=True,
    turn={
        "prompt": "prompt",
        "expected": "expected",
        "output": "answer",
        "latency_s": "total_time",
        "model": "output.model",
        **{name: name for name in _TOKENS},
    },
    calls={"at": "calls", "name": "function", "input": "arguments"},
    checks=(
        CheckMap(
            at="checks", kind="scorer", score="score", limit=Limit(), scale="share", reason="reason", error="error"
        ),
    ),
    run={"models": "eval.model", "started_at": "stats.started_at|eval.created"},
)
