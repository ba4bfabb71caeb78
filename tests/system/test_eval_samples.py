"""Runs of eval samples: the format's worked example, judges, custom assertions, and what must be there."""

from __future__ import annotations

import json

import pytest

from tests.chat_server import Reply, chat_server

CUSTOM = (
    "export default function(output, { sample, assertion }) {\n  return { pass: output.includes('SQL') };\n}\n"
)
EXAMPLE = [
    {
        "sample_id": "s1",
        "prompt": "Review it",
        "assertions": [
            {"type": "contains", "value": "SQL"},
            {"type": "contains", "value": "injection"},
            {"type": "contains", "value": "parameterized"},
        ],
    }
]


def answers(**outputs):
    return "".join(json.dumps({"case": key, "output": output}) + "\n" for key, output in outputs.items())


def first(project):
    return project.document()["cases"][0]


def test_the_worked_example(project, runevals):
    """Three assertions of weight 1, two pass: 1 + 2/3 × 4 = 3.67, kept unrounded."""
    project.write("eval-samples.json", EXAMPLE)
    project.write("answers.jsonl", answers(s1="an SQL injection"))
    code, out, _ = runevals("--target", "recorded:answers.jsonl", "-o", "out.json")
    assert code == 0, out
    found = first(project)
    assert (found["status"], found["layers"]["fact"]) == ("failed", 1 + 2 / 3 * 4)
    assert found["composite"] == 1 + 2 / 3 * 4
    assert "score 3.67 of 5" in out


def test_layers_of_the_printed_sample(project, runevals):
    """Facts 1 + 4 · 1.5/2.5 = 3.4; dimensions 5 and 2 → 3.5, in place of the rubric; composite 3.45."""
    sample = {
        "sample_id": "s001",
        "prompt": "Review this code for security issues",
        "context": "function auth(u, p) {}",
        "rubric": "Should identify SQL injection risk",
        "assertions": [
            {"type": "contains", "value": "SQL injection", "weight": 1},
            {"type": "contains", "value": "parameterized", "weight": 1},
            {"type": "not_contains", "value": "looks fine", "weight": 0.5},
        ],
        "dimensions": {"security": "found?", "actionability": "usable?"},
    }
    project.write("eval-samples.json", [sample])
    project.write("answers.jsonl", answers(s001="There is an SQL injection."))
    scores = [("security", 5), ("actionability", 2)]
    lines = [{"case": "s001", "evaluator": name, "score": score, "reason": "r"} for name, score in scores]
    project.write("judge.jsonl", "\n".join(map(json.dumps, lines)))
    words = ["--target", "recorded:answers.jsonl", "--judge", "recorded:judge.jsonl", "-q", "-o", "out.json"]
    assert runevals(*words)[0] == 0
    found = first(project)
    assert found["layers"] == {"fact": 3.4, "behavior": None, "judge": 3.5, "incomplete": []}
    assert found["composite"] == pytest.approx(3.45)
    results = {r["id"]: r for r in found["attempts"][0]["turns"][0]["results"]}
    assert results["dimensions"]["details"]["dimensions"] == {"security": 5.0, "actionability": 2.0}
    assert results["not_contains"]["negated"] is True


def test_a_judge_that_fails_for_half_of_the_cases_changes_no_score_of_the_rest(project, runevals):
    samples = [{**EXAMPLE[0], "sample_id": f"s{n}", "rubric": "r"} for n in range(10)]
    project.write("eval-samples.json", samples)
    project.write("answers.jsonl", answers(**{f"s{n}": "an SQL injection" for n in range(10)}))

    def run(judged):
        lines = [{"case": f"s{n}", "evaluator": "rubric", "score": 4, "reason": "r"} for n in judged]
        project.write("judge.jsonl", "\n".join(map(json.dumps, lines)))
        words = ("--target", "recorded:answers.jsonl", "--judge", "recorded:judge.jsonl", "-q", "-o", "out.json")
        code, *_ = runevals(*words)
        return code, {case["key"]: case["composite"] for case in project.document()["cases"]}

    whole_code, whole = run(range(10))
    half_code, half = run(range(5))
    assert (whole_code, half_code) == (0, 3)
    assert {key: half[key] for key in list(half)[:5]} == {key: whole[key] for key in list(whole)[:5]}


