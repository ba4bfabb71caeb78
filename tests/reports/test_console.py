"""The last screen: what stands on it for a reader with one glance."""

from __future__ import annotations

import json
from html import unescape

from msgspec.structs import replace

from runevals.records import Finding, Links, Outcome, Reason, State, ToolCall
from runevals.reports import comment, console
from runevals.reports.answer_diff import path
from runevals.reports.block import MOST_CHECKS
from tests.reports.conclusions import agents, conclusion, renames
from tests.reports.parsed_page import Page
from tests.sample_reports import attempt, case, report

LONG = "Every device that we sell in any of our shops, " * 10


def shown(before, after):
    head = case("a", "f", attempts=(attempt(1, Outcome.FAILED, output=after),))
    base = case("a", "p", attempts=(attempt(1, Outcome.PASSED, output=before),))
    made = conclusion(report([head], deterministic=True), report([base], deterministic=True))
    lines = console.render(made).splitlines()
    return [line.strip() for line in lines if line.startswith(("      −", "      +"))]


def test_long_answers_are_shown_from_where_they_differ():
    assert shown(f"{LONG}has 24 months of warranty.", f"{LONG}has 12 months of warranty.") == [
        "− …device that we sell in any of our shops, has 24 months of warranty.",
        "+ …device that we sell in any of our shops, has 12 months of warranty.",
    ]


def test_cases_that_are_weaker_in_the_same_way_share_a_line():
    kept = {f"k{n}": "p" for n in range(12)}
    gone = [case(key, "p", suite="b.json") for key in ("t1", "t2", "t3", "t4")]
    made = conclusion(report(kept), report([*report(kept).cases, *gone]))
    assert "  ! t1, t2, t3, t4 of b.json: the case was removed" in console.render(made).splitlines()
    assert "* ⚠ t1, t2, t3, t4 of b.json: the case was removed" in unescape(comment.render(made, Links()))


def test_short_answers_are_shown_whole():
    assert shown("It has 24 months.", "It has 12 months.") == ["− It has 24 months.", "+ It has 12 months."]


def test_an_answer_without_spaces_is_cut_all_the_same():
    base, head = shown("x" * 500 + "a", "x" * 500 + "b")
    assert (base, head) == (f"− …{'x' * 40}a", f"+ …{'x' * 40}b")


def test_without_a_base_a_failing_case_shows_what_should_have_come():
    head = case("a", "f", attempts=(attempt(1, Outcome.FAILED, output="Please ask support."),))
    lines = console.render(conclusion(report([head]), None)).splitlines()
    shown = [line.strip() for line in lines if line.startswith(("      −", "      +"))]
    assert shown == ["− expected: 30 days", "+ answered: Please ask support."]


def test_an_answer_that_has_what_was_expected_and_fails_by_another_check_is_not_set_against_it():
    head = case("a", "f", attempts=(attempt(1, Outcome.FAILED, output="Within 30 days, or so we think."),))
    assert "expected:" not in console.render(conclusion(report([head]), None))


def test_the_same_error_is_shown_once():
    shown = console.render(conclusion(report({f"k{n}": "e" for n in range(30)}), None))
    assert shown.count("connection reset") == 1
    assert "target_failed: connection reset  30 ×  k0, k1 and 28 more" in shown


def test_what_nothing_was_measured_of_has_no_pass_rate():
    shown = console.render(conclusion(report({"a": "e"}), None))
    assert "Pass rate" not in shown


def test_a_renamed_case_is_named_by_both_keys():
    lines = console.render(renames()).splitlines()
    assert [line for line in lines if "Renamed" in line] == [
        "  Renamed: KB-1 → KB-001",
        "  Renamed: KB-2 → KB-002",
    ]


def many_failures(number):
    failed = attempt(1, Outcome.FAILED)
    (turn,) = failed.turns
    results = tuple(replace(turn.results[0], id=f"check {n}") for n in range(number))
    return case("a", "f", attempts=(replace(failed, turns=(replace(turn, results=results),)),))


def test_every_failing_check_of_a_case_is_shown_up_to_a_limit():
    for number, more in ((2, ""), (MOST_CHECKS + 2, "    … and 2 more\n")):
        text = console.render(conclusion(report([many_failures(number)]), None))
        assert text.count("      check ") == min(number, MOST_CHECKS)
        assert more in text
        assert text.count("(evals/evals.json:7)") == 1


