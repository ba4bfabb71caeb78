"""`runevals run` as a user meets it."""

from __future__ import annotations

import json
import re

import pytest

from tests.against_base import on_main
from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.sample_suites import AGENT, ANSWERS, SUITE, WORSE


def test_runevals_alone_runs_what_it_finds_and_says_where_it_wrote(project, runevals):
    project.write("evals/evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    code, out, _ = runevals("--target", "recorded:answers.jsonl")
    assert code == 0
    assert out.startswith("✓ 1 of 2 cases pass – nothing to compare with yet")
    written = re.search(r"Written: (\S+), (\S+)", out)
    assert re.fullmatch(r"\.evals/results/\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d\.json", written[1])
    assert written[2] == written[1].replace(".json", ".html")
    assert all((project.path / name).is_file() for name in written.groups())


@pytest.mark.parametrize(
    "names",
    [
        ["prompts.json", "evals.json", "tests.json", "evals/prompts.json", "evals/evals.json"],
        ["evals.json", "tests.json", "evals/prompts.json"],
        ["tests.json", "evals/prompts.json"],
        ["evals/prompts.json", "evals/tests.json"],
    ],
)
def test_the_first_place_that_has_something_runs_and_the_others_are_named(project, runevals, names):
    project.write("answers.jsonl", ANSWERS)
    for name in names:
        project.write(name, SUITE)
    code, out, _ = runevals("--target", "recorded:answers.jsonl", "-o", "out.json")
    assert code == 0
    assert [suite["path"] for suite in project.document()["run"]["suites"]] == names[:1]
    assert f"also found, not run: {', '.join(names[1:])} (--all runs them)" in out


def test_all_runs_every_suite_and_passes_over_what_is_none(project, runevals):
    project.write("answers.jsonl", ANSWERS)
    for name in ("evals.json", "evals/evals.json", "evals/more.json"):
        project.write(name, SUITE)
    project.write("evals/package.json", {"name": "no suite"})
    code, _, _ = runevals("--all", "--target", "recorded:answers.jsonl", "-o", "out.json")
    assert code == 0
    assert [s["path"] for s in project.document()["run"]["suites"]] == [
        "evals.json",
        "evals/evals.json",
        "evals/more.json",
    ]


def test_without_a_suite_it_ends_at_once_and_creates_nothing(project, runevals):
    code, _, err = runevals()
    assert code == 2
    assert "no suite found" in err
    assert "Results of another tool need no suite: runevals gate FILE" in err
    assert project.files() == []


def test_a_pattern_that_matches_nothing_is_an_error(project, runevals):
    code, _, err = runevals("--prompts-file", "evals/*.json")
    ended(code, 2, err, "evals/*.json: there is no such file")


def test_without_a_target_it_shows_the_shortest_ways(project, runevals):
    project.write("evals.json", SUITE)
    code, _, err = runevals()
    assert code == 2
    assert err.count("  runevals --target") == 4


def test_the_commands_of_the_seed_run_as_printed(project, runevals):
    project.write("evals/knowledge-base.json", SUITE)
    project.write("agent.py", "def answer(prompt): return 'Paris, Lima: a collaboration platform'")
    project.write(
        "runevals.yaml",
        "version: 1\ntarget: {type: python, function: 'agent.py:answer'}\njudge: recorded:judge.jsonl\n",
    )
    project.write("judge.jsonl", "")
    runs = [
        ["--prompts-file", "./evals/knowledge-base.json"],
        ["--prompts-file", "./evals/knowledge-base.json", "--output", "./evals/results/v1.2.0-results.json"],
        ["--prompts-file", "./evals/knowledge-base.json", "--output", "x.csv", "--output", "x.json"],
        [
            "--no-judge",
            "--prompts",
            "What is Microsoft Graph?",
            "--expected",
            "Microsoft Graph is the API gateway.",
        ],
        ["--no-judge", "--prompts", "What is Teams?", "What is SharePoint?", "--expected", "A", "B"],
    ]
    codes = [runevals(*words)[0] for words in runs]
    assert codes == [0, 0, 0, 0, 0]
    assert {"evals/results/v1.2.0-results.json", "x.csv", "x.json"} <= set(project.files())


def test_inline_prompts_are_judged(project, runevals, monkeypatch):
    project.write("agent.py", "def answer(prompt): return 'An answer to ' + prompt")
    ask = ["--target", "python:agent.py:answer", "--judge", "tiny", "-o", "out.json"]
    with chat_server(lambda body, n: Reply(_verdict(body, 4))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, out, err = runevals(
            *ask, "--prompts", "What is Teams?", "What is SharePoint?", "--expected", "A", "B"
        )
    assert code == 0, err
    cases = project.document()["cases"]
    assert [case["attempts"][0]["turns"][0]["prompt"] for case in cases] == [
        "What is Teams?",
        "What is SharePoint?",
    ]
    assert {case["composite"] for case in cases} == {4.0}
    assert "✓ 2 of 2 cases pass" in out


def test_votes_of_a_judge_are_kept_and_a_median_is_not_held_against_a_single_vote(project, runevals, monkeypatch):
    project.write("agent.py", "def answer(prompt): return 'An answer'")
    project.write("evals.json", {**SUITE, "default_evaluators": {"Relevance": {}}})
    scores = {1: 1, 2: 4, 3: 5}
    with chat_server(lambda body, n: Reply(_verdict(body, scores[body["seed"]]))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        ask = ["--target", "python:agent.py:answer", "-q"]
        project.write("runevals.yaml", "judge: {model: tiny}\n")
        assert runevals(*ask, "-o", "one.json")[0] == 0
        project.write("runevals.yaml", "judge: {model: tiny, votes: 3}\n")
        code, _, err = runevals(*ask, "-o", "out.json")
    assert code == 0, err
    (result,) = project.document()["cases"][0]["attempts"][0]["turns"][0]["results"]
    assert (result["value"], result["outcome"], result["details"]["votes"]) == (4.0, "passed", [1.0, 4.0, 5.0])
    _, out, err = runevals("compare", "one.json", "out.json")
    assert "the judge was tiny on base, tiny by 3 votes now" in out + err


def test_a_recorded_judge_cannot_vote(project, runevals):
    project.write("evals.json", SUITE)
    project.write("judge.jsonl", "")
    project.write("runevals.yaml", "judge: {type: recorded, path: judge.jsonl, votes: 3}\n")
    code, _, err = runevals()
    assert code == 2
    assert "judge.votes: a recorded judge has one judgement of each answer" in err


def _verdict(body, score):
    nonce = re.search(r'"nonce": "([0-9a-f]{32})"', body["messages"][0]["content"])[1]
    return f'{{"reasoning": "fine", "score": {score}, "nonce": "{nonce}"}}'


ASKED = "Capital of France?"


def test_inline_prompts_are_scored_without_a_judge_too(project, runevals):
    project.write("agent.py", AGENT)
    words = ("--target", "python:agent.py:answer", "--prompts", "Capital of France?", "--expected", "Paris")
    code, out, err = runevals(*words)
    assert (code, "✓ 1 of 1 case passes – nothing to compare with yet" in out) == (0, True)
    assert "No judge: the answers are scored by PartialMatch." in err


@pytest.mark.parametrize(
    ("words", "shown", "code"),
    [
        pytest.param([ASKED], ["Paris", "Not checked: --expected TEXT"], 0, id="one prompt"),
        pytest.param([ASKED, "And?"], [f"> {ASKED}", "Paris", "> And?", "Quito"], 0, id="two prompts"),
        pytest.param([ASKED, "--no-judge"], ["Paris", "Not checked"], 0, id="no judge, as the flag says"),
        pytest.param([ASKED, "--expected", "Paris"], ["✓ PartialMatch", "✓ 1 of 1 case"], 0, id="a check"),
        pytest.param([ASKED, "--expected", "Rome"], ["Paris", "✗ PartialMatch", "✗ "], 0, id="one that fails"),
        pytest.param(["No"], ["! not answered: ValueError: no"], 3, id="no answer"),
    ],
)
def test_the_answers_to_prompts_of_the_command_line_are_shown(project, runevals, words, shown, code):
    project.write("agent.py", AGENT.replace(" return", " if prompt == 'No': raise ValueError('no')\n return"))
    got, out, err = runevals("--target", "python:agent.py:answer", "-q", "--prompts", *words)
    ended(got, code, out + err, *shown)


def test_each_of_several_targets_shows_its_answer(project, runevals):
    project.write("agent.py", AGENT)
    project.write("worse.py", WORSE)
    project.write("runevals.yaml", "targets: {one: 'python:agent.py:answer', two: 'python:worse.py:answer'}\n")
    code, out, err = runevals("-q", "--prompts", ASKED)
    assert (code, [word in out for word in ("== one\nParis", "== two\nRome", "Pass rate")]) == (
        0,
        [True, True, False],
    )
    assert not [name for name in project.files() if name.startswith(".evals/")], err


def test_prompts_of_the_command_line_are_not_compared_with_the_base_of_the_settings(project, runevals):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    target = "target: {type: python, function: 'agent.py:answer'}\n"
    project.write("runevals.yaml", target)
    assert runevals("-o", "base.json")[0] == 0
    project.write("runevals.yaml", target + "baseline: base.json\n")
    words = ("--prompts", "Capital of France?", "--expected", "Paris")
    code, out, err = runevals(*words)
    assert (code, "✓ 1 of 1 case passes – nothing to compare with yet" in out) == (0, True), err
    assert "removed" in runevals(*words, "--baseline", "base.json")[1]


def test_the_suite_suggested_where_there_is_none_runs(project, runevals):
    code, _, err = runevals()
    assert code == 2
    project.write("evals/evals.json", re.search(r"as evals/evals.json: (\{.*\})", err)[1])
    project.write("agent.py", AGENT)
    assert runevals("--target", "python:agent.py:answer")[0] == 0


def test_counts_of_prompts_and_expected_must_agree(project, runevals):
    code, _, err = runevals("--prompts", "a", "b", "--expected", "c")
    ended(code, 2, err, "1 text of --expected for 2 texts of --prompts")


def test_a_worse_answer_is_red_and_a_better_one_green(project, runevals):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    project.write("runevals.yaml", "target: {type: python, function: 'agent.py:answer', deterministic: true}\n")
    assert runevals("-o", "base.json")[0] == 0
    project.write("agent.py", AGENT.replace("'Paris'", "'Rome'"))
    code, out, _ = runevals(
        "--baseline", "base.json", "-o", "out.json", "-o", "out.xml", "-o", "out.md", "-o", "out.csv"
    )
    assert code == 1
    assert out.startswith("✗ 1 of 2 cases regressed")
    assert "− Paris" in out
    assert "+ Rome" in out
    assert project.document()["comparison"]["changes"][0]["key"] == "a"
    project.write("agent.py", AGENT.replace("'Quito'", "'Lima'"))
    code, out, _ = runevals("--baseline", "base.json")
    assert (code, out.splitlines()[0]) == (0, "✓ Improved – 1 case fixed, none regressed")


def test_filters_choose_cases(project, runevals):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    for words, keys in (
        (["--category", "eu"], ["a"]),
        (["--tag", "south"], ["b"]),
        (["--filter", "?"], ["a", "b"]),
        (["--filter", "b", "--filter", "a"], ["a", "b"]),
    ):
        runevals("--target", "recorded:answers.jsonl", "-o", "out.json", *words)
        assert [case["key"] for case in project.document()["cases"]] == keys
    code, _, err = runevals("--target", "recorded:answers.jsonl", "--category", "asia")
    ended(code, 2, err, "no cases match --category asia (2 cases; categories: eu)")


def test_a_thread_is_one_conversation_and_breaks_with_its_first_missing_answer(project, runevals):
    turns = [{"prompt": "One?", "expected_response": "1"}, {"prompt": "Two?", "expected_response": "2"}]
    project.write("evals.json", {**SUITE, "items": [{"name": "t", "turns": turns}, SUITE["items"][0]]})
    project.write("answers.jsonl", '{"case": "t", "turn": 2, "output": "2"}\n{"case": "a", "output": "Paris"}')
    code, out, _ = runevals("--target", "recorded:answers.jsonl", "-o", "out.json")
    assert code == 3
    assert "1 of 2 cases could not be measured (target failed ×1)" in out
    thread = project.document()["cases"][0]
    assert thread["status"] == "errored"
    first, second = thread["attempts"][0]["turns"]
    assert (first["error"]["code"], second["error"]["code"]) == ("target_failed", "turn_skipped")
    assert second["results"][0]["outcome"] == "skipped"


def test_recorded_responses_of_the_suite_are_scored_without_a_target(project, runevals):
    items = [{**item, "response": "It is Paris."} for item in SUITE["items"]]
    project.write("scored.json", {**SUITE, "items": items})
    code, _, _ = runevals("--evaluate-only", "scored.json", "-o", "out.json")
    assert (code, [case["status"] for case in project.document()["cases"]]) == (0, ["passed", "failed"])
    project.write("scored.json", {**SUITE, "items": [items[0], SUITE["items"][1]]})
    code, _, err = runevals("--evaluate-only", "scored.json")
    ended(code, 2, err, "scored.json:14:3: has no response to score (1 turn in all)")


@pytest.mark.parametrize(
    ("header", "columns", "told"),
    [
        ("question,ground_truth,answer", {}, "the answer from 'answer'"),
        ("question,expected,response", {}, None),
        ("question,ideal,output", {}, "the answer from 'output'"),
        ("question,answer,ours", {"response": "ours"}, None),
        ("answer,output,completion", {"prompt": "answer"}, "the answer from 'completion'"),
        ("question,answer,ours", {}, "a.csv:2:1: has no response to score (2 turns in all)"),
    ],
)
def test_answers_in_a_column_are_scored_without_a_target(project, runevals, header, columns, told):
    """They are no part of the case; where none is found, `validate` says so too."""
    project.write("a.csv", f"{header}\nCapital?,Paris,It is Paris.\nRiver?,Seine,It is the Rhine.\n")
    project.write("runevals.yaml", {"suites": [{"path": "a.csv", "columns": columns}]})
    words = ("--evaluate-only", "a.csv", "--evaluators", "preset-contains")
    code, out, err = runevals(*words, "-o", "out.json")
    if told is not None:
        assert told in err, err
    if told is None or told.startswith("the"):
        assert told is not None or "the answer from" not in err
        cases = project.document()["cases"]
        assert (code, [case["status"] for case in cases], cases[0]["name"]) == (
            0,
            ["passed", "failed"],
            "Capital?",
        )
    else:
        assert (code, out, runevals("validate", *words)[0]) == (2, "", 2)


def test_a_file_that_is_named_has_the_columns_of_its_pattern_in_the_settings(project, runevals):
    project.write("data/a.csv", "task,gold,pred\nCapital?,Paris,It is Paris.\n")
    columns = {"prompt": "task", "expected": "gold", "response": "pred"}
    entry = {"path": "data/*.csv", "columns": columns, "evaluators": ["preset-contains"]}
    project.write("runevals.yaml", {"suites": [entry]})
    code, out, err = runevals("--evaluate-only", "data/a.csv")
    assert (code, "1 of 1 case passes" in out) == (0, True), err


def test_a_column_that_nothing_reads_edits_no_case(repository, runevals):
    """Nor does one that the settings name as id, so that a case with another id is renamed."""
    columns = {"id": "nr", "prompt": "task", "expected": "gold", "response": "pred"}
    entry = {"path": "a.csv", "columns": columns, "evaluators": ["preset-contains"]}
    rows = [f"{n},Capital {n}?,Paris,It is Paris.,low" for n in range(5)]
    on_main(repository, "runevals.yaml", json.dumps({"suites": [entry]}))
    on_main(repository, "a.csv", "\n".join(["nr,task,gold,pred,priority", *rows]))
    words = ("run", "--evaluate-only", "a.csv", "--base", "main", "-o", "out.json")
    rows = [f"9{n},Capital {n}?,Paris,It is Paris.,high" for n in range(5)]
    repository.write("a.csv", "\n".join(["nr,task,gold,pred,priority", *rows]))
    code, out, err = runevals(*words)
    ended(code, 0, out + err, "No regression shown in 5 cases")
    assert [change["change"] for change in repository.document()["comparison"]["changes"]] == ["renamed"] * 5


def test_every_format_without_answers_says_so(project, runevals):
    project.write(
        "evals/evals.json", {"skill_name": "n", "evals": [{"id": 1, "prompt": "Write", "assertions": ["A"]}]}
    )
    for word in ("run", "validate"):
        code, _, err = runevals(word, "--evaluate-only", "evals/evals.json")
        ended(code, 2, err, "has no response to score", "--target recorded:FILE")


def test_a_judge_that_is_asked_for_but_not_configured_is_told_before_the_run(project, runevals):
    project.write("evals.json", {"schemaVersion": "1.2.0", "items": SUITE["items"]})
    project.write("answers.jsonl", ANSWERS)
    code, _, err = runevals("--target", "recorded:answers.jsonl")
    assert code == 2
    lost = "2 of 2 cases ask for a judge, but none is configured: a (Coherence), b (Coherence)"
    ended(code, 2, err, lost, "checks that need none", without=["--no-judge"])
    assert project.files() == ["answers.jsonl", "evals.json"]
    code, out, _ = runevals("--target", "recorded:answers.jsonl", "--no-judge")
    ended(
        code, 3, out, "measured without a judge: name one with --judge-model MODEL, or write checks that need none"
    )


def test_a_pattern_that_does_not_compile_is_told_before_the_run(project, runevals):
    project.write("evals.json", {**SUITE, "default_evaluators": {"regex": {"pattern": "(unclosed"}}})
    project.write("answers.jsonl", ANSWERS)
    for words in (["--target", "recorded:answers.jsonl"], ["validate"]):
        code, _, err = runevals(*reversed(words)) if words == ["validate"] else runevals(*words)
        assert code == 2
        assert "/default_evaluators/regex regex cannot be used: /(unclosed/i: SyntaxError" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--output", "report.pdf"], "--output report.pdf: the suffix selects the format"),
        (["--repeat", "0"], "--repeat is 0; it must be from 1 to 10000"),
        (["--min-pass-rate", "85"], "--min-pass-rate is 85; it must be from 0 to 1"),
        (["--target", "opnai:x"], "there is no target 'opnai:x'"),
        (["--target", "gpt-5"], "did you mean 'openai:gpt-5'?"),
        (["--target", "gemini-cl"], "did you mean 'gemini-cli'?"),
        (["--target", "recorded:none.jsonl"], "there is no file none.jsonl"),
        (["--baseline", "none.json"], "Error: there is no file "),
        (["--config", "none.yaml"], "there is no settings file none.yaml"),
        (["--env", "../x"], "a name has only letters"),
        (["--no-such-option"], "No such option"),
        (["--judge", "recorded:none.jsonl"], "the recorded judge: there is no file none.jsonl"),
    ],
)
def test_bad_words_are_told_without_a_traceback(project, runevals, words, told):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    code, out, err = runevals("--target", "recorded:answers.jsonl", *words)
    assert code == 2
    assert told in err
    assert "Traceback" not in out + err


def test_a_bug_of_ours_says_so_with_exit_4(project, runevals, monkeypatch):
    project.write("evals.json", SUITE)
    monkeypatch.setattr("runevals.cli.run.suites_of", lambda settings: 1 / 0)  # a fault of ours, put in
    code, _, err = runevals()
    assert code == 4
    assert "ZeroDivisionError" in err
    assert "This is a bug in runevals" in err


def test_a_target_that_refuses_stops_the_run_with_exit_3(project, runevals, monkeypatch):
    project.write("evals.json", SUITE)
    with chat_server(lambda body, n: Reply(status=401)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, _, err = runevals("--model", "tiny")
    assert code == 3
    assert "the target refuses every call: 401" in err


@pytest.mark.parametrize(
    "reply",
    [Reply(status=401), Reply(status=403), Reply(status=429, error={"code": "insufficient_quota"})],
)
@pytest.mark.parametrize(
    ("key", "told"),
    [("sk-of-this-test-0123456789", "with the key in MY_KEY"), ("", "with no key: MY_KEY is not set")],
)
def test_a_refused_key_is_told_by_its_variable_and_the_address(project, runevals, monkeypatch, reply, key, told):
    project.write("evals.json", SUITE)
    with chat_server(lambda body, n: reply) as server:
        settings = f"{{type: openai, model: tiny, base_url: '{server.base_url}', api_key_env: MY_KEY}}"
        project.write("runevals.yaml", f"target: {settings}\n")
        monkeypatch.setenv("MY_KEY", key)
        code, _, err = runevals()
    assert code == 3
    assert f"({server.base_url}, asked {told})" in err


def test_a_key_that_the_server_repeats_is_not_shown(project, runevals, monkeypatch):
    key = "sk-of-this-test-0123456789"
    project.write("evals.json", SUITE)
    with chat_server(lambda body, n: Reply(status=401, error={"message": f"Incorrect API key: {key}."})) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", key)
        _, out, err = runevals("--model", "tiny")
    assert "Incorrect API key: [redacted OPENAI_API_KEY]." in err
    assert key not in out + err


def test_repeats_are_run_for_stochastic_targets_and_not_for_deterministic_ones(project, runevals):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    for deterministic, attempts in ((False, 3), (True, 1)):
        settings = (
            f"target: {{type: python, function: 'agent.py:answer', deterministic: {str(deterministic).lower()}}}\n"
        )
        project.write("runevals.yaml", settings)
        runevals("--repeat", "3", "-o", "out.json")
        assert [len(case["attempts"]) for case in project.document()["cases"]] == [attempts, attempts]


def test_an_unwritable_output_is_told_before_anything_runs(project, runevals):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    project.write("blocked", "a file, not a folder")
    code, _, err = runevals("--target", "recorded:answers.jsonl", "-o", "blocked/out.json")
    ended(code, 2, err, "--output blocked/out.json cannot be written")
    assert project.files() == ["answers.jsonl", "blocked", "evals.json"]


def test_dry_run_calls_nothing(project, runevals):
    project.write("evals.json", SUITE)
    code, out, _ = runevals("--dry-run", "--target", "command:/no/such/program")
    assert code == 0
    assert "cases       2" in out
    assert project.files() == ["evals.json"]


def test_a_line_break_after_the_key_is_not_sent(project, runevals, monkeypatch):
    """It comes with a file that the variable was set from."""
    project.write("evals.json", SUITE)
    with chat_server(lambda *_: Reply("Paris, Lima")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "key-of-this-test-1234\n")
        code, out, _ = runevals("--target", "openai:small")
        ended(code, 0, out, "2 of 2 cases pass")
        for other in ("key-of-this-test\n1234", "key-öf-this-test-1234"):
            monkeypatch.setenv("OPENAI_API_KEY", other)
            code, out, err = runevals("--target", "openai:small")
            ended(code, 2, err, "target: OPENAI_API_KEY holds a line break or another character", without=["1234"])


@pytest.mark.parametrize("words", [["plan"], ["--dry-run"]], ids=lambda words: words[0])
def test_nothing_of_a_plan_can_command_the_runner(project, runevals, monkeypatch, words):
    evil = {**SUITE["items"][0], "category": "x\n::warning::pwned \u001b[31m"}
    project.write("evals.json", {**SUITE, "items": [evil]})
    project.write("answers.jsonl", ANSWERS)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    code, out, err = runevals(*words, "--target", "recorded:answers.jsonl")
    assert code == 0, err
    assert "pwned" in out
    assert "\x1b" not in out + err
    assert not re.search(r"^\s*::", out + err, re.MULTILINE)


def test_nothing_of_an_answer_can_command_the_runner(project, runevals, monkeypatch):
    project.write("evals.json", SUITE)
    evil = "::set-output name=verdict::passed\\n##[error]x"
    project.write("answers.jsonl", f'{{"case": "a", "output": "{evil}"}}\n{{"case": "b", "output": "\\u001b[2J"}}')
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    code, out, err = runevals("--target", "recorded:answers.jsonl")
    assert code == 0
    ours = ["::group::2 trials · evals.json · recorded answers.jsonl", "::endgroup::"]
    assert [line for line in (out + err).splitlines() if line.lstrip().startswith("::")] == ours
    assert "##[" not in out + err
    assert "\x1b" not in out


@pytest.fixture
def answered(project):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    return project


def test_a_misspelt_gate_is_told_and_switches_nothing_off(answered, runevals):
    code, _, err = runevals("--target", "recorded:answers.jsonl", "--fail-on", "no_regresion")
    assert code == 2
    assert "did you mean 'no_regression'" in err


def test_a_filtered_run_is_compared_with_the_same_cases_of_the_base(answered, runevals):
    run = ["--target", "recorded:answers.jsonl"]
    runevals(*run, "-o", "base.json")
    code, out, _ = runevals(*run, "--baseline", "base.json", "--filter", "a")
    assert code == 0, out
    assert out.startswith("✓ No regression shown in 1 case")
    runevals(*run, "--filter", "x, a", "-o", "out.json")
    assert [case["key"] for case in answered.document()["cases"]] == ["a"]


def test_a_target_that_replaces_the_settings_says_what_it_leaves_out(answered, runevals):
    answered.write(
        "runevals.yaml", "suites: [evals.json]\ntarget: {type: ollama, model: small, system_prompt: Be kind.}\n"
    )
    told = "--target replaces the target of the settings, and its system_prompt; --model keeps them"
    assert told in runevals("--target", "recorded:answers.jsonl")[2]
    assert told not in runevals("--model", "large", "--dry-run")[2]


def test_a_case_that_moves_into_the_category_that_is_run_is_compared_with_what_it_was(answered, runevals):
    run = ["--target", "recorded:answers.jsonl", "--category", "asia"]
    runevals(*run[:2], "-o", "base.json")
    moved = [{**case, "category": "asia"} for case in SUITE["items"]]
    answered.write("evals.json", {**SUITE, "items": moved})
    answered.write("answers.jsonl", ANSWERS.replace("Paris", "Rome"))
    code, out, _ = runevals(*run, "--baseline", "base.json")
    assert (code, "1 of 2 cases regressed: a" in out) == (1, True), out


def test_a_key_alone_keeps_no_command_from_its_work(answered, runevals, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    for words in (["validate"], ["plan"], ["settings"]):
        assert runevals(*words)[0] == 0
    code, _, err = runevals()
    ended(code, 2, err, "runevals --target openai:")


def test_a_suite_key_cannot_command_the_runner_from_an_error(project, runevals, monkeypatch):
    project.write("evals.json", {**SUITE, "items": [{"testId": "x\n::error file=a::pwned", "promt": "?"}] * 2})
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for words in ([], ["validate", "--format", "text"]):
        code, out, err = runevals(*words)
        assert code == 2
        assert not any(line.lstrip().startswith("::") for line in (out + err).splitlines())
    code, out, err = runevals("validate")  # whose own annotations are meant
    assert (code, err) == (2, "")
    assert all(line.startswith("::error file=evals.json,line=") for line in out.splitlines())


def test_files_of_a_folder_that_are_no_suites_are_named(project, runevals):
    project.write("evals/healthcare.json", SUITE)
    project.write("evals/package.json", {"name": "x"})
    project.write("answers.jsonl", ANSWERS)
    code, out, _ = runevals("evals", "--target", "recorded:answers.jsonl", "-o", "out.json")
    assert code == 0
    assert "skipped: not a suite file: evals/package.json" in out
    assert len(project.document()["cases"]) == 2


def test_an_answer_that_never_came_is_errored_not_failed(project, runevals, monkeypatch):
    project.write("evals.json", SUITE)
    with chat_server(lambda body, n: Reply(None, finish_reason="content_filter")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, *_ = runevals("--model", "tiny", "-o", "out.json")
    assert code == 3
    error = project.document()["cases"][0]["attempts"][0]["turns"][0]["error"]
    assert (error["code"], "content_filter" in error["message"]) == ("empty_response", True)


def test_parameters_that_only_this_server_knows_are_sent(project, runevals, monkeypatch):
    project.write("evals.json", SUITE)
    project.write("runevals.yaml", "target: {type: openai, model: tiny, parameters: {top_k: 5}}")
    with chat_server(lambda body, n: Reply("Paris")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert runevals("-o", "out.json")[0] == 0
    assert server.requests[0]["top_k"] == 5


def test_costs_of_target_and_judge_are_told_apart_and_known_only_where_prices_are(project, runevals, monkeypatch):
    def answer(body, number):
        nonce = re.search(r'"nonce": "(\w+)"', body["messages"][0]["content"])
        return (
            Reply("Paris")
            if nonce is None
            else Reply(json.dumps({"score": 5, "reasoning": "r", "nonce": nonce[1]}))
        )

    project.write("evals.json", {**SUITE, "default_evaluators": {"Relevance": {}}})
    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        words = ("--target", "openai:tiny", "--judge", "big", "--cache", "none", "-q", "-o", "out.json")
        project.write(
            "runevals.yaml", "prices: {tiny: {input: 100, output: 200}, big: {input: 1000, output: 0}}\n"
        )
        assert runevals(*words)[0] == 0
        totals = project.document()["totals"]  # the server counts 10 tokens in and 5 out for each call
        assert (totals["cost_usd"], totals["judge_cost_usd"]) == (pytest.approx(0.004), pytest.approx(0.02))
        (project.path / "runevals.yaml").unlink()
        assert runevals(*words)[0] == 0
        totals = project.document()["totals"]
        assert (totals["cost_usd"], totals["judge_cost_usd"], totals["input_tokens"]) == (None, None, 20)


@pytest.mark.parametrize("named", ["by a flag", "in the settings"])
def test_a_misspelt_evaluator_is_refused_though_the_suite_names_its_own(project, runevals, named):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    words = ["--evaluators", "preset-exact-mach"] if named == "by a flag" else []
    if not words:
        project.write("runevals.yaml", {"suites": [{"path": "evals.json", "evaluators": ["preset-exact-mach"]}]})
    code, out, err = runevals("run", "--target", "python:agent.py:answer", *words)
    ended(code, 2, out + err, "there is no evaluator 'preset-exact-mach'; did you mean 'preset-exact-match'?")


def test_every_misspelt_evaluator_of_the_settings_is_told(project, runevals):
    project.write("rows.jsonl", '{"input": "a", "expected": "b"}')
    project.write("runevals.yaml", "suites: [{path: rows.jsonl, evaluators: [preset-contain, Relevence]}]\n")
    code, _, err = runevals("validate")
    ended(code, 2, err, "no evaluator 'preset-contain'", "no evaluator 'Relevence'")


def test_a_change_that_corrects_the_name_of_an_evaluator_is_compared(repository, runevals):
    repository.git("checkout", "-q", "main")
    settings = (
        "suites: [{path: evals.json, evaluators: [%s]}]\ntarget: {type: python, function: 'agent.py:answer'}\n"
    )
    repository.write("runevals.yaml", settings % "preset-exact-mach")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "misspelt")
    repository.git("checkout", "-q", "-B", "change")
    repository.write("runevals.yaml", settings % "preset-exact-match")
    code, out, err = runevals("--base", "main")
    ended(code, 0, out + err, "No regression shown in 2 cases")


def test_an_llm_evaluators_threshold_and_its_inversion_are_those_of_the_suite(project, runevals, monkeypatch):
    project.write(
        "runevals.yaml", "suites: [evals.yaml]\nevaluators: [{id: rude, type: llm, prompt: 'Rude? {{output}}'}]\n"
    )
    samples = {"bar": "threshold: 0.9", "within": "threshold: 0.8", "inverted": "not: true"}
    lines = [f"  - {{sample_id: {k}, prompt: p, assertions: [{{type: rude, {v}}}]}}\n" for k, v in samples.items()]
    project.write("evals.yaml", "samples:\n" + "".join(lines))
    project.write("agent.py", "def answer(prompt): return 'An answer'")
    with chat_server(lambda body, n: Reply(_verdict(body, 8).replace('"score"', '"overall"'))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, _, err = runevals("--target", "python:agent.py:answer", "--judge", "big", "-q", "-o", "out.json")
    assert code == 0, err
    found = {case["key"]: (case["status"], case["composite"]) for case in project.document()["cases"]}
    assert found["bar"] == ("failed", pytest.approx(4.2))
    assert found["within"] == ("passed", pytest.approx(4.2))
    assert found["inverted"] == ("failed", pytest.approx(1.8))  # 1 + 4 · (1 − 0.8): what was asked is its absence


def test_numbers_are_looked_for_as_they_are_written(project, runevals):
    project.write("agent.py", "def answer(prompt): return 'id 1234567, 3.14159265'")
    checks = "[{type: contains, value: 1234567}, {type: contains, value: 3.14159265}]"
    project.write("evals.yaml", f"samples:\n  - {{sample_id: a, prompt: p, assertions: {checks}}}\n")
    assert runevals("evals.yaml", "--target", "python:agent.py:answer", "-q", "-o", "out.json")[0] == 0
    assert project.document()["cases"][0]["status"] == "passed"
    project.write(
        "evals.yaml", "samples:\n  - {sample_id: a, prompt: p, assertions: [{type: contains, value: true}]}\n"
    )
    code, _, err = runevals("evals.yaml", "--target", "python:agent.py:answer")
    assert code == 2
    assert "value must be text" in err


def test_the_cost_of_a_combined_check_is_that_of_all_its_questions(project, runevals, monkeypatch):
    project.write("runevals.yaml", "suites: [evals.yaml]\nprices: {big: {input: 1000, output: 0}}\n")
    project.write(
        "evals.yaml",
        "samples:\n  - {sample_id: a, prompt: p, dimensions: {tone: kind, depth: deep}}\n",
    )
    project.write("agent.py", "def answer(prompt): return 'An answer'")
    with chat_server(lambda body, n: Reply(_verdict(body, 4))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, _, err = runevals("--target", "python:agent.py:answer", "--judge", "big", "-q", "-o", "out.json")
    assert code == 0, err
    assert len(server.requests) == 2
    assert project.document()["totals"]["judge_cost_usd"] == pytest.approx(0.02)


def test_a_suite_that_is_a_link_out_of_the_repository_is_refused(project, runevals, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "evals.json"
    outside.write_text(json.dumps(SUITE))
    (project.path / "evals.json").symlink_to(outside)
    project.write("answers.jsonl", ANSWERS)
    code, _, err = runevals("--target", "recorded:answers.jsonl")
    ended(code, 2, err, "leads out of the repository by a link")
    code, _, err = runevals("validate", outside)
    assert code == 0, err


@pytest.mark.parametrize("name", ["eval-samples.json", "one.yaml"])
def test_a_single_sample_is_a_sample(project, runevals, name):
    """As the format's own documentation prints one: its assertions are never dropped."""
    sample = {"sample_id": "s", "prompt": "p", "assertions": [{"type": "contains", "value": "not there"}]}
    project.write(name, sample)
    project.write("answers.jsonl", '{"case": "s", "output": "p"}\n')
    _, _, err = runevals("run", name, "--target", "recorded:answers.jsonl", "-o", "out.json")
    assert project.document()["run"]["suites"][0]["dialect"] == "eval-samples", err
    [case] = project.document()["cases"]
    assert (case["key"], case["status"]) == ("s", "failed")
    project.write(name, {**sample, "assertions": [{"type": "contain", "value": "x"}]})
    code, _, err = runevals("validate", name)
    ended(code, 2, err, "did you mean 'contains'", f"{name}:")


@pytest.mark.parametrize("url", ["http://localhost:abc/v1", "http://[::1/v1"])
def test_an_address_that_is_none_is_told(project, runevals, monkeypatch, url):
    project.write("evals.json", SUITE)
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    code, _, err = runevals("--target", "openai:gpt-5-mini")
    ended(code, 2, err, "cannot be read", "OPENAI_BASE_URL")


@pytest.mark.parametrize("command", ["run", "doctor"])
def test_an_address_without_a_scheme_is_told_before_the_run(project, runevals, monkeypatch, command):
    project.write("evals.json", SUITE)
    monkeypatch.setenv("OPENAI_BASE_URL", "127.0.0.1:9200")
    code, out, err = runevals(command, "--target", "openai:tiny")
    told = "OPENAI_BASE_URL: '127.0.0.1:9200' must begin with http:// or https://"
    ended(code, 2, out + err, told)
    assert not (project.path / ".evals").exists()


@pytest.mark.parametrize("flag", ["--judge-model", "--baseline"])
def test_a_flag_that_names_one_thing_is_given_once(project, runevals, flag):
    project.write("evals.json", SUITE)
    code, out, err = runevals(flag, "a", flag, "b")
    ended(code, 2, out + err, f"{flag} was given 2 times (a, b), but a run has one; run the command once for each")


def test_a_model_that_there_is_not_stops_the_run_and_says_where_it_is_named(project, runevals, monkeypatch):
    project.write(
        "evals.json",
        {**SUITE, "items": [{"testId": f"k{n}", "prompt": f"{n}?", "expected_response": "a"} for n in range(20)]},
    )
    unknown = Reply(status=404, error={"message": "The model `tiny` does not exist", "code": "model_not_found"})
    with chat_server(lambda body, n: unknown) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, out, err = runevals("--target", "openai:tiny", "--concurrency", "1")
    assert code == 3
    assert len(server.requests) < 20  # of 20 cases; a call may be under way when the first is refused
    assert f"{server.base_url} has no model tiny" in out + err
    assert "`target:` in runevals.yaml, or --target" in out + err


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("python:agnt.py:answer", "there is no file agnt.py; did you mean 'agent.py'?"),
        ("python:agent.py:anser", "agent.py has no function anser; did you mean 'answer'?"),
        ("command:no-such-program-here -x", "there is no program no-such-program-here"),
    ],
)
def test_a_target_that_is_not_there_is_told_before_the_run(project, runevals, target, told):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    code, _, err = runevals("--target", target)
    ended(code, 2, err, told)
    assert not (project.path / ".evals").exists()


def test_a_folder_of_a_project_says_where_its_settings_are(project, runevals, monkeypatch):
    project.write("evals.json", SUITE)
    project.write("runevals.yaml", "repeat: 1\n")
    project.write("sub/notes.md", "x")
    monkeypatch.chdir(project.path / "sub")
    code, _, err = runevals()
    ended(code, 2, err, "no suite found", f"{project.path} has settings: run `runevals` there")


def test_an_option_of_other_tools_has_its_name_here(project, runevals):
    code, _, err = runevals("run", "--case", "x")
    ended(code, 2, err, "No such option '--case'", "Did you mean '--filter'?")


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--all-projects", "`gate` runs nothing: it reads results, those of several projects from one folder"),
        ("--repeat", "`gate` runs nothing"),
        ("--nothing", "No such option '--nothing'."),
    ],
)
def test_an_option_of_a_run_is_told_to_be_none_of_gate(project, runevals, option, told):
    code, _, err = runevals("gate", option, "x.xml")
    ended(code, 2, " ".join(err.split()), f"No such option '{option}'", told)
    assert ("`runevals run` has it" in " ".join(err.split())) is (option != "--nothing")


def test_a_gate_on_a_misspelt_category_is_told_before_the_run(project, runevals):
    project.write("evals.json", {**SUITE, "items": [{**SUITE["items"][0], "category": "knowledge"}]})
    gate = "{metric: pass_rate, op: '>=', limit: 1, scope: {category: knowlege}}"
    project.write("runevals.yaml", f"target: {{type: openai, model: m}}\ngates: [{gate}]\n")
    for words in (("validate",), ("run",)):
        code, out, err = runevals(*words)
        ended(code, 2, out + err, "no case has the category 'knowlege'; did you mean 'knowledge'?")


def test_so_is_one_that_a_change_adds_before_it_is_merged(repository, runevals):
    """The base's gates decide, and this one would block the change that corrects it."""
    repository.write("evals.json", {**SUITE, "items": [{**SUITE["items"][0], "category": "knowledge"}]})
    on_main(repository, "runevals.yaml", "target: {type: python, function: 'agent.py:answer'}\n")
    gate = "{metric: pass_rate, op: '>=', limit: 1, scope: {category: knowlege}}"
    with (repository.path / "runevals.yaml").open("a") as file:
        file.write(f"gates: [{gate}]\n")
    repository.git("commit", "-qam", "gate")
    code, out, err = runevals("--base", "main")
    ended(code, 2, out + err, "no case has the category 'knowlege'; did you mean 'knowledge'?")


def test_a_reply_whose_output_is_misspelt_is_no_answer(project, runevals):
    project.write("evals.json", SUITE)
    project.write("agent.py", 'print(\'{"ouput": "Paris", "toolCalls": []}\')')
    code, out, err = runevals("--target", "command:python3 agent.py", "--no-judge")
    ended(code, 3, out + err, "the target's 'output' is missing; did you mean it by 'ouput'?")


def test_recorded_answers_have_the_names_of_programs_and_no_misspelt_ones(project, runevals):
    check = {"tool_count": {"tool": "a", "max": 0}}
    project.write("evals.json", {**SUITE, "default_evaluators": check, "items": [{"testId": "k", "prompt": "q"}]})
    project.write("a.jsonl", '{"case": "k", "output": "x", "toolCalls": []}\n')
    code, out, err = runevals("--target", "recorded:a.jsonl")
    assert code == 0, out + err
    project.write("a.jsonl", '{"case": "k", "output": "x", "toolscalls": []}\n')
    code, _, err = runevals("--target", "recorded:a.jsonl")
    ended(
        code, 2, err, "a.jsonl:1: is not a recorded answer: 'toolscalls' is not read; did you mean 'tool_calls'?"
    )


@pytest.mark.parametrize("flag", ["--baseline", "--base", "--target", "--config", "--judge", "--against"])
def test_an_empty_flag_is_told(project, runevals, flag):
    """As `--base "$UNSET"` in a job: without it, the run would have another meaning."""
    project.write("evals.json", SUITE)
    code, _, err = runevals(flag, "")
    ended(code, 2, err, f"{flag} is empty")


def test_a_module_that_cannot_be_loaded_is_told_without_our_internals(project, runevals):
    project.write("evals.json", SUITE)
    _, out, err = runevals("--target", "python:no_such_module_here:answer")
    assert "ModuleNotFoundError: No module named 'no_such_module_here'" in out + err
    assert "<frozen" not in out + err
    assert "python_worker" not in out + err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["validat", "good.json"], "there is no command or file 'validat'; did you mean 'validate'?"),
        (["evals/god.json"], "did you mean 'evals/good.json'?"),
        (["validate", "evals/god.json"], "did you mean 'evals/good.json'?"),
    ],
)
def test_a_mistyped_command_or_path_gets_the_nearest(project, runevals, words, told):
    project.write("evals/good.json", SUITE)
    code, _, err = runevals(*words)
    ended(code, 2, err, told)


