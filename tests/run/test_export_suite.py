"""A suite written back with its answers: `--format eval-document`."""

from __future__ import annotations

import json

import pytest

from runevals.lib.parsing.schema import complaints
from runevals.suites.dialects import LoadOptions, load
from tests.ending import ended
from tests.sample_suites import ANSWERS, SUITE

FULL = {
    "schemaVersion": "1.2.0",
    "description": "Returns and travel",
    "metadata": {"name": "shop"},
    "default_evaluators": {"ExactMatch": {}, "Relevance": {}},
    "items": [
        {
            "testId": "pass",
            "prompt": "How long can I return it?",
            "expected_response": "30 days",
            "notes": "a note",
            "extensions": {"team": "shop"},
            "response": "of an earlier run",
            "scores": {"relevance": {"score": 1}},
            "status": "fail",
            "error": {"code": "agentTimeout", "message": "earlier"},
            "evaluators": {"PartialMatch": {"threshold": 0.2}, "Citations": {"citation_format": "bracket"}},
        },
        {"testId": "partial", "prompt": "Unjudged?", "expected_response": "no"},
        {"testId": "down", "prompt": "Is it down?", "expected_response": "no"},
        {
            "name": "Trip",
            "category": "travel",
            "turns": [
                {"prompt": "Where?", "expected_response": "Seattle"},
                {"prompt": "When?", "expected_response": "May", "response": "old"},
            ],
            "conversation_id": "old",
            "summary": {"turns_total": 9},
        },
        {"testId": "other", "prompt": "Not run", "expected_response": "x", "category": "later", "status": "pass"},
    ],
}
RECORDED = [
    {
        "case": "pass",
        "output": "Within 30 days [1].",
        "citations": [{"text": "Returns take 30 days", "source": "policy.md"}, {"text": "no source"}],
    },
    {"case": "partial", "output": "maybe"},
    {"case": "down", "error": {"code": "target_timeout", "message": "no answer in 60 s"}},
    {"case": "Trip", "turn": 1, "output": "To Seattle."},
    {"case": "Trip", "turn": 2, "output": "In June."},
]
JUDGED = [
    {"case": "pass", "evaluator": "Relevance", "score": 5, "reason": "direct"},
    {"case": "Trip", "evaluator": "Relevance", "score": 4, "turn": 1},
    {"case": "Trip", "evaluator": "Relevance", "score": 2, "turn": 2},
]
RUN = ("--target", "recorded:answers.jsonl", "--judge", "recorded:judge.jsonl")


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def shop(project):
    project.write("evals.json", FULL)
    project.write("answers.jsonl", lines(RECORDED))
    project.write("judge.jsonl", lines(JUDGED))
    return project


@pytest.fixture
def written(shop, runevals):
    """The document of a run of all but one of its cases."""
    keys = ",".join(("pass", "partial", "down", "Trip"))
    told = runevals(*RUN, "--filter", keys, "-o", "scored.json", "-o", "s.md", "--format", "eval-document")
    assert (shop.path / "s.md").is_file(), told
    return shop.document("scored.json")


def test_an_answer_stands_beside_what_was_asked(written):
    found = written["items"][0]
    assert {
        name: found[name] for name in ("testId", "notes", "extensions", "evaluators", "response", "status")
    } == {
        "testId": "pass",
        "notes": "a note",
        "extensions": {"team": "shop"},
        "evaluators": FULL["items"][0]["evaluators"],
        "response": "Within 30 days [1].",
        "status": "pass",
    }
    assert "error" not in found
    assert found["citations"] == [
        {"index": 1, "text": "Returns take 30 days", "source": "policy.md"},
        {"index": 2, "text": "no source"},
    ]
    partial = found["scores"].pop("partialMatch")
    assert (partial["score"] == pytest.approx(2 / 3), partial["result"], partial["threshold"]) == (
        True,
        "pass",
        0.2,
    )
    assert found["scores"] == {
        "exactMatch": {"match": True, "result": "pass", "reason": "the expected text was found"},
        "relevance": {"score": 5, "result": "pass", "threshold": 3, "reason": "direct"},
        "citations": {"count": 1, "result": "pass", "threshold": 1, "reason": "1 citation"},
    }


def test_a_check_that_could_not_be_run_makes_an_item_partial_whatever_the_others_say(written):
    found = written["items"][1]
    assert found["scores"]["exactMatch"]["result"] == "fail"
    assert found["scores"]["relevance"]["result"] == "error"
    assert found["scores"]["relevance"]["code"] == "evaluatorError"
    assert "no recorded judgement" in found["scores"]["relevance"]["error"]
    assert found["status"] == "partial"
    assert found["error"] == {
        "code": "evaluatorsFailed",
        "message": "Agent response obtained. 1 of 2 evaluators failed to run.",
    }


