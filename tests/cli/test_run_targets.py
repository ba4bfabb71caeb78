"""The files of a run with several targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from runevals.run.targets import of_target
from tests.ending import ended
from tests.sample_suites import SUITE


@pytest.mark.parametrize(
    ("path", "name", "own"),
    [
        ("out/results.json", "mini", "out/results.mini.json"),
        ("results.json.gz", "mini", "results.mini.json.gz"),
        ("v1.2.html", "openai/gpt-5", "v1.2.openai-gpt-5.html"),
        ("a.md", "../../x", "a...-..-x.md"),
    ],
)
def test_the_file_of_a_target(path, name, own):
    assert of_target(Path(path), name) == Path(own)


def test_results_are_stored_without_an_output_too(project, runevals):
    project.write("evals.json", SUITE)
    project.write("agent.py", "def a(prompt):\n return 'Paris'\ndef b(prompt):\n return 'Lima'\n")
    targets = {name: {"type": "python", "function": f"agent.py:{name}"} for name in "ab"}
    project.write("runevals.yaml", {"targets": targets})
    code, out, err = runevals("run", "-q")
    assert code == 0, out + err
    names = sorted(path.name.partition(".")[2] for path in (project.path / ".evals/results").iterdir())
    assert names == ["a.html", "a.json", "b.html", "b.json", "html"]
    assert "\n== a\n" in out


@pytest.mark.parametrize("source", ["s3://evals/base.json", "https://example.com/base.json", "bases"])
def test_a_base_of_several_targets_is_a_file(project, runevals, source):
    project.write("evals.json", SUITE)
    project.write("agent.py", "def a(prompt):\n return 'Paris'\n")
    project.write(
        "runevals.yaml", {"targets": {name: {"type": "python", "function": "agent.py:a"} for name in "ab"}}
    )
    (project.path / "bases").mkdir()
    code, out, err = runevals("run", "--baseline", source)
    ended(code, 2, out + err, "baseline: of several targets, it is a file (base.json means base.a.json")


def test_the_task_for_an_assistant_is_of_the_targets_that_failed(project, runevals):
    project.write("evals.json", {**SUITE, "default_evaluators": {"contains": {}}})
    project.write("agent.py", "def a(prompt):\n return 'Paris or Lima'\ndef b(prompt):\n return 'Quito'\n")
    targets = {name: {"type": "python", "function": f"agent.py:{name}"} for name in "ab"}
    gates = [{"metric": "pass_rate", "op": ">=", "limit": 0.9}]
    project.write("runevals.yaml", {"targets": targets, "gates": gates})
    code, out, err = runevals("run", "-q", "-o", "fix.md", "-o", "benchmark.json")
    ended(code, 1, out + err, "Written: fix.a.md, benchmark.a.json, fix.b.md, benchmark.b.json, fix.md")
    of_all, of_b = ((project.path / name).read_text() for name in ("fix.md", "fix.b.md"))
    assert all(text.startswith("# Task") and "Quito" in text for text in (of_all, of_b))
    assert "target a" not in of_all
    assert "target b: " in of_all
    assert '"runs"' in (project.path / "benchmark.a.json").read_text()


def test_of_a_run_of_several_targets_the_worst_is_reported_and_each_can_be_compared(project, runevals):
    project.write("evals.json", {**SUITE, "default_evaluators": {"contains": {}}})
    targets = {name: {"type": "python", "function": f"agent.py:{name}"} for name in "az"}
    gates = [{"metric": "pass_rate", "op": ">=", "limit": 0.9}]
    project.write("agent.py", "def a(prompt):\n return 'Quito'\ndef z(prompt):\n return 'Paris or Lima'\n")
    project.write("runevals.yaml", {"targets": targets, "gates": gates})
    assert runevals("run", "-q", "-o", "r.json")[0] == 1
    code, out, err = runevals("report")
    ended(code, 0, out + err, "✗ ", ".a.json is reported; .evals/results/", ".z.json is of another target of")
    code, _, err = runevals("compare", "r.json", "r.a.json")
    ended(code, 2, err, "there is no file r.json: it was of several targets, r.a.json, r.z.json")
