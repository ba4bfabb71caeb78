"""`runevals accept`: which losses of the newest comparison are wanted."""

from __future__ import annotations

import json

import pytest

from runevals.suites.accepted import FILENAME, read_entries
from tests.ending import ended
from tests.sample_suites import AGENT, SETTINGS, WORSE, numbered

REASON = ("--reason", "shorter answers are wanted")


@pytest.fixture
def lost(repository, runevals):
    """A change that lost case a, compared with main."""
    repository.write("agent.py", WORSE)
    assert runevals("--base", "main", "-q")[0] == 1
    return repository


def entries(project):
    return read_entries((project.path / FILENAME).read_bytes(), FILENAME)


def test_it_writes_the_case_its_fingerprints_and_the_reason(lost, runevals):
    code, out, _ = runevals("accept", "a", *REASON)
    assert (code, out.startswith(f"Written: {FILENAME}, 1 case")) == (0, True), out
    [entry] = entries(lost)
    assert (entry.suite, entry.case, entry.reason) == ("evals.json", "a", REASON[1])
    code, out, _ = runevals("--base", "main", "-q")
    assert code == 1
    assert "1 case will be accepted once a reviewer approves this commit: a" in " ".join(out.split())


def test_a_second_reason_replaces_the_first_and_entries_of_another_change_leave(lost, runevals):
    runevals("accept", "a", *REASON)
    path = lost.path / FILENAME
    text = path.read_text(encoding="utf-8")
    [entry] = entries(lost)
    path.write_text(
        text + text.replace(entry.head, "0" * 64).partition("\n")[2].partition("\n")[2], encoding="utf-8"
    )
    assert len(entries(lost)) == 2
    code, out, _ = runevals("accept", "a", "--reason", "better")
    assert (code, "Removed: a" in out) == (0, True)
    assert [one.reason for one in entries(lost)] == ["better"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(("b",), "b did not regress", id="failed before"),
        pytest.param(("aa",), "there is no case aa", id="unknown"),
        pytest.param(("a", "b"), "b did not regress", id="one of two"),
    ],
)
def test_a_case_that_was_not_lost_is_an_error(lost, runevals, arguments, told):
    code, _, err = runevals("accept", *arguments, *REASON)
    ended(code, 2, err, told)
    assert not (lost.path / FILENAME).exists()


def test_after_a_run_of_some_cases_it_is_said_why_others_are_unknown(lost, runevals):
    assert runevals("--base", "main", "--filter", "b", "-q", "-o", "b.json")[0] == 0
    code, _, err = runevals("accept", "a", "--results", "b.json", *REASON)
    ended(code, 2, err, "there is no case a in b.json, a run of some cases: run all, or name it by --results")


def test_a_category_that_was_removed_is_accepted_by_its_name(repository, runevals):
    """So few are left that nothing is known of the whole."""
    items = [{**item, "category": ("old", "new")[number % 2]} for number, item in enumerate(numbered(12, "Quito"))]
    suite = json.loads((repository.path / "evals.json").read_text("utf-8"))
    repository.git("checkout", "-q", "main")
    repository.write("evals.json", json.dumps(suite | {"items": items}))
    repository.git("commit", "-qam", "base")
    repository.git("checkout", "-qB", "change")
    repository.write(
        "evals.json", json.dumps(suite | {"items": [one for one in items if one["category"] == "new"]})
    )
    assert runevals("--base", "main", "-q")[0] == 3
    code, out, err = runevals("accept", "--category", "old", *REASON)
    ended(code, 0, out + err, "Written: runevals.accepted.yaml, 6 cases")


@pytest.mark.parametrize("command", [("blame",), ("accept", "--all", *REASON), ("history",)], ids=" ".join)
def test_above_projects_it_is_said_where_their_results_are_made(repository, runevals, command):
    repository.git("rm", "-q", "runevals.yaml")
    repository.write("support/runevals.yaml", SETTINGS)
    code, _, err = runevals(*command)
    ended(code, 2, err, "settings lie in support: run all by runevals --all-projects, or one in its folder")


def test_a_removed_case_is_known_and_accepted_if_its_removal_blocks(repository, runevals):
    of_suite, items = json.loads((repository.path / "evals.json").read_text("utf-8")), numbered(12, "Quito")
    for gates, code in (("", 2), ("gates: [{name: strict, metric: weakening, op: '<=', limit: 0}]\n", 0)):
        repository.git("checkout", "-q", "main")
        repository.write("runevals.yaml", f"{SETTINGS}{gates}")
        repository.write("evals.json", json.dumps(of_suite | {"items": items}))
        repository.git("commit", "-qam", "base")
        repository.git("checkout", "-qB", "change")
        repository.write("evals.json", json.dumps(of_suite | {"items": items[:-1]}))
        _, out, err = runevals("--base", "main", "-q")
        assert ("accept k11 " in out) is not bool(code), out + err
        code_of_accept, out, err = runevals("accept", "k11", *REASON)
        ended(code_of_accept, code, out + err, without=["there is no case"])


