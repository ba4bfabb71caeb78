"""`action.yml`, the settings and the documentation say the same."""

import re

import pytest
import yaml

from runevals import __version__
from runevals.github.job_id import CALLED, MATRIX
from runevals.settings.table import INPUTS as OF_THE_WORKFLOW
from runevals.settings.table import SETTINGS
from tests.docs.pages import ACTION, CONTAINER, ROOT

INPUTS = {setting.name: setting for setting in (*SETTINGS, *OF_THE_WORKFLOW) if "input" in setting.by}
DEFAULTS = {"github_token": "${{ github.token }}"}


def test_inputs_are_the_settings():
    of_the_step = {name: told for name, told in ACTION["inputs"].items() if name != "retention_days"}
    assert list(of_the_step) == list(INPUTS)
    for name, told in of_the_step.items():
        assert told == {"description": INPUTS[name].help, "required": False, "default": DEFAULTS.get(name, "")}


def test_the_version_is_in_the_changelog_or_still_unreleased():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {__version__}" in changelog or "## Unreleased" in changelog


def test_both_forms_take_give_and_store_the_same():
    assert (CONTAINER["inputs"], CONTAINER["outputs"]) == (ACTION["inputs"], ACTION["outputs"])
    on_runner, *stored = ACTION["runs"]["steps"]
    in_container, *same = CONTAINER["runs"]["steps"]
    assert stored == same
    passed_on = {name: f"${{{{ inputs.{name} }}}}" for name in INPUTS}
    assert in_container["with"] == passed_on
    own = in_container["env"]
    assert on_runner["env"] == {**{f"INPUT_{name.upper()}": told for name, told in passed_on.items()}, **own}
    assert set(own) == {MATRIX, CALLED}
    assert "uses" not in on_runner


def test_what_they_use_is_pinned_and_no_tag():
    assert re.fullmatch(
        r"docker://ghcr\.io/runevals/runevals@sha256:[0-9a-f]{64}", CONTAINER["runs"]["steps"][0]["uses"]
    )
    base = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()[0]
    assert re.fullmatch(r"ARG BASE_IMAGE=python:[\d.]+-slim-\w+@sha256:[0-9a-f]{64}", base)
    for upload in ACTION["runs"]["steps"][1:]:
        assert re.fullmatch(r"actions/upload-artifact@[0-9a-f]{40}", upload["uses"])


def test_the_results_are_stored_by_name_and_the_page_by_itself():
    _, results, page = ACTION["runs"]["steps"]
    files = [f"${{{{ steps.runevals.outputs.{name} }}}}" for name in ACTION["outputs"] if name.endswith("_path")]
    [html] = [file for file in files if "html_path" in file]
    assert results["with"]["name"] == "${{ steps.runevals.outputs.artifact_name }}"
    assert results["with"]["path"].splitlines() == [file for file in files if file != html]
    assert (page["with"]["path"], page["with"]["archive"]) == (html, False)
    assert all(upload["if"].startswith("always()") for upload in (results, page))


OF_ACTION = sorted({*(ROOT / "docs" / "workflows").glob("*.yml")} - {ROOT / "docs/workflows/change-model.yml"})


@pytest.mark.parametrize("path", OF_ACTION, ids=lambda path: path.name)
def test_documented_workflows_are_linked_and_say_only_what_the_action_takes(path):
    assert f"(workflows/{path.name})" in (ROOT / "docs" / "action.md").read_text(encoding="utf-8")
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
    ours = [step for job in jobs for step in job["steps"] if step.get("uses", "").startswith("runevals/")]
    assert ours or any("runevals " in step.get("run", "") for job in jobs for step in job["steps"])
    assert {name for step in ours for name in step.get("with", {})} <= set(ACTION["inputs"])


def test_one_pin_holds_everywhere():
    """Dependabot moves those of workflows and actions: the others follow in the same change."""
    files = [ROOT / "src/runevals/github/evals.yml", ROOT / "README.md", *ROOT.glob("docs/*.md")]
    for pattern in (".github/workflows/*.yml", "docs/workflows/*.yml", "*.yml", "container/*.yml"):
        files += ROOT.glob(pattern)
    used = "\n".join(path.read_text(encoding="utf-8") for path in files)
    pins: dict[str, set[tuple[str, str]]] = {}
    for name, sha, version in re.findall(r"uses: ([\w.-]+/[\w.-]+)[\w/-]*@([0-9a-f]{40}) # v(\S+)", used):
        pins.setdefault(name, set()).add((sha, version))
    assert {name: len(found) for name, found in pins.items() if len(found) > 1} == {}
    majors = {name: version.partition(".")[0] for name, [(_, version)] in pins.items()}
    for name, major in re.findall(r"uses: (actions/[\w-]+)[\w/-]*@v(\S+)", used):
        assert majors.get(name, major) == major, f"{name}@v{major}"
