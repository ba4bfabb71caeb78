"""Budgets: nothing more is sent, what was paid for is reported, and nobody takes it for a verdict."""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import Future

import pytest

from runevals.run.interrupts import handlers_restored
from runevals.run.world.budget import Pending, Stop
from tests.against_base import on_main
from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.judge.replies import verdict

ITEMS = [{"testId": f"k{n}", "prompt": f"{n}?", "expected_response": "yes"} for n in range(20)]
SUITE = {"schemaVersion": "1.2.0", "default_evaluators": {"ExactMatch": {}}, "items": ITEMS}
PRICES = "prices: {tiny: {input: 1000, output: 2000}}\n"  # a call takes 10 tokens in and 5 out: 2 cents


@pytest.fixture
def paid(project, monkeypatch):
    judged = threading.Event()

    def answer(body, number):
        if "nonce" in body["messages"][0]["content"]:
            judged.set()
            return Reply(verdict(body, 5))
        if number > 3 and project.waits_for_the_judge:
            judged.wait(20)
        return Reply("yes")

    project.waits_for_the_judge = False

    project.write("evals.json", SUITE)
    project.write("runevals.yaml", PRICES)
    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        project.server = server
        yield project


RUN = ("--target", "openai:tiny", "--concurrency", "2", "-o", "out.json", "-o", "out.xml", "-o", "out.md")


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        (("--max-cost", "0.1"), r"--max-cost 0.1 is spent: $0.1000 so far"),
        (("--max-tokens", "70"), "--max-tokens 70 are spent: 75 so far"),
    ],
)
def test_what_is_spent_ends_the_run_and_the_rest_is_skipped(paid, runevals, limit, told):
    code, out, _ = runevals(*RUN, *limit)
    assert code == 3
    assert f"! Incomplete – {told}; " in out
    assert f"`runevals run --resume {limit[0]} …` goes on where it ended" in out
    document = paid.document()
    assert (document["complete"], document["verdict"]["outcome"]) == (False, "unmeasured")
    assert document["run"]["stopped"]["code"] == "budget_exhausted"
    statuses = [case["status"] for case in document["cases"]]
    assert len(paid.server.requests) == statuses.count("passed")
    assert 5 <= statuses.count("passed") <= 6  # one more may have been under way
    assert set(statuses) == {"passed", "skipped"}
    assert (paid.path / "out.md").read_text().startswith("### ⛔ Incomplete")
    assert (paid.path / "out.xml").read_text().count("<skipped") >= 14
    code, _, _ = runevals("run", "--resume", limit[0], "1000")
    assert (code, paid.document()["totals"]["passed"]) == (0, 20)


@pytest.mark.parametrize("targets", ["target: {one}\n", "targets: {{a: {one}, b: {one}}}\n"])
def test_an_unknown_cost_of_the_base_alone_is_said_to_be_its(repository, runevals, targets):
    target, suites = "{type: command, command: python agent.py}", "suites: [evals.json]\n"
    repository.write("evals.json", SUITE)
    repository.write("agent.py", "print('yes')\n")
    on_main(repository, "runevals.yaml", f"{suites}target: {target}\n")
    repository.write("agent.py", """print('{"output": "yes", "costUSD": 0.001}')\n""")
    repository.write("runevals.yaml", suites + targets.format(one=target))
    repository.git("commit", "-qam", "costs")
    code, out, _ = runevals("--base", "main", "--max-cost", "1", "--no-judge")
    told = "! Incomplete – in the base's run: --max-cost cannot be kept: what a call costs is unknown"
    ended(code, 3, out, told)


def test_the_judge_spends_from_the_same_budget(paid, runevals):
    paid.write("evals.json", {**SUITE, "default_evaluators": {"Relevance": {}}})
    paid.waits_for_the_judge = True
    code, _, _ = runevals(
        *RUN, "--judge", "tiny", "--judge-concurrency", "2", "--cache", "none", "--max-cost", "0.1"
    )
    assert code == 3
    document = paid.document()
    spent = document["totals"]["cost_usd"] + document["totals"]["judge_cost_usd"]
    assert 0.1 <= spent + 1e-9 <= 0.2  # four calls may be under way
    errors = {
        result["error"]["code"]
        for case in document["cases"]
        for turn in case["attempts"][0]["turns"]
        for result in turn["results"]
        if "error" in result
    }
    assert errors == {"budget_exhausted"}


