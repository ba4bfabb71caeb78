"""The page of several targets: a side for each, in the page of one run."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import GateRules
from runevals.reports import html
from runevals.verdict.against import against_target
from runevals.verdict.outcome import Baseline, conclusion_of, decision
from tests.reports.hostile import NASTY
from tests.reports.parsed_page import Page
from tests.sample_reports import case, report

KEYS = [f"k{number:02}" for number in range(40)]
STEADY = dict.fromkeys(KEYS, "ppp")


def targets(base=None, **letters):
    """Targets by name, compared with the first of them; those with a base are compared with that, too."""
    reports = {
        name: report([case(key, runs, category=f"c{int(key[1:]) % 4}") for key, runs in cases.items()])
        for name, cases in letters.items()
    }
    against = against_target(reports, next(iter(reports)), margin=0.03, alpha=0.01)
    made = {}
    for name, each in reports.items():
        alone = conclusion_of(each, None, GateRules())
        of_base = None if base is None else Baseline(report=report(base), source="base.json")
        conclusion = alone if of_base is None else decision(each, of_base, GateRules())
        made[name] = replace(conclusion, against=against.get(name))
    return made


def shown(conclusions, pages=None):
    return Page(html.render_several(conclusions, pages or {}))


def test_each_target_has_a_row_and_each_case_a_side_for_each():
    page = shown(
        targets(
            mini=STEADY,
            nano={**STEADY, "k07": "ppf"},
            pico={**STEADY, **dict.fromkeys(KEYS[::4], "fff"), "k01": "eee"},
        ),
        {"mini": "a#1.mini.html"},
    )
    overview, rows, bodies = (page.data(name) for name in ("overview", "row", "body"))
    assert overview["sides"] == ["mini", "nano", "pico"]
    assert overview["targets"]["columns"][:5] == [
        "Target",
        "Verdict",
        "Against mini",
        "Pass rate",
        "95 % interval",
    ]
    assert [cells[1] for cells in overview["targets"]["rows"]] == ["", "not known yet", "worse"]
    assert overview["targets"]["pages"] == ["a%231.mini.html", None, None]
    assert [(one["title"], one["cases"]) for one in overview["causes"]] == [
        ("pico: Lost against mini", 10),
        ("pico: Could not be measured", 1),
    ]
    assert overview["causes"][0]["groups"][0]["heading"] == ["c0", "10/10 → 0/10"]
    everything, first, *_ = overview["categories"]
    assert (everything["name"], first["name"], first["rates"]) == ("All cases", "c0", [1.0, 1.0, 0.0])
    assert (first["told"], first["change"]) == ("100.0 % → 0.0 %", "−100.0 points")
    of_key = {row["key"]: row for row in rows}
    assert [of_key[key].get("change") for key in ("k00", "k01", "k02", "k07")] == [
        "differs",
        "differs",
        None,
        "runs differ",
    ]
    assert of_key["k00"]["runs"] == ["3/3", "3/3", "0/3"]
    assert of_key["k00"]["statuses"] == ["passed", "passed", "failed"]
    assert [len(side) for side in bodies[0]["sides"]] == [3, 3, 3]
    assert bodies[0]["texts"].count("How long can I return it?") == 1


def test_a_case_that_only_one_target_has_is_shown():
    page = shown(targets(mini={"k00": "p", "k01": "p"}, nano={"k01": "p"}))
    assert [row["runs"] for row in page.data("row")] == [["1/1", None], ["1/1", "1/1"]]


def test_what_was_lost_against_a_base_stands_open_and_what_beside_another_target_is_folded():
    page = shown(targets(STEADY, mini=STEADY, nano={**STEADY, **dict.fromkeys(KEYS[::4], "fff")}))
    causes = page.data("overview")["causes"]
    assert [(one["title"], one.get("folded", False)) for one in causes] == [
        ("nano: Lost", False),
        ("nano: Lost against mini", True),
    ]
    [differing] = [row for row in page.data("row") if row["key"] == "k00"]
    assert (differing["change"], differing["marks"]) == ("differs", ["regressed"])


def test_each_command_and_the_text_for_an_assistant_names_its_target():
    made = targets(mini=STEADY, nano={**STEADY, "k00": "fff"}, pico={**STEADY, "k01": "fff"})
    made = {
        name: replace(one, report=replace(one.report, run=replace(one.report.run, settings={"target": name})))
        for name, one in made.items()
    }
    overview = shown(made).data("overview")
    assert overview["next"] == [
        ["see one (nano)", "runevals run evals/evals.json --filter=k00 --target=nano"],
        ["see one (pico)", "runevals run evals/evals.json --filter=k01 --target=pico"],
    ]
    assert [f"target: {name}" in overview["assistant"] for name in made] == [False, True, True]
    assert len(overview["assistant"]) <= 6000


@pytest.mark.parametrize("text", NASTY)
def test_no_name_of_a_target_or_case_is_markup(text):
    def page(name, key):
        made = {name: report([case(key, "p")]), "b": report([case(key, "f")])}
        return shown({each: conclusion_of(one, None, GateRules()) for each, one in made.items()}, {name: text})

    hostile, harmless = page(text, text), page("a", "k")
    assert hostile.names == harmless.names
    assert hostile.attributes == harmless.attributes
    assert hostile.raw["script"] == harmless.raw["script"]
