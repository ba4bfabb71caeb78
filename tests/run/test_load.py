"""Where the suites of a run are looked for, and the files that lie beside its settings."""

from __future__ import annotations

import pytest

from runevals.run.load import accepted_file, suites_of
from runevals.settings.resolve import RawSettings, resolve
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
