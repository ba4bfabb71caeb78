"""The commands beside run."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from runevals.cli import COMMANDS, rewritten
from tests.ending import ended
from tests.sample_suites import AGENT, ANSWERS, SUITE, WORSE
from tests.terminal import Terminal


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "action"])
def test_every_command_explains_itself(runevals, name):
    code, out, _ = runevals(name, "--help")
    assert code == 0
    assert "Example" in out


@pytest.mark.parametrize(
    "told", ["--max-base-age DAYS", "--min-pass-rate SHARE", "--max-cost USD", "--max-duration SECONDS"]
)
def test_help_says_what_a_number_counts(runevals, told):
    assert told in runevals("run", "--help")[1]


def test_the_version_is_told(runevals):
    assert runevals("--version")[1].startswith("runevals ")


def test_what_is_slow_to_import_is_imported_where_it_is_used():
    """In a process of its own: the command's main module, and the one that most commands need."""
    slow = ("genai_prices", "openai", "pydantic", "requests", "rich", "jsonschema")
    script = f"import sys, runevals.__main__, runevals.cli.run; print(*(sys.modules.keys() & {{*{slow}}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_validate_loads_only_what_a_small_suite_needs(project):
    """Of evaluators its own; no reporters, YAML, or metadata of packages."""
    project.write("evals.json", SUITE)
    needless = ("yaml", "importlib.metadata", "jsonschema", "runevals.reports", "runevals.records.report")
    script = (
        "import sys; from runevals.cli import call; code = call(['validate', 'evals.json']); "
        "evaluators = [name for name in sys.modules if name.startswith('runevals.evaluators.text.')]; "
        f"print(code, len(evaluators), *(sys.modules.keys() & {{*{needless}}}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=project.path, capture_output=True, text=True, check=True
    )
    code, evaluators, *loaded = done.stdout.splitlines()[-1].split()
    assert (code, loaded) == ("0", [])
    assert int(evaluators) < 8


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ([], ["run"]),
        (["--model", "x"], ["run", "--model", "x"]),
        (["--prompts", "a", "b", "--expected", "c"], ["run", "--prompts=a", "--prompts=b", "--expected=c"]),
        (["run", "--prompts", "-5 degrees?", "-q"], ["run", "--prompts=-5 degrees?", "-q"]),
        (["compare", "a", "b"], ["compare", "a", "b"]),
        (["--help"], ["--help"]),
    ],
)
def test_words_are_rewritten_before_they_are_read(typed, meant):
    assert rewritten(typed) == meant


@pytest.fixture
def documents(project, runevals):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    project.write("runevals.yaml", "target: {type: python, function: 'agent.py:answer', deterministic: true}\n")
    runevals("-o", "base.json")
    project.write("agent.py", WORSE)
    runevals("-o", "head.json")


def test_compare_gives_a_runs_verdict(documents, project, runevals):
    code, out, _ = runevals("compare", "base.json", "head.json", "-o", "comparison.md", "-o", "comparison.json")
    assert code == 1
    assert out.startswith("✗ 1 of 2 cases regressed")
    assert (project.path / "comparison.md").read_text(encoding="utf-8").startswith("### ❌ 1 of 2 cases regressed")
    assert runevals("compare", "head.json", "head.json")[0] == 0


def test_report_writes_a_document_in_other_formats(documents, project, runevals):
    assert runevals("report", "head.json", "-o", "a.xml", "-o", "a.csv", "-o", "a.md", "-o", "a.json")[0] == 0
    assert "it is XML; results of another tool are for `runevals gate`" in runevals("compare", "a.xml", "a.xml")[2]
    assert project.document("a.json") == project.document("head.json")
    assert runevals("report", "head.json")[1].startswith("– 0 of 2 cases pass; no gate looked at this")


def test_report_without_a_document_is_of_the_newest_run(project, runevals):
    code, _, err = runevals("report")
    ended(code, 2, err, "there are no results in .evals/results", "`runevals run`")
    project.write("evals.json", SUITE)
    project.write("bot.py", "def answer(prompt):\n    return 'no'\n")
    _, first, _ = runevals("run", "--target", "python:bot.py:answer")
    assert runevals("report")[1].splitlines()[0] == first.splitlines()[0]


def test_report_refuses_what_is_no_document(project, runevals):
    project.write("evals.json", SUITE)
    code, _, err = runevals("report", "evals.json")
    ended(code, 2, err, "it has no 'format_version'")
    assert runevals("report", "absent.json")[0] == 2


