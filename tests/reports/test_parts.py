"""What every report says, in which order, and that a diff is shown to the letter."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Links, TextChange
from runevals.reports import comment, console, html
from runevals.reports.parts import report_of
from tests.reports.conclusions import all_passed, regressions
from tests.reports.parsed_page import Page

DIFFS = [
    pytest.param('@@ -1,2 +1,2 @@\n - Say "I don\'t know"\n--- Name the article\n+- Be brief', id="bullets"),
    pytest.param("@@ -1 +1,3 @@\n target:\n+  type: python\n+    deep: true", id="YAML"),
    pytest.param("@@ -1 +1 @@\n-\tTab\tinside\n+    Tab  inside", id="tabs"),
    pytest.param("@@ -1 +1 @@\n-word   \n+word", id="trailing blanks"),
    pytest.param("@@ -1,3 +1,3 @@\n \n-  a\n+ a\n ", id="empty lines"),
]


@pytest.mark.parametrize("diff", DIFFS)
def test_a_diff_is_shown_to_the_letter_on_the_screen_in_the_comment_and_on_the_page(diff):
    made = replace(regressions(), prompt_changes=(TextChange(path="p.md", diff=diff),))
    prefix = console.DIFF
    lines = [line.removeprefix(prefix) for line in console.render(made).split("\n") if line.startswith(prefix)]
    assert "\n".join(lines) == diff
    assert f"```diff\n{diff}\n```" in comment.render(made, Links())
    assert Page(html.render(made)).data("overview")["prompts"][0]["diff"] == diff


def test_what_was_lost_comes_first_and_what_is_certain_last():
    titles = [part.title for part in report_of(regressions()).parts if part.title]
    order = ("Lost", "Failing before and now: 1 case", "Better: 1 case", "How sure is this?", "Also changed")
    assert [title for title in titles if title in order] == list(order)


def test_a_part_that_says_nothing_is_left_out():
    assert "Lost" not in {part.title for part in report_of(all_passed()).parts}
    assert not any(part.is_empty for part in report_of(all_passed()).parts)
