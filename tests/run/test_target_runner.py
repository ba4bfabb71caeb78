"""Cases of a real repository that look lost: run again on both sides, in a worktree of the base."""

from __future__ import annotations

import pytest

from tests.ending import ended
from tests.sample_suites import EXACT, numbered

SUITE = {**EXACT, "items": numbered(30, "right")}
SETTINGS = "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer'}\nrepeat: 3\n"
AGENT = """
import pathlib

CALLS = pathlib.Path({calls!r})

def answer(prompt, messages, case):
    with CALLS.open("a") as calls:
        calls.write(f"{{case['key']}} {{pathlib.Path('prompt.txt').read_text()}}\\n")
    lost = {lost!r} if pathlib.Path("prompt.txt").read_text() == "new" else []
    return {{"output": "wrong" if case["key"] in lost else "right", "costUSD": 1}}
"""
NO_BASE = ("--baseline", "none", "-q", "-o", "base.json")
RUN = ("--baseline", "base.json", "-q", "-o", "out.json")


@pytest.fixture
def agent(repository, tmp_path_factory, runevals):
    """A change to a prompt, and a stored result of main; `lose(…)` says which cases the new prompt loses."""
    calls = tmp_path_factory.mktemp("world") / "calls"
    repository.git("checkout", "-q", "main")
    repository.write("evals.json", SUITE)
    repository.write("runevals.yaml", SETTINGS)
    repository.write("prompt.txt", "old")
    repository.write("agent.py", AGENT.format(calls=str(calls), lost=[]))
    repository.write(".gitignore", "base.json\nout.json\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "an agent")
    assert runevals(*NO_BASE)[0] == 0
    repository.git("checkout", "-qB", "change")
    repository.write("prompt.txt", "new")

    def lose(*lost):
        repository.write("agent.py", AGENT.format(calls=str(calls), lost=list(lost)))
        calls.unlink(missing_ok=True)

    repository.lose, repository.calls = lose, calls
    return repository


def found_of_k7(agent):
    [found] = [one for one in agent.document()["comparison"]["findings"] if one["family"] == "case"]
    assert found["name"] == "k7"
    return found


def fresh_calls(agent, key):
    return [line.split()[1] for line in agent.calls.read_text().splitlines() if line.split()[0] == key]


@pytest.mark.parametrize("how", [RUN, ("--base", "main", "-q", "-o", "out.json")], ids=["stored", "--base"])
def test_one_lost_case_of_thirty_blocks_by_name(agent, runevals, how):
    agent.lose("k7")
    code, out, err = runevals(*how)
    ended(code, 1, out + err, "1 of 30 cases regressed", "Running 1 case again", "k7", "on fresh runs")
    found = found_of_k7(agent)
    assert (found["state"], found["reason"]) == ("worse", "proven")
    pairs = len(found["head"]["attempts"])
    assert len(found["base"]["attempts"]) == pairs >= 5
    # two of the head, then both sides in turn, so that an hour of the provider affects both alike
    asked = fresh_calls(agent, "k7")[-2 * pairs :]
    assert asked[:2] == ["new", "new"]
    assert asked.count("old") == asked.count("new") == pairs
    assert agent.git("worktree", "list").count("\n") == 0


def test_the_scored_runs_stay_what_they_were(agent, runevals):
    agent.lose("k7")
    runevals(*RUN)
    case = next(case for case in agent.document()["cases"] if case["key"] == "k7")
    assert len(case["attempts"]) <= 3
    assert runevals("report", "out.json")[1].startswith("✗ 1 of 30 cases regressed")


def test_without_a_git_history_the_head_alone_is_asked_again_and_nothing_is_called_fine(agent, runevals):
    base = agent.document("base.json")
    base["run"]["commit"] = "0" * 40
    agent.write("base.json", base)
    agent.lose("k7")
    code, out, err = runevals(*RUN)
    told = "hardly any such cases would be lost without any change, and the base's commit is not here"
    ended(code, 3, out + err, "Not known – k7 may be lost: ", told, without=["No regression"])
    found = found_of_k7(agent)
    assert (found["base"], len(found["head"]["attempts"])) == (None, 2)


def test_a_budget_that_ends_among_the_fresh_runs_gives_no_verdict_and_the_run_goes_on(agent, runevals):
    agent.lose("k7")
    code, out, err = runevals(*RUN, "--max-cost", "35", "--concurrency", "1")
    ended(code, 3, out + err, "Incomplete")
    before = agent.calls.read_text().splitlines()
    assert len(before) <= 37
    code, out, err = runevals(*RUN, "--resume", "--max-cost", "500", "--concurrency", "1")
    ended(code, 1, out + err, "1 of 30 cases regressed")
    asked = [line for line in agent.calls.read_text().splitlines() if line.endswith("new")]
    assert len(asked) <= 3 * 30 + 8 + 1  # nothing is asked twice but the call that the budget cut
    assert found_of_k7(agent)["reason"] == "proven"


def test_a_deterministic_target_that_errs_now_and_then_is_asked_again(agent, runevals):
    agent.write("runevals.yaml", SETTINGS.replace("'}", "', deterministic: true}").replace("repeat: 3\n", ""))
    assert runevals(*NO_BASE)[0] == 0
    agent.lose("k7")
    code, out, err = runevals(*RUN)
    ended(code, 1, out + err, "1 of 30 cases regressed")
    found = found_of_k7(agent)
    assert (len(found["head"]["attempts"]), found["reason"]) == (2, "proven")