def test_validate_tells_every_problem_of_every_file(project, runevals):
    project.write("evals/a.json", {"schemaVersion": "1.2.0", "items": [{"promt": "x"}]})
    project.write("evals/b.json", SUITE)
    project.write("evals/c.jsonl", "{\n")
    code, _, err = runevals("validate", "evals", "--evaluators", "preset-exact-match")
    assert code == 2
    assert "evals/a.json:5:4: /items/0/promt unknown key 'promt'; did you mean 'prompt'?" in err
    assert "evals/c.jsonl:1" in err
    assert runevals("validate", "evals/b.json")[1] == "✓ evals/b.json: 2 cases, 2 checks (eval-document)\n"


def test_plan_tells_cases_checks_and_calls(project, runevals):
    project.write("evals.json", {"schemaVersion": "1.2.0", "items": SUITE["items"]})
    code, out, _ = runevals("plan", "--model", "tiny", "--repeat", "3", "--judge", "big")
    assert code == 0
    assert re.search(r"target +tiny: 6 calls", out)
    assert re.search(r"judge +12 calls", out)


def test_evaluators_lists_and_explains(runevals):
    assert "PartialMatch" in runevals("evaluators")[1]
    code, out, _ = runevals("evaluators", "PartialMatch")
    assert code == 0
    assert "harmonic mean" in out
    code, _, err = runevals("evaluators", "Relevence")
    ended(code, 2, err, "did you mean 'Relevance'")


@pytest.mark.parametrize(
    "old",
    [
        [{"prompt": "One?", "expected_response": "1"}],
        {"items": [{"prompt": "One?", "expected_response": "1"}]},
        {"prompts": ["One?"], "expected_responses": ["1"]},
        {"prompt": "One?", "expected_response": "1"},
    ],
    ids=["array", "no version", "parallel arrays", "single item"],
)
def test_upgrade_writes_the_current_shape_and_keeps_the_old_file(project, runevals, old):
    path = project.write("evals.json", old)
    before = path.read_bytes()
    code, out, _ = runevals("upgrade", "evals.json")
    assert code == 0
    assert project.document("evals.json") == {
        "schemaVersion": "1.2.0",
        "items": [{"prompt": "One?", "expected_response": "1"}],
    }
    backup = re.search(r"evals\.json\.bak\.\d{14}", out)[0]
    assert (project.path / backup).read_bytes() == before
    assert "is current" in runevals("upgrade", "evals.json")[1]


def test_a_suite_that_a_run_upgrades_is_not_called_old_in_the_same_run(project):
    project.write("agent.py", AGENT)
    project.write("evals.json", '[{"prompt": "a", "expected_response": "b"}]')
    with Terminal(project.path, "--target", "python:agent.py:answer", "--no-judge") as terminal:
        assert terminal.exit_code() == 3
    assert "evals.json.bak" in terminal.shown
    assert "has no schemaVersion" not in terminal.shown


def test_upgrade_keeps_the_keys_that_the_current_shape_does_not_have(project, runevals):
    project.write("evals.json", [{"prompt": "One?", "agreement": 0.9, "extensions": {"other": 1}}])
    assert runevals("upgrade", "evals.json")[0] == 0
    item = {"prompt": "One?", "extensions": {"other": 1, "earlier": {"agreement": 0.9}}}
    assert project.document("evals.json") == {"schemaVersion": "1.2.0", "items": [item]}
    assert runevals("validate")[:2] == (0, "✓ evals.json: 1 case, 2 checks (eval-document)\n")


def test_the_settings_show_addresses_without_credentials(runevals, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "https://ann:password@models.example/v1?key=secret")
    signed = "https://ann:password@store.example/base.json?signature=secret"
    monkeypatch.setenv("RUNEVALS_BASELINE", signed)
    code, out, err = runevals("settings", "--target", "openai:m")
    ended(
        code, 0, out + err, "=https://models.example/v1 ", "https://store.example/base.json  (", without=["secret"]
    )


def test_settings_tell_values_and_where_they_came_from(project, runevals, monkeypatch):
    project.write("evals.json", SUITE)
    project.write("runevals.yaml", "version: 1\nconcurrency: 3\nrepeat: 2\ntarget: {type: openai, model: m}\n")
    monkeypatch.setenv("RUNEVALS_REPEAT", "5")
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key-1234")
    code, out, _ = runevals("settings", "--model", "large")
    assert code == 0
    assert re.search(r"concurrency +3  \(runevals.yaml\)", out)
    assert re.search(r"repeat +5  \(RUNEVALS_REPEAT\)", out)
    assert re.search(r"model +large  \(--model\)", out)
    assert re.search(r"judge_concurrency +8  \(default\)", out)
    assert "not-a-real-key" not in out


