"""The logs of Inspect: `.eval` archives, and JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from math import isnan

from msgspec import Struct

from runevals.imports.results.archive import Archive
from runevals.imports.results.field_map import NO_SCORE
from runevals.imports.results.fields import Json
from runevals.imports.results.opened import OpenedResults, loaded
from runevals.imports.results.records import (
    ImportedAttempt,
    ImportedCase,
    ImportedRun,
    check_result,
    errored,
    numbered,
    unanswered,
)
from runevals.lib.parsing.canonical import canonical
from runevals.lib.parsing.source import decoded
from runevals.records import CheckResult, Layer, ToolCall, TurnReport, cut_name, one_line
from runevals.records.errors import InvalidDocument

NAME = "inspect"
VERSIONS = (1, 2)
HEADER, START, SAMPLES = "header.json", "_journal/start.json", "samples/"
NOT_SCORED = "the sample was not scored"
PASSES = 0.5  # the share from which a score between 0 and 1 passes
_WORDS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def recognises(file: OpenedResults) -> bool:
    """A log as JSON, or an archive with a log's header or journal."""
    if file.archive is not None:
        return any(name in (HEADER, START) for name in file.archive.names())
    return file.has("eval", "status", "version") or file.has("eval", "plan")


def read(file: OpenedResults) -> ImportedRun:
    """The log. Raises InvalidDocument."""
    log = _header(file.archive) if file.archive is not None else file.document
    assert log is not None  # noqa: S101 - it was recognised
    if log["version"].value not in VERSIONS:
        raise log["version"].wrong(f"a version of Inspect's logs that we read ({', '.join(map(str, VERSIONS))})")
    samples = list(_samples(file.archive) if file.archive is not None else log["samples"].entries)
    if not samples and log["status"].value == "success":
        raise InvalidDocument(f"{file.display_path} has no samples; Inspect writes them with --log-samples")
    known = _Scorers.of(samples)
    started_at = log["stats"]["started_at"].moment_or_none or log["eval"]["created"].moment_or_none
    completed_at = log["stats"]["completed_at"].moment_or_none
    took = (completed_at - started_at).total_seconds() if started_at and completed_at else 0.0
    return ImportedRun(
        tool=NAME,
        path=file.display_path,
        cases=_cases(log["eval"], samples, known),
        models=tuple(filter(None, [log["eval"]["model"].name_or_empty])),
        started_at=started_at,
        duration_s=max(0.0, took),
        notices=tuple(_remarks(known.unscaled, len(samples), log)),
        stopped=_stopped(log),
    )


def _header(archive: Archive) -> Json:
    """The header; what a log that was not finished has in its place."""
    names = list(archive.names())
    if HEADER in names:
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
    status = log["status"].value
    if status == "error" or log["error"].value is not None:
        return (
            f"Inspect ended with an error: {one_line(log['error']['message'].text_or_none or 'no reason')[:200]}"
        )
    if status == "success":
        return ""
    if status in ("started", "cancelled"):
        return "Inspect was interrupted" if status == "cancelled" else "Inspect had not finished"
    raise log["status"].wrong("started, success, cancelled or error")


def _cases(task: Json, samples: list[Json], known: _Scorers) -> tuple[ImportedCase, ...]:
    """Each sample with its epochs as attempts. Raises InvalidDocument if an epoch of a sample is there twice."""
    suite = task["task"].text
    scorers = task["scorers"].value
    places: dict[tuple[str, float], Json] = {}
    grouped: dict[str, list[Json]] = {}
    for sample in samples:
        key, epoch = sample["id"].text, _epoch(sample)
        other = places.setdefault((key, epoch), sample)
        if other is not sample:
            raise InvalidDocument(f"{sample.place}: sample {key!r}, epoch {epoch:g} is also at {other.place}")
        grouped.setdefault(key, []).append(sample)
    return tuple(
        ImportedCase(
            suite=suite,
            key=key,
            name=cut_name(one_line(_text(several[0]["input"]))) or key,
            place=several[0].place,
            content=canonical(
                [several[0].fields.get(name) for name in ("input", "target", "choices")]
                + [scorers, *known.left_out]
            ),
            file=task["task_file"].name_or_empty,
            category=several[0]["metadata"]["category"].name_or_empty or None,
            attempts=tuple(_attempt(sample, known) for sample in sorted(several, key=_epoch)),
        )
        for key, several in grouped.items()
    )


def _epoch(sample: Json) -> float:
    return sample["epoch"].number_or_none or 1


