"""What cases cover and whether tripwires tripped, in every report, and in no score."""

from __future__ import annotations

import csv
import io
import json
from html import unescape

import pytest
from msgspec.structs import replace

from runevals.records import ModelIdentity
from runevals.reports import JUNIT, SUMMARY, TABLE, console, coverage
from runevals.reports import results_document as document
from tests.reports.conclusions import HOSTILE, conclusion
from tests.sample_reports import case, report

SAMPLES = [
    {
        "sample_id": "s1",
        "prompt": "A",
        "capability": ["refunds", "tone"],
        "difficulty": "easy",
        "category": "shop",
    },
    {"sample_id": "s2", "prompt": "B", "capability": ["refunds"], "construct": "quality", "provenance": "human"},
    {"sample_id": "trap", "prompt": "C", "tripwire": True},
    {"sample_id": "held", "prompt": "D", "tripwire": True},
    {"sample_id": "down", "prompt": "E", "tripwire": True},
]
ANSWERS = [("s1", "yes"), ("s2", "no"), ("trap", "no"), ("held", "yes")]


@pytest.fixture
def run(project, runevals):
    """Runs the samples, with more said of them or not → (exit code, console)."""

    def go(samples, *arguments):
        checked = [{**sample, "assertions": [{"type": "contains", "value": "yes"}]} for sample in samples]
        project.write("eval-samples.json", checked)
        rows = [json.dumps({"case": key, "output": text}) for key, text in ANSWERS]
        project.write("answers.jsonl", "\n".join(rows))
        return runevals("--target", "recorded:answers.jsonl", *arguments)

    return go


def test_the_console_has_coverage_and_tripwires(run):
    _, out, _ = run(SAMPLES, "-o", "out.json")
    assert (
        "Coverage (cases passed)\n"
        "  capability: refunds 1/2, tone 1/1, 3 cases without\n"
        "  difficulty: easy 1/1, 4 cases without\n"
        "  construct: quality 0/1, 4 cases without\n"
        "  provenance: human 0/1, 4 cases without\n"
        "  category: shop 1/1, 4 cases without\n"
    ) in out
    assert (
        "Tripwires\n  trap: tripped\n  held: tripwire did not trip\n  down: not measured\n" in out
    )  # a trap that was not measured says neither


def test_the_results_document_has_the_figures(run, project):
    run(SAMPLES, "-o", "out.json")
    written = project.document()
    capability = written["coverage"][0]
    assert (capability["label"], capability["without"]) == ("capability", 3)
    assert {name: (t["passed"], t["cases"], t["pass_rate"]) for name, t in capability["groups"].items()} == {
        "refunds": (1, 2, 0.5),
        "tone": (1, 1, 1.0),
    }
    assert written["cases"][0]["labels"] == {"capability": ["refunds", "tone"], "difficulty": ["easy"]}
    assert [case.get("tripped") for case in written["cases"]] == [None, None, True, False, None]


def test_labels_and_tripwires_change_no_score_and_no_verdict(run, project):
    bare = [{name: sample[name] for name in ("sample_id", "prompt")} for sample in SAMPLES]
    code = run(SAMPLES, "-o", "out.json")[0]
    told = project.document()
    assert run(bare, "-o", "out.json")[0] == code
    for part in ("verdict", "gates"):
        assert project.document()[part] == told[part]
    plain = project.document()
    assert [case["composite"] for case in plain["cases"]] == [case["composite"] for case in told["cases"]]
    assert plain["totals"]["pass_rate"] == told["totals"]["pass_rate"]
    assert (plain["coverage"], "Coverage" in run(bare)[1]) == ([], False)


def labelled(text: str):
    return conclusion(
        report(
            [
                case("a", "p", labels={"capability": (text,)}, tripwire=True),
                case(text, "f", labels={"capability": ("x",)}, tripwire=True),
            ]
        ),
        None,
    )


def test_the_summary_has_tables_and_the_table_columns():
    made = labelled("refunds")
    told = SUMMARY.render(made)
    assert "* capability: refunds 1/1, x 0/1" in unescape(told)
    assert "* a: tripwire did not trip\n* refunds: tripped" in unescape(told)
    rows = list(csv.DictReader(io.StringIO(TABLE.render(made))))
    assert [(row["capability"], row["difficulty"], row["tripwire"]) for row in rows] == [
        ("refunds", "", "tripwire did not trip"),
        ("x", "", "tripped"),
    ]
    assert '<property name="tripwire.a" value="tripwire did not trip"' in JUNIT.render(made)


def test_what_labels_hold_is_inert():
    made = labelled(HOSTILE)
    assert "<script>" not in SUMMARY.render(made)
    assert "@octocat" not in SUMMARY.render(made)
    assert "\x1b" not in console.render(made)
    assert "\u202e" not in console.render(made)


def test_many_groups_are_cut_with_their_number():
    cases = [case(f"k{n}", "p", labels={"capability": (f"c{n}",)}) for n in range(25)]
    assert "c19 1/1, … and 5 more\n" in console.render(conclusion(report(cases), None))


def test_a_skill_without_a_case_of_a_category_that_has_a_gate_is_named():
    """Of skills alone: the categories of other suites are their own."""
    cases = [
        *(case(name, "p", category=name, group="text_echo") for name in ("replay", "regression")),
        *(
            case(f"whole {name}", "p", category=name, group="whole")
            for name in ("replay", "regression", "redteam")
        ),
    ]
    of_models = report(cases)
    of_skills = replace(of_models, run=replace(of_models.run, target=ModelIdentity(type="skill")))
    assert [dict(coverage.parts(one))["Coverage (cases passed)"][1:] for one in (of_models, of_skills)] == [
        [],
        ["text_echo has no redteam case"],
    ]


def test_a_skipped_case_is_not_counted_as_one_that_should_have_passed():
    cases = [case("a", "p", labels={"capability": ("x",)}), case("b", "s", labels={"capability": ("x",)})]
    made = conclusion(report(cases), None)
    assert "capability: x 1/1" in console.render(made)


def test_coverage_survives_the_document():
    made = labelled("refunds")
    assert document.parse(document.write(made), "x.json") == made
