"""Groups of cases on a screen, in Markdown, for the page, in JUnit and in the results document."""

from __future__ import annotations

import json

from msgspec.structs import replace

from runevals.records import Links, Outcome
from runevals.reports import JUNIT, RESULTS, comment, console, html
from tests.reports.conclusions import conclusion
from tests.reports.parsed_page import Page
from tests.sample_reports import attempt, case, report

ANSWERS = {"shipping": ("We deliver in 3 to 5 days.", "We deliver soon."), "hours": ("We are open.", "Ask us.")}


def answered(key, category, *, passes):
    """A case of this category: the answer and the reason are those of the category."""
    before, now = ANSWERS.get(category, ("fine", "fine"))
    made = attempt(1, Outcome.PASSED if passes else Outcome.FAILED, output=before if passes else now)
    (turn,) = made.turns
    reason = turn.results[0].reason if passes else f"not found: {category}"
    turn = replace(turn, results=(replace(turn.results[0], reason=reason),))
    return case(key, "p" if passes else "f", category=category, name=key, attempts=(replace(made, turns=(turn,)),))


def two_dead_categories(number=1000):
    """A suite of four categories, of which the change lost two."""
    kinds = ("shipping", "hours", "returns", "prices")
    base = [answered(f"row-{n:04d}", kinds[n % 4], passes=True) for n in range(number)]
    head = [answered(f"row-{n:04d}", kinds[n % 4], passes=kinds[n % 4] not in ANSWERS) for n in range(number)]
    return conclusion(report(head), report(base))


def test_many_lost_cases_are_their_groups_on_the_screen():
    lines = console.render(two_dead_categories()).splitlines()
    assert len(lines) <= 40
    assert lines[0] == "✗ 500 of 1,000 cases regressed: all of shipping (250) and hours (250)"
    assert lines[lines.index("Lost") :][:9] == [
        "Lost",
        "  shipping  250/250 → 0/250",
        "    ExactMatch: not found: shipping  250 ×  row-0000, row-0004 and 248 more",
        "        − We deliver in 3 to 5 days.",
        "        + We deliver soon.",
        "  hours  250/250 → 0/250",
        "    ExactMatch: not found: hours  250 ×  row-0001, row-0005 and 248 more",
        "        − We are open.",
        "        + Ask us.",
    ]


def test_the_groups_of_a_comment_stand_before_its_first_fold():
    text = comment.render(two_dead_categories(), Links())
    before = text[: text.index("<details>")]
    assert "| **<code>shipping</code>** | 250/250 → 0/250 | | |\n" in before
    assert "| **<code>hours</code>** | 250/250 → 0/250 | | |\n" in before
    assert text.count("\n| ") < 60


def test_the_page_the_document_and_junit_have_the_same_groups():
    made = two_dead_categories()
    [lost] = Page(html.render(made)).data("overview")["causes"]
    assert [(lost["title"], lost["cases"])] == [("Lost", 500)]
    assert [group["heading"] for group in lost["groups"]] == [
        ["shipping", "250/250 → 0/250"],
        ["hours", "250/250 → 0/250"],
    ]
    [written] = json.loads(RESULTS.render(made))["causes"]
    assert [(group["label"], group["name"], group["cases"]) for group in written["groups"]] == [
        ("category", "shipping", 250),
        ("category", "hours", 250),
    ]
    sentence = "shipping 250/250 → 0/250: ExactMatch: not found: shipping (250 ×: row-0000, row-0004 and 248 more)"
    xml = JUNIT.render(made)
    assert f'<property name="lost.1" value="{sentence}"' in xml
    assert f">{sentence}\nhours 250/250" in xml


def test_a_single_lost_case_is_shown_as_a_case():
    base = {f"k{n}": "p" for n in range(4)}
    made = conclusion(report({**base, "k1": "f"}, deterministic=True), report(base, deterministic=True))
    text = console.render(made)
    assert text.startswith("✗ 1 of 4 cases regressed: k1\n")
    assert (
        "Lost\n  k1  case k1  1/1 → 0/1\n      ExactMatch: not found: 30 days   (evals/evals.json:7)\n"
        "      − Within 30 days.\n      + Please ask support.\n"
    ) in text


def test_no_first_line_is_longer_than_ninety_characters_before_its_colon():
    for number in (1, 4, 400):
        line = console.render(two_dead_categories(number)).splitlines()[0]
        assert len(line.partition(":")[0]) <= 90
