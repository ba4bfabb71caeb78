"""JUnit XML of any test runner; what ran a test several times is read as its attempts."""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from math import inf

from msgspec import Struct
from msgspec.structs import replace

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
from runevals.imports.results.words import ENDS, PASSES
from runevals.lib.parsing.xml import XmlElement
from runevals.lib.text.numbers import plural
from runevals.records import Outcome, TurnReport, cut_name, one_line
from runevals.records.errors import InvalidDocument

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
# Failures outside of tests, as Mocha, jest-junit and node:test name them; Vitest names the file or group.
_HOOK = re.compile(
    r'"(before|after) (all|each)" hook(:|$| (for|in) ")|^\s*Test execution failure: could be caused by test hooks'
)
MOST_NESTED = 30  # suites
_WANTED_SKIP = ("SKIP_", "Disabled")  # how CTest says why, if nothing went wrong
# The test class as a whole, as JUnit and Gradle name it. Surefire and GoogleTest leave the name empty.
_CLASS_FAILURES = ("initializationError", "executionError", "classMethod")
_GO_PACKAGE = ("", "TestMain")  # class and name, as gotestsum writes a package that panicked or was not built
_DOTNET_ABORTED = re.compile(r"^Error - (The active test run was aborted\b.*)", re.MULTILINE)
_NODE_FILE = re.compile(r"\bcause: 'test failed',\s+exitCode: ")
_SCRIPT = re.compile(r"(?<!-d)\.[cm]?[jt]sx?$")  # Vitest does not time what it only compiles: `x.test-d.ts`
_TIME = re.compile(r"\s*(?P<number>\d[\d.,]*(?:[eE][-+]?\d+)?|\.\d+)\s*(?P<unit>s|sec|seconds|ms)?\s*")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_NOT_RUN = "cancelledByParent"  # the type of a failure in node:test: a hook failed, or the event loop has ended
_ERRORS = ("error", "flakyError", "rerunError")
_FAILURES = ("failure", "flakyFailure", "rerunFailure")
_STATES = ("status", "result", "outcome")
_SAY_FAILED = (*_ERRORS, *_FAILURES)
_SAY_THE_END = (*_SAY_FAILED, "skipped")


def recognises(file: OpenedResults) -> bool:
    """Any XML: another root than JUnit's is an error that names it."""
    return file.xml is not None


def read(file: OpenedResults, *, parameters_are_attempts: bool = False) -> ImportedRun:
    """The test cases of all suites. Raises InvalidDocument with the line."""
    root = file.xml
    assert root is not None  # noqa: S101 - it was recognised
    if root.name not in ROOTS:
        what = f", {_OTHERS[root.name]}" if root.name in _OTHERS else ""
        place = f"{file.display_path}:{root.line}"
        raise InvalidDocument(
            f"{place}: the root element is <{root.name}>{what}; JUnit XML has <testsuites> or <testsuite>"
        )
    tests = list(_tests(root, file.display_path, "", ""))
    if not tests:
        raise InvalidDocument(f"{file.display_path} has no test case")
    names = _Names(tests, parameters_are_attempts=parameters_are_attempts)
    again = sum(number - 1 for number in Counter(names.identity(test) for test in tests).values())
    started = [at for suite in _suites(root) if (at := moment(suite.attributes.get("timestamp"))) is not None]
    return ImportedRun(
        tool=NAME,
        path=file.display_path,
        cases=joined(_case(test, names) for test in _with_hidden_failures(tests, root)),
        started_at=min(started, default=None),
        duration_s=_seconds(root) or sum(_seconds(suite) or 0 for suite in root.children),
        notices=(
            *([f"{plural(again, 'test case')} read as further attempts of others"] if again else []),
            *_first(_fewer_than_counted(suite, file.display_path) for suite in _suites(root)),
            *_first(_more_failed(suite, file.display_path) for suite in _suites(root)),
            *_first(map(_unknown_status, tests)),
            *_first(map(_unknown_time, tests)),
        ),
        stopped=next(filter(None, map(_failure_outside_tests, _suites(root))), ""),
    )


