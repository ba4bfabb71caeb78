"""Several targets in one run: their documents, the table, and which of them is not worse than another."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys

import pytest

from tests.chat_server import Reply, chat_server
from tests.reports.parsed_page import Page
from tests.sample_suites import EXACT

CASES = [{"testId": f"k{number}", "prompt": f"{number}?", "expected_response": "yes"} for number in range(6)]
TARGETS = {name: {"type": "openai", "model": name} for name in ("mini", "nano", "pico")}


@pytest.fixture
def models(project, monkeypatch):
    """Three models on a server: mini knows everything, nano but one answer, and pico nothing."""

    def answer(body, number):
        if number + 1 == getattr(server, "kill_at", None):
            server.process.kill()
        model, prompt = body["model"], body["messages"][-1]["content"]
        if model == "gone":
            return Reply(status=404, error={"message": "The model does not exist"})
        knows = {"mini": True, "nano": prompt != "5?"}.get(model, False)
        return Reply(text="yes" if knows else "no")

    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        project.server = server
        project.write("evals.json", {**EXACT, "items": CASES})
        project.write("runevals.yaml", {"targets": TARGETS, "repeat": 2, "concurrency": 1, "gates": []})
        yield project


def test_a_document_each_and_one_table(models, runevals):
    """The rounds of all in turn; each target is compared with the one that is named."""
    output = ("-o", "out.json", "-o", "out.html", "-o", "out.md")
    code, out, err = runevals("run", "-q", "--against", "mini", "--margin", "0.2", *output)
    assert code == 0, out + err
    asked = [body["model"] for body in models.server.requests]
    assert asked == [name for _ in range(2) for name in TARGETS for _ in CASES]
    rates = {name: models.document(f"out.{name}.json")["totals"]["pass_rate"] for name in TARGETS}
    assert rates == {"mini": 1.0, "nano": pytest.approx(5 / 6), "pico": 0.0}
    assert "against" not in models.document("out.mini.json")
    found = {name: models.document(f"out.{name}.json")["against"] for name in ("nano", "pico")}
    assert (found["nano"]["name"], found["nano"]["margin"], found["nano"]["not_worse"]) == ("mini", 0.2, False)
    assert 0.2 < found["nano"]["drop_bound"] < 1
    assert (found["pico"]["margin_p_value"], found["pico"]["drop_bound"]) == (1.0, 1.0)
    assert re.search(r"Pass rate +100\.0 % +83\.3 % +0\.0 %\n", out)
    assert "? nano may be worse than mini: −16.7 points, and a loss of more than 20" in out
    markdown = (models.path / "out.md").read_text(encoding="utf-8")
    assert "| Pass rate | 100.0 % | 83.3 % | 0.0 % |" in markdown
    page = Page((models.path / "out.html").read_text(encoding="utf-8"))
    assert page.data("overview")["targets"]["pages"] == [f"out.{name}.html" for name in TARGETS]
    assert page.data("row")[0]["runs"] == ["2/2", "2/2", "0/2"]
    assert (models.path / "out.nano.html").exists()


def test_one_that_fails_to_start_does_not_end_the_others(models, runevals):
    """Neither one that has no program nor one whose model is refused."""
    models.write("runevals.yaml", {"targets": {**TARGETS, "agent": {"type": "python", "function": "none.py:f"}}})
    code, out, err = runevals("run", "-q", "-o", "out.json")
    assert code == 3, out + err
    assert models.document("out.mini.json")["totals"]["pass_rate"] == 1.0
    assert models.document("out.agent.json")["verdict"]["outcome"] == "unmeasured"
    assert "agent: Not measured – " in out
    models.write("runevals.yaml", {"target": "openai"})
    code, out, err = runevals("run", "-q", "--model", "mini", "--model", "gone", "-o", "out.json")
    assert code == 3, out + err
    assert models.document("out.mini.json")["totals"]["pass_rate"] == 1.0
    assert models.document("out.gone.json")["verdict"]["outcome"] == "unmeasured"


def test_each_is_compared_with_its_own_base(models, runevals):
    models.write("runevals.yaml", {"targets": {name: TARGETS[name] for name in ("mini", "nano")}})
    assert runevals("run", "-q", "-o", "base.json")[0] == 0
    code, out, err = runevals("run", "-q", "--baseline", "base.json", "-o", "out.json", "--verify", "off")
    assert code == 0, out + err
    drops = [models.document(f"out.{name}.json")["comparison"]["drop"] for name in ("mini", "nano")]
    assert drops == [0.0, 0.0]


@pytest.mark.parametrize(
    ("limit", "against", "code", "told"),
    [
        pytest.param(0.9, "mini", 0, "! nano is worse than mini: 30 of 180 cases lost", id="told"),
        pytest.param(0.03, "mini", 1, "✗ nano is worse than mini: 30 of 180 cases lost", id="gated"),
        pytest.param(0.03, "nano", 0, "✓ mini is not worse than nano: by at most 3", id="better"),
    ],
)
def test_a_gate_on_another_target(models, runevals, limit, against, code, told):
    gate = {"metric": "against_drop", "op": "<=", "limit": limit, "name": "not worse"}
    targets = {name: TARGETS[name] for name in ("mini", "nano")}
    cases = [{**case, "testId": f"{case['testId']}-{part}"} for part in range(30) for case in CASES]
    models.write("evals.json", {**EXACT, "items": cases})
    models.write("runevals.yaml", {"targets": targets, "against": against, "gates": [gate], "repeat": 1})
    found, out, err = runevals("run", "-q", "-o", "out.json", "--concurrency", "16")
    assert found == code, out + err
    other = "nano" if against == "mini" else "mini"
    assert (out.count(told), out.count("failed: against_drop is")) == (1, code)
    states = {gate["name"]: gate["state"] for gate in models.document(f"out.{other}.json")["gates"]}
    assert states["not worse"] == ("failed" if code else "passed")
    states = {gate["name"]: gate["state"] for gate in models.document(f"out.{against}.json")["gates"]}
    assert states["not worse"] == "not_applicable"


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        pytest.param(["--max-calls", "35"], "36 calls of 3 targets", id="calls"),
        pytest.param(["--baseline", "."], "it is a file (base.json means base.mini.json", id="folder"),
        pytest.param(["--against", "mini", "--shard", "1/2"], "a shard has only a part of the cases", id="shard"),
        pytest.param(
            ["--against", "nan"], "must be one of without-skill, placebo-skill, none, mini, nano, pico", id="name"
        ),
        pytest.param(["--format", "eval-document", "-o", "a.json"], "--format is of one target", id="format"),
        pytest.param(["--open"], "--open is of one target", id="open"),
    ],
)
def test_what_cannot_be_measured_is_a_usage_error(models, runevals, flags, reason):
    code, _, err = runevals("run", "-q", *flags)
    assert (code, reason in err) == (2, True), err
    assert not models.server.requests


def test_a_run_that_was_killed_is_resumed(models, runevals):
    """Each target is asked only for what it lacks, and the other's answers to the same prompts are not its own."""
    models.write("runevals.yaml", {"targets": {name: TARGETS[name] for name in ("mini", "nano")}, "repeat": 2})
    command = [sys.executable, "-m", "runevals", "run", "-q", "--concurrency", "1", "-o", "out.json"]
    models.server.kill_at = 15  # in the second round, after all answers of the first one
    with subprocess.Popen(command, cwd=models.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        models.server.process = run
    assert run.returncode == -signal.SIGKILL
    before = len(models.server.requests)
    code, out, err = runevals("run", "--resume")
    assert code == 0, out + err
    assert "Resuming " in err
    assert len(models.server.requests) == 24 + 1, before  # the one that was under way
    rates = {name: models.document(f"out.{name}.json")["totals"]["pass_rate"] for name in ("mini", "nano")}
    assert rates == {"mini": 1.0, "nano": pytest.approx(5 / 6)}
    assert not list((models.path / ".evals/runs").glob("*"))


def test_a_limit_is_that_of_all_targets_together(models, runevals):
    prices = {name: {"input": 1000.0, "output": 0.0} for name in TARGETS}
    models.write("runevals.yaml", {"targets": TARGETS, "prices": prices, "max_cost": 0.05, "concurrency": 1})
    code, out, err = runevals("run", "-q", "-o", "out.json")
    assert code == 3, out + err
    documents = [models.document(f"out.{name}.json") for name in TARGETS]
    costs = [document["totals"]["cost_usd"] for document in documents]
    assert 0.05 <= sum(cost for cost in costs if cost is not None) < 0.07
    assert {document["verdict"]["outcome"] for document in documents} == {"unmeasured"}
    assert "--max-cost 0.05" in out


def test_prompts_without_a_suite(models, runevals):
    code, out, err = runevals("run", "-q", "--prompts", "5?", "--expected", "yes", "--no-judge", "-o", "out.json")
    assert code == 0, out + err
    answers = {}
    for name in TARGETS:
        [case] = models.document(f"out.{name}.json")["cases"]
        answers[name] = case["attempts"][0]["turns"][0]["output"]
    assert answers == {"mini": "yes", "nano": "no", "pico": "no"}


AGENT = "def mini(prompt):\n return 'yes'\ndef nano(prompt):\n return 'yes'\n"


@pytest.fixture
def change(repository):
    """A change of a repository with two targets."""
    sure = {"type": "python", "deterministic": True}
    repository.targets = {name: {**sure, "function": f"agent.py:{name}"} for name in ("mini", "nano")}
    repository.git("checkout", "-q", "main")
    repository.write("evals.json", {**EXACT, "items": CASES})
    repository.write("agent.py", AGENT)
    repository.write("runevals.yaml", {"targets": repository.targets, "depends_on": ["agent.py"]})
    repository.git("add", "-A")
    repository.git("commit", "-qm", "two targets")
    repository.git("checkout", "-q", "-B", "change")
    return repository


def test_the_base_of_each_is_run(change, runevals):
    """With --base; a target that the base does not have is compared with nothing."""
    change.write("runevals.yaml", {"targets": {**change.targets, "more": change.targets["mini"]}})
    change.write("agent.py", AGENT.replace("nano(prompt):\n return 'yes'", "nano(prompt):\n return 'no'"))
    code, out, err = runevals("run", "-q", "--base", "main", "-o", "out.json")
    assert code == 1, out + err
    documents = {name: change.document(f"out.{name}.json") for name in ("mini", "nano", "more")}
    outcomes = {name: document["verdict"]["outcome"] for name, document in documents.items()}
    assert outcomes == {"mini": "passed", "nano": "failed", "more": "passed"}
    drops = [documents[name]["comparison"]["drop"] for name in ("mini", "nano")]
    assert drops == [0.0, 1.0]
    assert documents["more"]["comparison"] is None
    [notice] = documents["more"]["run"]["notices"]
    assert "there is no target 'more'" in notice


def test_results_are_kept_beside_a_page_so_that_what_to_do_next_finds_them(change, runevals):
    change.write("agent.py", AGENT.replace("nano(prompt):\n return 'yes'", "nano(prompt):\n return 'no'"))
    change.git("commit", "-qam", "worse")
    code, out, err = runevals("run", "-q", "--base", "main", "-o", "out.html")
    assert code == 1, out + err
    kept = sorted(path.name.partition(".")[2] for path in (change.path / ".evals/results").iterdir())
    assert kept == ["mini.json", "nano.json"]
    [accept] = [line.split(None, 2)[2] for line in out.splitlines() if " runevals accept " in line]
    done = runevals(*shlex.split(accept))
    assert done[0] == 0, (accept, done)


def test_the_results_of_the_base_are_reused_for_all_targets_or_for_none(change, runevals):
    flags = ("run", "-q", "--base", "main", "--changed-only", "-o", "out.json")
    assert runevals(*flags)[0] == 0
    documents = [change.document(f"out.{name}.json") for name in ("mini", "nano")]
    assert {document["verdict"]["headline"].partition(" since")[0] for document in documents} == {
        "No relevant changes"
    }
    change.write("evals.json", {**EXACT, "items": CASES[1:]})
    assert runevals(*flags)[0] == 0
    assert change.document("out.mini.json")["totals"]["passed"] == 5


def test_each_target_runs_only_the_cases_that_a_change_affects(change, runevals, monkeypatch):
    monkeypatch.setenv("RUNEVALS_CHANGED_ONLY", "cases")
    change.write("evals.json", {**EXACT, "items": [{**CASES[0], "prompt": "another?"}, *CASES[1:]]})
    code, out, err = runevals("run", "-q", "--base", "main", "-o", "out.json")
    assert code == 0, out + err
    for name in ("mini", "nano"):
        document = change.document(f"out.{name}.json")
        [notice] = [one for one in document["run"]["notices"] if one.startswith("changed_only: ")]
        assert notice.startswith("changed_only: 1 of 6 cases run"), notice
        assert ["base_result" in case for case in document["cases"]] == [False, *[True] * 5]


@pytest.mark.parametrize("rest", [["mini", "more"], ["mini"]], ids=["others", "one"])
def test_a_change_that_removes_a_target_does_not_pass(change, runevals, rest):
    change.write("runevals.yaml", {"targets": dict.fromkeys(rest, change.targets["mini"])})
    code, out, err = runevals("run", "-q", "--base", "main")
    assert (code, "the change removes nano from `targets`" in out) == (3, True), out + err


def test_targets_with_names_are_compared_with_the_one_target_that_the_base_has(change, runevals):
    change.git("checkout", "-q", "main")
    change.write("runevals.yaml", {"target": change.targets["mini"]})
    change.git("commit", "-qam", "one target")
    change.git("checkout", "-q", "-B", "change")
    change.write("runevals.yaml", {"targets": change.targets})
    change.write("agent.py", AGENT.replace("'yes'", "'no'"))
    code, out, err = runevals("run", "-q", "--base", "main", "-o", "out.json")
    assert code == 1, out + err
    assert {change.document(f"out.{name}.json")["comparison"]["drop"] for name in ("mini", "nano")} == {1.0}


def test_the_target_that_a_change_leaves_is_compared_with_its_own_base(change, runevals):
    change.git("checkout", "-q", "main")
    allowing = {"targets": change.targets, "on_unknown": "pass"}
    change.write("runevals.yaml", allowing)
    change.git("commit", "-qam", "targets may be removed")
    change.git("checkout", "-q", "-B", "change")
    change.write("runevals.yaml", {**allowing, "targets": {"mini": change.targets["mini"]}})
    change.write("agent.py", AGENT.replace("mini(prompt):\n return 'yes'", "mini(prompt):\n return 'no'"))
    code, out, err = runevals("run", "-q", "--base", "main")
    assert code == 1, out + err
