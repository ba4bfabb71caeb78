"""Verified before it blocks: three branches of a real repository, and what happens where that is hard."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.against_base import on_main
from tests.ending import ended
from tests.json_server import json_server
from tests.sample_suites import EXACT, numbered

AGENT = """
import pathlib, random

WORLD = pathlib.Path({world!r})

def answer(prompt, messages, case):
    text = pathlib.Path("prompts/support.txt").read_text()
    rate = float((WORLD / "rate").read_text()) * (0.6 if "hurry" in text else 1.0)
    with (WORLD / "calls").open("a") as calls:
        calls.write(f"{{text.strip()}}\\n")
    luck = random.Random("/".join([(WORLD / "seed").read_text(), text, case["key"], str(case["attempt"])]))
    return "right" if luck.random() < rate else "wrong"
"""
SUITE = {**EXACT, "items": numbered(60, "right")}
SETTINGS = "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer'}\nrepeat: 3\n"
RUN = ("--baseline", "base.json", "-q", "-o", "out.json")
NO_BASE = ("--baseline", "none", "-q", "-o", "base.json")


@pytest.fixture
def world(tmp_path_factory):
    """A model behind everybody's agent: how good it is, its luck, and the calls it got."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "rate").write_text("0.95")
    (folder / "seed").write_text("base")
    return folder