def test_an_answer_that_never_came_is_absent_and_has_no_scores(written):
    found = written["items"][2]
    assert "response" not in found
    assert (found["status"], found["scores"]) == ("error", {})
    assert found["error"] == {"code": "agentTimeout", "message": "no answer in 60 s"}


def test_a_conversation_has_its_turns_and_counts_that_add_up(written):
    found = written["items"][3]
    assert [turn["response"] for turn in found["turns"]] == ["To Seattle.", "In June."]
    assert [turn["status"] for turn in found["turns"]] == ["pass", "fail"]
    assert found["conversation_id"] == "evals.json#Trip#1"
    assert found["summary"] == {
        "turns_total": 2,
        "turns_passed": 1,
        "turns_failed": 1,
        "turns_partial": 0,
        "turns_errored": 0,
        "overall_status": "fail",
    }


def test_what_was_not_run_says_nothing_and_the_document_says_when_it_was_made(written):
    assert written["items"][4] == {
        name: value for name, value in FULL["items"][4].items() if name != "status"
    }  # nor what an earlier run said
    assert written["description"] == FULL["description"]
    assert written["metadata"]["name"] == "shop"
    assert written["metadata"]["cliVersion"].startswith("runevals ")
    assert written["metadata"]["evaluatedAt"].endswith("Z")
    assert written["schemaVersion"] == "1.9.0"  # older versions have no words for what went wrong


def test_the_document_is_a_suite_of_the_same_cases(written, shop):
    def content(name):
        suite = load(shop.path / name, "x.json", LoadOptions())
        assert suite.errors == ()
        return [(case.key, case.name, case.category, case.fingerprint) for case in suite.cases]

    assert list(complaints("runevals.suites.dialects", "eval-document", written)) == []
    assert content("scored.json") == content("evals.json")


def test_its_answers_scored_again_score_the_same(shop, runevals):
    told = FULL | {"items": [item for item in FULL["items"] if item.get("testId") not in ("down", "other")]}
    told["items"][0]["evaluators"]["Citations"] = {
        "threshold": 2
    }  # counts what the target reports beside its text
    shop.write("evals.json", told)
    runevals(*RUN, "-o", "scored.json", "--format", "eval-document")
    runevals(*RUN, "-o", "first.json")
    runevals("--evaluate-only", "scored.json", "--judge", "recorded:judge.jsonl", "-o", "second.json")
    first, second = shop.document("first.json")["cases"], shop.document("second.json")["cases"]
    assert len(first) == 3
    for field in ("key", "status", "composite", "layers", "pass_rate"):
        assert [case[field] for case in second] == [case[field] for case in first]


def test_a_results_document_is_written_as_one_later(written, shop, runevals):
    runevals(*RUN, "--filter", "pass,partial,down,Trip", "-o", "results.json")
    code, _, err = runevals("report", "results.json", "-o", "later.json", "--format", "eval-document")
    assert code == 0, err
    later = shop.document("later.json")
    assert later["items"] == written["items"]


def test_a_suite_that_changed_since_is_not_filled_with_answers_to_other_questions(shop, runevals):
    runevals(*RUN, "-o", "results.json")
    shop.write("evals.json", json.dumps(FULL).replace("How long can", "Why can"))
    code, _, err = runevals("report", "results.json", "-o", "later.json", "--format", "eval-document")
    ended(code, 2, err, "evals.json: pass is no longer what the run was of")
    (shop.path / "evals.json").unlink()
    assert "is not here" in runevals("report", "results.json", "-o", "a.json", "--format", "eval-document")[2]


def test_a_legacy_suite_comes_out_versioned(project, runevals):
    project.write("evals.json", [{"prompt": "Capital of France?", "expected_response": "Paris"}])
    project.write("agent.py", "def answer(prompt):\n return 'Paris'\n")
    runevals("--target", "python:agent.py:answer", "--no-judge", "-o", "x.json", "--format", "eval-document")
    document = project.document("x.json")
    assert document["schemaVersion"] == "1.2.0"
    assert document["items"][0]["response"] == "Paris"
    assert "status" not in document["items"][0]  # nothing was looked at


def test_the_run_shown_of_several_is_one_that_ended_as_the_case_did(project, runevals):
    project.write("evals.json", SUITE)
    attempts = [("a", "Rome"), ("a", "Paris"), ("a", "Paris"), ("b", "Lima"), ("b", "Quito"), ("b", "Quito")]
    rows = [{"case": c, "attempt": n % 3 + 1, "output": text} for n, (c, text) in enumerate(attempts)]
    project.write("answers.jsonl", lines(rows))
    project.write("runevals.yaml", "target: {type: recorded, path: answers.jsonl, deterministic: false}\n")
    runevals("--repeat", "3", "-o", "x.json", "--format", "eval-document")
    assert [item["response"] for item in project.document("x.json")["items"]] == ["Paris", "Quito"]


