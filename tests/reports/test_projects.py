"""Several projects in one comment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from runevals.records import Links
from runevals.reports.comment import MOST_CHARACTERS
from runevals.reports.projects import SeveralConclusions, render_comment, render_summary
from tests.reports.conclusions import all_passed, everything_broken, regressions, thousand_cases

HERE = Path(__file__).parent / "golden"
LINKS = Links(
    files=f"https://github.com/o/r/blob/{'d' * 40}/", run="https://github.com/o/r/actions/runs/9", head="d" * 40
)
TOLD = "1 of 3 projects failed: support; 1 not measured: search; 1 passed"


def several(conclusions):
    return SeveralConclusions(line=TOLD, conclusions=conclusions)


def test_the_worst_comes_first_and_what_passed_is_folded(golden):
    found = {"all": all_passed(), "search": everything_broken(), "support": regressions()}
    golden(HERE / "projects.comment.md", render_comment(several(found), LINKS, "<!-- runevals evals/test -->"))


def test_each_project_keeps_its_line_however_long_the_others_are():
    long = thousand_cases()
    found = {f"p{number}": long for number in range(39)}
    found["passed"] = all_passed()
    text = render_comment(several(found), LINKS)
    assert len(text) <= MOST_CHARACTERS
    assert len(re.findall(r"^#### . p\d+: .* regressed", text, re.M)) == 39
    assert "<summary>✅ passed: " in text
    assert len(render_summary(several(found))) > MOST_CHARACTERS


@pytest.mark.parametrize("outcome", [all_passed, everything_broken])
def test_names_that_grow_when_escaped_do_not_prevent_the_comment(outcome):
    """GitHub refuses one that is too long: that of an earlier commit would stay."""
    names = [f"{'@' * 97}{number}" for number in range(10, 50)]
    line = f"40 of 40 projects: {', '.join(names)}"
    found = SeveralConclusions(line=line, conclusions=dict.fromkeys(names, outcome()))
    text = render_comment(found, LINKS, "<!-- runevals evals/test -->")
    assert len(text) <= MOST_CHARACTERS
    assert text.count("@" * 2) == 0
    assert len(re.findall(r"^#### [❌⛔⚪✅]", text, re.MULTILINE)) == 40


def test_a_folder_and_a_headline_are_data():
    made = all_passed()
    hostile = replace(made, verdict=replace(made.verdict, headline="</summary><b>x</b> @ana"))
    text = render_comment(several({"</details># [a](b)": hostile}), LINKS)
    assert "<b>" not in text
    assert "@ana" not in text
    assert text.count("</details>") == text.count("<details>")
    assert "[a](b)" not in text
