"""A target or a judge that refuses every call in the middle of a run: what was paid for is reported."""

from __future__ import annotations

import threading

import pytest

from runevals.models.http.throttle import MOST_UNANSWERED
from tests.chat_server import Reply, chat_server
from tests.judge.replies import verdict

ITEMS = [{"testId": f"k{n}", "prompt": f"{n}?", "expected_response": "yes"} for n in range(50)]
RUN = ("--target", "openai:tiny", "--concurrency", "1", "-o", "out.json", "-o", "out.md")
NO_QUOTA = Reply(status=429, error={"code": "insufficient_quota", "message": "no quota"})


@pytest.fixture
def refusing(project, runevals, monkeypatch):
    """Runs the suite against an endpoint that answers `good` calls, and refuses all others."""

    def run(good, refusal, evaluator, *words, cases=20):
        suite = {"schemaVersion": "1.2.0", "default_evaluators": {evaluator: {}}, "items": ITEMS[:cases]}
        project.write("evals.json", suite)
        served = []

        def answer(body, number):
            served.append(number)
            if len(served) > good:
                return refusal
            return Reply(verdict(body, 5) if "nonce" in body["messages"][0]["content"] else "yes")

        with chat_server(answer) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            return *runevals(*RUN, *words), len(served)

    return run


@pytest.mark.parametrize("refusal", [Reply(status=401), Reply(status=403), NO_QUOTA], ids=["401", "403", "quota"])
def test_a_target_that_begins_to_refuse_leaves_a_report_of_what_there_is(refusing, project, refusal):
    code, out, _, served = refusing(8, refusal, "ExactMatch")
    assert (code, served) == (3, 9)
    assert "! Incomplete – the target refuses every call: " in out
    assert "8 of 20 cases were measured" in out
    assert "runevals run --resume" in out
    document = project.document()
    assert (document["complete"], document["run"]["stopped"]["code"]) == (False, "refused")
    statuses = [case["status"] for case in document["cases"]]
    assert (statuses.count("passed"), statuses.count("skipped")) == (8, 12)
    assert (project.path / "out.md").read_text().startswith("### ⛔ Incomplete")


def test_a_target_that_is_down_is_not_asked_for_every_case(refusing, project):
    """Here, by its own word; one that is silent has a minute."""
    later = Reply(status=429, headers={"Retry-After": "3600"}, error={"message": "come back later"})
    code, out, _, served = refusing(8, later, "ExactMatch", cases=50)
    assert (code, served) == (3, 8 + MOST_UNANSWERED)
    assert f"come back later (1 attempt); the same for {MOST_UNANSWERED} calls in a row" in " ".join(out.split())
    assert "runevals run --resume" in out
    statuses = [case["status"] for case in project.document()["cases"]]
    assert [statuses.count(one) for one in ("passed", "errored", "skipped")] == [8, MOST_UNANSWERED - 1, 23]


def test_so_does_a_judge(refusing, project):
    code, out, _, _ = refusing(8, Reply(status=401), "Relevance", "--judge", "tiny", "--cache", "none")
    assert code == 3
    assert "refuses every call: 401" in out
    assert project.document()["run"]["stopped"]["code"] == "refused"
    assert {case["status"] for case in project.document()["cases"]} <= {"passed", "skipped", "errored"}


def test_a_refusal_of_the_first_call_is_only_said(refusing, project):
    code, out, err, _ = refusing(0, Reply(status=401), "ExactMatch")
    assert (code, out) == (3, "")
    assert "the target refuses every call: 401" in err
    assert not (project.path / "out.json").exists()


@pytest.mark.parametrize(
    ("evaluator", "words"),
    [("ExactMatch", ()), ("Relevance", ("--judge", "tiny", "--cache", "none"))],
    ids=["target", "judge"],
)
def test_one_refusal_delays_one_call(project, runevals, monkeypatch, evaluator, words):
    """Others follow it in the time that its own Retry-After takes; a pause of all lets out those under way."""
    project.write("evals.json", {"default_evaluators": {evaluator: {}}, "items": ITEMS[:30]})
    calls, lock = [], threading.Lock()

    def answer(body, _):
        prompt = body["messages"][0]["content"]
        judged = "nonce" in prompt
        with lock:
            if judged == (evaluator == "Relevance"):
                calls.append(str(body["messages"]))
                if len(calls) == 5:
                    return Reply(status=429, headers={"Retry-After": "3"})
        return Reply(verdict(body, 5) if judged else "yes")

    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, *_ = runevals(*RUN, "--concurrency", "4", "--judge-concurrency", "4", *words)
    assert code == 0
    assert len(calls) == 31
    assert calls.index(calls[4], 5) > 4 + 2 * 4