def _first(texts: Iterable[str]) -> Iterator[str]:
    """The first that is not empty: one notice of a kind is enough."""
    return islice(filter(None, texts), 1)


def _failure_outside_tests(suite: XmlElement) -> str:
    """Why a suite was not run to its end, if it has an error or a failure, or counts some that no test has.

    So jest-junit tells of a file that cannot be loaded. Some tools count the one kind as the other. Others
    write a test case for a hook or a file that failed, and none for the tests that therefore did not run.
    """
    if any(map(_is_interrupted, suite.children)):
        return "pytest was interrupted"
    if reason := next(filter(None, map(_why_aborted, suite.children)), ""):
        return reason
    if name := next(_outside_tests(suite), ""):
        return f"{cut_name(name)} failed: a hook, a file or a group, not a test"
    is_own = any(child.name in ("error", "failure") for child in suite.children)
    if not (is_own or _counts(suite, "errors") or _counts(suite, "failures")):
        return ""
    names = [child.name for test in _tests(suite, "", "", "") for child in test.element.children]
    errors, failures = (sum(map(names.count, kinds)) for kinds in (_ERRORS, _FAILURES))
    no_error = _counts(suite, "errors") and not errors and failures <= _counts(suite, "failures")
    no_failure = _counts(suite, "failures") and not failures and errors <= _counts(suite, "errors")
    if not (is_own or no_error or no_failure):
        return ""
    return f"the suite {cut_name(suite.attributes.get('name', NAME))} has a failure outside of its tests"


def _why_aborted(element: XmlElement) -> str:
    """Why .NET's runner ended early: its logger says so beside the tests that it has results of."""
    match = _DOTNET_ABORTED.search(element.text) if element.name == "system-err" else None
    return cut_name(match[1].strip()) if match else ""


def _outside_tests(suite: XmlElement) -> Iterator[str]:
    """The names of test cases that failed and are no tests: a hook, or a file, class or group as a whole."""
    own = suite.attributes.get("name", "")
    cases = [child for child in suite.children if child.name == "testcase"]
    last = {_class_and_name(case): case for case in cases}  # Gradle may have run a class again until it passed
    tests = len(cases) - (_failed_groups(cases) if _is_of_vitest(suite) else 0)
    for place, case in enumerate(cases):
        failures = _failures(case)
        name = case.attributes.get("name", "")
        is_group = place >= tests or (name == own and _SCRIPT.search(own))
        is_file = any(map(_NODE_FILE.search, failures))
        if failures and (is_group or is_file or _HOOK.search(name)):
            yield name.strip()
        elif _failures(last[_class_and_name(case)]) and _is_of_class(case):
            yield " of ".join(filter(None, (name.strip(), _class_and_name(case)[0] or own)))


def _is_of_class(case: XmlElement) -> bool:
    """Whether it stands for its class or package as a whole."""
    _, name = pair = _class_and_name(case)
    return not name or name in _CLASS_FAILURES or pair == _GO_PACKAGE


def _class_and_name(case: XmlElement) -> tuple[str, str]:
    return case.attributes.get("classname", "").strip(), case.attributes.get("name", "").strip()


def _failed_groups(cases: Sequence[XmlElement]) -> int:
    """How many of the last test cases are failed groups: Vitest writes them after the tests, by title."""
    names = sorted(case.attributes.get("name", "") for case in cases)
    titles = {title for name in names for title in name.split(" > ")[:-1]}

    def is_group(case: XmlElement) -> bool:
        name = case.attributes.get("name", "")
        place = bisect(names, f"{name} > ")
        following = "".join(names[place : place + 1])
        return bool(_failures(case)) and (name in titles or following.startswith(f"{name} > "))

    return sum(1 for _ in takewhile(is_group, reversed(cases)))


def _failures(case: XmlElement) -> list[str]:
    return [child.text for child in case.children if child.name in ("failure", "error")]


def _is_of_vitest(suite: XmlElement) -> bool:
    """Whether it is a file that Vitest ran; suites of Bun, Deno, ESLint and Playwright lack one of these."""
    of = suite.attributes
    return bool(_SCRIPT.search(of.get("name", "")) and of.get("timestamp") and of.get("hostname"))


