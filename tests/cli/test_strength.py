"""`runevals strength` on the command line: its words and its exit codes. What it finds: `tests/run/strength`."""

from __future__ import annotations

import pytest

from tests.ending import ended
from tests.sample_suites import ANSWERS, SUITE


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--min", "2"], 2, "is not in the range 0<=x<=1"),
        (["--results", "missing.json"], 2, "does not exist"),
        (["--filter", "nobody"], 2, "no cases match"),
        (["missing.json"], 2, "missing.json"),
    ],
)
def test_usage_errors(project, runevals, words, code, told):
    project.write("evals.json", SUITE)
    ended(*[runevals("strength", *words)[n] for n in (0,)], code, runevals("strength", *words)[2], told)


def test_neither_the_target_nor_anything_else_is_called(project, runevals):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    code, out, err = runevals("strength", "--target", "command:false", "--filter", "a")
    assert (code, err) == (0, "")
    assert "of 4 wrong answers are noticed, in 1 case" in out or "Strength: " in out