@pytest.mark.parametrize("reason", ["", "  ", "x" * 201, "two\nlines"])
def test_a_reason_is_one_line(lost, runevals, reason):
    code, _, err = runevals("accept", "a", "--reason", reason)
    ended(code, 2, err, "--reason must be one line")


def test_without_results_of_a_comparison_it_says_how_to_make_them(repository, runevals):
    code, _, err = runevals("accept", "a", *REASON)
    ended(code, 2, err, "no results of a comparison in .evals/results")
    assert "if it ran elsewhere, name its document: --results results.json" in err
    assert runevals("-q")[0] == 0
    code, _, err = runevals("accept", "a", *REASON)
    ended(code, 2, err, "`runevals --base main` makes them")


def test_a_comparison_of_another_commit_is_refused(lost, runevals):
    before = lost.git("rev-parse", "HEAD")
    lost.git("commit", "-qam", "worse")
    head = lost.git("rev-parse", "HEAD")
    code, _, err = runevals("accept", "a", *REASON)
    ended(code, 2, err, f"compares commit {before[:7]}, HEAD is {head[:7]}; run again")
    assert not (lost.path / FILENAME).exists()
    assert runevals("--base", "main", "-q")[0] == 1
    assert runevals("accept", "a", *REASON)[0] == 0
    lost.git("add", FILENAME)
    lost.git("commit", "-qm", "accept a")
    assert runevals("accept", "a", "--reason", "better")[0] == 0  # only that file is new


def test_the_newest_comparison_counts(lost, runevals):
    lost.write("agent.py", AGENT)
    assert runevals("--base", "main", "-q")[0] == 0
    code, _, err = runevals("accept", "a", *REASON)
    ended(code, 2, err, "a did not regress")


def test_a_broken_file_is_named_with_its_place_and_not_overwritten(lost, runevals):
    lost.write(FILENAME, "- {case: a}\n")
    code, _, err = runevals("accept", "a", *REASON)
    ended(code, 2, err, f"{FILENAME}:1")
    assert (lost.path / FILENAME).read_text(encoding="utf-8") == "- {case: a}\n"


def test_a_link_in_its_place_is_not_followed(lost, runevals, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "x.yaml"
    (lost.path / FILENAME).symlink_to(outside)
    code, _, err = runevals("accept", "a", *REASON)
    ended(code, 2, err, FILENAME)
    assert not outside.exists()


def test_all_are_those_that_are_proven_lost_and_what_only_looks_lost_is_accepted_by_name(project, runevals):
    fails = {**{f"c{number}": 12 for number in range(5)}, "c5": 2}  # of 12 runs, and c5 of 3
    for name, of_side in (("base", {}), ("now", fails)):
        runs = ((f"c{case}", run) for case in range(30) for run in range(3 if case == 5 else 12))
        rows = "".join(f"{key},{run},{str(run >= of_side.get(key, 0)).lower()}\n" for key, run in runs)
        project.write(f"{name}.csv", f"id,run,passed\n{rows}")
    gate = ("gate", "now.csv", "--baseline", "base.csv")
    code, out, err = runevals(*gate)
    ended(code, 1, out + err, "5 of 30 cases regressed: c0, c1, c2 and 2 more", "accept c0 c1 c2 c3 c4 --reason")
    code, out, err = runevals("accept", "--all", *REASON)
    ended(code, 0, out + err, "Written: ", "5 cases", "Not accepted, and not known to be lost: c5")
    code, out, err = runevals("accept", "c5", *REASON)
    ended(code, 0, out + err, "6 cases", without=["Not accepted"])
    assert "6 cases will be accepted once a reviewer approves this commit: c0, c1, c2 and 3 more" in " ".join(
        runevals(*gate)[1].split()
    )
    code, out, err = runevals("accept", "c0", *REASON)
    assert "6 cases" in out


def test_a_case_that_fresh_runs_cleared_is_not_accepted_with_all(repository, runevals):
    once = "import pathlib\nSEEN = pathlib.Path('seen.pyc')\n"
    flaky = f"{once}{AGENT}\nright = answer\ndef answer(prompt):\n    seen = SEEN.exists()\n    SEEN.touch()\n"
    repository.write("agent.py", f"{flaky}    return right(prompt) if seen else 'no'\n")
    code, out, err = runevals("--base", "main", "-q", "--concurrency", "1")
    ended(code, 0, out + err, "No regression shown")
    code, _, err = runevals("accept", "--all", *REASON)
    ended(code, 2, err, "no case was lost in", "there is nothing to accept")
