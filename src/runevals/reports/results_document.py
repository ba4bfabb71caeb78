"""Conclusion ⇄ versioned results document."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.nullable import if_known
from runevals.lib.parsing.record_json import WrongRecord, from_json, json_text
from runevals.lib.parsing.source import read_lines, read_text
from runevals.lib.parsing.strict_json import require_few_values
from runevals.lib.record_from import record_from
from runevals.lib.storage.files import STANDARD_STREAM
from runevals.lib.storage.packed import is_packed, unpacked, unpacked_lines
from runevals.lib.storage.store import Store
from runevals.lib.text.escape import one_line
from runevals.records import (
    Acceptance,
    AcceptedLoss,
    AgainstComparison,
    Blame,
    CaseReport,
    Causes,
    Change,
    ChangeKind,
    ChangeLabel,
    Comparison,
    Conclusion,
    Coverage,
    FinalVerdict,
    Finding,
    GateResult,
    MarkComparison,
    Outcome,
    RunInfo,
    RunReport,
    TextChange,
    Totals,
    TurnReport,
    VoteAgreement,
)
from runevals.records.comparison import ComparisonFigures
from runevals.records.conclusion import SkillMatrix
from runevals.records.errors import InvalidDocument, InvalidSuite
from runevals.records.report import always
from runevals.verdict.causes import causes
from runevals.verdict.score import contradiction

FORMAT_VERSION = 1
SUFFIXES = (".json", ".json.gz")
MAX_BYTES = 1024**3  # a hundred thousand answers of some pages
MAX_UNPACKED = MAX_BYTES // 2  # of a packed one
LARGE = 8 * 1024**2  # bytes, from which a document is read case by case
ADDRESS = (
    "https://raw.githubusercontent.com/runevals/runevals/v0/src/runevals/reports/schemas/results-1.schema.json"
)

_CASES = '\n "cases": '  # of the document: no text has a line end


class Tool(Struct, frozen=True, kw_only=True):
    """What wrote a document."""

    name: Literal["runevals"]
    version: str


class AllTotals(Totals, frozen=True, kw_only=True):
    """The totals of a run, and of its parts."""

    by_category: Mapping[str, Totals]
    by_evaluator: Mapping[str, Totals]  # counts of checks


class Head(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a document says of a run beside its cases."""

    format_version: Literal[1]
    tool: Tool
    complete: bool = always(bool)
    run: RunInfo
    totals: AllTotals
    agreement: tuple[VoteAgreement, ...] = ()
    coverage: tuple[Coverage, ...] = always(lambda: ())