def test_a_file_may_be_called_nearly_as_a_command(project, runevals):
    project.write("validat", ANSWERS)
    assert "no command" not in runevals("validat")[2]


@pytest.mark.parametrize(
    "flags", [("--quiet", "--verbose"), ("--no-judge", "--judge=x"), ("--no-judge", "--judge-model=x")]
)
def test_flags_that_say_opposite_things_are_refused(project, runevals, flags):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    code, _, err = runevals("--target", "recorded:answers.jsonl", *flags)
    ended(code, 2, err, "say opposite things")


def test_the_page_says_how_to_run_a_case_again_with_the_settings_it_had(project, runevals):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    project.write("ci/mine.yaml", "version: 1\nsuites: [../evals.json]\n")
    runevals("--config", "ci/mine.yaml", "--target", "python:agent.py:answer", "-o", "out.html")
    page = (project.path / "out.html").read_text(encoding="utf-8")
    again = "runevals run evals.json --filter=a --config=ci/mine.yaml --target=python:agent.py:answer"
    assert again in page
    assert runevals(*again.split()[1:])[0] == 0


@pytest.mark.parametrize("name", ["runevals.quarantine.yaml", "runevals.accepted.yaml"])
def test_validate_names_the_mistakes_of_the_lists_that_a_run_reads(project, runevals, name):
    project.write("evals.json", SUITE)
    assert runevals("validate")[0] == 0
    project.write(name, "- case: a\n  key: a\n")
    code, _, err = runevals("validate")
    ended(code, 2, err, f"{name}:1")


