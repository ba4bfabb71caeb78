"""What a run says of where its costs are from."""

from __future__ import annotations

import json

import pytest

from runevals.run.provenance import provenance
from runevals.settings.resolve import RawSettings, resolve
from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.sample_suites import AGENT, SUITE


@pytest.mark.parametrize(
    ("flags", "priced"),
    [
        ({"target": "anthropic:claude-sonnet-5"}, True),
        ({"target": "command:cat", "judge": "gemini:gemini-3.5-flash"}, True),
        ({"target": "command:cat", "judge": "gpt-5", "no_judge": True}, False),
        ({"target": "command:cat"}, False),
    ],
)
def test_a_run_that_asks_a_model_names_the_release_of_its_prices(project, flags, priced):
    settings = resolve(RawSettings(flags=flags, cwd=project.path, environment={}))
    told = provenance(settings, ()).prices
    assert (told is not None and told.startswith("genai-prices ")) is priced


def test_a_report_says_as_of_when_its_prices_are(project, runevals):
    """Claude, with a limit of what it may cost."""
    project.write("evals.json", SUITE)
    with chat_server(lambda body, n: Reply("Paris", model="claude-sonnet-5-20260801")) as server:
        target = {"type": "anthropic", "model": "claude-sonnet-5", "base_url": server.base_url, "api": "chat"}
        project.write(
            "runevals.yaml", json.dumps({"target": target, "prices": {"own": {"input": 1, "output": 1}}})
        )
        project.write(".env.local.user", "ANTHROPIC_API_KEY=key-1\n")
        code, out, _ = runevals("--max-cost", "1", "-o", "results.json", "-o", "report.md")
    ended(code, 0, out, "prices as of the settings, then genai-prices ")
    document = project.document("results.json")
    assert document["totals"]["cost_usd"] > 0
    assert document["run"]["prices"].startswith("the settings, then genai-prices ")
    assert document["run"]["target"]["type"] == "anthropic"
    assert "prices as of the settings" in (project.path / "report.md").read_text(encoding="utf-8")
    assert set(server.keys) == {"Bearer key-1"}


@pytest.mark.parametrize(("model", "number"), [("gemini-2.0-flash", 1), ("gemini-2.0-flush", 0)])
def test_a_deprecated_model_is_named_by_doctor_and_reports(project, runevals, model, number):
    """Also if it is one of several targets; one that genai-prices does not know is not."""
    project.write("evals.json", SUITE)
    with chat_server(lambda body, n: Reply("Paris")) as server:
        target = {"type": "gemini", "model": model, "base_url": server.base_url}
        other = {**target, "system_prompt": "Be short."}
        project.write("runevals.yaml", json.dumps({"targets": {"a": target, "b": other}}))
        project.write(".env.local.user", "GEMINI_API_KEY=key-1\n")
        sentence = f"{model} is deprecated by its provider"
        assert runevals("doctor")[1].count(sentence) == number
        code, out, err = runevals("run", "-q", "--target", "a", "-o", "out.json", "-o", "out.md")
        assert code == 0, out + err
    assert sum(sentence in notice for notice in project.document()["run"]["notices"]) == number
    assert (project.path / "out.md").read_text(encoding="utf-8").count("deprecated by its provider") == number


def test_settings_of_a_document_name_no_folder_of_the_machine(project, runevals):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    project.write(
        "runevals.yaml", "suites: [evals.json]\ntarget: python:agent.py:answer\ndepends_on: ['*.md', agent.py]\n"
    )
    runevals("-q", "-o", "out.json")
    assert project.document()["run"]["settings"]["depends_on"] == ["*.md", "agent.py"]
    assert str(project.path) not in (project.path / "out.json").read_text(encoding="utf-8")
