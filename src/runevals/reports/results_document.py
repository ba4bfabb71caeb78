"""Conclusion ⇄ versioned results document."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import islice
from operator import is_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runevals.lib.parsing.schema import complaints, fits
from runevals.lib.parsing.source import read_lines, read_text
from runevals.lib.parsing.strict_json import finite, refuse_constant, require_few_values
from runevals.lib.storage.packed import is_packed, unpacked, unpacked_lines
from runevals.lib.storage.spool import Spool
from runevals.lib.text.escape import one_line
from runevals.lib.text.moments import parse_moment
from runevals.records import (
    Acceptance,
    AgainstComparison,
    Blame,
    CaseReport,
    Change,
    Comparison,
    Conclusion,
    Coverage,
    FinalVerdict,
    GateResult,
    MarkComparison,
    RunInfo,
    RunReport,
    TextChange,
    Totals,
    VoteAgreement,
)
from runevals.records.errors import InvalidDocument, InvalidSuite
from runevals.reports.results_json import case_line, fields_of, json_text
from runevals.reports.results_lines import PLACE, cases_of
from runevals.reports.results_records import LARGEST, read_case
from runevals.verdict.score import contradiction

if TYPE_CHECKING:
    import cattrs

FORMAT_VERSION = 1
SUFFIXES = (".json", ".json.gz")
MAX_BYTES = 1024**3  # a hundred thousand answers of some pages
MAX_UNPACKED = MAX_BYTES // 2  # of a packed one
LARGE = 8 * 1024**2  # bytes, from which a document is read case by case
AT_ONCE = 100  # cases

Json = dict[str, Any]


class WrongCases(ValueError):
    """A document has two cases of one key, or a case whose status is not that of its checks."""


def write(conclusion: Conclusion) -> str:
    """The results document of a run, keys and cases in a fixed order; only times differ between equal runs."""
    return "".join(written(conclusion))


def written(conclusion: Conclusion) -> Iterator[str]:
    """The same text piece by piece: of the cases, only one is held in memory twice."""
    comparison = conclusion.comparison
    rest = {
        "comparison": None if comparison is None else _comparison(comparison),
        "gates": conclusion.gates,
        "verdict": conclusion.verdict,
        **({} if conclusion.mark is None else {"mark": conclusion.mark}),
        **({} if conclusion.against is None else {"against": replace(conclusion.against, other=None)}),
        **({"prompt_changes": conclusion.prompt_changes} if conclusion.prompt_changes else {}),
        **({} if conclusion.acceptance is None else {"acceptance": conclusion.acceptance}),
        **({} if conclusion.blame is None else {"blame": conclusion.blame}),
    }
    yield json_text(_head(conclusion.report)).removesuffix("\n}") + ',\n "cases": ['
    for number, case in enumerate(conclusion.report.cases):
        yield (",\n  " if number else "\n  ") + case_line(case)
    yield "\n ]," if conclusion.report.cases else "],"
    yield json_text(rest).removeprefix("{") + "\n"


def read(path: str | Path) -> RunReport:
    """The run's report in a results document of any version we ever wrote.

    Raises InvalidDocument that says where it is wrong, or InvalidSuite for a file that cannot be read.
    """
    return read_conclusion(Path(path)).report


def read_conclusion(path: Path, name: str = "") -> Conclusion:
    """The conclusion in a document: report, comparison, gates and verdict. Raises as `read` does, with `name`."""
    name = name or str(path)
    packed = path.is_file() and os.access(path, os.R_OK) and is_packed(path)
    if packed and path.stat().st_size > MAX_UNPACKED:
        raise InvalidDocument(f"{name} is larger than {MAX_UNPACKED // 1024**2} MiB, the most we read")
    with suppress(OSError, InvalidSuite, ValueError, KeyError, TypeError, ArithmeticError, RecursionError):
        if packed:
            return _case_by_case(unpacked_lines(path, MAX_UNPACKED))
        if LARGE < path.stat().st_size <= MAX_BYTES:
            return _case_by_case(read_lines(path, name))
    if packed:
        return parse(content_of(path.read_bytes(), name).decode(errors="replace"), name)
    return parse(read_text(path, name, MAX_BYTES), name)


def documents_in(folder: Path, *, deep: bool = False) -> list[Path]:
    """The files that may be results documents by their names."""
    return sorted(path for suffix in SUFFIXES for path in (folder.rglob if deep else folder.glob)(f"*{suffix}"))


def content_of(content: bytes, display_name: str) -> bytes:
    """The bytes of a document, which may be packed. Raises InvalidDocument if it cannot be unpacked."""
    try:
        return unpacked(content, MAX_UNPACKED)
    except ValueError as error:
        raise InvalidDocument(f"{display_name} is not a results document: {error}") from None


def parse(text: str, display_name: str) -> Conclusion:
    """A results document's text → conclusion. Raises InvalidDocument that says where it is wrong."""
    try:
        document = _loaded(text)
    except (ValueError, RecursionError) as error:
        why = "it is XML; results of another tool are for `runevals gate`"
        if not text.lstrip().startswith("<"):
            why = f"not JSON ({error})"
        raise InvalidDocument(f"{display_name} is not a results document: {why}") from None
    version = document.get("format_version") if isinstance(document, dict) else None
    if version != FORMAT_VERSION:
        why = "it has no 'format_version'" if version is None else f"'format_version' is {version}"
        raise InvalidDocument(
            f"{display_name} is not a results document that can be read: {why}; {FORMAT_VERSION} is needed"
        )
    with suppress(ValueError, KeyError, TypeError, ArithmeticError):
        return _read_quickly(document)
    for complaint in complaints("runevals.reports", "results-1", document):
        place = "/" + "/".join(map(str, complaint.json_path))
        raise InvalidDocument(f"{display_name} is not a valid results document: {place} {complaint.message}")
    try:
        return _conclusion(document, _structured(document["cases"], tuple[CaseReport, ...]))
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        why = str(error) if isinstance(error, WrongCases) else repr(error)
        raise InvalidDocument(f"{display_name} is not a valid results document: {one_line(why)}") from None


