"""`runevals doctor` says what a run would lack, and how to mend it."""

from __future__ import annotations

import json
import re
import sys

import pytest

from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.sample_suites import AGENT, SUITE
from tests.terminal import Terminal

PYTHON = ("--target", "python:agent.py:answer")


@pytest.fixture
def suite(project):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    return project


def found(out):
    """name → (mark, rest of its line, its fix)."""
    lines = re.findall(r"^([✓✗–]) (\w+) +(.*)(?:\n    → (.*))?", out, re.MULTILINE)
    return {name: (mark, told, fix) for mark, name, told, fix in lines}


def test_all_that_is_there_is_told_and_nothing_is_run(suite, runevals):
    suite.write("agent.py", "raise SystemExit('this must not run')\ndef answer(prompt): ...\n")
    code, out, _ = runevals("doctor", *PYTHON)
    assert code == 0
    told = found(out)
    assert {name: mark for name, (mark, _, _) in told.items()} == {
        "versions": "✓",
        "settings": "✓",
        "suites": "✓",
        "target": "✓",
        "judge": "–",
        "base": "–",
        "sandbox": "✓",
        "GitHub": "–",
        "results": "✓",
        "cache": "✓",
    }
    assert told["suites"][1] == "2 cases in evals.json"
    assert not (suite.path / ".evals").exists()


@pytest.mark.parametrize(
    ("arguments", "name", "code"),
    [
        (["absent.json", *PYTHON], "suites", 2),
        ([], "target", 2),
        (["--target", "python:absent.py:answer"], "target", 2),
        (["--target", "command:no-such-program-here"], "target", 2),
        (["--target", "openai:some"], "target", 2),
        (["--target", "nonsense"], "settings", 2),
        (["judged.json", *PYTHON, "--judge", "some"], "judge", 2),
        ([*PYTHON, "--baseline", "absent.json"], "base", 2),
    ],
)
def test_what_is_missing_has_its_fix_and_decides_the_exit_code(suite, runevals, arguments, name, code):
    suite.write("judged.json", {**SUITE, "default_evaluators": {"Relevance": {}}})
    got, out, _ = runevals("doctor", *arguments)
    mark, _, fix = found(out)[name]
    assert mark == "✗"
    assert fix
    assert got == code


def test_a_broken_list_of_quarantined_cases_is_found_as_a_run_finds_it(suite, runevals):
    suite.write("runevals.quarantine.yaml", "- {key: a}\n")
    code, out, err = runevals("doctor", *PYTHON)
    ended(code, 2, out + err, "runevals.quarantine.yaml:1", "runevals validate shows every problem")


def test_a_judge_that_no_check_asks_may_be_missing(suite, runevals):
    code, out, _ = runevals("doctor", *PYTHON, "--judge", "some")
    assert (code, *found(out)["judge"][:2]) == (0, "–", "none of the checks asks it")


def test_a_module_is_not_called_good_before_it_is_loaded(suite, runevals):
    code, out, _ = runevals("doctor", "--no-judge", "--target", "python:no.such.module:answer")
    assert (code, found(out)["target"][0]) == (0, "–")


def test_of_a_program_that_does_not_answer_it_says_to_run_that(suite, runevals):
    suite.write("agent.py", "import shopdb_is_not_here\ndef answer(prompt): return 'yes'\n")
    suite.write("runevals.yaml", "target: python:agent.py:answer\n")
    code, out, _ = runevals("doctor", "--call")
    ended(code, 3, out, "No module named 'shopdb_is_not_here'", "run a program by itself")


def test_a_file_that_python_cannot_read_is_not_called_good(suite, runevals):
    suite.write("agent.py", "def answer(prompt):\nreturn prompt\n")
    code, out, _ = runevals("doctor", "--no-judge", "--target", "python:agent.py:answer")
    mark, text, *_ = found(out)["target"]
    assert (code, mark) == (3, "✗")
    assert "line 2: expected an indented block" in text


def test_a_named_base_that_is_absent_is_no_matter_of_the_checkout(suite, runevals):
    fix = found(runevals("doctor", *PYTHON, "--baseline", "absent.json")[1])["base"][2]
    assert fix == "name a results document that there is, or run the base: --base REF"


