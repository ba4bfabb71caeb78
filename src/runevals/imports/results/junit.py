"""JUnit XML of any test runner; what ran a test several times is read as its attempts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from runevals.imports.results.field_map import ENDS, PASSED, PASSES
from runevals.imports.results.fields import moment
from runevals.imports.results.opened import OpenedResults
from runevals.imports.results.records import (
    ImportedAttempt,
    ImportedCase,
    ImportedRun,
    check_result,
    joined,
    unanswered,
)
from runevals.imports.results.repetitions import whole_repeats, without_count
from runevals.lib.nullable import grouped, known
from runevals.lib.parsing.canonical import fingerprint
from runevals.lib.parsing.xml import XmlElement
from runevals.lib.text.numbers import phrase, plural
from runevals.lib.text.secrets import beginning, ending
from runevals.records import Outcome, TurnReport, cut_name, one_line
from runevals.records.errors import InvalidDocument
from runevals.records.rules import AS_IT_SAYS, Reading

NAME = "junit"
ROOTS = ("testsuites", "testsuite")
PYTEST = "pytest"  # the name of its suite, unless junit_suite_name says another
PYTEST_ROOT = "pytest tests"  # of all its suites
LONGEST_REASON = 2000
LONGEST_TIME_S = 1e9
_OTHERS = {
    "assemblies": "xUnit.net's own format",
    "test-run": "NUnit's own format",
    "test-results": "NUnit's own format",
    "TestRun": "a Visual Studio test results file (.trx)",
    "testExecutions": "SonarQube's own format",
    "events": "Open Test Reporting",
    "robot": "Robot Framework's own format; write JUnit XML with --xunit",
    "testng-results": "TestNG's own format; it writes JUnit XML in junitreports/",
    "promptfoo": "promptfoo's own XML; let it write JSON: -o output.json",
    "coverage": "a coverage report",
    "checkstyle": "a checkstyle report",
}
_REPETITION = re.compile(r"\s*\[?\brepetition (\d+) of (\d+)\b\]?", re.IGNORECASE)  # JUnit 5
_PARAMETERS = re.compile(r"\s*[\[(][^\[\]()]*[\])]$")
# Maven Surefire: the runs of a test before it passed, and those after it failed.
_EARLIER = {"flakyFailure": Outcome.FAILED, "flakyError": Outcome.ERRORED}
_LATER = {"rerunFailure": Outcome.FAILED, "rerunError": Outcome.ERRORED}
# Class and name of what fails outside of tests: a hook, a class or a package as a whole, as runners write them.
_NOT_TESTS = re.compile(
    r'.*"(before|after) (all|each)" hook(:.*|$| (for|in) ".*)'
    r"|.*::\s*Test execution failure: could be caused by test hooks.*"
    r"|.*::(|initializationError|executionError|classMethod)"
    r"|::TestMain|collection failure",  # of pytest, as the message
    re.DOTALL,
)
MOST_NESTED = 30  # suites
_WANTED_SKIP = ("SKIP_", "Disabled")  # how CTest says why, if nothing went wrong
_ABORTED = re.compile(r"^Error - (The active test run was aborted\b.*)", re.MULTILINE)
_SCRIPT = re.compile(r"(?<!-d)\.[cm]?[jt]sx?$")  # Vitest does not time what it only compiles: `x.test-d.ts`
_TIME = re.compile(r"\s*(?P<number>\d[\d.,]*(?:[eE][-+]?\d+)?|\.\d+)\s*(?P<unit>s|sec|seconds|ms)?\s*")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_NOT_RUN = "cancelledByParent"  # the type of a failure in node:test: a hook failed, or the event loop has ended
_STATES = ("status", "result", "outcome")
_ENDS = {"failure": Outcome.FAILED, "error": Outcome.ERRORED, "skipped": Outcome.SKIPPED}  # the first decides
_TEARDOWN = "failed on teardown"  # how pytest begins the message of such an error
_FAILS = ("error", "failure", *_EARLIER, *_LATER)


def recognises(file: OpenedResults) -> bool:
    """Any XML: another root than JUnit's is an error that names it."""
    return file.xml is not None


