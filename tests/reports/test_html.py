"""The page: what came from outside stays data, and every case brings what its page shows."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from msgspec.structs import replace

from runevals.records import Layer, ModelIdentity, Outcome
from runevals.reports import html
from runevals.reports import results_document as document
from runevals.reports.page_cases import bodies, cases_of
from tests.reports.conclusions import all_passed, conclusion, everything_broken, regressions, renames
from tests.reports.hostile import NASTY, broken_by
from tests.reports.parsed_page import Page
from tests.sample_reports import attempt, case, report

HERE = Path(__file__).parent / "golden"


@pytest.mark.parametrize("text", NASTY)
def test_text_from_outside_adds_no_element_and_no_script(text):
    page = Page(html.render(broken_by(text)))
    harmless = Page(html.render(all_passed()))
    assert page.names == harmless.names
    assert page.attributes == harmless.attributes
    assert page.raw["script"] == harmless.raw["script"]
    assert page.data("body")[0]["sides"][1][0]["turns"][0]["prompt"] is not None
    assert all(page.raw[f"{name}-data"].isascii() for name in ("overview", "row", "body"))


def test_a_run_that_was_not_measured_says_what_to_do():
    [sentence] = Page(html.render(everything_broken())).data("overview")["sentences"]
    assert sentence.startswith("Nothing was judged as failed because of this. Run it again")


def test_what_hides_or_moves_text_is_shown_instead():
    page = Page(html.render(broken_by("a\u202eb\x00\ud800")))
    assert page.data("row")[0]["key"] == r"a\u202eb\x00\ud800"
    assert r"a\u202eb\x00\ud800" in page.data("body")[0]["texts"]


def test_the_policy_allows_the_pages_own_script_and_style_and_nothing_else():
    page = Page(html.render(regressions()))

    def digest(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    policy = dict(part.strip().split(" ", 1) for part in page.policy.split(";"))
    assert policy == {
        "default-src": "'none'",
        "script-src": digest(page.raw["script"]),
        "style-src": digest(page.raw["style"]),
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
    }
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("style", "src")]
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|\beval\(|https?://(?!www\.w3\.org/2000/svg)", page.raw["script"]
    )


@pytest.mark.parametrize("make", [regressions, everything_broken], ids=lambda make: make.__name__)
def test_golden(make, golden):
    page = Page(html.render(make()))
    shown = {"overview": page.data("overview"), "row": page.data("row"), "body": page.data("body")[:1]}
    golden(HERE / f"{make.__name__}.report.json", json.dumps(shown, indent=1, ensure_ascii=False) + "\n")


def test_the_first_line_is_the_verdict_of_all_other_reports():
    made = regressions()
    page = Page(html.render(made))
    assert page.raw["title"] == made.verdict.headline
    assert page.data("overview")["sentences"][0].startswith("Pass rate ")


def test_a_run_shows_the_bases_answer_of_every_case():
    pairs = cases_of(regressions())
    assert [pair.case.key for pair in pairs if pair.sides[0] is None] == ["NEW-1"]
    assert [pair.case.key for pair in pairs if pair.status == "removed"] == ["OLD-1"]


def test_a_results_document_has_the_bases_answer_where_a_case_changed(tmp_path):
    path = tmp_path / "results.json"
    path.write_text(document.write(regressions()), encoding="utf-8")
    page = Page(html.render(document.read_conclusion(path)))
    rows, cases = page.data("row"), page.data("body")
    assert {row["key"] for row, shown in zip(rows, cases, strict=True) if shown["sides"][0]} == {
        *(row["key"] for row in rows if row.get("change") and row["change"] != "added")
    }
    at_once = Page(html.render(regressions()))
    assert [shown["sides"][1] for shown in cases] == [shown["sides"][1] for shown in at_once.data("body")]
    assert page.data("overview") == at_once.data("overview")


def test_a_renamed_case_is_shown_beside_its_run_on_the_base():
    page = Page(html.render(renames()))
    assert [
        (row["key"], row.get("change"), bool(body["sides"][0]))
        for row, body in zip(page.data("row"), page.data("body"), strict=True)
    ] == [
        ("KB-001", "renamed", True),
        ("KB-002", "regressed", True),
        ("KB-3", None, True),
    ]
    assert page.data("overview")["statistics"][0]["notes"] == ["KB-1 is now KB-001", "KB-2 is now KB-002"]


def test_documents_of_the_first_day_can_be_shown():
    path = Path(__file__).parent / "documents" / "format-1.json"
    page = Page(html.render(document.read_conclusion(path)))
    assert len(page.data("row")) == len(page.data("body"))


def test_what_to_look_at_first():
    pairs = cases_of(regressions())
    ranked = [pair.case.key for pair in sorted(pairs, key=lambda pair: pair.rank)]
    assert ranked[:7] == ["KB-001", "KB-002", "KB-003", "KB-004", "KB-005", "KB-006", "KB-100"]


def test_a_case_that_passes_although_runs_of_it_are_missing_is_marked_and_comes_early():
    made = conclusion(report({**{f"k{n}": "ppp" for n in range(9)}, "part": "epp", "none": "eee"}), None)
    rows = {row["key"]: row for row in Page(html.render(made)).data("row")}
    assert [rows[key].get("marks") for key in ("part", "none", "k0")] == [["unmeasured"], None, None]
    assert sorted(rows, key=lambda key: rows[key]["rank"])[:2] == ["none", "part"]


def test_what_fails_without_a_base_is_open_and_what_failed_before_is_folded():
    def folds(made):
        return {one["title"]: one["folded"] for one in Page(html.render(made)).data("overview")["causes"]}

    assert folds(conclusion(report({"a": "fff", "b": "ppp"}), None)) == {"Failing": False}
    assert folds(regressions()) == {"Lost": False, "Failing before and now": True, "Better": True}


def test_texts_that_stand_in_every_attempt_are_written_once():
    first = json.loads(bodies(cases_of(regressions())))[0]
    assert first["texts"].count("How long can I return it?") == 1
    assert {attempt["turns"][0]["prompt"] for side in first["sides"] for attempt in side} == {0}


def test_where_all_would_be_too_much_the_cases_to_look_at_keep_their_texts():
    pairs = cases_of(regressions())
    kept = json.loads(bodies(pairs, most=4000))
    assert 0 < sum(shown is not None for shown in kept) < len(pairs)
    assert kept[0] is not None


def test_a_single_case_that_is_too_large_leaves_room_for_the_others(monkeypatch):
    large = case("a", "f", attempts=(attempt(1, Outcome.FAILED, output="x" * 9000),))
    made = conclusion(report([large, *(case(f"k{n}", "p") for n in range(3))]), None)
    assert [shown is None for shown in json.loads(bodies(cases_of(made), most=8000))] == [
        True,
        False,
        False,
        False,
    ]
    monkeypatch.setattr(bodies, "__defaults__", (*bodies.__defaults__[:-1], 8000))
    assert Page(html.render(made)).data("overview")["without_texts"] == 1


@pytest.mark.parametrize("key", ["KB-1", "a b; rm -rf ~", "$(x) `y`", "it's", "a[1]*?", "x,y", "-q"])
def test_the_line_that_runs_a_case_again_names_it_and_only_it(key):
    shown = json.loads(bodies(cases_of(conclusion(report([case(key, "f", file="-e vals.json")]), None))))
    words = shlex.split(shown[0]["again"])
    assert words[:3] == ["runevals", "run", "./-e vals.json"]
    pattern = words[3].removeprefix("--filter=")
    assert fnmatchcase(key, pattern)
    assert "," not in pattern  # one pattern, not two
    assert not fnmatchcase(f"{key}2", pattern)


def test_a_judge_that_cannot_be_compared_is_shown_all_the_same():
    graded = report([case("a", [0.2]), *(case(f"k{n}", [1.0]) for n in range(9))])
    attempt = graded.cases[0].attempts[0]
    judged = replace(attempt.turns[0].results[0], id="Relevance", layer=Layer.JUDGE, value=2.0)
    attempt = replace(attempt, turns=(replace(attempt.turns[0], results=(*attempt.turns[0].results, judged)),))
    head = replace(graded, cases=(replace(graded.cases[0], attempts=(attempt,)), *graded.cases[1:]))
    head = replace(head, run=replace(head.run, judge=ModelIdentity(type="openai", model="new")))
    base = replace(graded, run=replace(graded.run, judge=ModelIdentity(type="openai", model="old")))
    shown = json.loads(bodies(cases_of(conclusion(head, base))))[0]["sides"][1][0]["turns"][0]["checks"]
    assert [check["id"] for check in shown] == ["ExactMatch", "Relevance"]
