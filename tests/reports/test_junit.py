"""JUnit for those who read it: an independent parser, and what must never break it."""

import junitparser
import pytest

from runevals import decide
from runevals.reports import JUNIT
from tests.reports.conclusions import all_passed, conclusion, everything_broken, regressions
from tests.sample_reports import case, report


def parsed(made):
    return junitparser.JUnitXml.fromstring(JUNIT.render(made).encode())


def test_counts_agree_with_an_independent_reader():
    xml = parsed(regressions())
    assert (xml.tests, xml.failures, xml.errors, xml.skipped) == (27 + 3, 7 + 2, 0, 0)
    assert parsed(all_passed()).failures == 0


def test_control_characters_surrogates_and_noncharacters_break_nothing():
    xml = parsed(everything_broken())
    assert xml.errors == 30 + 1
    names = [test.name for suite in xml for test in suite]
    assert any("\\x00" in name and "\\uffff" in name for name in names)


@pytest.mark.parametrize("text", ["\x00", "\x1b[0m", "\ud800", "\uffff", "\ufffe", "a\x0bb", "]]>", "<![CDATA["])
def test_any_output_is_written(text):
    from msgspec.structs import replace

    made = case("a", "f")
    attempt = made.attempts[0]
    turn = replace(attempt.turns[0], output=text)
    made = replace(made, attempts=(replace(attempt, turns=(turn,)),))
    assert parsed(conclusion(report([made]), None)).tests == 2


def test_a_case_that_failed_before_says_so_and_names_are_unique():
    xml = parsed(regressions())
    tests = [test for suite in xml for test in suite]
    assert len({(test.classname, test.name) for test in tests}) == len(tests)
    old = next(test for test in tests if test.name == "KB-100")
    new = next(test for test in tests if test.name == "KB-001")
    assert old.result[0].message.startswith("also fails on base: ExactMatch")
    assert not new.result[0].message.startswith("also")


def test_a_failing_case_in_quarantine_says_so_whatever_the_base_did():
    cases = {f"k{n}": "p" for n in range(12)}
    head = report([case("k0", "f", quarantined=True), *(case(key, "p") for key in list(cases)[1:])])
    [failed] = [test for suite in parsed(decide(report(cases), head)) for test in suite if test.result]
    assert failed.result[0].message.startswith("in quarantine: ExactMatch")


def test_gates_are_the_last_suite():
    suites = list(parsed(regressions()))
    assert suites[-1].name == "runevals.gates"
    assert {test.name for test in suites[-1]} == {"no_regression", "min_pass_rate", "measured"}


def test_each_turn_of_a_thread_tells_its_own_outcome():
    from msgspec.structs import replace

    from runevals.records import Layer
    from runevals.verdict.score import over_attempts, over_turns
    from tests.sample_reports import LETTERS, check

    made = case("t", "f")
    first = made.attempts[0].turns[0]
    second = replace(first, results=(check(LETTERS["p"]), check(LETTERS["e"], id="Relevance", layer=Layer.JUDGE)))
    thread = over_attempts(made, [over_turns(1, [first, second])])
    tests = [test for suite in parsed(conclusion(report([thread]), None)) for test in suite]
    assert [(test.name, type(test.result[0]).__name__) for test in tests[:2]] == [
        ("t turn 1", "Failure"),
        ("t turn 2", "Error"),
    ]
