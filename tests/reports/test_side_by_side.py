"""Several targets in one table."""

from __future__ import annotations

import pytest

from runevals.records import GateRules
from runevals.reports.side_by_side import headline, lines, render_markdown
from runevals.verdict.against import against_target
from runevals.verdict.outcome import conclusion_of
from runevals.verdict.side_by_side import columns_of
from tests.sample_reports import report

KEYS = [f"k{number:03}" for number in range(200)]


def conclusions(**letters):
    """Targets by name; those that are not the first are compared with it."""
    reports = {name: report(cases) for name, cases in letters.items()}
    against = against_target(reports, next(iter(reports)), margin=0.03, alpha=0.01)
    return {
        name: conclusion_of(each, None, GateRules(), against=against.get(name)) for name, each in reports.items()
    }


def test_the_columns_and_what_is_shown():
    sides = conclusions(
        mini=dict.fromkeys(KEYS, "ppp"),
        nano={**dict.fromkeys(KEYS, "ppp"), "k007": "ppf"},
        pico={**dict.fromkeys(KEYS, "ppp"), **dict.fromkeys(KEYS[:20], "fpe")},
    )
    table = list(lines(sides))
    assert table[0].startswith("✗ pico is worse than mini: 20 of 200 cases lost (−5.0 points, p < 0.0001; margin")
    assert table[1] == "✓ nano is not worse than mini: by at most 3 points (p = 0.0042); 1× the cost"
    assert table[2].split() == ["mini", "nano", "pico"]
    assert [line.split()[2:] for line in table if line.startswith("Against mini")] == [["not", "worse", "worse"]]
    found = {line[:15].strip(): line[15:].split() for line in table}
    assert (found["Pass rate"], found["Not measured"]) == (
        ["100.0", "%", "99.8", "%", "93.3", "%"],
        ["0", "0", "20"],
    )
    assert headline(columns_of(sides)) == (
        "pico is worse than mini; nano is not worse than mini; 1 of 3 targets not measured: pico"
    )
    markdown = render_markdown(sides)
    assert markdown.startswith("**✗ pico is worse than mini")
    assert "\n\n| | mini | nano | pico |\n|---|---:|---:|---:|\n" in markdown


def test_names_are_only_text():
    """No name of a target or headline is markup of a summary."""
    name, key = "<b>|x @ana", "<img src=x>|a"
    sides = conclusions(**{"mini": {key: "p"}, name: {key: "f"}, f"{name}2": {key: "e"}})
    [head] = [line for line in render_markdown(sides).splitlines() if line.startswith("| |")]
    assert (head.count("|"), "<b>" in head, "@ana" in head) == (5, False, False)


@pytest.mark.parametrize(
    ("letters", "told"),
    [
        pytest.param({"mini": "ppp", "nano": "ppp"}, "nano is not worse than mini", id="not worse"),
        pytest.param({"mini": "ppp", "nano": "fff"}, "nano is worse than mini", id="worse"),
        pytest.param(
            {"mini": "ppp", "a": "fff", "b": "ppp", "c": "fff"},
            "a and c are worse than mini; b is not worse than mini",
            id="several",
        ),
        pytest.param({"mini": "ppp", "nano": "eee"}, "1 of 2 targets not measured: nano", id="nothing to compare"),
    ],
)
def test_the_first_line_has_the_states(letters, told):
    sides = conclusions(**{name: dict.fromkeys(KEYS, runs) for name, runs in letters.items()})
    assert headline(columns_of(sides)) == told
