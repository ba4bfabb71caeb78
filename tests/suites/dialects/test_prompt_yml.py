"""`.prompt.yml` files from the command line: what is sent, by which model, how a rewritten prompt is judged."""

from __future__ import annotations

import json
import sys

import pytest

from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.sample_reports import without_times

PROMPT = """model: openai/gpt-4o-mini
modelParameters: {temperature: 0.5, maxTokens: 50}
messages:
  - {role: system, content: "Answer in {{language}}."}
  - {role: user, content: "Hello"}
  - {role: assistant, content: "Hello!"}
  - {role: user, content: "Capital of {{country}}?"}
testData:
  - {country: France, language: English, expected: Paris}
  - {country: 日本, language: 日本語, expected: 東京}
evaluators:
  - {name: names it, string: {contains: "{{expected}}"}}
"""


@pytest.fixture
def server(monkeypatch):
    """Knows the capitals, unless the system message is in French."""

    def answer(body, number):
        messages = body["messages"]
        if messages[0]["content"].startswith("Répondez"):
            return Reply("?")
        return Reply("It is Paris" if "France" in messages[-1]["content"] else "東京です")

    with chat_server(answer) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        yield running


def request_for(server, word):
    return next(body for body in server.requests if word in body["messages"][-1]["content"])


def test_messages_model_and_parameters_come_from_the_prompt_file(project, runevals, server):
    project.write("capitals.prompt.yml", PROMPT)
    code, out, err = runevals("capitals.prompt.yml", "-o", "out.json")
    assert (code, "2 of 2" in out or "2 cases" in out) == (0, True), out + err
    assert request_for(server, "日本") == {
        "model": "openai/gpt-4o-mini",
        "temperature": 0.5,
        "max_tokens": 50,
        "messages": [
            {"role": "system", "content": "Answer in 日本語."},
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hello!"},
            {"role": "user", "content": "Capital of 日本?"},
        ],
    }
    assert project.document()["run"]["suites"][0]["dialect"] == "prompt-yml"
    assert project.document()["run"]["target"]["model"] == "openai/gpt-4o-mini"


def test_model_and_parameters_of_the_settings_override_those_of_the_file(project, runevals, server):
    project.write("capitals.prompt.yml", PROMPT)
    project.write("runevals.yaml", "target: {type: openai, model: tiny, system_prompt: Be brief.}\n")
    assert runevals("capitals.prompt.yml", "-o", "out.json")[0] == 0
    sent = request_for(server, "France")
    assert (sent["model"], sent.get("temperature"), sent.get("max_tokens")) == ("tiny", None, None)
    assert [m["content"] for m in sent["messages"]][:2] == ["Be brief.", "Answer in English."]


def test_settings_without_a_model_add_their_parameters_to_those_of_the_file(project, runevals, server):
    project.write("capitals.prompt.yml", PROMPT)
    project.write("runevals.yaml", "target: {type: openai, parameters: {temperature: 0}}\n")
    assert runevals("capitals.prompt.yml", "-o", "out.json")[0] == 0
    sent = request_for(server, "France")
    assert (sent["model"], sent["temperature"], sent["max_tokens"]) == ("openai/gpt-4o-mini", 0, 50)


def test_a_cached_answer_is_not_used_for_another_model(project, runevals, server):
    project.write("capitals.prompt.yml", PROMPT)
    run = ("capitals.prompt.yml", "--cache-target", "-o", "out.json")
    assert [runevals(*run)[0], runevals(*run)[0], len(server.requests)] == [0, 0, 2]
    project.write("capitals.prompt.yml", PROMPT.replace("gpt-4o-mini", "gpt-5"))
    assert (runevals(*run)[0], len(server.requests)) == (0, 4)
    project.write("capitals.prompt.yml", PROMPT.replace("temperature: 0.5", "temperature: 0"))
    assert (runevals(*run)[0], len(server.requests)) == (0, 6)


def test_a_target_without_a_model_needs_files_that_name_one(project, runevals, server):
    project.write("a.prompt.yml", PROMPT.partition("\n")[2])
    project.write("runevals.yaml", "target: {type: openai}\n")
    code, _, err = runevals("a.prompt.yml")
    ended(code, 2, err, "the openai target has no model")
    assert not server.requests


def test_a_plan_names_the_models_of_the_files(project, runevals):
    project.write("capitals.prompt.yml", PROMPT)
    code, out, _ = runevals("plan", "capitals.prompt.yml")
    ended(code, 0, out, "target      openai: 2 calls")


def test_a_program_gets_all_messages(project, runevals):
    project.write("capitals.prompt.yml", PROMPT)
    project.write("seen.py", "import sys; print(sys.stdin.read())")
    runevals("capitals.prompt.yml", "--target", f"command:{sys.executable} seen.py", "-o", "out.json")
    told = json.loads(project.document()["cases"][0]["attempts"][0]["turns"][0]["output"])
    assert [message["role"] for message in told["messages"]] == ["system", "user", "assistant", "user"]


def test_string_checks_are_case_sensitive(project, runevals, server):
    project.write("capitals.prompt.yml", PROMPT.replace("expected: Paris", "expected: paris"))
    runevals("capitals.prompt.yml", "-o", "out.json")
    assert [case["status"] for case in project.document()["cases"]] == ["failed", "passed"]


