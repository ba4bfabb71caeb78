"""Which changed files a target reads, so that their hunks may have lost a case."""

from __future__ import annotations

import pytest

from runevals.reports import SUMMARY
from runevals.run.blame.changed import files_since
from runevals.run.request import RunRequest
from tests.reports.conclusions import regressions

COMMAND = "suites: [evals.json]\ntarget: {type: command, command: [python3, agent.py]}\n"
MODEL = "suites: [evals.json]\ntarget: {type: openai, model: m, system_prompt_file: system.md}\n"


@pytest.mark.parametrize(
    ("settings", "code", "paths", "left_out"),
    [
        pytest.param(COMMAND, False, ["notes.md", "runevals.yaml", "system.md"], ["agent.py"], id="a program"),
        pytest.param(
            COMMAND, True, ["agent.py", "notes.md", "runevals.yaml", "system.md"], [], id="with its code"
        ),
        pytest.param(MODEL, False, ["runevals.yaml", "system.md"], ["agent.py", "notes.md"], id="a model"),
    ],
)
def test_texts_that_the_target_reads_and_the_settings(repository, settings, code, paths, left_out):
    repository.write("system.md", "old")
    repository.write("notes.md", "old")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "texts")
    commit = repository.git("rev-parse", "HEAD")
    repository.write("system.md", "new")
    repository.write("notes.md", "new")
    repository.write("runevals.yaml", settings)
    repository.write("agent.py", "new")
    (repository.path / "evals.json").write_text(f"{(repository.path / 'evals.json').read_text()}\n")  # a suite
    repository.write(".evals/results/r.json", "{}")
    repository.write("results.json", "{}")
    repository.write("report.md", SUMMARY.render(regressions()))
    request = RunRequest.of(cwd=repository.path)
    changed = files_since(commit, request.settings, request.suites, code=code)
    assert ([file.path for file in changed.files], list(changed.left_out)) == (paths, left_out)
    assert changed.uncommitted
    repository.git("commit", "-qam", "change")
    assert not files_since(commit, request.settings, request.suites, code=code).uncommitted


@pytest.mark.parametrize(
    ("settings", "paths"),
    [
        pytest.param(COMMAND, ["SKILL.md"], id="a program loads it"),
        pytest.param(MODEL, [], id="a model with another prompt does not"),
    ],
)
def test_the_skill_beside_a_suite_is_put_back_and_its_suite_is_not(repository, settings, paths):
    """A suite names its SKILL.md as a file that it was read with: that does not make it a part of the suite."""
    suite = {"skill_name": "notes", "evals": [{"id": "a", "prompt": "hi", "assertions": ["it is polite"]}]}
    repository.write("evals/evals.json", suite)
    repository.write("SKILL.md", "---\nname: notes\ndescription: Writes notes.\n---\nAs a list.\n")
    repository.write("system.md", "Be brief.")
    repository.write("runevals.yaml", settings.replace("evals.json", "evals/evals.json"))
    repository.git("add", "-A")
    repository.git("commit", "-qm", "skill")
    commit = repository.git("rev-parse", "HEAD")
    repository.write("SKILL.md", "---\nname: notes\ndescription: Writes notes.\n---\nAs a text.\n")
    repository.write("evals/evals.json", {**suite, "version": 2})
    request = RunRequest.of(cwd=repository.path)
    assert [file.path for file in files_since(commit, request.settings, request.suites, code=True).files] == paths