def test_validate_refuses_a_critical_case_on_the_quarantine_list(project, runevals):
    items = [{**item, "category": "redteam"} for item in SUITE["items"]]
    project.write("evals.json", {**SUITE, "items": items})
    project.write("runevals.quarantine.yaml", "[{key: a, owner: ana, reason: flaky, expires: 2099-12-31}]\n")
    code, _, err = runevals("validate")
    ended(
        code, 2, err, "runevals.quarantine.yaml:1:8: /0/key a is critical, so it counts; remove it from the list"
    )


def test_validate_warns_of_quarantine_entries_that_have_no_case_or_ended(project, runevals):
    project.write("evals.json", SUITE)
    rest = "owner: ana, reason: flaky, expires: 2026-01-01"
    project.write("runevals.quarantine.yaml", f"- {{key: a, {rest}}}\n- {{key: gone, {rest}}}\n")
    code, out, err = runevals("validate")
    ended(code, 0, out + err, "yaml:1:9: /0/key", "a expired on 2026-01-01", "yaml:2:9: /1/key", "no case gone")


def test_a_quarantine_list_that_is_named_and_missing_is_told(project, runevals):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    words = ["--target", "recorded:answers.jsonl"]
    assert "quarantine" not in "".join(runevals(*words)[1:])
    told = runevals(*words, "--quarantine", "flaky.yaml")
    assert "there is no file flaky.yaml, so no case is quarantined" in "".join(told[1:])