def test_settings_name_the_key_of_a_model_only(runevals):
    for target, named in (
        ("openai:m", True),
        ("python:a.py:f", False),
        ("claude-code", False),
        ("command:ls", False),
    ):
        assert ("OPENAI_API_KEY" in runevals("settings", "--target", target)[1]) is named


def test_settings_show_whether_the_target_is_deterministic(project, runevals):
    project.write("evals.json", SUITE)
    for section, shown in (("deterministic: true", "  (runevals.yaml)"), ("deterministic: false", "")):
        project.write("runevals.yaml", f"target: {{type: openai, model: m, {section}}}\n")
        assert (
            f"model=m api_key_env=OPENAI_API_KEY deterministic=True{shown}" in runevals("settings")[1]
        ) is bool(shown)


def test_recorded_answers_feed_a_run_of_rows(project, runevals):
    project.write("rows.csv", "id,input,expected\na,Capital of France?,Paris\nb,Capital of Peru?,\n")
    project.write("answers.jsonl", ANSWERS)
    code, out, _ = runevals(
        "rows.csv", "--evaluators", "preset-exact-match,preset-similarity", "--target", "recorded:answers.jsonl"
    )
    assert code == 0
    assert out.startswith("✓ 1 of 1 case passes, 1 skipped")


def test_an_expected_pattern_that_does_not_compile_is_told_with_its_line(project, runevals):
    project.write("rows.csv", "id,input,expected\na,Year?,\\d+\nb,Year?,(\n")
    code, _, err = runevals("validate", "rows.csv", "--evaluators", "regex")
    assert code == 2
    assert "rows.csv:3:1: preset-regex cannot be used: /(/: SyntaxError" in err


def test_every_schema_is_listed_and_printed_and_is_one(runevals):
    import jsonschema

    code, listed, _ = runevals("schema")
    assert code == 0
    names = [line.split()[0] for line in listed.splitlines()]
    assert {"eval-document", "eval-samples", "skill-cases", "rows", "settings"} <= set(names)
    for name in names:
        code, printed, _ = runevals("schema", name)
        assert code == 0
        jsonschema.Draft202012Validator.check_schema(json.loads(printed))
    code, _, err = runevals("schema", "setings")
    ended(code, 2, err, "did you mean 'settings'?")


def test_an_inverted_assertion_is_explained_as_what_it_inverts(runevals):
    code, out, _ = runevals("evaluators", "not_contains")
    assert code == 0
    assert out.startswith("not_contains: the inverse of contains, in eval documents and samples.")


EVERY_KIND = {
    "evals.json": {
        "schemaVersion": "1.2.0",
        "items": [
            {"testId": "a", "promt": "?"},
            {"testId": "b", "prompt": "?", "expected_response": "x", "evaluators": {"regexx": {}}},
            {"testId": "c", "prompt": "?", "expected_response": "x", "evaluators": {"regex": {"pattern": "("}}},
            {"testId": "c", "prompt": "?", "expected_response": "x"},
        ],
    },
    "samples.json": {
        "samples": [
            {"sample_id": "a", "prompt": 7},
            {"sample_id": "b", "prompt": "?", "assertions": [{"type": "contians", "value": "x"}]},
            {"sample_id": "c", "prompt": "?", "assertions": [{"type": "regex", "value": "("}]},
            {"sample_id": "c", "prompt": "?", "assertions": [{"type": "contains", "value": "x"}]},
        ]
    },
    "cases.json": [
        {"id": "a", "skill": "s", "input": 7, "expected": {"type": "exact", "value": 1}},
        {"id": "b", "skill": "s", "input": {}, "expected": {"type": "exakt", "value": 1}},
        {"id": "c", "skill": "s", "input": {}, "expected": {"type": "schema", "schema": {"type": "nothing"}}},
        {"id": "c", "skill": "s", "input": {}, "expected": {"type": "exact", "value": 1}},
    ],
}


@pytest.mark.parametrize("name", EVERY_KIND)
def test_problems_of_every_kind_are_told_at_once(project, runevals, name):
    project.write(name, EVERY_KIND[name])
    code, _, err = runevals("validate", name)
    assert code == 2
    entries = [int(found) for found in re.findall(rf"^{name}:\S+ \S*?/(\d)", err, re.MULTILINE)]
    assert sorted(set(entries)) == [0, 1, 2, 3], err


def test_what_may_concern_every_item_is_told_before_any_of_them(project, runevals):
    items = [{"testId": "a", "prompt": "?", "evaluators": {"regexx": {}}}]
    project.write("evals.json", {"schemaVersion": "1.2.0", "default_evaluators": 7, "items": items})
    _, _, err = runevals("validate")
    assert ("default_evaluators" in err, "regexx" in err) == (True, False)
