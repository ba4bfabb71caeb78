"""Patterns of `regex` mean what they mean in JavaScript, and none of them can hold a run up."""

import time

import pytest

from runevals.evaluators.text.regex import Regex
from tests.evaluators.expectations import PATTERNS
from tests.evaluators.subjects import answering, run


@pytest.mark.parametrize(("pattern", "flags", "text", "matches"), PATTERNS)
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


def test_a_pattern_that_does_not_compile_is_reported_before_the_run(sandbox):
    answer = sandbox.run(Regex(pattern="(").rehearsal(None))
    assert answer.error == "evaluator_syntax"
    assert "SyntaxError" in answer.reason
