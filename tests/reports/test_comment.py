"""The comment: golden texts, and what is left out where it is too long."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from runevals.records import FinalVerdict, GateResult, GateRules, GateState, Links, Outcome, RegressionRule
from runevals.reports import comment
from runevals.verdict.outcome import conclusion_of
from runevals.verdict.settle import settled
from tests.reports.conclusions import (
    ALL,
    all_passed,
    conclusion,
    everything_broken,
    regressions,
    renames,
    thousand_cases,
)
from tests.sample_reports import attempt, case, checked_case, report
from tests.scripted_runner import ScriptedRunner, always

HERE = Path(__file__).parent / "golden"
LINKS = Links(
    files=f"https://github.com/o/r/blob/{'d' * 40}/", run="https://github.com/o/r/actions/runs/9", head="d" * 40
)
MARKER = "<!-- runevals evals/test -->"


def no_base():
    made = conclusion(report({"a": "p", "b": "f"}), None)
    run = replace(
        made.report.run, notices=("no baseline yet: no result of main was found (looked at 12 commits)",)
    )
    return replace(made, report=replace(made.report, run=run))


def skipped():
    made = conclusion(report([]), None)
    verdict = FinalVerdict(
        outcome="skipped", headline="Skipped, and the check passes: no access to the model key", exit_code=0
    )
    run = replace(made.report.run, notices=("a maintainer can run it by pushing the branch here",))
    return replace(made, verdict=verdict, gates=(), report=replace(made.report, run=run))


def not_confirmed():
    """The stored base looked better than its commit is now."""
    base = {f"KB-{n:03d}": "ppp" for n in range(1, 25)}
    head = {key: "fff" if key < "KB-007" else "ppp" for key in base}
    lost = always("p", **{key: "f" for key in base if key < "KB-007"})
    runner = ScriptedRunner(head, lost, lost)
    made, comparison = settled(runner, runner.report_of(base), "main", RegressionRule())
    return conclusion_of(made, comparison, GateRules())


def unmeasured():
    return conclusion(report({"a": "e", "b": "e", "c": "p"}), report({"a": "p", "b": "p", "c": "p"}))


@pytest.mark.parametrize(
    "make", [*ALL, renames, no_base, skipped, not_confirmed, unmeasured], ids=lambda make: make.__name__
)
def test_golden(make, golden):
    text = comment.render(make(), LINKS, MARKER).encode("utf-8", errors="backslashreplace").decode()
    assert text.startswith(f"{MARKER}\n### ")
    golden(HERE / f"{make.__name__}.comment.md", text)


def open_part(text):
    """What is read without a click."""
    return re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)


def test_the_verdict_is_the_first_line_and_one_sentence_of_numbers_the_second():
    _, verdict, _, numbers, *_ = comment.render(regressions(), LINKS, "marker").splitlines()
    assert verdict == "### ❌ 6 of 26 cases regressed, all in knowledge&#58; KB-001, KB-002, KB-003 and 3 more"
    assert numbers == "Pass rate **92.3 % → 73.1 %** (−19.2 points)."
    assert comment.render(all_passed(), LINKS).startswith("### ✅ No regression shown in 3 cases\n")


@pytest.mark.parametrize("made", [regressions, all_passed, everything_broken, thousand_cases])
def test_what_is_read_without_a_click_has_one_table_and_no_statistics(made):
    text = open_part(comment.render(made(), LINKS))
    assert len(re.findall(r"(?m)^\|[-|: ]+\|$", text)) <= 1
    for word in ("95 % interval", "flipped", "9 times in 10)", "latency p95", "To detect a drop of 5 points"):
        assert word not in text


def test_how_sure_it_is_opens_on_a_click():
    text = comment.render(regressions(), LINKS)
    fold = text[text.index("<summary>How sure is this?</summary>") :]
    for word in ("95 % interval", "flipped", "A drop of 6.5 points or more would have shown"):
        assert word in fold[: fold.index("</details>")]


def test_a_gate_that_failed_beside_the_loss_is_read_without_a_click():
    assert "❌ min&#95;pass&#95;rate&#58; 59 of 81 passed" in open_part(comment.render(regressions(), LINKS))


def test_what_was_not_measured_shows_the_next_step_and_no_numbers():
    made = unmeasured()
    text = comment.render(made, LINKS)
    assert "Pass rate" not in text
    assert "interval" not in text
    assert "Nothing was judged as failed because of this. Run it again; if it stays" in text


def test_a_line_is_a_link_to_the_suite_at_the_head():
    assert f"[7](https://github.com/o/r/blob/{'d' * 40}/evals/evals.json#L7)" in comment.render(
        regressions(), LINKS
    )


@pytest.mark.parametrize("file", ["../../../evil/r/x.json", "/etc/x.json", "a//b.json", "a\\..\\b.json", "a/./b"])
def test_a_file_that_may_lie_elsewhere_is_no_link(file):
    made = conclusion(report([case("a", "f", file=file)]), None)
    assert "blob" not in comment.render(made, LINKS)


def test_a_file_name_cannot_end_its_link():
    made = conclusion(report([case("a", "f", file="x) [y](evil.example) | \ud800.json")]), None)
    text = comment.render(made, LINKS)
    assert "blob" in text
    assert "](evil" not in text.partition("For a coding assistant")[0]  # there it stands in a fence


def huge(cases, size):
    """As many regressions, each with answers of this many characters that share nothing."""

    def one(n, letter, word):
        status = Outcome.PASSED if letter == "p" else Outcome.FAILED
        output = " ".join(f"{word}{n}-{i}" for i in range(size // 8))
        return case(f"k{n}", letter, attempts=(attempt(1, status, output=output),))

    base = [one(n, "p", "a") for n in range(cases)]
    head = [one(n, "f", "b") for n in range(cases)]
    return conclusion(report(head, deterministic=True), report(base, deterministic=True))


def test_what_is_too_long_loses_whole_sections_and_says_which():
    text = comment.render(huge(40, 10_000), LINKS, MARKER)
    assert len(text) <= comment.MOST_CHARACTERS
    assert text.count("<details>") == text.count("</details>")
    assert "**Lost**" in text
    hostile = "@|&<`" * 400
    worst = [case(f"{n} {hostile}", "f", name=f"n{hostile}") for n in range(200)]
    made = conclusion(report(worst), None)
    run = replace(made.report.run, notices=tuple(f"{n} {hostile}" for n in range(50)))
    verdict = replace(made.verdict, headline=hostile * 10)
    gates = tuple(replace(made.gates[0], name=f"{n}{hostile}", reason=hostile) for n in range(100))
    text = comment.render(
        replace(made, report=replace(made.report, run=run), verdict=verdict, gates=gates), LINKS, MARKER
    )
    assert len(text) <= comment.MOST_CHARACTERS
    assert "Too long for a comment" not in text  # groups are few, whatever the number of cases


def test_a_comment_in_many_bytes_is_shortened_too():
    text = comment.render(
        conclusion(report([case("👍" * 200 + str(n), "f", name="👩" * 99) for n in range(400)]), None), LINKS
    )
    assert len(text.encode()) <= comment.MOST_BYTES


def test_nothing_is_left_out_where_all_fits():
    for made in (all_passed(), regressions(), everything_broken(), thousand_cases()):
        assert "Too long" not in comment.render(made, LINKS)


def test_gates_with_long_names_push_nothing_else_out():
    head = report({"a": "p"})
    head = replace(head, run=replace(head.run, notices=("the sandbox is reduced",)))
    gates = tuple(GateResult(name="@" * 80, state=GateState.PASSED, reason="@" * 500) for _ in range(30))
    body = comment.render(replace(conclusion(head, None), gates=gates), Links())
    assert "The sandbox is reduced." in body
    assert "Too long for a comment" not in body
    assert re.search(r"… and 2\d more", body)


def test_a_score_has_one_scale_in_a_first_run_beside_a_base_and_in_the_numbers():
    """Of checks that pass with a score of their own."""
    base, head = (report([checked_case(f"k{n}", [[score]]) for n in range(20)]) for score in (0.9, 0.6))
    assert "score 4.60 of 5" in comment.render(conclusion(base, None), Links())
    text = comment.render(conclusion(head, base), Links())
    assert "score 4.60 → 3.40 of 5 (−1.20&#58; −30.0 points of its range)" in text
    assert "| score (1–5) | 4.60 | 3.40 |" in text