def test_suites_by_other_names_are_named_where_none_is_found(project, runevals):
    project.write("checks/mine.json", SUITE)
    project.write("package.json", {"name": "x"})
    project.write("answers.jsonl", ANSWERS)
    code, _, err = runevals("--target", "recorded:answers.jsonl")
    ended(code, 2, err, "no suite found")
    assert "These look like suites: checks/mine.json. Run one: runevals checks/mine.json" in err


def test_a_filter_that_leaves_nothing_lists_the_keys(project, runevals):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    code, _, err = runevals("--target", "recorded:answers.jsonl", "--filter", "ZZZ")
    ended(code, 2, err, "keys: a, b)")


def test_a_case_that_every_check_skips_is_not_measured(project, runevals):
    """faithfulness has nothing to judge without a context; that another case passes is no verdict on this one."""
    items = [
        {"testId": "a", "prompt": "Capital of France?", "expected_response": "Paris"},
        {"testId": "b", "prompt": "?", "evaluators": {"faithfulness": {}}, "evaluators_mode": "replace"},
    ]
    project.write("evals.json", {**SUITE, "items": items})
    project.write("answers.jsonl", ANSWERS)
    project.write("judge.jsonl", "")
    words = ["--target", "recorded:answers.jsonl", "--judge", "recorded:judge.jsonl", "-o", "out.json"]
    code, out, _ = runevals(*words)
    ended(code, 3, out, "faithfulness: evidence_missing: no context to hold the response against   (evals.json:")
    assert [case["status"] for case in project.document()["cases"]] == ["passed", "errored"]
    code, out, _ = runevals(*words[:2], "--no-judge", "-o", "out.json")
    ended(code, 0, out, "1 of 1 case passes, 1 skipped", "run without a judge (--no-judge): 1 check skipped")


