"""Conclusion ⇄ versioned results document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from json.encoder import encode_basestring
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runevals.dialects.reading import read_lines, read_text
from runevals.errors import InvalidDocument, InvalidSuite
from runevals.laid_out import PLACE, cases_of
from runevals.records import (
    AttemptReport,
    CaseReport,
    Change,
    CheckReport,
    Comparison,
    Conclusion,
    Coverage,
    FinalVerdict,
    GateResult,
    Outcome,
    RunInfo,
    RunReport,
    Totals,
    VoteAgreement,
)
from runevals.schema_check import complaints, fits
from runevals.spool import Spool

if TYPE_CHECKING:
    import cattrs

FORMAT_VERSION = 1
MAX_BYTES = 1024**3  # a hundred thousand answers of some pages
LARGE = 8 * 1024**2  # bytes, from which a document is read case by case
AT_ONCE = 100  # cases

Json = dict[str, Any]


def write(conclusion: Conclusion) -> str:
    """The results document of a run, keys and cases in a fixed order; only times differ between equal runs."""
    return "".join(written(conclusion))


def written(conclusion: Conclusion) -> Iterator[str]:
    """The same text piece by piece: of the cases, only one is held in memory twice."""
    plain = _converter().unstructure
    comparison = conclusion.comparison
    rest = {
        "comparison": None if comparison is None else _comparison(comparison),
        "gates": plain(conclusion.gates),
        "verdict": plain(conclusion.verdict),
    }
    yield _json(_head(conclusion.report)).removesuffix("\n}") + ',\n "cases": ['
    for number, case in enumerate(conclusion.report.cases):
        yield (",\n  " if number else "\n  ") + _json(plain(case), "\n  ")
    yield "\n ]," if conclusion.report.cases else "],"
    yield _json(rest).removeprefix("{") + "\n"


def _json(value: object, newline: str = "\n") -> str:
    """As `json.dumps(value, ensure_ascii=False, indent=1)`, which is slow: its quick form does not indent."""
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if type(value) is int or (type(value) is float and isfinite(value)):
        return repr(value)
    inner = newline + " "
    if isinstance(value, dict) and value:
        items = [f"{encode_basestring(key)}: {_json(item, inner)}" for key, item in value.items()]
        return f"{{{inner}{(',' + inner).join(items)}{newline}}}"
    if isinstance(value, list | tuple) and value:
        return f"[{inner}{(',' + inner).join([_json(item, inner) for item in value])}{newline}]"
    return json.dumps(value)


def read(path: Path) -> RunReport:
    """The run's report in a results document of any version we ever wrote.

    Raises InvalidDocument that says where it is wrong, or InvalidSuite for a file that cannot be read.
    """
    return read_conclusion(path).report


def read_conclusion(path: Path) -> Conclusion:
    """All that such a document holds: report, comparison, gates and verdict. Raises as `read` does."""
    with suppress(OSError, InvalidSuite, ValueError, KeyError, TypeError, RecursionError):
        if LARGE < path.stat().st_size <= MAX_BYTES:
            return _case_by_case(read_lines(path, str(path)))
    return parse(read_text(path, str(path), MAX_BYTES), str(path))


def parse(text: str, shown: str) -> Conclusion:
    """A results document's text → conclusion. Raises InvalidDocument that says where it is wrong."""
    try:
        document = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidDocument(f"{shown} is no results document: not JSON ({error})") from None
    version = document.get("format_version") if isinstance(document, dict) else None
    if version != FORMAT_VERSION:
        told = "it has no format_version" if version is None else f"its format_version is {version}"
        raise InvalidDocument(f"{shown} is no results document that we read: {told}, we read {FORMAT_VERSION}")
    for complaint in complaints("runevals", "results-1", document):
        place = "/" + "/".join(map(str, complaint.place))
        raise InvalidDocument(f"{shown} is no valid results document: {place} {complaint.message}")
    try:
        return _conclusion(document, _converter().structure(document["cases"], tuple[CaseReport, ...]))
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidDocument(f"{shown} is no valid results document: {error!r}") from None


def _case_by_case(lines: Iterable[str]) -> Conclusion:
    """The same of a document's lines, without ever holding what was said in all of its cases.

    Raises ValueError, KeyError or TypeError for any that is not valid, or not laid out as we do.
    """
    rest: list[str] = []
    cases: list[CaseReport] = []
    spool = Spool()
    texts = cases_of(lines, rest)
    while some := list(islice(texts, AT_ONCE)):
        found = json.loads(f"[{','.join(some)}]", parse_constant=_no_constant)
        if not fits("runevals", "results-1", found, "cases"):
            raise ValueError("a case is not valid")
        cases += [_spooled(case, spool) for case in _converter().structure(found, tuple[CaseReport, ...])]
    if not cases:
        raise ValueError("it is laid out otherwise")
    document = json.loads("".join(rest), parse_constant=_no_constant)
    if document["cases"] != [PLACE] or not fits("runevals", "results-1", {**document, "cases": []}):
        raise ValueError("it is not valid")
    return _conclusion(document, tuple(cases))


