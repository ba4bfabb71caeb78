"""Expectations were made by Node 20; `tests/system/test_node_regex.py` holds us to it where Node is there."""

import time

import pytest

from runevals.evaluators.text.regex import Regex
from tests.evaluators.subjects import answering, run

CASES = [
    (r"^\d{4}-\d{2}-\d{2}$", "", "2024-01-15", True),
    (r"^\d{4}-\d{2}-\d{2}$", "", "2024-01-15\n", False),
    (r"^\d+$", "", "١٢٣", False),
    (r"^\w+$", "", "é", False),
    (r"(?<=\$)\d+", "", "costs $15", True),
    (r"(?<year>\d{4})-\k<year>", "", "2024-2024", True),
    (r"^\p{Script=Han}+$", "u", "首都", True),
    (r"^.$", "", "😀", False),
    (r"^.$", "u", "😀", True),
    (r"b", "y", "ab", False),
    (r"^b", "m", "a\nb", True),
    (r"a.b", "s", "a\nb", True),
    (r"paris", "i", "PARIS", True),
    (r"a\u0000b", "", "a\x00b", True),
    (r"\ud800", "", "x\ud800", True),
    (r"a{,2}", "", "a{,2}", True),
    (r"[^]", "", "\n", True),
]


@pytest.mark.parametrize(("pattern", "flags", "text", "matches"), CASES)
def test_patterns_mean_what_javascript_means(sandbox, pattern, flags, text, matches):
    verdict = run(Regex(pattern=pattern, flags=flags), answering(text), sandbox)
    assert verdict.score == float(matches)


def test_case_is_ignored_unless_flags_are_given(sandbox):
    assert run(Regex(pattern="paris"), answering("PARIS"), sandbox).score == 1.0
    assert run(Regex(pattern="paris", flags=""), answering("PARIS"), sandbox).score == 0.0


def test_a_runaway_pattern_is_an_error_and_the_next_call_is_right(sandbox):
    started = time.monotonic()
    answer = run(Regex(pattern="(a+)+$"), answering("a" * 40_000 + "b"), sandbox)
    assert (answer.error, answer.reason) == ("evaluator_timeout", "evaluation timed out after 1 s")
    assert run(Regex(pattern="b$"), answering("ab"), sandbox).score == 1.0
    assert time.monotonic() - started < 10


def test_a_pattern_that_does_not_compile_shows_before_the_run(sandbox):
    answer = sandbox.run(Regex(pattern="(").rehearsal(None))
    assert answer.error == "evaluator_syntax"
    assert "SyntaxError" in answer.reason
