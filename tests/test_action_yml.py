"""`action.yml`, the settings and the documentation say the same."""

import re

import pytest
import yaml

from runevals import __version__
from runevals.settings.table import INPUTS as OF_THE_WORKFLOW
from runevals.settings.table import SETTINGS
from tests.docs.pages import ACTION, OUTER, ROOT

INPUTS = {setting.name: setting for setting in (*SETTINGS, *OF_THE_WORKFLOW) if setting.as_input}
DEFAULTS = {"github_token": "${{ github.token }}"}


def test_inputs_are_the_settings():
    assert list(ACTION["inputs"]) == list(INPUTS)
    for name, told in ACTION["inputs"].items():
        assert told == {"description": INPUTS[name].help, "required": False, "default": DEFAULTS.get(name, "")}


@pytest.mark.parametrize("name", [*ACTION["inputs"], *ACTION["outputs"]])
def test_inputs_and_outputs_are_in_the_docs(name):
    assert f"`{name}`" in (ROOT / "docs" / "action.md").read_text(encoding="utf-8")


def test_the_version_is_in_the_changelog_or_still_unreleased():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {__version__}" in changelog or "## Unreleased" in changelog


def test_with_artifact_passes_everything_on_and_stores_the_results():
    run, upload = OUTER["runs"]["steps"]
    assert {name: told for name, told in OUTER["inputs"].items() if name != "retention_days"} == ACTION["inputs"]
    assert run["with"] == {name: f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]}
    assert OUTER["outputs"] == {
        name: {**told, "value": f"${{{{ steps.runevals.outputs.{name} }}}}"}
        for name, told in ACTION["outputs"].items()
    }
    assert re.fullmatch(r"actions/upload-artifact@[0-9a-f]{40}", upload["uses"])
    assert upload["if"].startswith("always()")
    assert upload["with"]["name"] == "${{ steps.runevals.outputs.artifact_name }}"
    files = [name for name in ACTION["outputs"] if name.endswith("_path")]
    assert upload["with"]["path"].splitlines() == [f"${{{{ steps.runevals.outputs.{name} }}}}" for name in files]


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "workflows").glob("*.yml")), ids=lambda path: path.name)
def test_documented_workflows_are_linked_and_say_only_what_the_action_takes(path):
    for page in ("action.md", "github.md"):
        assert f"(workflows/{path.name})" in (ROOT / "docs" / page).read_text(encoding="utf-8")
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
    ours = [step for job in jobs for step in job["steps"] if step.get("uses", "").startswith("runevals/")]
    assert ours
    assert {name for step in ours for name in step.get("with", {})} <= set(ACTION["inputs"])