def test_a_change_that_leaves_a_case_to_a_judge_says_which_checks_it_removes(repository, runevals):
    check = {"type": "contains", "value": "Paris"}
    case = {"id": "a", "prompt": "Capital of France?", "expected_output": "It says Paris.", "assertions": [check]}
    repository.write("SKILL.md", "---\nname: s\ndescription: Says capitals.\n---\nSay it.\n")
    repository.write("evals/evals.json", {"skill_name": "s", "evals": [case]})
    settings = "suites: [evals/evals.json]\ntarget: {type: python, function: 'agent.py:answer'}\n"
    on_main(repository, "runevals.yaml", settings)
    repository.write("evals/evals.json", {"skill_name": "s", "evals": [{**case, "assertions": []}]})
    code, _, err = runevals("--base", "main", "-q")
    ended(
        code, 2, err, "1 of 1 cases ask for a judge", "The change removes checks that the base has: a (contains)"
    )


@pytest.mark.parametrize("words", [[], ["--no-judge"]])
def test_a_base_that_only_a_judge_could_measure_is_no_base(repository, runevals, words):
    """What its other checks say is compared; without any, the change is a first run."""
    target = "target: {type: python, function: 'agent.py:answer'}\n"
    on_main(repository, "runevals.yaml", f"suites: [evals.json]\n{target}")
    items = [{"prompt": f"Capital {n}?", "expected_response": "Paris"} for n in range(3)]
    on_main(repository, "evals.json", {"schemaVersion": "1.2.0", "items": items})
    repository.write(
        "evals.json", {"schemaVersion": "1.2.0", "default_evaluators": {"ExactMatch": {}}, "items": items}
    )
    repository.write("agent.py", "def answer(prompt):\n    return 'Paris'\n")
    code, out, err = runevals("--base", "main", "-q", *words)
    told = "has nothing to run: all its checks ask for a judge, and there is none"
    ended(code, 0, out + err, told, "nothing to compare with yet", without=["base_setup"])
    mixed = [{**items[0], "evaluators": {"ExactMatch": {}}, "evaluators_mode": "replace"}, *items[1:]]
    on_main(repository, "evals.json", {"schemaVersion": "1.2.0", "items": mixed})
    repository.write("agent.py", "def answer(prompt):\n    return 'Lima'\n")
    code, out, err = runevals("--base", "main", "-q", "--no-judge")
    ended(code, 1, out + err)