def read(file: OpenedResults, reading: Reading = AS_IT_SAYS) -> ImportedRun:
    """The test cases of all suites. Raises InvalidDocument with the line."""
    root = file.xml
    assert root is not None  # noqa: S101 - it was recognised
    if root.name not in ROOTS:
        what = phrase(_OTHERS.get(root.name), ", {}")
        place = f"{file.display_path}:{root.line}"
        raise InvalidDocument(
            f"{place}: the root element is <{root.name}>{what}; JUnit XML has <testsuites> or <testsuite>"
        )
    tests = list(_without_teardowns(_tests(root, file.display_path, "", "")))
    names = _Names(tests, root, parameters_are_attempts=reading.parameters_are_attempts)
    again = sum(number - 1 for number in Counter(names.identity(test) for test in tests).values())
    return ImportedRun(
        tool=NAME,
        path=file.display_path,
        cases=joined(_case(test, names) for test in _with_hidden_failures(tests, root)),
        started_at=min(known(moment(suite.attributes.get("timestamp")) for suite in _suites(root)), default=None),
        duration_s=_seconds(root) or sum(_seconds(suite) or 0 for suite in root.children),
        notices=(
            *filter(None, [phrase(again, f"{plural(again, 'test case')} read as further attempts of others")]),
            *islice(filter(None, map(_unknown_time, tests)), 1),  # one of a kind is enough
        ),
        stopped=next(_why_incomplete(root, tests, file.display_path), ""),
    )


def _why_incomplete(root: XmlElement, tests: Sequence[_Test], display_path: str) -> Iterator[str]:
    """Why these are not all results of what was run: a file must add up, and every end must be a known one."""
    suites = list(_suites(root))
    if not tests:
        yield f"{display_path} has no test case"
    yield from filter(None, (f"{display_path}:{place}" for suite in suites for place in _failures_outside(suite)))
    names = {suite.attributes.get("name", "") for suite in suites}
    counts_subtests = not names.isdisjoint((PYTEST, PYTEST_ROOT))
    for suite in suites:
        missing = _missing(suite, counts_subtests=counts_subtests)
        yield from (f"{display_path}:{suite.line}: {why}" for why in missing)
    yield from filter(None, map(_unknown_status, tests))


def _failures_outside(suite: XmlElement) -> Iterator[str]:
    """The line of each end that is not of a test, and what it says."""
    own = suite.attributes.get("name", "")
    for child in suite.children:
        aborted = _ABORTED.search(child.text) if child.name == "system-err" else None
        if aborted is not None:
            yield f"{child.line}: {cut_name(aborted[1].strip())}"
        elif _is_interrupted(child):
            yield f"{child.line}: pytest was interrupted"
        elif child.name in ("error", "failure"):
            yield f"{child.line}: the suite {cut_name(own or NAME)} has a failure outside of its tests"
    cases = (child for child in suite.children if child.name == "testcase")
    last = {tuple(case.attributes.get(of, "").strip() for of in ("classname", "name")): case for case in cases}
    groups = _failed_groups(last)
    for (class_, name), case in last.items():
        is_file = own in ("", name) and _SCRIPT.search(name)
        texts = (f"{class_}::{name}", *(child.attributes.get("message", "") for child in case.children))
        if _failed(case) and (name in groups or is_file or any(map(_NOT_TESTS.fullmatch, texts))):
            place = " of ".join(filter(None, dict.fromkeys((name or class_, own))))
            yield f"{case.line}: {cut_name(place)} failed: a hook, a file or a group, not a test"


def _failed_groups(cases: Mapping[tuple[str, ...], XmlElement]) -> set[str]:
    """The last test cases, if they failed and are named as groups of others: Vitest writes these by title."""
    paths = [name.split(" > ") for _, name in cases]
    titles = {one for path in paths for n in range(1, len(path)) for one in (path[n - 1], " > ".join(path[:n]))}
    failed = [name if _failed(case) else "" for (_, name), case in cases.items()]
    return set(takewhile(titles.__contains__, reversed(failed)))