def _read_quickly(document: Any) -> Conclusion:
    """Raises ValueError, KeyError or TypeError for one that is not laid out as we do, which may be valid."""
    cases = tuple(map(read_case, document["cases"]))
    _require_valid_beside_cases(document)
    return _conclusion(document, cases)


def _require_valid_beside_cases(document: Json) -> None:
    """Raises ValueError, KeyError for a document that is not valid; its cases are not looked at."""
    absent = tuple(name for name in ("comparison", "against") if document.get(name) is None)
    if not fits("runevals.reports", "results-1", document, without=("cases", *absent)):
        raise ValueError("it is not valid")


def _case_by_case(lines: Iterable[str]) -> Conclusion:
    """The same of a document's lines, without ever holding what was said in all of its cases.

    Raises ValueError, KeyError or TypeError for any that is not valid, or not laid out as we do.
    """
    rest: list[str] = []
    cases: list[CaseReport] = []
    spool = Spool()
    texts = cases_of(lines, rest)
    while some := list(islice(texts, AT_ONCE)):
        cases += [_spooled(case, spool) for case in _cases(f"[{','.join(some)}]")]
    if not cases:
        raise ValueError("it is laid out otherwise")
    document = _loaded("".join(rest))
    if document["cases"] != [PLACE]:
        raise ValueError("it has cases elsewhere")
    _require_valid_beside_cases(document)
    return _conclusion(document, tuple(cases))


def _cases(text: str) -> tuple[CaseReport, ...]:
    """Raises ValueError, KeyError or TypeError for cases that are not valid."""
    require_few_values(text)
    with suppress(ValueError, KeyError, TypeError):
        return tuple(map(read_case, json.loads(text, parse_constant=refuse_constant)))
    documents = _loaded(text)
    if not fits("runevals.reports", "results-1", documents, "cases"):
        raise ValueError("a case is not valid")
    cases: tuple[CaseReport, ...] = _structured(documents, tuple[CaseReport, ...])
    return cases


def _spooled(case: CaseReport, spool: Spool) -> CaseReport:
    attempts = tuple(map(spool.offload_attempt, case.attempts))
    return case if all(map(is_, attempts, case.attempts)) else replace(case, attempts=attempts)


def _head(report: RunReport) -> Json:
    """What a document says of a run beside its cases."""
    return {
        "format_version": FORMAT_VERSION,
        "tool": {"name": "runevals", "version": report.tool_version},
        "complete": report.complete,
        "run": report.run,
        "totals": {
            **fields_of(report.totals),
            "by_category": report.by_category,
            "by_evaluator": report.by_evaluator,
        },
        **({"agreement": report.agreement} if report.agreement else {}),
        "coverage": report.coverage,
    }


def _require_sound(cases: Sequence[CaseReport], run: RunInfo) -> None:
    """Raises WrongCases: of two cases with one key only one would be compared, and a status would be believed."""
    keys: set[tuple[str, str]] = set()
    for case in cases:
        if (case.suite, case.key) in keys:
            raise WrongCases(f"the case {case.key!r} of {case.suite} is there twice")
        if why := contradiction(case, of_tool=run.of_tool):
            raise WrongCases(f"the case {case.key!r} of {case.suite} contradicts itself: {why}")
        keys.add((case.suite, case.key))