def test_a_judge_that_only_the_base_lacks_is_said_to_be_the_bases(repository, runevals):
    target = "target: {type: python, function: 'agent.py:answer'}\n"
    on_main(repository, "runevals.yaml", f"suites: [evals.json]\n{target}")
    items = [
        {"prompt": "Capital?", "expected_response": "Paris"},
        {"prompt": "Sea?", "expected_response": "Paris"},
    ]
    exact = {"evaluators": {"ExactMatch": {}}, "evaluators_mode": "replace"}
    on_main(repository, "evals.json", {"schemaVersion": "1.2.0", "items": [{**items[0], **exact}, items[1]]})
    repository.write("evals.json", {"schemaVersion": "1.2.0", "items": [{**item, **exact} for item in items]})
    code, _, err = runevals("--base", "main", "-q")
    ended(code, 2, err, "1 of the base's 2 cases ask for a judge", "--no-judge")
    judge = "judge: {type: recorded, path: judge.jsonl}\n"
    on_main(repository, "judge.jsonl", "")
    on_main(repository, "runevals.yaml", f"suites: [evals.json]\n{target}{judge}")
    on_main(repository, "evals.json", {"schemaVersion": "1.2.0", "items": items})
    repository.write("evals.json", {"schemaVersion": "1.2.0", "items": [{**item, **exact} for item in items]})
    code, _, err = runevals("--base", "main", "-q", "--no-judge")
    ended(code, 3, err, "cannot be run: it measured 0 of 0 cases: all its checks are skipped")


