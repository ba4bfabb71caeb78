"""JUnit XML: one test suite for each suite and category, one test case for each case or turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from msgspec import Struct

from runevals.lib.nullable import grouped
from runevals.lib.storage.store import Store
from runevals.lib.text.escape import both_ends, xml_text
from runevals.lib.text.numbers import percent, phrase, plural, score
from runevals.records import NEVER_SENT_CODES, CaseReport, CheckResult, Conclusion, GateState, Outcome, TurnReport
from runevals.reports import blame
from runevals.reports.block import block_of, sentences
from runevals.reports.coverage import tripwire
from runevals.verdict.wording import runs_passed

MAX_OUTPUT = 10_000
AT_ONCE = 100  # tests
GATES = "runevals.gates"


def stream(conclusion: Conclusion) -> Iterator[str]:
    """Yields the XML in pieces: failed checks are failures, unmeasured ones errors, gates the last test suite."""
    causes = _causes(conclusion)
    gates = _Suite(name=GATES, tests=_gates(conclusion, causes), properties=causes)
    store, every = Store(str), Counter[str]()  # totals come first, and all may not fit in memory
    suites: list[tuple[str, Sequence[Sequence[str]]]] = []
    for suite in (*_suites(conclusion), gates):
        counts = Counter[str]()
        texts = [store.offload((text,)) for text in _content(suite, counts)]
        suites.append((_opening("testsuite", counts, suite.name), texts))
        every.update(counts)
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield _opening("testsuites", every)
    for opening, pieces in suites:
        yield from chain([opening], chain.from_iterable(pieces), ["</testsuite>"])
    yield "</testsuites>\n"


class _Suite(Struct, frozen=True, kw_only=True):
    """One test suite; its tests are created on demand."""

    name: str
    tests: Iterator[Any]
    properties: dict[str, str]


def _suites(conclusion: Conclusion) -> Iterator[_Suite]:
    also_on_base = _failing_on_base(conclusion)
    groups = grouped((f"{one.suite}{phrase(one.category, ' [{}]')}", one) for one in conclusion.report.cases)
    for name, cases in groups.items():
        yield _Suite(
            name=xml_text(name),
            tests=_tests(cases, name, also_on_base),
            properties=_properties(cases, any_cached=conclusion.report.totals.cached > 0),
        )


def _content(suite: _Suite, counts: Counter[str]) -> Iterator[str]:
    """The text of properties and tests, which are counted; times have three decimals, as readers expect."""
    from junit_xml import TestSuite  # only a run that writes it loads it

    properties = suite.properties
    while (some := list(islice(suite.tests, AT_ONCE))) or properties:
        element = TestSuite("", some, properties=properties).build_xml_doc()
        for test in element.iter("testcase"):
            test.set("time", f"{float(test.get('time', 0)):.3f}")  # the library leaves out 0
        for test in some:
            counts["tests"] += 1
            counts["errors"] += test.is_error()
            counts["failures"] += test.is_failure()
            counts["skipped"] += test.is_skipped()
            counts["time"] += test.elapsed_sec
        text = _text(element)
        yield text[text.index(">") + 1 : text.rindex("<")]
        properties = {}


def _opening(tag: str, counts: Counter[str], name: str | None = None) -> str:
    attributes = {"disabled": "0", "errors": str(counts["errors"]), "failures": str(counts["failures"])}
    if name is not None:
        attributes |= {"name": name, "skipped": str(counts["skipped"])}
    attributes |= {"tests": str(counts["tests"]), "time": f"{counts['time']:.3f}"}
    return _text(Element(tag, attributes)).removesuffix(" />") + ">"


def _text(element: Element) -> str:
    return ElementTree.tostring(element, encoding="unicode")


def _failing_on_base(conclusion: Conclusion) -> set[tuple[str, str]]:
    """Cases that fail and already failed on the base."""
    comparison = conclusion.comparison
    if comparison is None:
        return set()
    new = {
        (change.suite, change.key) for change in comparison.of_kind("regressed", "added", "edited", "unmeasured")
    }
    return {
        (case.suite, case.key)
        for case in conclusion.report.cases
        if case.status is Outcome.FAILED and (case.suite, case.key) not in new
    }


def _properties(cases: Sequence[CaseReport], *, any_cached: bool) -> dict[str, str]:
    scores = {xml_text(f"score.{case.key}"): score(case.composite) for case in cases}
    traps = {xml_text(f"tripwire.{case.key}"): text for case in cases if (text := tripwire(case)) is not None}
    cached = {
        xml_text(f"cached.{case.key}"): f"{count} of {plural(len(case.attempts), 'run')}"
        for case in (cases if any_cached else ())
        if (count := sum(attempt.cached for attempt in case.attempts))
    }
    return {**scores, **traps, **cached}


def _tests(cases: Sequence[CaseReport], suite: str, also_on_base: set[tuple[str, str]]) -> Iterator[Any]:
    """One test for each case; for one of several turns, one for each turn."""
    for case in cases:
        turns = max((len(attempt.turns) for attempt in case.attempts), default=0)
        prefix = "also fails on base: " if (case.suite, case.key) in also_on_base else ""
        prefix = "in quarantine: " if case.quarantined else prefix
        for number in range(turns):
            name = case.key if turns == 1 else f"{case.key} turn {number + 1}"
            yield _test(case, number, (suite, name), prefix)


def _test(case: CaseReport, number: int, names: tuple[str, str], prefix: str) -> Any:
    from junit_xml import TestCase

    turns = [attempt.turns[number] for attempt in case.attempts if number < len(attempt.turns)]
    turn = _decisive_turn(turns, case.status)
    test = TestCase(
        xml_text(names[1]),
        classname=xml_text(names[0]),
        elapsed_sec=round(sum(one.latency_s or 0.0 for one in turns), 3),
        stdout=xml_text((turn.output or "")[:MAX_OUTPUT]),
        file=xml_text(case.file),
        line=case.line,
    )
    runs = f" ({runs_passed(case)} runs passed)" if len(case.attempts) > 1 else ""
    failed = [result for result in turn.results if result.outcome is Outcome.FAILED]
    of_checks = (result.error for result in turn.results if result.outcome is Outcome.ERRORED)
    problems = [each for each in (turn.error, *of_checks) if each and each.code not in NEVER_SENT_CODES]
    if case.status is not Outcome.PASSED and failed:
        notes = [] if case.notes is None else [f"notes: {case.notes}"]
        test.add_failure_info(
            message=_line(prefix + _sentence(failed[0]) + runs),
            output=xml_text("\n".join([*map(_sentence, failed), *notes])),
            failure_type=xml_text(failed[0].evaluator),
        )
    elif problems:
        message = _line(f"{problems[0].code}: {problems[0].message}")
        test.add_error_info(message=message, output=None, error_type=xml_text(problems[0].code))
    elif all(result.outcome is Outcome.SKIPPED for result in turn.results):
        test.add_skipped_info(message=_line(turn.results[0].reason if turn.results else "nothing to judge"))
    return test


def _decisive_turn(turns: Sequence[TurnReport], status: Outcome) -> TurnReport:
    """The attempt at this turn that shows why the case has its status; or one that could not be measured."""
    for outcome in (status, Outcome.ERRORED):
        for turn in turns:
            if any(result.outcome is outcome for result in turn.results) and outcome is not Outcome.PASSED:
                return turn
    return turns[0]


def _sentence(result: CheckResult) -> str:
    threshold = "" if result.threshold is None else f", needs {result.threshold:g}"
    value = "" if result.value is None else f" ({result.value:g}{threshold})"
    return f"{result.id}{value}: {result.reason}"


def _causes(conclusion: Conclusion) -> dict[str, str]:
    """What was lost or could not be measured, one property a group of cases and way to fail."""
    causes = block_of(conclusion).causes
    lines: list[tuple[str, str]] = [(one.kind, line) for one in causes for line in sentences(one)]
    lines += [("blame", line) for line in blame.lines(conclusion.blame)]
    return {f"{kind}.{number}": xml_text(line) for number, (kind, line) in enumerate(lines, start=1)}


def _gates(conclusion: Conclusion, causes: Mapping[str, str]) -> Iterator[Any]:
    """One test a gate; the first that fails says what the cases have in common."""
    from junit_xml import TestCase

    lost = "\n".join(causes.values()) or None
    for gate in conclusion.gates:
        test = TestCase(xml_text(gate.name), classname=GATES, elapsed_sec=0)
        limit = "" if gate.limit is None or gate.name == "measured" else f", needs {percent(gate.limit)}"
        if gate.unmeasured:
            test.add_error_info(message=_line(gate.reason), output=None, error_type="unmeasured")
        elif gate.state is GateState.FAILED:
            test.add_failure_info(message=_line(gate.reason + limit), output=lost, failure_type="gate")
            lost = None
        elif gate.state is GateState.NOT_APPLICABLE:
            test.add_skipped_info(message=_line(gate.reason))
        yield test


def _line(text: str) -> str:
    return xml_text(both_ends(text, 1000))