def test_every_failing_check_of_a_case_is_in_its_row_of_the_comment():
    (row,) = [
        line
        for line in comment.render(conclusion(report([many_failures(7)]), None), Links()).splitlines()
        if "check 0" in line
    ]
    assert row.count("<br>") == MOST_CHECKS
    assert "<br>… and 2 more |" in row


def test_a_pass_rate_below_the_share_of_passing_cases_says_why():
    flaky = console.render(conclusion(report({"a": "ppp", "b": "ppf"}), None))
    assert flaky.startswith("✓ 2 of 2 cases pass")
    assert "Pass rate 83.3 %" in flaky
    assert "a case passes if at least half of its runs do, and 1 case did not pass all" in flaky
    assert "at least half" not in console.render(conclusion(report({"a": "ppp", "b": "fff"}), None))


def test_the_steps_of_an_agent_are_named_if_they_differ():
    made = agents(steps=3)
    steps = "Read ×3 → Edit, on the base Read ×3 → Edit → Bash"
    assert [line.strip() for line in console.render(made).splitlines() if " steps: " in line] == [
        f"steps: {steps}"
    ]
    row = next(line for line in comment.render(made, Links()).splitlines() if line.startswith("| <code>discount"))
    assert "steps: <code>Read ×3 → Edit</code>, on the base <code>Read ×3 → Edit → Bash</code>" in row
    assert "unknown" in console.render(made)  # a case without tool calls has no such line


def test_a_long_path_of_steps_is_cut():
    calls = [ToolCall(name=f"tool{number % 2}") for number in range(500)]
    assert path(calls).endswith("tool1 → … 492 more")
    assert path([]) == "no steps"


def test_a_case_that_looked_lost_is_said_with_what_its_fresh_runs_show():
    made = conclusion(report({"a": "f", "b": "p"}), report({"a": "p", "b": "p"}))
    assert made.comparison is not None
    looked_lost = {"family": "case", "suite": "evals/evals.json", "state": State.NOT_WORSE}
    findings = (
        Finding(name="a", reason=Reason.BASE_ALIKE, head=case("a", "f"), **looked_lost),
        Finding(name="b", reason=Reason.PASSED_AGAIN, head=case("b", "p"), **looked_lost),
    )
    shown = console.render(replace(made, comparison=replace(made.comparison, findings=findings)))
    assert "! b looked lost: fresh runs pass" in shown
    assert "! a looked lost: fresh runs show no difference from the base" in shown


def test_a_lost_case_in_quarantine_is_named():
    base = report({"a": "ppp", "b": "ppp"})
    made = conclusion(report([case("a", "fff", quarantined=True), case("b", "ppp")]), base)
    assert "In quarantine, and failing now: a\n" in console.render(made)


def test_the_notes_of_a_case_stand_beside_its_failure_in_every_report(project, runevals):
    items = [
        {"testId": "BUG-456", "prompt": "p", "expected_response": "x", "notes": "Bug #456 <b> |\nseen twice"},
        {"testId": "fine", "prompt": "q", "expected_response": "no", "notes": "never shown"},
    ]
    checks = {"ExactMatch": {}}
    project.write("evals.json", {"schemaVersion": "1.2.0", "default_evaluators": checks, "items": items})
    project.write("answers.jsonl", "\n".join(json.dumps({"case": i["testId"], "output": "no"}) for i in items))
    outputs = [word for name in ("out.md", "out.xml", "out.html", "out.json") for word in ("-o", name)]
    _, out, _ = runevals("--target", "recorded:answers.jsonl", *outputs)
    assert "\n      notes: Bug #456 <b> | seen twice\n" in out
    summary = (project.path / "out.md").read_text()
    assert "<br>notes: <code>Bug #456 <b> | seen twice</code>" in unescape(summary)
    assert "<b>" not in summary
    assert "notes: Bug #456 &lt;b&gt; |\nseen twice</failure>" in (project.path / "out.xml").read_text()
    assert Page((project.path / "out.html").read_text()).data("row")[0]["notes"] == "Bug #456 <b> | seen twice"
    assert [case["notes"] for case in project.document()["cases"]] == [item["notes"] for item in items]
    assert "never shown" not in out + summary


def test_failing_cases_say_which_of_them_failed_on_the_base():
    base, head = {"old": "f", "a": "p"}, {"old": "f", "a": "p", "new": "f"}
    made = conclusion(report(head, deterministic=True), report(base, deterministic=True))
    text = console.render(made)
    new, _, on_base = text.partition("Failing before and now: 1 case")
    assert "New failures\n  new" in new
    assert on_base.startswith("\n  old")