@pytest.fixture
def agent(repository, world, runevals):
    """A repository with a prompt file and an agent that answers by it, measured on main."""
    repository.git("checkout", "-q", "main")
    repository.write("evals.json", SUITE)
    repository.write("runevals.yaml", SETTINGS)
    repository.write("prompts/support.txt", "Take your time.")
    repository.write("agent.py", AGENT.format(world=str(world)))
    repository.write(".gitignore", "base.json\nout.json\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "an agent by chance")
    repository.git("checkout", "-qB", "change")
    assert runevals(*NO_BASE)[0] == 0
    (world / "seed").write_text("head")
    return repository


def runs_a_case(repository):
    cases = repository.document()["cases"]
    return sum(len(case["attempts"]) for case in cases) / len(cases)


ASK = """
import json, sys
asked = json.load(sys.stdin)
print("right" if asked["model"] == "big" else "wrong")
"""


@pytest.mark.parametrize("cases", [1, 12])
@pytest.mark.parametrize("how", ["flag", "variable"])
def test_another_model_by_a_flag_is_not_taken_for_a_base_that_moved(repository, runevals, monkeypatch, how, cases):
    """The base, run again, would be asked with the same flag, and fail as the change does."""
    repository.git("checkout", "-q", "main")
    repository.write("evals.json", {**EXACT, "items": numbered(cases, "right")})
    target = f"{{type: command, command: [{sys.executable}, ask.py], model: big, deterministic: true}}"
    repository.write("runevals.yaml", f"suites: [evals.json]\ntarget: {target}\n")
    repository.write("ask.py", ASK)
    repository.write(".gitignore", "base.json\nout.json\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "a model")
    assert runevals(*NO_BASE)[0] == 0
    if how == "variable":
        monkeypatch.setenv("RUNEVALS_MODEL", "small")
    code, out, err = runevals(*RUN, *(["--model", "small"] if how == "flag" else []))
    ended(code, 1, out + err, "another target", without=["no longer holds", "No regression"])


def test_the_number_of_runs_that_a_report_asks_for_settles_it_where_nothing_is_run_again(repository, runevals):
    settings = "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer'}\nverify: 'off'\n"
    repository.write("evals.json", {**EXACT, "items": numbered(6, "right")})
    repository.write("runevals.yaml", settings)

    def compared(runs):
        for loses, words in ((False, NO_BASE), (True, RUN)):
            repository.write(
                "agent.py", f"def answer(prompt):\n    return 'wrong' if {loses} and '3' in prompt else 'right'\n"
            )
            code, out, err = runevals(*words, "--repeat", str(runs))
        return code, out + err

    code, text = compared(3)
    ended(code, 3, text, "Not known – ", "(`-o`) for `runevals compare`, or `--base REF` without")
    runs = re.search(r"(\d+) runs of each case on both sides", text)[1]
    compared(runs)  # leaves the base
    assert runevals("--baseline", "none", "-q", "--repeat", runs, "-o", "head.json")[0] == 0
    code, out, err = runevals("compare", "base.json", "head.json")
    ended(code, 1, out + err, "1 of 6 cases regressed")


def test_a_branch_that_changes_nothing_is_green_after_one_and_a_half_runs_at_most(agent, world, runevals):
    agent.write("README.md", "Hello.")
    runs = []
    for seed in range(8):
        (world / "seed").write_text(str(seed))
        code, out, _ = runevals(*RUN)
        assert code == 0, out
        runs.append(runs_a_case(agent))
    assert sum(runs) / len(runs) <= 1.5


def test_a_worse_prompt_is_red_verified_and_names_the_cases(agent, runevals):
    agent.write("prompts/support.txt", "Be in a hurry.")
    code, out, err = runevals(*RUN)
    assert code == 1, out
    assert "running the base" in err
    found = agent.document()["comparison"]
    assert (found["state"], found["fresh"][:14]) == ("worse", "a fresh run of")
    regressed = [c for c in found["changes"] if c["change"] == "regressed"]
    assert len(regressed) >= 5
    assert sum(c["key"] in out for c in regressed) >= 2


def test_a_model_that_drifted_under_both_is_green_and_the_drift_is_printed(agent, world, runevals):
    (world / "rate").write_text("0.55")
    code, out, err = runevals(*RUN)
    assert code == 0, out
    assert "running the base" in err
    assert agent.document()["comparison"]["state"] == "not_worse"


def test_interleaved_the_head_is_measured_anew_in_turn_with_the_base(agent, world, runevals):
    agent.write("prompts/support.txt", "Be in a hurry.")
    (world / "calls").unlink()
    code, out, _ = runevals(*RUN, "--verify", "interleaved", "--verify-repeats", "2")
    assert code == 1, out
    calls = (world / "calls").read_text().split("\n")[:-1]
    again = calls[-4 * len(SUITE["items"]) :]
    quarter = len(SUITE["items"])
    sides = [set(again[n * quarter : (n + 1) * quarter]) for n in range(4)]
    assert sides == [{"Take your time."}, {"Be in a hurry."}] * 2


def test_an_hour_that_is_bad_for_both_is_not_blamed_on_the_change(agent, world, runevals):
    (world / "rate").write_text("0.5")
    code, out, _ = runevals(*RUN, "--verify", "interleaved")
    assert code == 0, out
    assert agent.document()["comparison"]["state"] == "not_worse"


def test_a_base_that_cannot_be_run_leaves_the_red_standing_on_all_rounds(agent, runevals):
    agent.git("checkout", "-q", "main")
    agent.write("runevals.yaml", SETTINGS.replace("agent.py", "no_such_agent.py"))
    agent.git("commit", "-qam", "broken")
    agent.git("checkout", "-q", "-B", "change")
    base = agent.document("base.json")
    base["run"]["commit"] = agent.git("rev-parse", "HEAD")
    agent.write("base.json", base)
    agent.write("runevals.yaml", SETTINGS)
    agent.write("prompts/support.txt", "Be in a hurry.")
    code, out, _ = runevals(*RUN)
    assert code == 1, out
    assert "cannot be run" in out
    assert (agent.document()["comparison"]["state"], agent.document()["comparison"]["fresh"]) == ("worse", "")


SURE = "def answer(prompt, messages, case):\n    return {answer!r}\n"


@pytest.fixture
def edited(agent, runevals):
    """A change that edits every case, so that nothing is left to compare."""
    agent.write("runevals.yaml", SETTINGS.replace("'}", "', deterministic: true}"))
    agent.write("agent.py", SURE.format(answer="right"))
    agent.git("commit", "-qam", "a sure agent")
    agent.git("branch", "-f", "main")
    assert runevals(*NO_BASE)[0] == 0
    items = [{**item, "expected_response": "wrong"} for item in SUITE["items"]]
    agent.write("evals.json", json.dumps({**SUITE, "items": items}))
    return agent


def test_a_change_that_replaces_every_case_is_not_known(edited, runevals):
    items = [
        {"testId": f"new{number}", "prompt": f"a new {number}", "expected_response": "no"} for number in range(2)
    ]
    edited.write("evals.json", json.dumps({**SUITE, "items": items}))
    code, out, _ = runevals("--base", "main", "-q", "-o", "out.json")
    assert code == 3, out
    assert "New failures\n" in out
    kinds = [change["change"] for change in edited.document()["comparison"]["changes"]]
    assert (kinds.count("added"), kinds.count("removed")) == (2, len(SUITE["items"]))
    edited.write("runevals.yaml", (edited.path / "runevals.yaml").read_text() + "on_unknown: pass\n")
    edited.git("commit", "-qm", "what is not known passes", "runevals.yaml")
    edited.git("branch", "-f", "main")
    code, out, _ = runevals("--base", "main", "-q", "-o", "out.json")
    assert (code, out[0]) == (0, "⚠"), out


@pytest.mark.parametrize("how", [RUN, ("--base", "main", "-q", "-o", "out.json")])
@pytest.mark.parametrize(("edits", "expected"), [("warn", 0), ("accept", 1)])
def test_cases_that_pass_only_in_their_edited_form_are_named_and_block_where_that_must_be_accepted(
    edited, runevals, how, edits, expected
):
    edited.write("runevals.yaml", (edited.path / "runevals.yaml").read_text() + f"edits: {edits}\n")
    edited.git("commit", "-qm", "how edits count", "runevals.yaml")
    edited.git("branch", "-f", "main")
    edited.write("agent.py", SURE.format(answer="wrong"))
    code, out, _ = runevals(*how)
    assert code == expected, out
    assert "k0, k1, k2 and 57 more" in out.split("\n")[0]
    found = edited.document()
    assert found["totals"]["passed"] == len(SUITE["items"])  # by its own suite it is fine
    assert found["comparison"]["state"] == ("worse" if expected else "not_worse")
    # The document can be read again, though its lost cases are none of the run's own.
    assert runevals("report", "out.json")[1].split("\n")[0] == out.split("\n")[0]


def test_a_good_change_that_edits_every_case_is_green(edited, runevals):
    code, out, _ = runevals(*RUN)
    assert (code, out[0]) == (0, "✓"), out


def test_edited_cases_whose_old_form_cannot_be_run_are_not_known(edited, runevals):
    base = edited.document("base.json")
    base["run"]["commit"] = "0" * 40
    edited.write("base.json", base)
    code, out, _ = runevals(*RUN)
    assert code == 3, out
    code, out, _ = runevals(*RUN, "--on-unknown", "pass")
    assert (code, out[0]) == (0, "⚠"), out


DEPLOYED = "suites: [evals.json]\nrepeat: 3\ntarget: {{type: http, url: '{url}'}}\n"


def test_an_agent_behind_an_address_is_not_taken_for_its_own_base(repository, runevals):
    """It is deployed from the change: asked again for the base, it would say what the change says."""
    deployed = {"answer": "right"}
    with json_server(lambda asked, number: {"output": deployed["answer"]}) as server:
        repository.git("checkout", "-q", "main")
        repository.write("evals.json", SUITE)
        repository.write("runevals.yaml", DEPLOYED.format(url=server.url))
        repository.write(".gitignore", "base.json\nout.json\n")
        repository.git("add", "-A")
        repository.git("commit", "-qm", "an agent behind an address")
        assert runevals(*NO_BASE)[0] == 0
        repository.git("checkout", "-qB", "change")
        deployed["answer"] = "wrong"
        code, _, err = runevals(*RUN)
        assert code == 1, err
        found = repository.document()["comparison"]
        assert (found["state"], found["fresh"]) == ("worse", "")
        code, _, err = runevals("--base", "main", "-q")
        ended(code, 2, err, "the same address as the change")


PAID = """
def answer(prompt):
    return {{"output": "{answer}", "costUSD": 1}}
"""


@pytest.mark.parametrize("change", ["agent.py", "evals.json"], ids=["verification", "the base's suite"])
def test_a_budget_that_ends_a_second_look_gives_no_verdict(repository, runevals, change):
    """The head is measured in full and is worse; what would have to confirm that is cut short."""
    repository.git("checkout", "-q", "main")
    repository.write("evals.json", SUITE)
    repository.write(
        "runevals.yaml", "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer'}\n"
    )
    repository.write("agent.py", PAID.format(answer="right"))
    repository.write(".gitignore", "base.json\nout.json\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "an agent that is paid for")
    assert runevals(*NO_BASE)[0] == 0
    repository.git("checkout", "-qB", "change")
    repository.write("agent.py", PAID.format(answer="wrong"))
    if change == "evals.json":
        repository.write("evals.json", json.loads(json.dumps(SUITE).replace("?", "??")))
    cases = len(SUITE["items"])
    code, out, err = runevals(*RUN, "--concurrency", "1")
    assert code == 1, out + err
    code, out, err = runevals(*RUN, "--concurrency", "1", "--max-cost", cases + 5)
    assert code == 3, out + err
    assert "Incomplete" in out
    found = repository.document()
    assert (found["complete"], found["run"]["stopped"]["code"]) == (False, "budget_exhausted")


SLOW_AGENT = """
import pathlib, time
def answer(prompt):
    if pathlib.Path({slow!r}).exists():
        pathlib.Path({asked!r}).touch()
        time.sleep(0.5)
    return "right"
"""


def test_an_interrupt_in_the_second_look_gives_no_verdict(repository, runevals):
    repository.git("checkout", "-q", "main")
    repository.write("evals.json", SUITE)
    repository.write(
        "runevals.yaml", "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer'}\n"
    )
    slow, asked = repository.path / "slow", repository.path / "asked"
    repository.write("agent.py", SLOW_AGENT.format(slow=str(slow), asked=str(asked)))
    repository.write(".gitignore", "base.json\nout.json\nslow\nasked\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "a slow agent")
    assert runevals(*NO_BASE)[0] == 0
    repository.git("checkout", "-qB", "change")
    repository.write("agent.py", "def answer(prompt):\n    return 'wrong'\n")
    slow.touch()
    words = [sys.executable, "-m", "runevals", *RUN, "--concurrency", "1"]
    run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=repository.path)
    for line in run.stderr:
        if line.startswith("A regression, it seems"):
            break
    while not asked.exists() and run.poll() is None:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=60)
    assert run.returncode == 130, out
    assert repository.document()["run"]["stopped"]["code"] == "interrupted"


@pytest.fixture
def shards(agent, runevals, monkeypatch):
    """Runs three shards with these flags → their names, and the flags of the merge that compares them."""

    def run(*flags):
        names = [f"shard-{part}.json" for part in (1, 2, 3)]
        for part, name in enumerate(names, start=1):
            code, _, err = runevals("--shard", f"{part}/3", "-q", "-o", name, *flags)
            assert code == 0, err
        return "merge", *names, "--baseline", "base.json", "-o", "out.json"

    (agent.path / ".gitignore").write_text("base.json\nout.json\nshard-*.json\n")
    return run


def test_a_merge_is_red_verified_as_a_run_is(agent, world, runevals, shards):
    agent.write("prompts/support.txt", "Be in a hurry.")
    merge = shards()
    (world / "calls").unlink()
    code, out, err = runevals(*merge)
    assert code == 1, out + err
    assert "running the base" in err
    assert agent.document()["comparison"]["fresh"].startswith("a fresh run of ")
    asked = (world / "calls").read_text().split("\n")
    assert asked.count("Take your time.") == 6 * len(SUITE["items"])
    assert asked.count("Be in a hurry.") == 2 * len(SUITE["items"])


def test_a_merge_of_shards_under_a_model_that_drifted_is_green(agent, world, runevals, shards):
    (world / "rate").write_text("0.55")
    code, out, err = runevals(*shards())
    assert code == 0, out + err
    assert "running the base" in err
    assert agent.document()["comparison"]["state"] == "not_worse"


def test_a_merge_that_finds_nothing_asks_nothing(agent, world, runevals, shards):
    (world / "seed").write_text("base")
    merge = shards()
    (world / "calls").unlink()
    assert runevals(*merge)[0] == 0
    assert not (world / "calls").exists()


@pytest.fixture
def drifted(agent, world, shards):
    """The same, of a model that drifted under both sides: red only until the base is run again."""
    (world / "rate").write_text("0.5")
    agent.write("agent.py", (agent.path / "agent.py").read_text() + "\nother = answer\n")
    agent.write("fewer.json", json.dumps({**SUITE, "items": SUITE["items"][:-1]}))
    agent.write("fewer.yaml", SETTINGS.replace("evals.json", "fewer.json"))
    return shards


@pytest.mark.parametrize(
    ("of_shards", "of_merge", "told"),
    [
        (("--target", "python:agent.py:other"), (), "the targets of the shards differ from those here"),
        ((), ("--config", "fewer.yaml"), "the suites of the shards differ from those here"),
        ((), ("--target", "openai:m"), "OPENAI_API_KEY"),
    ],
    ids=["another target", "another suite", "no key"],
)
def test_a_red_of_shards_that_ran_otherwise_stands(agent, runevals, drifted, of_shards, of_merge, told):
    """A base that is measured otherwise proves nothing."""
    code, out, err = runevals(*drifted(*of_shards), *of_merge)
    assert code == 1, out + err
    assert told in out
    assert agent.document()["comparison"]["fresh"] == ""


def test_a_merge_that_was_told_other_filters_verifies_nothing(runevals, drifted, monkeypatch):
    merge = drifted()
    monkeypatch.setenv("RUNEVALS_FILTER", "k1*")
    code, out, _ = runevals(*merge)
    ended(code, 1, out, "the filters of the shards differ from those here")


def test_a_merge_that_may_not_verify_does_not(agent, runevals, drifted):
    merge = drifted("--filter", "k[1-4]*")
    code, out, err = runevals(*merge, "--verify", "off")
    ended(code, 1, out + err, "verify: off", without=["running the base"])
    assert agent.document()["comparison"]["fresh"] == ""


def test_a_merge_verifies_the_cases_that_its_shards_ran(agent, runevals, drifted):
    merge = drifted("--filter", "k[1-4]*")
    code, out, err = runevals(*merge)
    assert code == 0, out + err
    assert agent.document()["comparison"]["state"] == "not_worse"


DOWN = """
def answer(prompt, messages, case):
    number = int(case["key"][1:])
    hurried = "hurry" in pathlib.Path("prompts/support.txt").read_text()
    down = (WORLD / "rate").read_text() == "0"
    return "wrong" if (hurried and number < 5) or (down and number >= 40) else "right"
"""


def test_a_merge_looks_at_no_quarantined_case_when_it_looks_again(agent, world, runevals, shards):
    """Of the two reds one is gone when both sides are measured again, and the other is listed."""
    agent.git("checkout", "-q", "main")
    agent.write("agent.py", (agent.path / "agent.py").read_text().partition("def ")[0] + DOWN)
    flaky = [f"- {{key: k{n}, owner: ana, reason: flips, expires: 2999-01-01}}\n" for n in range(5)]
    agent.write("runevals.quarantine.yaml", "".join(flaky))
    agent.git("add", "-A")
    agent.git("commit", "-qm", "five cases that flip")
    assert runevals(*NO_BASE)[0] == 0
    agent.git("checkout", "-qB", "change")
    agent.write("prompts/support.txt", "Be in a hurry.")
    (world / "rate").write_text("0")
    merge = shards("--verify", "interleaved")
    (world / "rate").write_text("1")
    code, out, err = runevals(*merge, "--verify", "interleaved")
    assert "running the base" in err
    assert code == 0, out + err
    assert agent.document()["comparison"]["state"] == "not_worse"


def test_a_merge_of_a_change_that_edits_every_case_runs_their_old_forms(edited, runevals, shards):
    edited.write("agent.py", SURE.format(answer="wrong"))
    merge = shards()
    code, out, err = runevals(*merge)
    assert code == 0, out + err
    found = edited.document()
    assert found["totals"]["passed"] == len(SUITE["items"])
    assert {each["reason"] for each in found["comparison"]["findings"]} == {"new_form"}


def test_a_merge_runs_an_edited_case_in_its_old_form(edited, runevals, shards):
    """It fails in both forms: to edit it hides no loss, in parts or in one piece."""
    first, *others = SUITE["items"]
    edited.write("evals.json", {**SUITE, "items": [{**first, "prompt": "Question 0, please?"}, *others]})
    edited.write("agent.py", "def answer(prompt):\n    return 'wrong' if 'Question 0' in prompt else 'right'\n")
    merge = shards()
    code, out, err = runevals(*merge)
    assert code == 1, out + err
    [lost] = [each for each in edited.document()["comparison"]["findings"] if each["family"] == "case"]
    assert (lost["name"], lost["edited"], lost["state"]) == ("k0", True, "worse")


def test_a_merge_runs_a_lost_case_again_though_the_base_cannot_be_run(agent, runevals, shards):
    agent.write("agent.py", SURE.format(answer="right"))
    assert runevals(*NO_BASE)[0] == 0
    base = agent.document("base.json")
    base["run"]["commit"] = "0" * 40
    agent.write("base.json", base)
    agent.write("agent.py", "def answer(prompt):\n    return 'wrong' if prompt == 'Question 0?' else 'right'\n")
    merge = shards()
    code, out, err = runevals(*merge)
    assert code == 3, out + err
    [lost] = [each for each in agent.document()["comparison"]["findings"] if each["family"] == "case"]
    assert (lost["name"], lost["state"], len(lost["head"]["attempts"])) == ("k0", "not_known", 2)


def test_a_merge_measures_an_old_base_afresh_before_it_passes(agent, world, runevals, shards):
    """What its cases did then, nobody can know by what is stored: they fail by now on both sides."""
    base = agent.document("base.json")
    base["run"]["started_at"] = "2026-01-01T00:00:00Z"
    agent.write("base.json", base)
    merge = shards()
    (world / "calls").unlink()
    code, out, err = runevals(*merge)
    assert code == 0, out + err
    assert "running the base" in err
    assert agent.document()["comparison"]["source"].startswith("a fresh run of ")


def test_a_merge_says_why_the_bases_suite_was_not_run(edited, runevals, shards):
    edited.write("agent.py", SURE.format(answer="wrong") + "\nother = answer\n")
    merge = shards("--target", "python:agent.py:other")
    code, out, _ = runevals(*merge)
    assert code == 3, out
    assert "only 0 of the base's 60 cases can be compared" in out


def test_only_a_part_cannot_be_asked_of_a_merge(agent, runevals, shards, monkeypatch):
    merge = shards()
    monkeypatch.setenv("RUNEVALS_SHARD", "1/3")
    code, _, err = runevals(*merge)
    ended(code, 2, err, "a merge is of all shards")


RAISES = """
def answer(prompt, messages, case):
    if case["key"] == "k1":
        raise ConnectionError("down")
    return "right"
"""


@pytest.mark.parametrize("critical", [False, True])
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("--base", "main"), id="run again, with errors"),
        pytest.param(("--baseline", "base.json"), id="stored"),
        pytest.param(("--baseline", "base.json", "--verify", "off"), id="stored alone"),
        pytest.param(("compare", "base.json", "out.json"), id="two documents"),
    ],
)
def test_a_case_that_the_base_could_not_measure_and_that_fails_now_is_open(repository, runevals, words, critical):
    repository.git("checkout", "-q", "main")
    items = numbered(20, "right")
    items[1] |= {"extensions": {"runevals": {"critical": critical}}}
    repository.write("evals.json", {**EXACT, "items": items})
    repository.write("runevals.yaml", SETTINGS)
    repository.write("agent.py", RAISES)
    repository.write(".gitignore", "base.json\nout.json\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "a case that errors")
    assert runevals("--baseline", "none", "-q", "-o", "base.json")[0] == 3
    repository.git("checkout", "-qB", "change")
    repository.write("agent.py", RAISES.replace('raise ConnectionError("down")', 'return "wrong"'))
    if words[0] == "compare":
        runevals("--baseline", "none", "-q", "-o", "out.json")
    code, out, err = runevals(*words, *(() if words[0] == "compare" else ("-q", "-o", "out.json")))
    ended(code, 3, out + err, "k1 may be lost", without=["too few to confirm"])


READS = """
import pathlib

def answer(prompt, messages, case):
    facts = pathlib.Path("facts.txt")
    return facts.read_text() if facts.exists() else "no facts"
"""


@pytest.mark.parametrize("deterministic", ["true", "false"])
@pytest.mark.parametrize(
    ("share", "code", "text"), [("", 3, "lacks facts.txt, which"), ("share: [facts.txt]\n", 1, "6 cases")]
)
def test_a_base_without_a_file_that_git_ignores_excuses_no_loss(
    repository, runevals, share, code, text, deterministic
):
    """Its worktree answers worse than its stored result, which was taken for drift."""
    repository.git("checkout", "-q", "main")
    repository.write("evals.json", {**EXACT, "items": numbered(6, "right")})
    target = f"{{type: python, function: 'agent.py:answer', deterministic: {deterministic}}}"
    repository.write("runevals.yaml", f"suites: [evals.json]\ntarget: {target}\nrepeat: 3\n{share}")
    repository.write("agent.py", READS)
    repository.write("facts.txt", "right")
    repository.write("ts.txt", "its name ends the other's")
    repository.write(".gitignore", "base.json\nout.json\n*.txt\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "an agent that reads a file")
    assert runevals("--baseline", "none", "-q", "-o", "base.json")[0] == 0
    repository.git("checkout", "-qB", "change")
    repository.write("agent.py", "def answer(prompt):\n    return 'broken'\n")
    repository.git("commit", "-qam", "a loss")
    seen, out, err = runevals(*RUN)
    ended(seen, code, out + err, text, without=["No regression"])


def test_what_could_not_be_measured_is_not_among_the_lost_of_a_deterministic_target(repository, runevals):
    """An empty answer is no evidence for checks that it passes; the others are lost."""
    only_not = {"evaluators": {"not_contains": {"value": "61"}}, "evaluators_mode": "replace"}
    safe = [{**item, **only_not, "testId": f"safe{n}"} for n, item in enumerate(numbered(3, "right"))]
    repository.write("evals.json", {**EXACT, "items": [*numbered(9, "right"), *safe]})
    target = "target: {type: python, function: 'agent.py:answer', deterministic: true}\n"
    repository.write("runevals.yaml", f"suites: [evals.json]\n{target}")
    on_main(repository, "agent.py", "def answer(prompt):\n    return 'right'\n")
    repository.write("agent.py", "def answer(prompt):\n    return ''\n")
    repository.git("commit", "-qam", "nothing is said any more")
    code, out, err = runevals("--base", "main", "-q", "-o", "out.json")
    ended(code, 1, out + err, "9 of 9 cases regressed", "9 ×", "Could not be measured", without=["lower score"])
    lost = {one["name"] for one in repository.document()["comparison"]["findings"] if one["state"] == "worse"}
    assert not any(name.startswith("safe") for name in lost)