def test_prompt_files_without_test_data_are_skipped_in_a_folder(project, runevals, server):
    project.write("prompts/capitals.prompt.yml", PROMPT)
    project.write("prompts/plain.prompt.yml", "messages:\n  - {role: user, content: Hi}\n")
    code, out, _ = runevals("validate", "prompts")
    ended(code, 0, out, "skipped: not a suite file: prompts/plain.prompt.yml")


def test_a_rewritten_prompt_is_compared_and_not_taken_for_an_edited_case(project, runevals, server):
    project.write("capitals.prompt.yml", PROMPT)
    assert runevals("capitals.prompt.yml", "-o", "base.json")[0] == 0
    project.write(
        "capitals.prompt.yml", PROMPT.replace("Answer in", "Répondez en").replace("gpt-4o-mini", "gpt-5")
    )
    runevals("capitals.prompt.yml", "--baseline", "base.json", "-o", "out.json")
    comparison = project.document()["comparison"]
    assert [change["change"] for change in comparison["changes"]] == ["regressed", "regressed"]


def test_a_changed_test_row_or_evaluator_is_an_edited_case(project, runevals, server):
    project.write("capitals.prompt.yml", PROMPT)
    assert runevals("capitals.prompt.yml", "-o", "base.json")[0] == 0
    project.write("capitals.prompt.yml", PROMPT.replace("expected: Paris", "expected: Pari"))
    runevals("capitals.prompt.yml", "--baseline", "base.json", "-o", "out.json")
    changes = project.document()["comparison"]["changes"]
    assert [(change["key"][:2], change["change"]) for change in changes] == [("p-", "edited")]


WORSE = ("Answer in", "Répondez en")
EDITED_ROWS = ("language: ", "language: very ")
STRICTER = ("names it, string: {contains", "ends, string: {endsWith")


@pytest.mark.parametrize(
    ("edits", "expected", "says"),
    [
        ([STRICTER], 0, ""),
        ([EDITED_ROWS], 0, ""),
        ([EDITED_ROWS, WORSE], 1, ""),
        ([STRICTER, WORSE], 1, ""),
        (
            [("Capital of", "{{tone}}, capital of"), ("{id", "{tone: now, id")],
            3,
            "; the old form could not be run: on the base, case 'fr' has no variable 'tone', which evals/",
        ),
    ],
)
@pytest.mark.parametrize("place", ["evals/capitals.prompt.yml", "evals/towns.prompt.yml"])
def test_the_old_form_of_test_data_and_evaluators_is_run_on_the_prompt_of_the_change(  # noqa: PLR0917 - a table
    repository, runevals, server, edits, expected, says, place
):
    """The messages are under test; rows and evaluators are cases, and an edit of them hides no worse prompt."""
    repository.git("checkout", "-q", "main")
    (repository.path / "runevals.yaml").unlink()
    ids = PROMPT.replace("{country: France", "{id: fr, country: France").replace(
        "{country: 日本", "{id: jp, country: 日本"
    )
    ids = ids.replace("expected: 東京", "expected: 東京です")
    repository.write("evals/capitals.prompt.yml", ids)
    repository.write("runevals.yaml", "suites: [evals]\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "prompts")
    repository.git("checkout", "-q", "-B", "change")
    for old, new in edits:
        ids = ids.replace(old, new)
    (repository.path / "evals/capitals.prompt.yml").unlink()
    repository.write(place, ids)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "edited")
    code, out, err = runevals("--base", "main", "-o", "out.json")
    ended(code, expected, out + err, says)


@pytest.mark.parametrize("of", [3, 5])
def test_shards_of_files_with_different_models_merge_to_the_whole_run(project, runevals, server, of):
    for name in ("b", "a", "c"):
        project.write(f"{name}.prompt.yml", PROMPT.replace("gpt-4o-mini", f"model-{name}"))
    files = ("a.prompt.yml", "b.prompt.yml", "c.prompt.yml")
    parts = [f"{part}.json" for part in range(1, of + 1)]
    for part, name in enumerate(parts, start=1):
        assert runevals(*files, "--shard", f"{part}/{of}", "-q", "-o", name)[0] == 0
    code, _, err = runevals("merge", *parts, "-o", "merged.json")
    assert code == 0, err
    assert runevals(*files, "-q", "-o", "whole.json")[0] == 0
    whole = project.document("whole.json")
    assert without_times(project.document("merged.json")) == without_times(whole)
    assert whole["run"]["target"]["model"] == "openai/model-a + openai/model-b + openai/model-c"


def test_shards_with_different_parameters_are_not_merged(project, runevals, server):
    project.write("a.prompt.yml", PROMPT)
    for part, seed in ((1, 1), (2, 2)):
        project.write("runevals.yaml", f"target: {{type: openai, parameters: {{seed: {seed}}}}}\n")
        assert runevals("a.prompt.yml", "--shard", f"{part}/2", "-q", "-o", f"{part}.json")[0] == 0
    code, _, err = runevals("merge", "1.json", "2.json")
    ended(code, 2, err, "are not of one run: their targets differ")
