"""promptfoo configurations: each folder holds one, and what it becomes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from tests.ending import ended

VALUES = ", ".join(f"{name}: {list(range(10))}" for name in "abcdef")
MANY = f"prompts: [hi]\ntests: [{{vars: {{{VALUES}}}}}]\n"
HERE = Path(__file__).parent / "promptfoo"
ALL = sorted(path.parent.name for path in HERE.glob("*/promptfooconfig.yaml"))


@pytest.fixture
def imported(project, runevals, monkeypatch):
    """Converts a copy of one of the configurations → (exit code, stdout, remarks)."""

    def run(name, *options):
        folder = project.path / name
        shutil.copytree(HERE / name, folder, ignore=shutil.ignore_patterns("became"))
        (folder / ".git").mkdir()
        monkeypatch.chdir(folder)
        return runevals("import", "promptfoo", "promptfooconfig.yaml", *options)

    return run


@pytest.mark.parametrize("name", ALL)
def test_a_configuration_becomes_what_stands_beside_it(imported, project, golden, name):
    code, out, remarks = imported(name)
    folder, became = project.path / name, HERE / name / "became"
    golden(became / "remarks.txt", out + remarks)
    if code != 0:
        ended(code, 2, remarks, "nothing of it can be converted")
        return
    for path in (folder / "runevals.yaml", *sorted((folder / "evals").rglob("*.*"))):
        golden(became / path.relative_to(folder), path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ALL)
def test_what_was_written_is_valid(imported, runevals, name):
    if imported(name)[0] == 0:
        code, out, err = runevals("validate")
        assert code == 0, err
        assert " case" in out


def test_strict_fails_where_something_was_lost(imported):
    code, out, _ = imported("summarization", "--strict")
    ended(code, 0, out, without=["could not be converted"])


def test_strict_tells_what_was_lost(imported):
    code, out, err = imported("getting-started", "--strict")
    ended(code, 2, out, "1 thing could not be converted")
    assert "lost: provider openai:o4-mini: a run has one target" in err


def test_nothing_is_overwritten(imported, runevals):
    assert imported("getting-started")[0] == 0
    code, _, err = runevals("import", "promptfoo", "promptfooconfig.yaml")
    ended(code, 2, err, "would be overwritten")
    assert runevals("import", "promptfoo", "promptfooconfig.yaml", "--force")[0] == 0


def test_a_check_in_javascript_decides_as_it_did(imported, project, runevals):
    imported("everything", "--output", "suite.json", "--settings", "conf/runevals.yaml")
    suite = [{"sample_id": "x", "prompt": "?", "vars": {"limit": 4}, "assertions": [{"type": "custom", "fn": ""}]}]
    folder = project.path / "everything"
    suite[0]["assertions"][0]["fn"] = next((folder / "checks").iterdir()).relative_to(folder).as_posix()
    project.write("everything/one.json", suite)
    found = []
    for answer in ("a b", "a"):  # 2 / 4 reaches 0.5
        project.write("everything/answers.jsonl", f'{{"case": "x", "output": "{answer}"}}')
        runevals("one.json", "--target", "recorded:answers.jsonl", "-o", "out.json")
        found.append(project.document("everything/out.json")["cases"][0]["status"])
    assert found == ["passed", "failed"]


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ("- a list\n", "is no configuration"),
        ("prompts: [hi]\ntests: []\nprompts: [a]\n", "stands here twice"),
        ("prompts: ['{{x}}']\ntests: [{vars: {x: ''}}]\n", "nothing of it can be converted"),
        ("prompts: [file://../../secret.txt]\ntests: [{}]\n", "lies outside the repository"),
        ("prompts: [hi]\ntests: [{vars: 5}]\n", "its variables or options are no object"),
        (MANY, "make 1000000 cases"),
        ("prompts: 7\nproviders: 8\ntests: 9\ndefaultTest: 3\nscenarios: [1]\nassertionTemplates: 1\n", "is no"),
    ],
)  # fmt: skip
def test_what_is_no_configuration_is_told(project, runevals, config, told):
    project.write("p.yaml", config)
    code, _, err = runevals("import", "promptfoo", "p.yaml")
    ended(code, 2, err, told)


def test_settings_are_yaml_that_people_read(imported, project):
    imported("everything")
    text = (project.path / "everything" / "runevals.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text)["suites"] == ["evals/eval-samples.json"]
    assert not text.startswith("{")