def test_rows_without_an_expected_text_are_skipped_and_counted(project, runevals):
    project.write("rows.csv", "id,input,expected\na,Capital of France?,Paris\nb,Capital of Peru?,\n")
    project.write("answers.jsonl", ANSWERS)
    words = ["--evaluators", "preset-exact-match,similarity", "--target", "recorded:answers.jsonl"]
    code, out, err = runevals("rows.csv", *words, "-o", "out.json")
    ended(code, 0, out, "1 of 1 case passes, 1 skipped")
    assert "rows.csv:3:1: warning: preset-exact-match, preset-similarity: skipped in 1 of 2 rows" in err


def test_a_case_without_a_check_is_not_measured(project, runevals):
    """It is skipped, not passed; a run that passes over it would be green about a case that nobody looks at."""
    samples = [
        {"sample_id": "a", "prompt": "?", "assertions": [{"type": "contains", "value": "Paris"}]},
        {"sample_id": "b", "prompt": "?"},
    ]
    project.write("eval-samples.json", samples)
    project.write("agent.py", "def answer(prompt):\n return 'Paris'\n")
    words = ["--target", "python:agent.py:answer", "-o", "out.json"]
    code, out, err = runevals(*words)
    ended(code, 3, out, "Not measured – 1 of 2 cases could not be measured", without=["--resume"])
    assert "evidence_missing: no check looks at its answer   (" in out
    assert "eval-samples.json:12:2: warning: this case has no check" in err
    assert [case["status"] for case in project.document()["cases"]] == ["passed", "skipped"]
    project.write("runevals.yaml", "errors: {limit: 0.5}")
    assert runevals(*words)[0] == 0
    needs_turns = {**samples[1], "assertions": [{"type": "turns_max", "value": 5}]}
    project.write("eval-samples.json", [samples[0], needs_turns])
    code, out, _ = runevals(*words)
    ended(code, 0, out, "the target does not report its turns", without=["--resume"])


