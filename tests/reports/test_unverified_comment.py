"""What the trusted side says of results that it did not measure."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from runevals.records import Links, Outcome
from runevals.reports.unverified_comment import MOST_CASES, all_pass, render
from tests.reports.hostile import TEXTS, broken_by
from tests.sample_reports import case, report

MARKER = "<!-- runevals-unverified -->"
OURS = re.compile(
    rf"{MARKER}\n### |\(https://github\.com/o/r/[^)\s]*\)"
)  # the address has the path of a file in it
FIRST = f"{MARKER}\n### ⚠ Reported by the fork's own run, not verified: "
LINKS = Links(files="https://github.com/o/r/blob/abc/", run="https://github.com/o/r/actions/runs/1", head="abc")


@pytest.mark.parametrize(
    ("cases", "counted"),
    [
        ({"a": "p", "b": "p"}, "2 of 2 cases pass"),
        ({"a": "p"}, "1 of 1 case passes"),
        ({"a": "p", "b": "fff", "c": "e"}, "1 of 3 cases pass, 1 could not be measured"),
        ({"a": "p", "b": "s"}, "1 of 1 case passes, 1 skipped"),
        ({}, "no case was measured"),
    ],
)
def test_the_first_line_says_whose_word_it_is_and_counts_the_cases(cases, counted):
    assert render([report(cases)], LINKS, MARKER).startswith(
        f"{FIRST}{counted}\n\n> The author of this change controls"
    )


def test_several_documents_are_one_comment():
    body = render([report({"a": "p"}), report({"a": "f"})], LINKS, MARKER)
    assert body.startswith(f"{FIRST}1 of 2 cases pass\n")
    assert body.count("###") == 1


def test_cases_are_scored_again_by_their_own_checks():
    lying = replace(case("a", "f"), status=Outcome.PASSED, pass_rate=1.0)
    lying = replace(lying, attempts=tuple(replace(one, status=Outcome.PASSED) for one in lying.attempts))
    assert render([report([lying])], LINKS, MARKER).startswith(f"{FIRST}0 of 1 case pass")
    assert not all_pass([report([lying])])


def test_what_does_not_pass_is_listed_with_its_line():
    body = render([report([case("KB-1", "f", file="evals.json", line=7), case("KB-2", "p")])], LINKS, MARKER)
    assert "| <code>KB&#45;1</code> | failed | [7](https://github.com/o/r/blob/abc/evals.json#L7) |" in body
    assert "KB&#45;2" not in body


@pytest.mark.parametrize("text", TEXTS)
def test_no_text_of_the_document_is_in_it(text):
    made = broken_by(text)
    body = render([made.report], LINKS, MARKER)
    assert body.startswith(FIRST)
    assert len(body) < 3000
    assert "✅" not in body
    assert text not in OURS.sub("", body)


def test_many_long_cases_do_not_push_the_warning_out():
    long = [case("@" * 5000 + str(n), "f", name="x" * 5000, file="f" * 5000) for n in range(3000)]
    body = render([report(long)], LINKS, MARKER)
    assert body.startswith(f"{FIRST}0 of 3,000 cases pass\n\n> The author")
    assert f"… and {3000 - MOST_CASES} more" in body
    assert len(body) < 20_000


@pytest.mark.parametrize(("cases", "expected"), [({"a": "p"}, True), ({"a": "f"}, False), ({}, False)])
def test_all_pass_only_where_there_are_cases(cases, expected):
    assert all_pass([report(cases)]) is expected
