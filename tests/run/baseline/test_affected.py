"""`changed_only: cases`: only what a change affects is run, and no loss is missed by it."""

from __future__ import annotations

import json

import pytest

from tests.sample_suites import EXACT

SETTINGS = """\
suites: ['evals/*.json']
target: {type: python, function: 'agent.py:answer', deterministic: true}
depends_on: [agent.py, 'prompts/**']
baseline: base.json
changed_only: cases
"""
# Logs its prompts, and answers with the last word of each.
AGENT = """\
import os, pathlib
def answer(prompt):
    with open(os.environ["CALLS"], "a") as file:
        file.write(prompt + "\\n")
    return "cool" if "hot" in prompt else prompt.split()[-1]
"""


def items(*words: str, **changes: object) -> list[dict[str, object]]:
    return [{"testId": word, "prompt": f"Say {word}", "expected_response": word} | changes for word in words]


def document(cases: list[dict[str, object]], **more: object) -> str:
    return json.dumps({**EXACT, "items": cases, **more})


@pytest.fixture
def stored(repository, runevals, tmp_path_factory, monkeypatch):
    """The result of a base of five cases in two suites; `calls` gives what is asked since."""
    log = tmp_path_factory.mktemp("calls") / "calls"
    monkeypatch.setenv("CALLS", str(log))
    repository.git("rm", "-q", "evals.json")
    files = {
        "runevals.yaml": SETTINGS,
        "agent.py": AGENT,
        "prompts/system.md": "Be kind.",
        "evals/fruit.json": document(items("apple", "pear", "plum")),
        "evals/trees.json": document(items("oak", "elm")),
        ".gitignore": "/*.json\n",
    }
    for name, content in files.items():
        repository.write(name, content)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "base")
    code, out, err = runevals("-q", "--baseline", "none", "-o", "base.json")
    assert code == 0, out + err

    def calls() -> list[str]:
        log.write_text("", encoding="utf-8")
        repository.out = runevals("-q", "-o", "out.json")
        return sorted(line.removeprefix("Say ") for line in log.read_text(encoding="utf-8").splitlines())

    repository.calls = calls
    return repository


FRUIT = items("apple", "pear", "plum")
EVERY = ["apple", "elm", "oak", "pear", "plum"]


@pytest.mark.parametrize(
    ("name", "content", "asked", "told"),
    [
        ("README.md", "Hello.", [], "No relevant changes"),
        (
            "evals/fruit.json",
            document([*FRUIT[:2], *items("plum", prompt="Say a ripe plum")]),
            ["a ripe plum", "plum"],  # its old form too
            "changed_only: 1 of 5 cases run – edited: plum; the others keep the result of",
        ),
        ("evals/fruit.json", document([*items("fig"), *FRUIT]), ["fig"], "1 of 6 cases run – new: fig"),
        ("evals/fruit.json", document(FRUIT[::-1]), [], "0 of 5 cases run"),
        (
            "evals/trees.json",
            document(items("oak", "elm"), default_evaluators={"PartialMatch": {}}),
            ["elm", "elm", "oak", "oak"],  # their old forms too
            "2 of 5 cases run – edited: oak, elm",
        ),
        ("agent.py", AGENT + "\n", EVERY, "every case is run: changed since"),
        ("prompts/new.md", "Be new.", EVERY, "every case is run: changed since"),
        ("runevals.yaml", SETTINGS + "repeat: 1\n", EVERY, "every case is run: changed since"),
    ],
    ids=[
        "beside it",
        "an edited case",
        "a new case",
        "another order",
        "a check",
        "code",
        "a new prompt",
        "settings",
    ],
)
def test_only_the_affected_cases_are_asked(stored, name, content, asked, told):
    stored.write(name, content)
    called = stored.calls()
    assert called == asked, stored.out
    code, out, _ = stored.out
    assert code == 0, out
    assert told in out


def test_a_kept_result_says_where_it_is_from_and_counts(stored):
    stored.write("evals/fruit.json", document([*FRUIT, *items("fig")]))
    assert stored.calls() == ["fig"]
    cases = {case["key"]: case for case in stored.document()["cases"]}
    commit = stored.git("rev-parse", "HEAD").strip()
    assert [*cases] == ["apple", "pear", "plum", "fig", "oak", "elm"]
    assert {case.get("base_result", {}).get("commit") for case in cases.values()} == {commit, None}
    assert "base_result" not in cases["fig"]
    assert stored.document()["totals"]["passed"] == 6