def test_custom_assertions_and_a_folder_of_its_own(project, runevals):
    project.write("checks/my-assertion.mjs", CUSTOM)
    project.write("work/note.txt", "SQL here")
    project.write("agent.py", "print(open('note.txt').read())")
    sample = {
        "sample_id": "a",
        "prompt": "Read the note",
        "cwd": "work",
        "assertions": [{"type": "custom", "fn": "checks/my-assertion.mjs"}],
    }
    project.write("eval-samples.yaml", json.dumps({"samples": [sample]}))
    agent = project.path / "agent.py"
    code, out, _ = runevals("--target", f"command:python3 {agent}", "-q", "-o", "out.json")
    assert (code, first(project)["status"]) == (0, "passed"), out


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"requires": {"tools": ["no-such-tool"]}}, "the program no-such-tool"),
        ({"requires": {"files": ["data/x.csv"]}}, "the file data/x.csv"),
        ({"requires": {"env": ["NO_SUCH_VARIABLE"]}}, "the variable NO_SUCH_VARIABLE"),
    ],
)
def test_what_a_suite_requires_is_asked_before_anything_is_sent(project, runevals, more, told):
    project.write("eval-samples.json", {"samples": EXAMPLE, **more})
    project.write("agent.py", "def answer(prompt):\n    open('called', 'w').close()\n    return 'x'\n")
    code, _, err = runevals("--target", "python:agent.py:answer")
    assert (code, (project.path / "called").exists()) == (2, False)
    assert "missing requirements:\n" in err
    assert told in err


def test_a_target_whose_tool_calls_cannot_be_answered_is_refused_for_mocks(project, runevals):
    sample = {**EXAMPLE[0], "mocks": [{"tool": "Read", "return": "x"}]}
    project.write("eval-samples.json", [sample])
    code, _, err = runevals("--target", "http:http://127.0.0.1:9/ask")
    assert code == 2
    assert "answers tool calls by mocks" in err


def test_inverting_a_check_is_a_weakening(project, runevals):
    def run(name, *words):
        return runevals("--target", "recorded:answers.jsonl", "-q", "-o", name, *words)

    project.write("eval-samples.json", EXAMPLE)
    project.write("answers.jsonl", answers(s1="an SQL injection"))
    assert run("base.json")[0] == 0
    inverted = [{**a, "not": True} if a["value"] == "parameterized" else a for a in EXAMPLE[0]["assertions"]]
    project.write("eval-samples.json", [{**EXAMPLE[0], "assertions": inverted}])
    run("out.json", "--baseline", "base.json")
    messages = [w["message"] for w in project.document()["comparison"]["weakenings"]]
    assert messages == ["contains (3) was inverted by `not`"]


def test_a_sample_with_mocks_runs_the_tool_loop_and_judges_the_trace(project, runevals, monkeypatch):
    def answer(body, number):
        if body["messages"][-1]["role"] == "tool":
            return Reply(f"It says: {body['messages'][-1]['content']}")
        return Reply(None, tool_calls=[("Read", {"file_path": "docs/a.md"})])

    sample = {
        "sample_id": "a",
        "prompt": "What does a.md say?",
        "mocks": [{"tool": "Read", "match": {"file_path_endswith": "a.md"}, "return_file": "fixtures/a.txt"}],
        "assertions": [
            {"type": "contains", "value": "30 days"},
            {"type": "tools_called", "values": ["Read"]},
            {"type": "tools_not_called", "values": ["Write"]},
            {"type": "tool_input_contains", "value": "Read:a.md"},
            {"type": "tool_output_contains", "value": "Read:30 days"},
            {"type": "mock_hit", "value": "Read:1"},
            {"type": "turns_max", "value": 2},
            {"type": "tools_count_max", "value": 1},
        ],
    }
    project.write("fixtures/a.txt", "30 days")
    project.write("eval-samples.json", [sample])
    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, out, _ = runevals("--target", "openai:tiny", "-q", "-o", "out.json")
    assert code == 0, out
    results = first(project)["attempts"][0]["turns"][0]["results"]
    assert {result["id"]: result["outcome"] for result in results if result["outcome"] != "passed"} == {}
    project.write("fixtures/a.txt", "40 days")  # what the mock returns is a part of the case
    assert runevals("--target", "recorded:out.json", "--baseline", "out.json", "-q", "-o", "again.json")[0] == 3


def test_an_address_is_never_sent_as_it_stands_unless_the_settings_say_so(project, runevals):
    sample = {
        "sample_id": "a",
        "prompt": "Sum up https://example.org/x",
        "assertions": [{"type": "min_length", "value": 1}],
    }
    project.write("eval-samples.json", [sample])
    project.write("agent.py", "def answer(prompt):\n    return prompt\n")
    words = ("--target", "python:agent.py:answer", "-q", "-o", "out.json")
    code, out, _ = runevals(*words)
    assert (code, first(project)["attempts"][0]["turns"][0]["error"]["code"]) == (3, "fetch_failed")
    assert "url_fetch: {enabled: true}" in out
    project.write("runevals.yaml", "url_fetch: {enabled: false}\n")
    assert runevals(*words)[0] == 0
    assert first(project)["attempts"][0]["turns"][0]["output"] == sample["prompt"]


