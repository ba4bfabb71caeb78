"""Several targets in one table."""

from __future__ import annotations

from runevals.records import GateRules
from runevals.reports.side_by_side import lines, render_markdown, render_page
from runevals.verdict.against import against_target
from runevals.verdict.outcome import conclusion_of
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
    page = render_page(sides, {"mini": "a.mini.html"})
    assert "Cases with different results: 20 of 200" in page
    of_case = '<td><a href="a.mini.html#case=k007&amp;suite=evals%2Fevals.json">3 of 3</a></td>'
    assert f"{of_case}<td>2 of 3</td><td>1 of 2</td>" in page
    assert '<p class="headline is-unmeasured">! 1 of 3 targets not measured: pico</p>' in page
    assert '<td><span class="is-unmeasured">! not measured</span></td>' in page
    assert '<a href="a.mini.html">mini</a>' in page
    markdown = render_markdown(sides)
    assert markdown.startswith("**✗ pico is worse than mini")
    assert "\n\n| | mini | nano | pico |\n|---|---:|---:|---:|\n" in markdown


def test_names_and_keys_are_only_text():
    """No name of a target, key of a case or headline is markup of a page or a summary."""
    name, key = "<b>|x @ana", "<img src=x>|a"
    sides = conclusions(**{"mini": {key: "p"}, name: {key: "f"}, f"{name}2": {key: "e"}})
    page = render_page(sides, {name: '"><script>'})
    assert not any(tag in page for tag in ("<b>", "<img", "<script", "$m", "$h"))
    assert "1 of 3 targets not measured: &lt;b&gt;" in page
    [head] = [line for line in render_markdown(sides).splitlines() if line.startswith("| |")]
    assert (head.count("|"), "<b>" in head, "@ana" in head) == (5, False, False)