def _missing(suite: XmlElement, *, counts_subtests: bool) -> Iterator[str]:
    """What the suite counts and does not have.

    Skipped tests may be left out of a report, and pytest counts a test twice whose teardown fails, and subtests.
    """
    tests = list(_tests(suite, "", "", ""))
    failed = sum(child.name in _FAILS for test in tests for child in test.element.children)
    counted = {kind: _counts(suite, kind) for kind in ("tests", "failures", "errors", "skipped", "disabled")}
    name = cut_name(suite.attributes.get("name") or "the report")
    number = counted["failures"] + counted["errors"]
    if failed < number:
        yield (
            f"{name} counts {number:g} failures and errors, and its tests have {failed}: "
            "there is a failure outside of its tests, or it is not the whole report"
        )
    if (
        not counts_subtests
        and len(tests) + failed + counted["skipped"] + counted["disabled"] < counted["tests"] < inf
    ):
        yield f"{name} counts {counted['tests']:g} tests and has {len(tests)}: it is not the whole report"


def _failed(case: XmlElement) -> bool:
    return any(child.name in ("failure", "error") for child in case.children)


def _is_interrupted(case: XmlElement) -> bool:
    """Whether it is what pytest writes for the test that Ctrl-C or `pytest.exit` ended."""
    return case.name == "testcase" and case.attributes.keys() <= {"time"} and not case.children


def _has_crashed(suite: XmlElement, case: XmlElement) -> bool:
    """Whether Vitest lost the process that ran a file: neither the file nor the test has a time."""
    of = suite.attributes
    is_of_vitest = _SCRIPT.search(of.get("name", "")) and of.get("timestamp") and of.get("hostname")
    return bool(is_of_vitest) and of.get("time") == case.attributes.get("time") == "0"


def _unknown_status(test: _Test) -> str:
    """What to say of a test that no element calls failed, and of which a word says an end that is not known."""
    stated = [test.element.attributes.get(name, "").strip().lower() for name in _STATES]
    unknown = [one for one in stated if one not in ("", *PASSES)]
    says_more = any(child.name in (*_FAILS, *_ENDS) for child in test.element.children)
    if not unknown or says_more or _stated_end(test.element):
        return ""
    return f"{test.place}: the status {cut_name(unknown[0])!r} of a test is not known"


def _counts(suite: XmlElement, kind: str) -> float:
    """How many tests it has of a kind, such as errors, as the suite says; infinite if that is not a number."""
    text = suite.attributes.get(kind, "").strip() or "0"
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else inf


class _Test(Struct, frozen=True, kw_only=True):
    """One <testcase>, and the suite that it is in."""

    element: XmlElement
    within: XmlElement
    display_path: str
    suite: str
    file: str
    classname: str
    name: str
    reran: bool = False  # the report does not say how it ended, but that it was run again
    unended: bool = False  # Vitest: the process that ran its file crashed before this test ended

    @property
    def place(self) -> str:
        return f"{self.display_path}:{self.element.line}"

    @property
    def has_class(self) -> bool:
        """Whether its class is more than the name, or its end, which jest-junit and Mocha write there."""
        return (
            bool(self.classname) and self.classname != self.name and not self.name.endswith(f" {self.classname}")
        )


def _tests(element: XmlElement, display_path: str, suite: str, file: str) -> Iterator[_Test]:
    """The test cases of a suite and of those in it."""
    suite = element.attributes.get("name", "").strip() or suite if element.name == "testsuite" else suite
    file = element.attributes.get("file", "") or file
    for child in element.children:
        if child.name == "testsuite":
            yield from _tests(child, display_path, suite, file)
        elif child.name == "testcase" and not _is_interrupted(child):
            name = re.sub(
                r"\s+", " ", child.attributes.get("name", "")
            ).lstrip()  # a blank at the end may tell two apart
            classname = child.attributes.get("classname", "").strip()
            if "name" in child.attributes:  # empty for a class as a whole
                name = name or classname or suite
            if not name:
                raise InvalidDocument(f"{display_path}:{child.line}: this <testcase> has no name")
            yield _Test(
                element=child,
                within=element,
                display_path=display_path,
                suite=suite or NAME,
                file=child.attributes.get("file", "") or file,
                classname=classname,
                name=name,
                unended=_has_crashed(element, child),
            )