def _is_interrupted(case: XmlElement) -> bool:
    """Whether it is what pytest writes for the test that Ctrl-C or `pytest.exit` ended."""
    return case.name == "testcase" and case.attributes.keys() <= {"time"} and not case.children


def _fewer_than_counted(suite: XmlElement, display_path: str) -> str:
    """What to say of a suite that lacks tests: skipped ones may be left out, and pytest counts some errors too."""
    counted = _counts(suite, "tests")
    if not counted:
        return ""
    tests = list(_tests(suite, display_path, "", ""))
    may_lack = _failures_in(tests) + _counts(suite, "skipped") + _counts(suite, "disabled")
    if not len(tests) + may_lack < counted < inf:
        return ""
    return f"{display_path} counts {plural(int(counted), 'test')} and has {len(tests)}: is it the whole report?"


def _more_failed(suite: XmlElement, display_path: str) -> str:
    """What to say of a suite that counts more failures than its tests have, and not none of them."""
    counted = _counts(suite, "failures") + _counts(suite, "errors")
    total = _failures_in(_tests(suite, display_path, "", ""))
    if not 0 < total < counted < inf:
        return ""
    within = f"the suite {cut_name(suite.attributes['name'])}" if suite.attributes.get("name") else "all"
    return (
        f"{display_path} counts {int(counted)} failures and errors in {within}, and its tests have {total}: "
        "is it the whole report?"
    )


def _failures_in(tests: Iterable[_Test]) -> int:
    return sum(child.name in _SAY_FAILED for test in tests for child in test.element.children)


def _unknown_status(test: _Test) -> str:
    """What to say of a test that nothing calls failed, and of which a word says an end that is not known."""
    stated = [test.element.attributes.get(name, "").strip() for name in _STATES]
    unknown = next((one for one in stated if one and one.lower() not in PASSES), None)
    says_more = any(child.name in _SAY_THE_END for child in test.element.children)
    if unknown is None or says_more or _stated_end(test.element):
        return ""
    return f"{test.place}: the status {cut_name(unknown)!r} of a test is not known, and read as passed"


def _counts(suite: XmlElement, kind: str) -> float:
    """How many tests it has of a kind, such as errors, as the suite says; infinite if that is not a number."""
    text = suite.attributes.get(kind, "").strip() or "0"
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else inf


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
            name = " ".join(child.attributes.get("name", "").split())
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
                unended=_is_of_vitest(element)
                and element.attributes.get("time") == child.attributes.get("time") == "0",
            )


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

    def __init__(self, tests: list[_Test], *, parameters_are_attempts: bool) -> None:
        self._all = parameters_are_attempts
        self._repeated = whole_repeats((_group(test), test.name) for test in tests)

    def identity(self, test: _Test) -> tuple[str, str]:
        """(suite, key) of the test that this is a run of."""
        name = _REPETITION.sub("", test.name).strip() or "repetition"
        if self._all:
            name = _PARAMETERS.sub("", name) or name
        elif (_group(test), without_count(name)) in self._repeated:
            name = without_count(name)
        return test.suite, f"{test.classname}.{name}" if test.has_class else name


def _group(test: _Test) -> str:
    return f"{test.suite}/{test.classname}"


def _with_hidden_failures(tests: list[_Test], root: XmlElement) -> Iterator[_Test]:
    """The tests; of those that pytest ran again, each but the last failed, though its element does not say it.

    It writes all of them into one suite: a test of two suites was run by two jobs.
    """
    is_of_pytest = root.attributes.get("name") == PYTEST_ROOT
    places: dict[tuple[int, str, str], list[int]] = defaultdict(list)
    for place, test in enumerate(tests):
        places[id(test.within), test.classname, test.name].append(place)
    earlier = {place for several in places.values() for place in several[:-1]}
    for place, test in enumerate(tests):
        says_nothing = not any(child.name in ("failure", "error", "skipped") for child in test.element.children)
        is_rerun = (is_of_pytest or test.suite == PYTEST) and place in earlier
        yield replace(test, reran=is_rerun and says_nothing)