@pytest.mark.parametrize(
    ("variables", "settings", "mark", "told"),
    [
        (
            {"PATH": "/none"},
            {},
            "✗",
            "the codex target needs the program `codex`; install it with",
        ),
        ({}, {}, "✗", "codex has no key: none of CODEX_API_KEY, OPENAI_API_KEY is set"),
        ({"CODEX_API_KEY": "sk-secret"}, {}, "✓", "; a key is set"),
        ({}, {"env": ["OTHER_KEY"]}, "✓", "; it is given OTHER_KEY"),
        ({}, {"tools": ["read"]}, "✗", "codex cannot be restricted to that"),
    ],
)
def test_the_program_and_key_of_an_agent_are_looked_for(suite, runevals, variables, settings, mark, told):
    suite.write("bin/codex", "#!/bin/sh\nexit 1\n").chmod(0o755)
    suite.write("runevals.yaml", {"target": {"type": "codex", **settings}})
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"PATH": str(suite.path / "bin"), **variables}.items():
            patch.setenv(name, value)
        code, out, _ = runevals("doctor")
    line = found(out)["target"]
    assert (line[0], told in line[1], code) == (mark, True, 0 if mark == "✓" else 2), out
    assert "sk-secret" not in out


def test_a_skill_that_is_not_found_does_not_end_the_diagnosis(suite, runevals):
    suite.write("evals.json", {"skill_name": "notes", "evals": [{"prompt": "Write", "assertions": ["It is"]}]})
    suite.write("runevals.yaml", "suites: [evals.json]\ntarget: {type: codex}\n")
    code, out, _ = runevals("doctor")
    told = found(out)
    assert code == 2
    assert told["skills"][0] == "✗"
    assert "for the skill notes, and no SKILL.md of it was found" in out
    assert {"target", "judge", "base", "results"} <= told.keys()


def test_a_check_that_needs_a_judge_is_found_without_one(suite, runevals):
    suite.write("evals.json", {**SUITE, "default_evaluators": {"Relevance": {}}})
    code, out, _ = runevals("doctor", *PYTHON)
    assert code == 2
    assert found(out)["judge"][1].startswith("2 of 2 cases ask for a judge")
    assert runevals("doctor", *PYTHON, "--no-judge")[0] == 0


def test_a_model_whose_package_is_not_installed_is_found_before_its_key(suite, runevals, monkeypatch):
    monkeypatch.setitem(sys.modules, "anthropic", None)  # as Python marks what cannot be imported
    for command in (("doctor", "--target", "anthropic:m"), ("--target", "anthropic:m")):
        code, out, err = runevals(*command)
        assert (code, "pip install 'runevals[anthropic]'" in out + err) == (2, True), out + err