def _without_teardowns(tests: Iterable[_Test]) -> Iterator[_Test]:
    """The tests, without what pytest writes as a second one: the error of the teardown of a test that failed."""
    before: tuple[str, ...] = ()
    for test in tests:
        messages = (child.attributes.get("message", "") for child in test.element.children)
        identity = (test.suite, test.classname, test.name)
        if identity != before or not any(message.startswith(_TEARDOWN) for message in messages):
            yield test
        before = identity if _failed(test.element) else ()


def _suites(element: XmlElement, depth: int = 1) -> Iterator[XmlElement]:
    """The suite and those in it; each of them is looked at with all that it holds."""
    if depth > MOST_NESTED:
        raise InvalidDocument(f"line {element.line}: more than {MOST_NESTED} suites are nested")
    yield element
    for child in element.children:
        if child.name == "testsuite":
            yield from _suites(child, depth + 1)


class _Names:
    """Which test cases are runs of one test, by their names."""

    def __init__(self, tests: list[_Test], root: XmlElement, *, parameters_are_attempts: bool) -> None:
        self._all = parameters_are_attempts
        self._has_projects = "id" in root.attributes
        self._repeated = whole_repeats((_group(test), test.name) for test in tests)

    def identity(self, test: _Test) -> tuple[str, str]:
        """(suite, key) of the test that this is a run of."""
        name = _REPETITION.sub("", test.name) or "repetition"
        if self._all:
            name = _PARAMETERS.sub("", name) or name
        elif (_group(test), without_count(name)) in self._repeated:
            name = without_count(name)
        return self._suite(test), f"{test.classname}.{name}" if test.has_class else name

    def _suite(self, test: _Test) -> str:
        """Its suite. Playwright, whose classes are files, writes its project (a browser) as the host."""
        of = test.within.attributes
        names_project = self._has_projects and test.classname == of.get("name")
        return phrase(names_project and of.get("hostname"), "[{}] ") + test.suite


def _group(test: _Test) -> str:
    return f"{test.suite}/{test.classname}"


def _with_hidden_failures(tests: list[_Test], root: XmlElement) -> Iterator[_Test]:
    """The tests; of those that pytest ran again, each but the last failed, though its element does not say it.

    It writes all of them into one suite, which counts only the last. A test of two suites was run by two jobs.
    """
    written = Counter(id(test.within) for test in tests)
    is_of_pytest = root.attributes.get("name") == PYTEST_ROOT
    places = grouped(((id(test.within), test.classname, test.name), place) for place, test in enumerate(tests))
    earlier = {place for several in places.values() for place in several[:-1]}
    for place, test in enumerate(tests):
        says_nothing = not any(child.name in _ENDS for child in test.element.children)
        all_count = _counts(test.within, "tests") == written[id(test.within)]
        is_rerun = (is_of_pytest or test.suite == PYTEST) and place in earlier and not all_count
        yield replace(test, reran=is_rerun and says_nothing)


def _case(test: _Test, names: _Names) -> ImportedCase:
    suite, key = names.identity(test)
    name = key.removeprefix(f"{test.classname}.")
    line = test.element.attributes.get("line", "")
    return ImportedCase(
        suite=suite,
        key=key,
        name=cut_name(name),
        place=test.place,
        content=(suite, key),
        normalised_fingerprint=fingerprint(name),
        file=test.file,
        line=int(line) if re.fullmatch("[0-9]{1,7}", line) else None,
        category=test.classname if test.has_class else None,
        attempts=tuple(_attempts(test)),
    )