@pytest.mark.parametrize(
    "fruit",
    [
        [*FRUIT[:2], *items("plum", prompt="Say hot")],
        FRUIT[:2],
        [*FRUIT, *items("fig", prompt="Say hot")],
        [*FRUIT[:2], *items("plum", expected_response="prune")],
    ],
    ids=["edited and fails", "removed", "new and fails", "another expectation"],
)
def test_the_verdict_is_that_of_a_full_run(stored, runevals, monkeypatch, fruit):
    stored.write("evals/fruit.json", document(fruit))
    stored.calls()
    verdicts = [stored.document()["verdict"]]
    monkeypatch.setenv("RUNEVALS_CHANGED_ONLY", "false")
    full = runevals("-q", "-o", "out.json")
    assert full[0] == stored.out[0], full[1] + full[2] + stored.out[1]
    verdicts.append(stored.document()["verdict"])
    assert verdicts[0] == verdicts[1]


def test_a_result_is_not_kept_for_ever(stored):
    """A result that was kept when the base was measured is as old as its own run."""
    base = stored.document("base.json")
    for case in base["cases"]:
        case["base_result"] = {"commit": base["run"]["commit"], "measured_at": "2026-01-01T00:00:00Z"}
    stored.write("base.json", base)
    stored.write("evals/fruit.json", document([*FRUIT, *items("fig")]))
    assert stored.calls() == sorted([*EVERY, "fig"])
    assert "measured too long ago" in stored.out[1]


def test_a_case_that_the_base_could_not_measure_is_run(stored):
    base = stored.document("base.json")
    [attempt] = base["cases"][0]["attempts"]
    attempt["status"] = base["cases"][0]["status"] = "errored"
    attempt["turns"][0] |= {"output": None, "error": {"code": "target_error", "message": "down"}}
    stored.write("base.json", base)
    stored.write("evals/fruit.json", document([*FRUIT, *items("fig")]))
    assert stored.calls() == ["apple", "fig"]
    assert "not measured in the base: apple" in stored.out[1]


def test_a_fixture_of_a_case_is_a_part_of_it(stored, runevals):
    spaced = {"extensions": {"runevals": {"workspace": {"from": "app"}}}}
    stored.write("evals/app/notes.txt", "one")
    stored.write("evals/trees.json", document([*items("oak"), *items("elm", **spaced)]))
    stored.git("add", "-A")
    stored.git("commit", "-qm", "a fixture")
    assert runevals("-q", "--baseline", "none", "-o", "base.json")[0] == 0
    stored.write("evals/fruit.json", document([*FRUIT, *items("fig")]))
    assert stored.calls() == ["fig"]
    stored.write("evals/app/notes.txt", "two")
    assert stored.calls() == ["elm", "elm", "fig"]  # its old form too
    assert "edited: elm" in stored.out[1]


def test_a_base_that_is_run_gives_its_results_too(stored, runevals):
    stored.git("branch", "-f", "main", "HEAD")
    stored.write("evals/fruit.json", document([*FRUIT, *items("fig")]))
    stored.write("runevals.yaml", SETTINGS)
    stored.git("commit", "-qam", "a case")
    code, out, _ = runevals("-q", "--base", "main", "--baseline", "none", "-o", "out.json")
    assert code == 2, out  # two bases
    settings = SETTINGS.replace("baseline: base.json\n", "")
    stored.write("runevals.yaml", settings)
    stored.git("commit", "-qam", "without a stored result")
    stored.git("branch", "-f", "main", "HEAD")
    stored.write("evals/fruit.json", document([*FRUIT, *items("fig", "date")]))
    code, out, _ = runevals("-q", "--base", "main", "-o", "out.json")
    assert code == 0, out
    assert "1 of 7 cases run – new: date" in out


@pytest.mark.parametrize("value", ["cases", "true", "perhaps"])
def test_the_setting_is_true_false_or_cases(stored, runevals, monkeypatch, value):
    monkeypatch.setenv("RUNEVALS_CHANGED_ONLY", value)
    code, _, err = runevals("-q", "-o", "out.json")
    assert (code == 2) == (value == "perhaps"), err