def test_a_cost_that_nobody_knows_cannot_be_limited(paid, runevals):
    paid.write("runevals.yaml", "repeat: 1\n")
    code, out, _ = runevals(*RUN, "--max-cost", "5")
    assert code == 3
    told = (
        "--max-cost cannot be kept: what a call costs is unknown; name the price of tiny-2026-09 in the settings"
    )
    assert told in out
    assert len(paid.server.requests) <= 2


@pytest.mark.parametrize("limit", [("--max-cost", "5"), ("--max-tokens", "100")])
def test_a_run_whose_cost_is_unknown_does_not_pass_when_it_is_resumed(project, runevals, monkeypatch, limit):
    project.write("evals.json", {**SUITE, "items": ITEMS[:1]})
    with chat_server(
        lambda body, n: Reply("yes", usage={"prompt_tokens": None, "completion_tokens": None})
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert runevals(*RUN, *limit)[0] == 3
        code, out, err = runevals("run", "--resume")
    ended(code, 3, out + err, f"{limit[0]} cannot be kept")
    assert len(server.requests) == 1


def test_no_case_is_shown_for_a_limit_that_cannot_be_kept(project, runevals):
    """It shows no fault: run alone, it passes."""
    project.write("evals.json", {**SUITE, "items": ITEMS})
    project.write("agent.py", "def answer(prompt):\n    return 'yes'\n")
    words = ("--target", "python:agent.py:answer", "--concurrency", "1")
    code, out, err = runevals("run", *words, "--max-cost", "5")
    ended(code, 3, out + err, f"; 1 of {len(ITEMS)} cases were measured", without=["see one"])
    project.write("agent.py", "def answer(prompt):\n    raise OSError\n")
    code, out, err = runevals("run", *words)
    ended(code, 3, out + err, "see one")


def test_nor_does_that_of_a_program_which_names_no_model(project, runevals):
    project.write("evals.json", {**SUITE, "items": ITEMS[:1]})
    project.write("agent.py", "def answer(prompt):\n    return 'yes'\n")
    assert runevals("run", "--target", "python:agent.py:answer", "--max-cost", "5")[0] == 3
    code, out, err = runevals("run", "--resume")
    ended(code, 3, out + err, "--max-cost cannot be kept")


def test_the_price_of_the_model_that_a_program_names_is_known(project, runevals):
    """It is what the message asks for that says that a cost is unknown."""
    project.write("evals.json", {**SUITE, "items": ITEMS[:3]})
    answer = {"output": "yes", "model": "m", "inputTokens": 1_000_000, "outputTokens": 500_000}
    project.write("bot.py", f"def answer(prompt):\n    return {answer}\n")
    project.write("runevals.yaml", "target: python:bot.py:answer\nprices: {m: {input: 0.5, output: 2}}\n")
    assert runevals("run", "--max-cost", "9", "-o", "out.json")[0] == 0
    assert project.document()["totals"]["cost_usd"] == 4.5
    code, out, err = runevals("run", "--max-cost", "2", "--concurrency", "1")
    ended(code, 3, out + err, "--max-cost 2 is spent: $3.0000")


def test_recorded_answers_cost_nothing(project, runevals):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", "".join(f'{{"case": "k{n}", "output": "yes"}}\n' for n in range(20)))
    assert runevals("--target", "recorded:answers.jsonl", "--max-cost", "0.01")[0] == 0


def test_time_is_a_budget_too(project, runevals):
    project.write("evals.json", SUITE)
    first = "import time\ncalls = []\ndef answer(prompt):\n    calls.append(prompt)\n"
    project.write("agent.py", f"{first}    time.sleep(60 if len(calls) > 1 else 0)\n    return 'yes'\n")
    code, out, _ = runevals(
        "--target", "python:agent.py:answer", "--concurrency", "1", "--max-duration", "4", "-o", "out.json"
    )
    assert code == 3
    assert "the run took longer than --max-duration 4 s; 1 of 20 cases were measured" in out
    statuses = [case["status"] for case in project.document()["cases"]]
    assert statuses.count("passed") == 1


def test_the_time_that_is_spent_is_not_waited_beyond(project, runevals):
    project.write("evals.json", SUITE)
    project.write("agent.py", "import time\ndef answer(prompt):\n    time.sleep(60)\n")
    started = time.monotonic()
    code, out, _ = runevals("--target", "python:agent.py:answer", "--max-duration", "0.5", "-o", "out.json")
    assert (code, time.monotonic() - started < 40) == (3, True)
    assert "the run took longer than --max-duration 0.5 s; 0 of 20 cases were measured" in out


def test_a_budget_that_suffices_changes_nothing(paid, runevals):
    code, out, _ = runevals(*RUN, "--max-cost", "0.5", "--max-tokens", "1000", "--max-duration", "60")
    assert code == 0, out
    assert paid.document()["complete"] is True


def test_a_regression_in_half_a_run_is_no_verdict(paid, runevals):
    assert runevals(*RUN)[0] == 0
    (paid.path / "out.json").rename(paid.path / "base.json")
    paid.write("evals.json", SUITE)
    code, out, _ = runevals(*RUN, "--baseline", "base.json", "--max-cost", "0.1")
    assert code == 3
    assert out.startswith("! Incomplete")


def test_answers_that_hold_nothing_are_paid_for_too(project, runevals, monkeypatch):
    project.write("evals.json", SUITE)
    project.write("runevals.yaml", PRICES)
    with chat_server(lambda body, n: Reply(None, finish_reason="length")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, out, _ = runevals(*RUN, "--max-cost", "0.1")
    ended(code, 3, out, "--max-cost 0.1 is spent")
    assert len(server.requests) <= 6


def test_nothing_is_tried_again_once_the_time_is_over(project, runevals, monkeypatch):
    project.write("evals.json", {**SUITE, "items": ITEMS[:2]})
    with chat_server(lambda body, n: Reply(status=503)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, _, _ = runevals(*RUN, "--max-duration", "0.3")
        asked = len(server.requests)
    assert code == 3
    assert asked <= 4
    assert project.document()["run"]["stopped"]["code"] == "budget_exhausted"


def test_a_cost_that_is_unknown_is_no_green_even_where_every_call_was_under_way_already(paid, runevals):
    paid.write("evals.json", {**SUITE, "items": ITEMS[:2]})
    paid.write("runevals.yaml", "repeat: 1\n")
    code, out, _ = runevals(*RUN, "--max-cost", "5")
    assert code == 3
    assert "--max-cost cannot be kept" in out


@pytest.mark.parametrize("limit", ["--max-cost", "--max-tokens"])
def test_a_limit_of_what_no_call_reports_is_not_said_to_be_too_low(project, runevals, limit):
    """Nor is the run offered again: its answers will never say what they took."""
    project.write("evals.json", SUITE)
    project.write("bot.py", "def answer(prompt):\n    return 'Paris'\n")
    words = ("run", "--target", "python:bot.py:answer")
    code, out, err = runevals(*words, limit, "100")
    told = "Let each call say what it took, or remove the limit; for the base's run, push that to it."
    ended(code, 3, out + err, told, without=["Raise the limit", "--resume"])
    assert runevals(*words)[0] == 0


def test_a_run_that_ended_before_its_first_answer_is_not_said_to_go_on_nor_to_show_no_loss(repository, runevals):
    repository.write("runevals.yaml", "target: python:bot.py:answer\n")
    repository.write("bot.py", "import time\ndef answer(prompt):\n    time.sleep(9)\n")
    on_main(repository, "evals.json", SUITE)
    code, out, err = runevals("run", "--base", "main", "--max-duration", "0.05")
    ended(
        code,
        3,
        out + err,
        "by its flag, --max-duration … or RUNEVALS_MAX_… in a job, which counts at once, and run it anew.",
        "– no_regression",
        without=["--resume"],
    )


def test_a_run_that_was_cut_short_passes_no_gate_of_being_measured(paid, runevals):
    runevals(*RUN, "--max-cost", "0.1")
    [gate] = [gate for gate in paid.document()["gates"] if gate["name"] == "measured"]
    assert gate["state"] == "failed"
    assert "of 20 cases could not be measured" in gate["reason"]
    assert '<error type="unmeasured"' in (paid.path / "out.xml").read_text()


def test_a_signal_that_does_not_end_a_wait_is_heard_soon():
    """One that another thread received, as one that comes just before the wait: then no answer may ever come."""
    stop, answer, heard = Stop(), Future(), []
    pending = Pending(stop)
    pending[answer] = None

    def send():
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    with handlers_restored():
        signal.signal(signal.SIGTERM, lambda *_: heard.append(answer.done()))
        timers = [threading.Timer(0.2, send), threading.Timer(10.0, answer.set_result, [None])]
        for timer in timers:
            timer.start()
        while not heard:
            stop.first_of(pending)
        timers[1].cancel()
    assert heard == [False]