def test_a_mark_in_the_settings_is_found_among_kept_results_and_its_gate_blocks(project, runevals):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    told = "mark: best\ngates: [{metric: mark_drop, op: '<=', limit: 0.1}]\n"
    project.write(
        "runevals.yaml", f"suites: [evals.json]\ntarget: {{type: recorded, path: answers.jsonl}}\n{told}"
    )
    code, out, _ = runevals()
    assert (code, out.count("no mark: ")) == (0, 1)
    project.write("answers.jsonl", ANSWERS.replace("Paris", "Rome"))
    code, out, _ = runevals()
    assert code == 1
    assert "The gate mark_drop <= 0.1 failed: mark_drop is " in out


def test_a_gate_about_the_mark_needs_one(project, runevals):
    project.write("evals.json", SUITE)
    project.write("runevals.yaml", "gates: [{metric: mark_drop, op: '<=', limit: 0.1}]\n")
    code, _, err = runevals()
    assert (code, "mark_drop needs a `mark`" in err) == (2, True)


def test_a_suite_named_on_the_command_line_has_the_options_of_its_entry(project, runevals):
    project.write("evals/qa.csv", "question,answer\nA?,yes\n")
    entry = {"path": "evals/qa.csv", "evaluators": ["preset-contains"]}
    target = {"type": "command", "command": "echo yes"}
    project.write("runevals.yaml", {"version": 1, "suites": [entry], "target": target})
    code, out, err = runevals("run", "./evals/qa.csv", "-q")
    ended(code, 0, out + err, "1 of 1 case passes")


def test_columns_of_rows_are_named_one_by_one_or_in_the_settings(project, runevals):
    """Each score counts: one that is left out could fall unseen."""
    rows = "".join(f"c{number},0.9,0.1\n" for number in range(20))
    project.write("main.csv", f"case,f1,wer\n{rows}")
    project.write("now.csv", f"case,f1,wer\n{rows.replace('0.9', '0.2')}")
    gate = ("gate", "now.csv", "--baseline", "main.csv", "--deterministic")
    words = ("--columns", "id=case", "--columns", "score=f1", "--columns", "score=wer<=0.2")
    assert runevals(*gate, *words)[0] == 1
    project.write("runevals.yaml", {"version": 1, "columns": ["id=case", "score=f1", "score=wer<=0.2"]})
    assert runevals(*gate)[0] == 1


def test_a_suite_that_was_moved_is_named_with_its_new_place(project, runevals):
    project.write("runevals.yaml", "suites: [evals/cases.json]\ntarget: python:agent.py:answer\n")
    project.write("checks/cases.json", SUITE)
    code, _, err = runevals()
    ended(
        code, 2, err, "evals/cases.json: there is no such file", 'in the settings: suites: ["checks/cases.json"]'
    )