def _spooled(case: CaseReport, spool: Spool) -> CaseReport:
    attempts = [replace(attempt, turns=tuple(map(spool.kept, attempt.turns))) for attempt in case.attempts]
    return replace(case, attempts=tuple(attempts))


def _head(report: RunReport) -> Json:
    """What a document says of a run beside its cases."""
    plain = _converter().unstructure
    return {
        "format_version": FORMAT_VERSION,
        "tool": {"name": "runevals", "version": report.tool_version},
        "complete": report.complete,
        "run": plain(report.run),
        "totals": {
            **plain(report.totals),
            "by_category": {name: plain(group) for name, group in report.by_category.items()},
            "by_evaluator": {name: plain(group) for name, group in report.by_evaluator.items()},
        },
        **({"agreement": plain(report.agreement)} if report.agreement else {}),
        "coverage": plain(report.coverage),
    }


def _report(document: Json, cases: tuple[CaseReport, ...]) -> RunReport:
    build = _converter().structure
    totals = document["totals"]
    return RunReport(
        tool_version=document["tool"]["version"],
        run=build(document["run"], RunInfo),
        cases=cases,
        totals=build(totals, Totals),
        by_category={name: build(group, Totals) for name, group in totals["by_category"].items()},
        by_evaluator={name: build(group, Totals) for name, group in totals["by_evaluator"].items()},
        agreement=build(document.get("agreement", []), tuple[VoteAgreement, ...]),
        complete=document["complete"],
        coverage=build(document.get("coverage", []), tuple[Coverage, ...]),
    )


def _conclusion(document: Json, cases: tuple[CaseReport, ...]) -> Conclusion:
    build = _converter().structure
    report = _report(document, cases)
    comparison = document["comparison"]
    return Conclusion(
        report=report,
        comparison=None if comparison is None else _read_comparison(comparison, report),
        gates=build(document["gates"], tuple[GateResult, ...]),
        verdict=build(document["verdict"], FinalVerdict),
    )


def _comparison(comparison: Comparison) -> Json:
    """The base's unchanged cases stand in the base's own document, the head's in this one."""
    plain = _converter().unstructure
    fields: Json = plain(comparison)
    changes = [
        {
            **{name: value for name, value in plain(change).items() if name not in ("base", "head")},
            "before": plain(change.base),
            "after": None if change.head is None else change.head.status.value,
            **({"after_case": plain(change.head)} if comparison.on_base_suite else {}),
        }
        for change in comparison.changes
    ]
    return {**fields, "base": _head(comparison.base), "changes": changes}


def _read_comparison(fields: Json, report: RunReport) -> Comparison:
    build = _converter().structure
    heads = {(case.suite, case.key): case for case in report.cases}
    changes = []
    for change in fields["changes"]:
        before, after = change["before"], change["after"]
        changes.append(
            Change(
                suite=change["suite"],
                key=change["key"],
                name=change["name"],
                change=change["change"],
                label=change["label"],
                base=None if before is None else build(before, CaseReport),
                head=None if after is None else _head_case(change, heads),
            )
        )
    base = _report(fields["base"], tuple(change.base for change in changes if change.base is not None))
    bare: Comparison = build({**fields, "base": None, "changes": []}, Comparison)
    return replace(bare, base=base, changes=tuple(changes))


def _head_case(change: Json, heads: Mapping[tuple[str, str], CaseReport]) -> CaseReport:
    """This run's case; the change itself has it where the head was run on the base's suite."""
    if change.get("after_case") is not None:
        return _converter().structure(change["after_case"], CaseReport)
    return heads[change["suite"], change["key"]]


@cache
def _converter() -> cattrs.Converter:
    import cattrs  # only reading and writing documents needs it
    from cattrs.gen import make_dict_unstructure_fn

    converter = cattrs.Converter(detailed_validation=False)
    converter.register_unstructure_hook(datetime, _iso)
    converter.register_structure_hook(datetime, _moment)
    converter.register_structure_hook_func(lambda kind: kind is object, lambda value, _: value)
    # The base of a comparison is written and read apart: only part of it stands in the document.
    converter.register_unstructure_hook(RunReport, lambda _: None)
    converter.register_structure_hook(RunReport, lambda value, _: value)

    def with_derived(record: type, **derived: Callable[[Any], object]) -> None:
        plain: Callable[[Any], Json] = make_dict_unstructure_fn(record, converter)
        converter.register_unstructure_hook(
            record, lambda item: {**plain(item), **{name: read(item) for name, read in derived.items()}}
        )

    with_derived(CheckReport, passed=lambda result: result.outcome is Outcome.PASSED)
    with_derived(AttemptReport, share=lambda attempt: attempt.share)
    with_derived(
        CaseReport, share=lambda case: case.share, flaky=lambda case: case.flaky, tripped=lambda case: case.tripped
    )
    with_derived(Totals, share=lambda totals: totals.share)
    return converter


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _moment(text: str, _kind: object) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return moment


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