def _attempt(sample: Json, known: _Scorers) -> ImportedAttempt:
    output, error = sample["output"], sample["error"]
    usage = [used for _, used in sample["model_usage"].members]
    checks = _checks(sample["scores"], known)
    why = None if error.value is None else _why(error["message"].text_or_none or "")
    if why is None and sample["invalidation"].value is not None:
        why = f"invalidated: {sample['invalidation']['reason'].text_or_none or 'no reason'}"
    if why is None and known.scored and not checks:
        why = NOT_SCORED
    turn = TurnReport(
        prompt=_text(sample["input"]),
        expected=_target(sample["target"]),
        output=None if error.value is not None else _answer(output),
        results=() if error.value is not None else numbered(checks),
        latency_s=sample["total_time"].amount_or_none,
        input_tokens=_sum(used["input_tokens"].count_or_none for used in usage),
        output_tokens=_sum(used["output_tokens"].count_or_none for used in usage),
        tool_calls=tuple(_calls(sample)),
        model=output["model"].name_or_empty or None,
        error=None if why is None else unanswered(why),
    )
    return ImportedAttempt(turn=turn)


def _why(message: str) -> str:
    """The message of an error; that of a sample which Inspect cancelled names only its own insides."""
    return "cancelled, as the run ended" if message.startswith("CancelledError(") else message


def _sum(counts: Iterator[int | None]) -> int | None:
    reported = [number for number in counts if number is not None]
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


def _calls(sample: Json) -> Iterator[ToolCall]:
    for message in sample["messages"].entries:
        for call in message["tool_calls"].entries:
            yield ToolCall(name=call["function"].name_or_empty or "tool", input=call["arguments"].value)


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


class _Scorers(Struct, frozen=True, kw_only=True):
    """What is known of the checks of a log, by their ids."""

    scored: bool  # any sample has a score
    graded: frozenset[str]  # any score is between 0 and 1: their size is compared, not only whether they pass
    unscaled: frozenset[str]  # any score is a number outside of 0 to 1, or all are words that are no score
    left_out: tuple[str, ...]  # the unscaled, and those that gave no score: nothing of them is compared

    @classmethod
    def of(cls, samples: Iterable[Json]) -> _Scorers:
        scores = [(name, _number(value), value) for one in samples for name, _, value, _ in _values(one["scores"])]
        shares = {(name, number) for name, number, _ in scores if _is_share(number)}
        measured = {name for name, _ in shares}
        outside = {name for name, number, _ in scores if number is not None and not _is_share(number)}
        words = {name for name, number, value in scores if number is None and value.value is not None}
        unscaled = frozenset(outside | (words - measured))
        return cls(
            scored=bool(scores),
            graded=frozenset(name for name, share in shares if share not in (0.0, 1.0)),
            unscaled=unscaled,
            left_out=tuple(sorted(unscaled | ({name for name, _, _ in scores} - measured))),
        )


def _checks(scores: Json, known: _Scorers) -> list[CheckResult]:
    """The checks of a sample. A scorer that gave no score is an error, if no other one gave any."""
    parts = [*_values(scores)]
    checks = [_check(*part, graded=part[0] in known.graded, unscaled=part[0] in known.unscaled) for part in parts]
    if any(check.outcome.measured for check in checks):
        return checks
    silent = [name not in known.unscaled for name, *_ in parts]
    return [
        errored(check, NO_SCORE) if is_silent else check for check, is_silent in zip(checks, silent, strict=True)
    ]


def _check(name: str, scorer: str, value: Json, reason: str, *, graded: bool, unscaled: bool) -> CheckResult:
    number = _number(value)
    share = float(number) if number is not None and _is_share(number) and not unscaled else None
    if unscaled:
        reason = f"{value.text_or_none}: the scores of {name} are not between 0 and 1"
    return check_result(
        name,
        scorer,
        passed=None if share is None else share >= PASSES,
        score=share,
        reason=reason if share is not None or unscaled else NO_SCORE,
        layer=Layer.JUDGE if graded and not unscaled else Layer.FACT,
    )


def _number(value: Json) -> float | None:
    """A score as Inspect itself counts it: C, P, I and N, yes and no, a number; None for anything else."""
    text = value.name_or_empty.lower()
    number = value.value if isinstance(value.value, int | float) else _WORDS.get(text)
    if number is None:
        with suppress(ValueError):
            number = float(text)
    return None if isinstance(number, float) and isnan(number) else number


def _is_share(number: float | None) -> bool:
    return number is not None and 0.0 <= number <= 1.0


def _remarks(unscaled: Collection[str], samples: int, log: Json) -> Iterator[str]:
    """Which scorers are not compared, and how many samples of a finished log are not in it."""
    if names := ", ".join(sorted(unscaled)):
        yield f"not compared, as scores are not between 0 and 1: {names}"
    planned = log["results"]["total_samples"].count_or_none
    if planned is not None and samples < planned and log["status"].value == "success":
        yield f"Inspect's log has {samples} of {planned} samples"