def _case(test: _Test, names: _Names) -> ImportedCase:
    suite, key = names.identity(test)
    line = test.element.attributes.get("line", "")
    return ImportedCase(
        suite=suite,
        key=key,
        name=cut_name(key.removeprefix(f"{test.classname}.")),
        place=test.place,
        content=(suite, key),
        file=test.file,
        line=int(line) if line.isascii() and line.isdigit() and 0 < len(line) < 8 else None,
        category=test.classname if test.has_class else None,
        attempts=tuple(_attempts(test)),
    )


def _attempts(test: _Test) -> Iterator[ImportedAttempt]:
    """The run that the element is of, with those that Maven Surefire lists in it."""
    children, stated = test.element.children, _stated_end(test.element)
    ends: Mapping[str, XmlElement] = {
        child.name: child for child in reversed(children) if child.name in ("failure", "error", "skipped")
    }
    yield from (_attempt(test, _EARLIER[one.name], _reason(one)) for one in children if one.name in _EARLIER)
    if "error" in ends:
        yield _attempt(test, Outcome.ERRORED, _reason(ends["error"]))
    elif "failure" in ends and ends["failure"].attributes.get("type") == _NOT_RUN:
        yield _attempt(test, Outcome.ERRORED, _reason(ends["failure"]))
    elif "failure" in ends:
        yield _attempt(test, Outcome.FAILED, _reason(ends["failure"]))
    elif "skipped" in ends and _was_not_startable(test, ends["skipped"]):
        yield _attempt(test, Outcome.ERRORED, _reason(ends["skipped"]))
    elif "skipped" in ends:
        yield _attempt(test, Outcome.SKIPPED, _reason(ends["skipped"]))
    elif stated is not None:
        yield _attempt(test, ENDS[stated], f"its status is {stated}")
    elif test.unended:
        yield _attempt(test, Outcome.ERRORED, "it has not ended: its file was not run to the end")
    elif test.reran:
        yield _attempt(test, Outcome.FAILED, "it was run again; the report does not say why")
    else:
        yield _attempt(test, Outcome.PASSED, "")
    yield from (_attempt(test, _LATER[one.name], _reason(one)) for one in children if one.name in _LATER)


def _stated_end(case: XmlElement) -> str | None:
    """The attribute that says of a test that it did not pass."""
    if case.attributes.get("success", "").strip().lower() == "false":
        return "failed"
    stated = (case.attributes.get(name, "").strip().lower() for name in _STATES)
    return next((one for one in stated if one in ENDS), None)


def _was_not_startable(test: _Test, skipped: XmlElement) -> bool:
    """Whether CTest could not start it: its program, its files or what it depends on were missing."""
    is_of_ctest = test.element.attributes.get("status") == "notrun" and test.name == test.classname
    return is_of_ctest and not skipped.attributes.get("message", "").startswith(_WANTED_SKIP)


def _attempt(test: _Test, outcome: Outcome, reason: str) -> ImportedAttempt:
    errored = outcome is Outcome.ERRORED
    passed = None if errored or outcome is Outcome.SKIPPED else outcome is Outcome.PASSED
    turn = TurnReport(
        prompt="",
        expected=None,
        output=None,
        results=(check_result("test", "test", passed=passed, reason=reason),),
        latency_s=_seconds(test.element),
        error=unanswered(reason) if errored else None,
    )
    return ImportedAttempt(turn=turn)


def _reason(element: XmlElement) -> str:
    """The message and the text; the text alone if it begins with the message, as that of pytest does not."""
    message = element.attributes.get("message", "").strip()
    text = element.text.strip()
    begins = message in text and message.partition("\n")[0] in text.partition("\n")[0]
    both = text if begins else f"{message}\n{text}".strip()
    return both if len(both) <= LONGEST_REASON else f"{both[:LONGEST_REASON]}…"


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
    is_known = not text or text.startswith("-") or text.lower() == "nan" or _seconds(test.element) is not None
    return (
        ""
        if is_known
        else f"{test.place}: time={one_line(text[:40])!r} is not a number of seconds; it is not known"
    )