class ChangedCase(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A case that is not what it was: as the base has it, and the head's outcome."""

    suite: str
    key: str
    name: str
    change: ChangeKind
    label: ChangeLabel | None
    before: CaseReport | None
    after: Outcome | None


class ComparisonPart(ComparisonFigures, frozen=True, kw_only=True):
    """A comparison. The base's unchanged cases stand in the base's own document, the head's in this one."""

    base: Head
    changes: tuple[ChangedCase, ...]


class Document(Head, frozen=True, kw_only=True, omit_defaults=True):
    """A results document, format 1."""

    complete: bool
    cases: Sequence[CaseReport]
    comparison: ComparisonPart | None
    gates: tuple[GateResult, ...]
    verdict: FinalVerdict
    mark: MarkComparison | None = None
    against: AgainstComparison | None = None
    prompt_changes: tuple[TextChange, ...] = ()  # what changed in the texts that the target reads
    acceptance: Acceptance | None = None
    waiting: tuple[AcceptedLoss, ...] = ()
    skill_matrix: SkillMatrix | None = None
    strength: str = ""
    blame: Blame | None = None
    findings: tuple[Finding, ...] = ()  # about the run itself
    causes: tuple[Causes, ...] = ()  # the cases to look at, in groups: made from the rest, and not read


class WrongCases(ValueError):
    """A document has two cases of one key, or a case whose status is not that of its checks."""


def schema() -> dict[str, Any]:
    """The JSON Schema of the format, made from the types that read it."""
    return schema_of_type(Document, ADDRESS, "runevals results document, format 1")


def schema_of_type(kind: type[Struct], address: str, title: str) -> dict[str, Any]:
    """The JSON Schema of a record, with the meanings of its fields: of `Record.field`, or of `field` anywhere."""
    _, parts = msgspec.json.schema_components(
        [kind], schema_hook=lambda _: {"description": "Any JSON."}, ref_template="#/$defs/{name}"
    )
    meanings = json.loads(files(__package__).joinpath("schemas", "meanings.json").read_text(encoding="utf-8"))
    for record, part in parts.items():
        for name, value in part.get("properties", {}).items():
            value["description"] = meanings.get(f"{record}.{name}") or meanings[name]
    document = parts.pop(kind.__name__)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": address}
    return {**head, **document, "title": title, "$defs": parts}


def write(conclusion: Conclusion) -> str:
    """The results document of a run, keys and cases in a fixed order; only times differ between equal runs."""
    return "".join(written(conclusion))


def written(conclusion: Conclusion) -> Iterator[str]:
    """Yields the document piece by piece: a case a line, of which only one is in memory twice."""
    comparison, against, report = conclusion.comparison, conclusion.against, conclusion.report
    document = record_from(
        Document,
        conclusion,
        **msgspec.structs.asdict(_head(report)),
        cases=msgspec.Raw(b"null"),  # they follow one by one
        comparison=if_known(_comparison, comparison),
        against=None if against is None else replace(against, other=None),
        causes=causes(report, comparison),
    )
    head, _, rest = msgspec.json.format(json_text(document), indent=1).partition(f"{_CASES}null")
    yield f"{head}{_CASES}["
    yield from ((",\n  " if number else "\n  ") + json_text(case) for number, case in enumerate(report.cases))
    yield ("\n ]" if report.cases else "]") + rest + "\n"


def read(path: str | Path) -> RunReport:
    """The run's report in a results document of any version we ever wrote.

    Raises InvalidDocument that says where it is wrong, or InvalidSuite for a file that cannot be read.
    """
    return read_conclusion(Path(path)).report


def read_conclusion(path: Path, name: str = "") -> Conclusion:
    """The conclusion in a document: report, comparison, gates and verdict. Raises as `read` does, with `name`."""
    name = name or str(path)
    if path == STANDARD_STREAM:
        content = content_of(sys.stdin.buffer.read(MAX_UNPACKED), "standard input")
        return parse(content.decode(errors="replace"), "standard input")
    packed = path.is_file() and os.access(path, os.R_OK) and is_packed(path)
    if packed and path.stat().st_size > MAX_UNPACKED:
        raise InvalidDocument(f"{name} is larger than {MAX_UNPACKED // 1024**2} MiB, the most we read")
    with suppress(OSError, InvalidSuite, ValueError, KeyError, RecursionError):
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


class _Version(Struct):
    format_version: object = None


def parse(text: str, display_name: str) -> Conclusion:
    """A results document's text → conclusion. Raises InvalidDocument that says where it is wrong."""
    try:
        require_few_values(text)
        try:
            return _conclusion(_document(text))
        except WrongRecord:
            _require_version(text, display_name)
            raise
    except KeyError as error:
        why = repr(error)
    except (WrongCases, WrongRecord) as error:
        why = str(error)
    except (ValueError, RecursionError) as error:
        why = "it is XML; results of another tool are for `runevals gate`"
        if not text.lstrip().startswith("<"):
            why = f"not JSON ({error})"
        raise InvalidDocument(f"{display_name} is not a results document: {why}") from None
    raise InvalidDocument(f"{display_name} is not a valid results document: {one_line(why)}")


def _document(text: str) -> Document:
    """The document, whose comparison an earlier version may have written. Raises WrongRecord."""
    try:
        return from_json(text, Document)
    except WrongRecord:
        from runevals.reports.earlier_comparison import upgraded

        with suppress(KeyError, TypeError, ValueError):
            document = msgspec.json.decode(text)
            if (now := upgraded(document)) is not document:
                return from_json(json_text(now), Document)
        raise


def _require_version(text: str, display_name: str) -> None:
    """Raises InvalidDocument for JSON of another kind, or of another version of this one."""
    version = None
    with suppress(WrongRecord):
        version = from_json(text, _Version).format_version
    if version != FORMAT_VERSION:
        why = "it has no 'format_version'" if version is None else f"'format_version' is {version}"
        raise InvalidDocument(
            f"{display_name} is not a results document that can be read: {why}; {FORMAT_VERSION} is needed"
        )


def _case_by_case(lines: Iterable[str]) -> Conclusion:
    """Reads a document line by line, without holding the text of all its cases.

    Raises ValueError or KeyError for any that is not valid, or not laid out as we do.
    """
    rest: list[str] = []
    cases: list[CaseReport] = []
    store = Store(TurnReport)
    for text in _cases_of(lines, rest):
        require_few_values(text)
        case = from_json(text, CaseReport)
        attempts = [replace(attempt, turns=store.offload(tuple(attempt.turns))) for attempt in case.attempts]
        cases.append(replace(case, attempts=tuple(attempts)))
    document = _document("".join(rest))
    if not cases or document.cases:
        raise ValueError("it is laid out otherwise")
    return _conclusion(replace(document, cases=cases))


def _head(report: RunReport) -> Head:
    groups = {"by_category": report.by_category, "by_evaluator": report.by_evaluator}
    return record_from(
        Head,
        report,
        format_version=1,
        tool=Tool(name="runevals", version=report.tool_version),
        run=replace(report.run, started_at=report.run.started_at.astimezone(UTC)),
        totals=record_from(AllTotals, report.totals, **groups),
    )


def _require_sound(cases: Sequence[CaseReport], run: RunInfo) -> None:
    """Raises WrongCases: of two cases with one key only one would be compared, and a status would be believed."""
    keys: set[tuple[str, str]] = set()
    for case in cases:
        if (case.suite, case.key) in keys:
            raise WrongCases(f"the case {case.key!r} of {case.suite} is there twice")
        if why := contradiction(case, of_tool=run.of_tool):
            raise WrongCases(f"the case {case.key!r} of {case.suite} contradicts itself: {why}")
        keys.add((case.suite, case.key))


def _report(head: Head, cases: Sequence[CaseReport]) -> RunReport:
    _require_moment(head.run.started_at)
    _require_sound(cases, head.run)
    return record_from(
        RunReport,
        head,
        tool_version=head.tool.version,
        cases=tuple(cases),
        by_category=head.totals.by_category,
        by_evaluator=head.totals.by_evaluator,
        totals=record_from(Totals, head.totals),
    )


def _require_moment(moment: datetime) -> None:
    """Raises WrongCases for one that other time zones may not have."""
    if moment.year in (MINYEAR, MAXYEAR):
        raise WrongCases(f"{moment} is not a time that can be computed with")


def _conclusion(document: Document) -> Conclusion:
    report = _report(document, document.cases)
    if document.mark is not None:
        _require_moment(document.mark.started_at)
    return record_from(
        Conclusion,
        document,
        report=report,
        comparison=None if document.comparison is None else _read_comparison(document.comparison, report),
    )


def _comparison(comparison: Comparison) -> ComparisonPart:
    changes = tuple(
        record_from(
            ChangedCase, change, before=change.base, after=None if change.head is None else change.head.status
        )
        for change in comparison.changes
    )
    return record_from(ComparisonPart, comparison, base=_head(comparison.base), changes=changes)


def _read_comparison(part: ComparisonPart, report: RunReport) -> Comparison:
    heads = {(case.suite, case.key): case for case in report.cases} if part.changes else {}
    changes = tuple(
        record_from(
            Change,
            change,
            base=change.before,
            head=None if change.after is None else heads[change.suite, change.key],
        )
        for change in part.changes
    )
    # A case may have regressed on the base's suite and be removed from the head's.
    of_base = {(change.base.suite, change.base.key): change.base for change in changes if change.base is not None}
    return record_from(Comparison, part, base=_report(part.base, tuple(of_base.values())), changes=changes)


def _cases_of(lines: Iterable[str], rest: list[str]) -> Iterator[str]:
    """The text of each case of a document as we lay it out; the rest goes to `rest`, in which the list is empty.

    A case is a line; in older documents, it ends with a line that is only its bracket. Raises ValueError for
    another layout.
    """
    left = iter(lines)
    for line in left:
        rest.append(line)
        if line == ' "cases": [\n':
            yield from _until_closed(left)
            rest.append("],\n")


def _until_closed(lines: Iterator[str]) -> Iterator[str]:
    case: list[str] = []
    for line in lines:
        case.append(line)
        ends = line.startswith('  {"') or line in ("  },\n", "  }\n")
        if ends and line.endswith("},\n"):
            yield "".join(case)[: -len(",\n")]
            case = []
        elif ends:
            yield "".join(case)
            if next(lines, None) == " ],\n":
                return
            break
    raise ValueError("the cases do not end as ours do")