def test_a_host_that_does_not_answer_is_the_worlds_fault(suite, runevals, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    code, out, _ = runevals("doctor", "--call", "--target", "openai:some")
    assert code == 3
    assert found(out)["target"][1] == "some at http://127.0.0.1:9/v1: nothing answers there"


@pytest.mark.parametrize("kind", ["http", "a2a"])
def test_an_address_that_does_not_answer_is_found_without_a_question(suite, runevals, kind):
    code, out, _ = runevals("doctor", "--no-judge", "--target", f"{kind}:http://127.0.0.1:9/answer")
    assert code == 3
    assert found(out)["target"][1] == f"{kind} http://127.0.0.1:9: nothing answers there"


def test_without_call_no_model_is_asked_and_no_key_is_sent(suite, runevals, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with chat_server(lambda body, number: Reply()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, out, _ = runevals("doctor", "--target", "openai:gpt-5-mini")
    assert code == 0
    assert server.requests == []
    assert re.fullmatch(
        r"not asked; --call asks 1 short question, for less than \$0\.\d+", found(out)["answers"][1]
    )
    assert "sk-secret" not in out


def test_call_asks_target_and_judge_one_question_each(suite, runevals, monkeypatch):
    def answer(body, number):
        if number == 0:
            return Reply("ready")
        nonce = re.search(r"nonce\W+([0-9a-f]{8,})", json.dumps(body))[1]
        return Reply(json.dumps({"nonce": nonce, "reasoning": "it is", "score": 5}))

    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        server.shutdown_dates = {"other": "2027-01-31"}
        code, out, _ = runevals("doctor", "--call", "--target", "openai:some", "--judge", "other")
    assert code == 0
    assert "– model     other ends on 2027-01-31, says its provider" in out
    assert "some ends" not in out
    assert [request["model"] for request in server.requests] == ["some", "other"]
    assert found(out)["answer"][1].startswith("“ready” after ")
    assert found(out)["judgement"][1] == "5 of 5: it is"


def test_call_tells_what_a_refused_key_is_told(suite, runevals, monkeypatch):
    with chat_server(lambda body, number: Reply(status=401, error={"message": "bad key"})) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, out, _ = runevals("doctor", "--call", "--target", "openai:some")
    assert code == 3
    mark, told, _ = found(out)["answer"]
    assert mark == "✗"
    assert "bad key" in told


def test_folders_that_cannot_be_written_are_found(suite, runevals):
    suite.write(".evals", "a file in the way")
    code, out, _ = runevals("doctor", *PYTHON)
    assert code == 3
    assert found(out)["results"][0] == found(out)["cache"][0] == "✗"


def test_a_fork_is_told_that_its_token_cannot_write(suite, runevals, monkeypatch):
    event = {
        "pull_request": {"head": {"repo": {"full_name": "other/fork"}}, "base": {"repo": {"full_name": "a/b"}}}
    }
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(suite.write("event.json", event)))
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    code, out, _ = runevals("doctor", *PYTHON)
    assert found(out)["GitHub"][1].startswith("no token was passed on")
    assert (code, found(out)["base"][0]) == (3, "✗")  # the event names no base commit
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_0123456789")
    assert "comes from a fork" in found(runevals("doctor", *PYTHON)[1])["GitHub"][1]


def test_init_only_prepares_and_runs_nothing(project, runevals):
    code, out, _ = runevals("--init-only")
    assert code == 0
    assert list(found(out)) == ["versions", "sandbox", "results", "cache"]
    assert project.files() == []


def test_a_small_terminal_shows_whole_words(suite):
    with Terminal(suite.path, "doctor", "--target", "openai:some", columns=60) as terminal:
        assert terminal.exit_code() == 2
        terminal.see("\n✗ target    some at https://api.openai.com/v1: the variable\n")
        terminal.see("              OPENAI_API_KEY is not set\n")


@pytest.mark.parametrize(
    ("settings", "mark", "code"),
    [
        ({"gates": [{"metric": "pass_rate", "op": ">=", "limit": 0.9}]}, "–", 0),
        ({"rerun": ["pytest"]}, "–", 0),
        ({"baseline": "main.xml"}, "–", 0),
        ({"gates": [], "target": "command:absent"}, "✗", 2),
        ({"gates": [], "suites": ["absent.json"]}, "✗", 2),
        ({"repeat": 1}, "✗", 2),
    ],
)
def test_a_gate_needs_neither_suites_nor_target(project, runevals, settings, mark, code):
    project.write("runevals.yaml", settings)
    project.write("main.xml", '<testsuite><testcase classname="a" name="b"/></testsuite>')
    got, out, _ = runevals("doctor", "--call")
    assert ({found(out)[name][0] for name in ("suites", "target")}, got) == ({mark}, code), out


def test_a_project_whose_results_a_workflow_gates_is_told_its_own_command(repository, runevals, monkeypatch):
    for name in ("runevals.yaml", "evals.json"):
        (repository.path / name).unlink()
    (repository.path / "app").mkdir()
    for folder in ("app", "."):
        monkeypatch.chdir(repository.path / folder)
        runevals("init", "--gate", "pytest")
        code, out, _ = runevals("doctor")
        assert (code, found(out)["suites"][0]) == (0, "–")
        assert "runevals gate junit.xml --baseline FILE compares with the base's results" in out
        assert "not gated" not in out
    repository.write("other/runevals.yaml", "version: 1\n")
    assert "– projects  not gated: other; in .github/workflows/evals.yml, add a step: " in runevals("doctor")[1]


def test_a_project_that_has_only_results_of_a_tool_is_gated_as_doctor_says(repository, runevals, monkeypatch):
    """A step that runs its suites would find none."""
    for name in ("other", "tool"):
        repository.write(f"{name}/runevals.yaml", "rerun: [pytest]\n")
    monkeypatch.chdir(repository.path / "other")
    runevals("init", "--gate", "pytest")
    monkeypatch.chdir(repository.path)
    assert "– projects  not gated: tool; in its folder: runevals init --gate TOOL" in runevals("doctor")[1]
    monkeypatch.chdir(repository.path / "tool")
    runevals("init", "--gate", "pytest")
    monkeypatch.chdir(repository.path)
    assert "not gated: tool" not in runevals("doctor")[1]