def _report(document: Json, cases: tuple[CaseReport, ...]) -> RunReport:
    build = _structured
    totals = document["totals"]
    run = build(document["run"], RunInfo)
    _require_sound(cases, run)
    return RunReport(
        tool_version=document["tool"]["version"],
        run=run,
        cases=cases,
        totals=build(totals, Totals),
        by_category={name: build(group, Totals) for name, group in totals["by_category"].items()},
        by_evaluator={name: build(group, Totals) for name, group in totals["by_evaluator"].items()},
        agreement=build(document.get("agreement", []), tuple[VoteAgreement, ...]),
        complete=document["complete"],
        coverage=build(document.get("coverage", []), tuple[Coverage, ...]),
    )


def _conclusion(document: Json, cases: tuple[CaseReport, ...]) -> Conclusion:
    build = _structured
    report = _report(document, cases)
    comparison = document["comparison"]
    return Conclusion(
        report=report,
        comparison=None if comparison is None else _read_comparison(comparison, report),
        gates=build(document["gates"], tuple[GateResult, ...]),
        verdict=build(document["verdict"], FinalVerdict),
        mark=None if document.get("mark") is None else build(document["mark"], MarkComparison),
        against=None if document.get("against") is None else build(document["against"], AgainstComparison),
        prompt_changes=build(document.get("prompt_changes", []), tuple[TextChange, ...]),
        acceptance=None if document.get("acceptance") is None else build(document["acceptance"], Acceptance),
        blame=None if document.get("blame") is None else build(document["blame"], Blame),
    )


def _comparison(comparison: Comparison) -> Json:
    """The base's unchanged cases stand in the base's own document, the head's in this one."""
    changes = [
        {
            **{name: value for name, value in fields_of(change).items() if name not in ("base", "head")},
            "before": change.base,
            "after": None if change.head is None else change.head.status,
            **({"after_case": change.head} if comparison.on_base_suite and change.head is not None else {}),
        }
        for change in comparison.changes
    ]
    return {**fields_of(comparison), "base": _head(comparison.base), "changes": changes}


def _read_comparison(fields: Json, report: RunReport) -> Comparison:
    build = _structured
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
    # A case may have regressed on the base's suite and be removed from the head's.
    of_base = {(change.base.suite, change.base.key): change.base for change in changes if change.base is not None}
    base = _report(fields["base"], tuple(of_base.values()))
    bare: Comparison = build({**fields, "base": None, "changes": []}, Comparison)
    return replace(bare, base=base, changes=tuple(changes))


def _head_case(change: Json, heads: Mapping[tuple[str, str], CaseReport]) -> CaseReport:
    """This run's case; the change itself has it if the head was run on the base's suite."""
    if change.get("after_case") is not None:
        apart: CaseReport = _structured(change["after_case"], CaseReport)
        return apart
    return heads[change["suite"], change["key"]]


@cache
def _converter() -> cattrs.Converter:
    import cattrs  # only reading documents needs it

    converter = cattrs.Converter(detailed_validation=False)
    converter.register_structure_hook(datetime, _moment)
    converter.register_structure_hook(float, _bounded)
    converter.register_structure_hook(int, _bounded)
    converter.register_structure_hook_func(lambda kind: kind is object, lambda value, _: value)
    # The base of a comparison is read apart: only part of it stands in the document.
    converter.register_structure_hook(RunReport, lambda value, _: value)
    return converter


def _structured(value: object, kind: Any) -> Any:
    """`value` as records. Raises KeyError, TypeError, ValueError or ArithmeticError if it has another shape."""
    from cattrs.errors import CattrsError

    try:
        return _converter().structure(value, kind)
    except (AttributeError, CattrsError) as error:  # the former if a mapping is expected
        raise ValueError(str(error)) from None


def _loaded(text: str) -> Any:
    """Raises ValueError for invalid JSON, infinite numbers and more values than fit in memory."""
    require_few_values(text)
    return json.loads(text, parse_constant=refuse_constant, parse_float=finite)


def _bounded(value: Any, kind: type[float]) -> float:
    """A number of a field used in computations, such as a share or a count."""
    number = kind(value)
    if not abs(number) <= LARGEST:
        raise ValueError(f"{number:.3g} is too large a number")
    return number


def _moment(text: str, _kind: object) -> datetime:
    moment = parse_moment(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return moment