@pytest.mark.parametrize(
    ("assertion", "told"),
    [
        ({"type": "contains", "value": "x", "weight": 10**400}, "weight"),
        ({"type": "answer_relevancy", "threshold": 10**400}, "threshold"),
        ({"type": "mock_hit", "value": "Read:²"}, "it must be Tool:N"),
        ({"type": "custom", "fn": "a\0.js"}, "cannot be a path"),
        ({"type": "custom", "fn": "a" * 5000 + ".js"}, "cannot be a path"),
    ],
)
def test_what_nobody_writes_by_hand_is_refused_in_words(project, runevals, assertion, told):
    project.write("evals/evals.json", {"samples": [{"sample_id": "a", "prompt": "p", "assertions": [assertion]}]})
    code, _, err = runevals("validate")
    assert code == 2
    assert told in err


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000 + "x", "? " * 100_000 + "x"])
def test_a_suite_that_nests_without_end_is_refused(project, runevals, text):
    project.write("evals.yaml", text)
    code, _, err = runevals("validate", "evals.yaml")
    assert code == 2
    assert "nest" in err


def test_words_that_are_not_read_are_told_with_the_one_that_was_meant(project, runevals):
    project.write(
        "evals.yaml",
        """samples:
  - sample_id: a
    prompt: p
    asertions: []
    owner: me
    assertions:
      - {type: contains, value: x, Not: true}
      - {type: regex, pattern: a.b, flag: s}
""",
    )
    code, out, err = runevals("validate", "evals.yaml")
    told = out + err
    assert code == 0
    assert "'asertions' is not read; did you mean 'assertions'?" in told
    assert "contains: unknown option 'Not'; did you mean 'not'?" in told
    assert "regex: unknown option 'flag'; did you mean 'flags'?" in told
    assert "owner" not in told


def test_the_preset_evaluators_are_assertions_too(project, runevals):
    project.write("agent.py", "def answer(prompt): return 'A1'")
    checks = [{"type": "preset-regex", "pattern": "^a"}, {"type": "preset-regex", "pattern": "^a", "not": True}]
    project.write("evals.json", {"samples": [{"sample_id": "a", "prompt": "p", "assertions": checks}]})
    assert runevals("evals.json", "--target", "python:agent.py:answer", "-q", "-o", "out.json")[0] == 0
    results = project.document()["cases"][0]["attempts"][0]["turns"][0]["results"]
    assert [result["outcome"] for result in results] == ["failed", "passed"]  # no flags unless they are given


@pytest.mark.parametrize(("deep", "code"), [(16, 0), (17, 2)])
def test_sets_nest_sixteen_deep(project, runevals, deep, code):
    check = {"type": "contains", "value": "x"}
    for _ in range(deep):
        check = {"type": "assert-set", "children": [check]}
    project.write("evals.json", {"samples": [{"sample_id": "a", "prompt": "p", "assertions": [check]}]})
    assert runevals("validate", "evals.json")[0] == code


def test_the_files_of_a_folder_are_one_suite(project, runevals):
    def samples(*names):
        check = {"type": "contains", "value": "A"}
        return {"samples": [{"sample_id": name, "prompt": "p", "assertions": [check]} for name in names]}

    project.write("agent.py", "def answer(prompt): return 'A'")
    project.write("cases/one.json", samples("a", "b"))
    project.write("cases/two.json", {**samples("c"), "requires": {"files": ["agent.py"]}})
    for skipped in ("_draft.json", "report-1.json", "health.json"):
        project.write(f"cases/{skipped}", samples("a"))
    words = ("cases", "--target", "python:agent.py:answer", "-q", "-o", "out.json")
    code, out, err = runevals(*words)
    assert code == 0, out + err
    found = project.document()
    assert [suite["name"] for suite in found["run"]["suites"]] == ["cases"]
    assert [(case["key"], case["file"]) for case in found["cases"]] == [
        ("a", "cases/one.json"),
        ("b", "cases/one.json"),
        ("c", "cases/two.json"),
    ]
    project.write("cases/two.json", samples("a"))
    code, _, err = runevals(*words)
    assert code == 2
    assert "the key 'a' is already used by the case at cases/one.json, line 3" in err


def test_a_target_that_does_not_get_the_working_folder_is_named(project, runevals):
    checks = [{"type": "contains", "value": "x"}]
    samples = [{"sample_id": key, "prompt": "p", "cwd": "work", "assertions": checks} for key in "ab"]
    project.write("eval-samples.json", samples)
    project.write("work/keep", "")
    project.write("t.py", "def answer(prompt, messages=None, case=None):\n    return 'x'\n")
    for target, named in (("python:t.py:answer", True), ("command:echo x", False)):
        _, _, err = runevals("--target", target, "-q", "-o", "out.json")
        assert ("warning: cwd is for command targets; the python target does not get it" in err) == named