def _attempts(test: _Test) -> Iterator[ImportedAttempt]:
    """The run that the element is of, with those that Maven Surefire lists in it."""
    children = test.element.children
    yield from (_attempt(test, _EARLIER[one.name], _reason(one)) for one in children if one.name in _EARLIER)
    yield _attempt(test, *_end(test))
    yield from (_attempt(test, _LATER[one.name], _reason(one)) for one in children if one.name in _LATER)


def _end(test: _Test) -> tuple[Outcome, str]:
    """How its run ended, and why: what an element says, then a word, then what the rest of the file shows."""
    ends = {child.name: child for child in reversed(test.element.children) if child.name in _ENDS}
    failures_alone = _counts(test.within, "errors") == 0 < _counts(test.within, "failures")  # Testem's <error>
    for name, outcome in {**_ENDS, **({"error": Outcome.FAILED} if failures_alone else {})}.items():
        if name in ends:
            return Outcome.ERRORED if _never_began(test, ends[name]) else outcome, _reason(ends[name])
    stated = _stated_end(test.element)
    if stated is not None:
        return ENDS[stated], f"its status is {stated}"
    if test.unended:
        return Outcome.ERRORED, "it has not ended: its file was not run to the end"
    if test.reran:
        return Outcome.FAILED, "it was run again; the report does not say why"
    return Outcome.PASSED, ""


def _stated_end(case: XmlElement) -> str | None:
    """The attribute that says of a test that it did not pass."""
    if case.attributes.get("success", "").strip().lower() == "false":
        return "failed"
    stated = (case.attributes.get(name, "").strip().lower() for name in _STATES)
    return next((one for one in stated if one in ENDS), None)


def _never_began(test: _Test, end: XmlElement) -> bool:
    """Whether node:test cancelled it, or CTest lacked its program, its files or what it depends on."""
    if end.name == "skipped":
        not_run = test.element.attributes.get("status") == "notrun"
        return not_run and not end.attributes.get("message", "").startswith(_WANTED_SKIP)
    return end.attributes.get("type") == _NOT_RUN


def _attempt(test: _Test, outcome: Outcome, reason: str) -> ImportedAttempt:
    turn = TurnReport(
        prompt="",
        expected=None,
        output=None,
        results=(check_result("test", "test", passed=PASSED.get(outcome), reason=reason),),
        latency_s=_seconds(test.element),
        error=unanswered(reason) if outcome is Outcome.ERRORED else None,
    )
    return ImportedAttempt(turn=turn)


def _reason(element: XmlElement) -> str:
    """The message and the text; the text alone if it begins with the message, as that of pytest does not."""
    message = element.attributes.get("message", "").strip()
    text = element.text.strip()
    begins = message in text and message.partition("\n")[0] in text.partition("\n")[0]
    both = text if begins else f"{message}\n{text}".strip()
    half = LONGEST_REASON // 2  # of a traceback, the end says the cause
    return both if len(both) <= LONGEST_REASON else f"{beginning(both, half)}…\n…{ending(both, half)}"


def _seconds(element: XmlElement) -> float | None:
    """The attribute `time`, in which some runners write a separator of thousands, a decimal comma or a unit.

    jest-junit and ScalaTest write a negative number for what they have not measured, jasmine-reporters NaN. None
    for what is not a number: no verdict needs it.
    """
    match = _TIME.fullmatch(element.attributes.get("time", ""))
    if match is None:
        return None
    digits = match["number"]
    thousands = _THOUSANDS.fullmatch(digits)
    plain = (
        digits.replace(",", "") if thousands or "," not in digits else digits.replace(".", "").replace(",", ".")
    )
    try:
        seconds = float(plain) / (1000 if match["unit"] == "ms" else 1)
    except ValueError:  # several points
        return None
    return seconds if seconds <= LONGEST_TIME_S else None


def _unknown_time(test: _Test) -> str:
    """What to say of a test whose time is written, and is not a number of seconds."""
    text = test.element.attributes.get("time", "").strip()
    is_known = text.lower() in ("", "nan") or text.startswith("-") or _seconds(test.element) is not None
    why = f"time={one_line(text[:40])!r} is not a number of seconds; it is not known"
    return "" if is_known else f"{test.place}: {why}"
