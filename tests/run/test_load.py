"""Where the suites of a run are looked for, and the files that lie beside its settings."""

from __future__ import annotations

import pytest

from runevals.run.load import accepted_file, suites_of
from runevals.settings.resolve import RawSettings, resolve
from tests.against_base import on_main
from tests.ending import ended
from tests.sample_suites import SUITE


@pytest.mark.parametrize(
    ("folder", "names"),
    [
        pytest.param("skills/mine", ["mine"], id="the suites of its folder"),
        pytest.param("skills", ["mine", "other"], id="which has none: those here"),
        pytest.param(".", ["mine", "other"], id="here"),
    ],
)
def test_settings_of_a_folder_below_run_the_suites_of_that_folder(project, folder, names):
    """As a workflow at the root does that `init --github` wrote for one skill of several."""
    for name in ("mine", "other"):
        project.write(f"skills/{name}/evals/evals.json", SUITE)
        project.write(f"skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: It answers.\n---\n")
    project.write(f"{folder}/runevals.yaml", "version: 1\ntarget: python:agent.py:answer\n")
    settings = resolve(RawSettings(flags={"config": f"{folder}/runevals.yaml"}, cwd=project.path))
    paths = [suite.path for suite in suites_of(settings).suites]
    assert paths == [f"skills/{name}/evals/evals.json" for name in names]
    assert accepted_file(settings) == project.path / folder / "runevals.accepted.yaml"


@pytest.mark.parametrize(
    ("settings", "path"),
    [("suites: [cases/a.json]\n", "cases/a.json"), ("version: 1\n", "evals.json")],
)
def test_of_a_change_that_deletes_all_its_suites_the_error_names_them(repository, runevals, settings, path):
    """It does not pass: what they tested is not tested any more."""
    repository.write(path, SUITE)
    on_main(repository, "runevals.yaml", f"{settings}target: python:agent.py:answer\n")
    repository.git("rm", "-q", path)
    repository.git("commit", "-qm", "gone")
    code, _, err = runevals("--base", "main")
    ended(code, 2, err, f"This change deletes {path}. ", "remove the step from the workflow")