@pytest.mark.parametrize(
    ("name", "content", "more"),
    [
        (
            "rows.json",
            {
                "evaluators": ["preset-contains"],
                "rows": [{"id": "r", "input": "Capital?", "expected": "Paris", "tags": ["eu"], "critical": True}],
            },
            {"expected_response": "Paris", "tags": ["eu"], "extensions": {"runevals": {"critical": True}}},
        ),
        (
            "eval-samples.json",
            [
                {
                    "sample_id": "r",
                    "prompt": "Capital?",
                    "assertions": [{"type": "equals", "value": "x", "not": True}],
                }
            ],
            {},
        ),
    ],
)
def test_cases_of_other_formats_become_items_of_which_rows_have_their_checks(
    project, runevals, name, content, more
):
    project.write(name, content)
    project.write("answers.jsonl", lines([{"case": "r", "output": "Paris"}]))
    _, _, err = runevals(name, "--target", "recorded:answers.jsonl", "-o", "x.json", "--format", "eval-document")
    document = project.document("x.json")
    is_rows = name == "rows.json"
    assert ("The checks of eval-samples.json are not in the document" in err) is not is_rows
    item = document["items"][0]
    (found,) = item.pop("scores").values()
    assert (found["result"], found["score"] in (0, 1)) == ("pass", True)
    assert item == {"testId": "r", "prompt": "Capital?", "response": "Paris", "status": "pass", **more}
    assert document["default_evaluators"] == ({"preset-contains": {}} if is_rows else {})
    assert runevals("--evaluate-only", "x.json")[0] == (0 if is_rows else 3)
    assert load(project.path / "x.json", "x.json", LoadOptions()).errors == ()


def test_prompts_of_the_command_line_become_a_suite(project, runevals):
    project.write("agent.py", "def answer(prompt):\n return 'ok'\n")
    target = ("--target", "python:agent.py:answer", "--no-judge")
    runevals("--prompts", "A?", "B?", "--expected", "a", "b", *target, "-o", "x.json", "--format", "eval-document")
    document = project.document("x.json")
    assert [item["prompt"] for item in document["items"]] == ["A?", "B?"]
    assert "default_evaluators" not in document
    assert load(project.path / "x.json", "x.json", LoadOptions()).errors == ()


def test_several_suites_are_written_one_by_one(project, runevals):
    project.write("evals/a.json", SUITE)
    project.write("evals/b.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    target = ("--target", "recorded:answers.jsonl")
    code, _, err = runevals("evals", *target, "-o", "x.json", "--format", "eval-document")
    assert code == 2
    assert "the run has 2 (evals/a.json, evals/b.json)" in err
    assert "--suite PATH" in err
    runevals("evals", *target, "-o", "results.json")
    later = ("report", "results.json", "-o", "b.json", "--format", "eval-document")
    assert runevals(*later)[0] == 2
    assert runevals(*later, "--suite", "evals/b.json")[0] == 0
    assert [item["response"] for item in project.document("b.json")["items"]] == ["Paris", "Quito"]
    assert runevals("report", "results.json", "-o", "b.md", "--suite", "evals/b.json")[0] == 2
    assert "no such suite (it had evals/a.json, evals/b.json)" in runevals(*later, "--suite", "evals/c.json")[2]


def test_what_has_no_fields_in_the_format_is_refused_before_anything_is_run(project, runevals):
    project.write(
        "skills.json", {"id": "s", "skill": "echo", "input": {}, "expected": {"type": "exact", "value": 1}}
    )
    code, _, err = runevals("skills.json", "-o", "x.json", "--format", "eval-document")
    ended(code, 2, err, "holds cases for skills")
    project.write("evals.json", SUITE)
    code, _, err = runevals("evals.json", "--target", "openai:x", "-o", "x.md", "--format", "eval-document")
    ended(code, 2, err, "name it with --output FILE.json")
    assert "x.json" not in project.files()


def test_secrets_are_not_written(shop, runevals, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "hunter2-hunter2")
    shop.write("evals.json", json.dumps(FULL).replace("a note", "use hunter2-hunter2"))
    runevals(*RUN, "-o", "scored.json", "--format", "eval-document")
    assert shop.document("scored.json")["items"][0]["notes"] == "use [redacted SHOP_TOKEN]"
