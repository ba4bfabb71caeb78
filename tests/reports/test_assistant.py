"""The text for a coding assistant: the facts, the commands, and what not to do."""

from __future__ import annotations

from msgspec.structs import replace

from runevals.records import TextChange
from runevals.reports import assistant
from tests.reports.conclusions import all_passed, conclusion, everything_broken, regressions, thousand_cases
from tests.sample_reports import report


def test_it_says_what_was_lost_how_to_see_it_and_what_not_to_do():
    diff = "@@ -1 +1 @@\n-- Always name the days.\n+- Be brief."
    made = replace(regressions(), prompt_changes=(TextChange(path="prompts/support.md", diff=diff),))
    text = assistant.render(made)
    for words in (
        "Do not edit the suite",
        "6 of 26 cases regressed",
        "ExactMatch: not found: 30 days (6 ×: KB-001, KB-002 and 4 more)",
        f"prompts/support.md\n{diff}",
        "suite: evals/evals.json:7",
        "answer before: Within 30 days.\nanswer now: Please ask support.",
        "runevals run evals/evals.json --base a1b2c3d4e5 --filter=KB-001",
        "runevals blame",
    ):
        assert words in text
    assert "runevals accept" not in text


def test_what_failed_before_is_a_task_only_where_nothing_else_is():
    base = {"lost": "ppp", "old": "fff"}
    for now, named in (("fff", "lost"), ("ppp", "old")):
        text = assistant.render(conclusion(report({"lost": now, "old": "fff"}), report(base)))
        assert {key for key in base if f"case: {key}\n" in text} == {named}


def test_it_is_short_and_always_has_rules_and_commands():
    long = TextChange(path="p.md", diff="+" + "x" * 100_000)
    for made in (all_passed(), regressions(), everything_broken(), thousand_cases()):
        text = assistant.render(replace(made, prompt_changes=(long,) * 3))
        assert len(text) <= assistant.MOST_CHARACTERS
        assert text.startswith(assistant.RULES)
    assert text.endswith("```\n")


def test_a_document_becomes_the_text_by_the_name_of_the_file(project, runevals):
    project.write(
        "evals.json",
        {"schemaVersion": "1.2.0", "items": [{"testId": "a", "prompt": "p", "expected_response": "x"}]},
    )
    project.write("answers.jsonl", '{"case": "a", "output": "no"}')
    runevals("--target", "recorded:answers.jsonl", "--no-judge", "-o", "out.json")
    assert runevals("report", "out.json", "-o", "fix.md")[1] == "Written: fix.md\n"
    text = (project.path / "fix.md").read_text()
    assert text.startswith("# Task: make the failing cases pass")
    assert "recorded:" not in text  # a document of unknown origin names no target to run
