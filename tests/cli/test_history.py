"""`runevals history`: what past runs say together."""

from __future__ import annotations

import json
import re

import pytest

from runevals.cli.history import sparkline
from tests.ending import ended
from tests.reports.parsed_page import Page
from tests.sample_suites import AGENT, SUITE


@pytest.mark.parametrize(
    ("values", "bars"),
    [((0.0, 0.5, 1.0), "▁▅█"), ((1.0, 1.0), "██"), ((None, 1.0), "·█"), ((-3.0, 9.0), "▁█"), ((), "")],
)
def test_a_sparkline_is_on_the_whole_scale(values, bars):
    assert sparkline(values, 0.0, 1.0) == bars


@pytest.fixture
def runs(project, runevals):
    """Three runs of one suite: half, nothing, all of it passes."""
    project.write("evals.json", SUITE)
    project.write("runevals.yaml", "target: {type: python, function: 'agent.py:answer'}\n")
    for number, agent in enumerate((AGENT, AGENT.replace("Paris", "Rome"), AGENT.replace("Quito", "Lima"))):
        project.write("agent.py", agent)
        path = f".evals/results/{number}.json"
        assert runevals("-o", path)[0] == 0
        document = project.document(path)
        document["run"]["started_at"] = f"2026-01-0{number + 1}T10:00:00Z"
        document["run"]["commit"] = "0123456789abcdef"
        project.write(path, document)
    return project


def test_past_runs_are_shown_with_their_trend_oldest_first(runs, runevals):
    code, out, _ = runevals("history")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "evals.json"
    assert lines[1] == "  pass rate  ▅▁█  50.0 % → 100.0 %"
    assert lines[2].startswith("  score      ▅▁█  3.00 → 5.00")
    assert [line.split()[-1] for line in lines[3:]] == ["0.json", "1.json", "2.json"]
    assert lines[3].split()[4:] == ["2", "cases", "50.0", "%", "3.00", "0.json"]
    assert all("0123456" in line and len(line) <= 80 for line in lines[3:])


def test_a_run_of_which_nothing_passes_and_that_no_gate_looked_at_has_no_tick(runs, runevals):
    assert re.findall(r"^  (.) 2026-01", runevals("history")[1], re.MULTILINE) == ["✓", "–", "✓"]


def test_only_the_last_are_shown_where_so_many_are_asked_for(runs, runevals):
    assert runevals("history", "--last", "2")[1].count(".json") == 3  # the suite, and two of them


def test_broken_files_are_named_and_passed_over(runs, runevals):
    runs.write(".evals/results/broken.json", "{")
    runs.write(".evals/results/other.json", {"name": "something"})
    code, out, err = runevals("history", ".evals/results/broken.json", ".evals/results")
    assert code == 0
    assert out.count(" cases ") == 3
    assert err.count("skipped .evals/results/broken.json: not a results document") == 1
    assert "other.json" in err


def test_other_files_of_a_folder_take_no_place_of_a_run(runs, runevals):
    for number in range(3):
        runs.write(f".evals/results/other{number}.json", {"name": "something"})
    assert runevals("history", "--last", "3")[1].count(" cases ") == 3


def test_runs_of_other_suites_stand_apart(runs, runevals):
    document = json.loads((runs.path / ".evals/results/1.json").read_text(encoding="utf-8"))
    document["run"]["suites"][0]["path"] = "others\x1b[2J.json"
    runs.write("other.json", document)
    _, out, _ = runevals("history", ".evals/results", "other.json")
    assert "\n\nothers\\x1b[2J.json\n" in out


def test_without_any_run_it_says_how_to_make_one(project, runevals):
    code, _, err = runevals("history")
    assert code == 2
    assert "`runevals` writes one" in err


def page_of(project, name):
    return Page((project.path / name).read_text(encoding="utf-8")).data("group")


def test_the_page_links_to_the_reports_that_are_there(runs, runevals):
    runs.write(".evals/results/1.html", "a report")
    code, out, _ = runevals("history", "--output", "pages/past.html")
    assert (code, out) == (0, "Written: pages/past.html\n")
    (group,) = page_of(runs, "pages/past.html")
    assert [run["link"] for run in group["runs"]] == [None, "../.evals/results/1.html", None]


@pytest.mark.parametrize("name", ["javascript:alert(1)", "a b#c?d%", "\udcff"])
def test_a_link_is_a_path_whatever_a_file_is_called(runs, runevals, name):
    document = runs.document(".evals/results/0.json")
    runs.write(f"x/{name}.json", document)
    runs.write(f"x/{name}.html", "a report")
    assert runevals("history", "x", "--output", "x/past.html")[0] == 0
    ((run,),) = [group["runs"] for group in page_of(runs, "x/past.html")]
    assert re.fullmatch(r"[\w.%()]+\.html", run["link"])


def test_a_page_is_named_like_one(runs, runevals):
    code, _, err = runevals("history", "--output", "history.txt")
    ended(code, 2, err, "name it FILE.html")


def test_the_score_is_that_of_the_run_itself(project, runevals):
    """Also of answers that fail, and are half right."""
    project.write("evals.json", {**SUITE, "default_evaluators": {"PartialMatch": {}}})
    project.write("agent.py", "def answer(prompt):\n    return 'Paris it may be'\n")
    code, out, _ = runevals("--target", "python:agent.py:answer", "-q")
    assert code == 0, out
    said = re.search(r"score ([\d.]+) of 5", out)[1]
    assert said not in ("1.00", "3.00", "5.00")
    assert runevals("history")[1].splitlines()[-1].split()[8] == said
