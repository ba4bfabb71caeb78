"""The files for other CI systems: valid by their schemas, and their commands do what the page says."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml
from junitparser import JUnitXml

from runevals.version import ACTION_REF
from tests.docs.pages import ROOT
from tests.sample_suites import AGENT, WORSE

FILES = ROOT / "docs" / "ci"
COULD_NOT = "def answer(prompt):\n raise RuntimeError('no answer')\n"


def loaded(name):
    return yaml.safe_load((FILES / name).read_text(encoding="utf-8"))


def gitlab():
    return loaded("gitlab-ci.yml")["evals"]["script"]


def azure():
    return [step["script"] for step in loaded("azure-pipelines.yml")["steps"] if "script" in step]


def jenkins():
    text = (FILES / "Jenkinsfile").read_text(encoding="utf-8")
    return re.findall(r"sh(?:\(returnStatus: true, script:)? '([^']+)'", text)


def bitbucket():
    [step] = loaded("bitbucket-pipelines.yml")["pipelines"]["pull-requests"]["**"]
    return step["step"]["script"]


def circleci():
    return [step["run"] for step in loaded("circleci.yml")["jobs"]["evals"]["steps"] if "run" in step]


def buildkite():
    [step] = loaded("buildkite.yml")["steps"]
    return [line.replace("$$", "$") for line in step["command"]]


@cache
def install():
    """The script that writes what is installed."""
    spec = importlib.util.spec_from_file_location("install", ROOT / ".ci" / "install.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def called(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=False, **more)


SYSTEMS = {
    "gitlab": (gitlab, {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}, "junit.xml"),
    "azure": (azure, {"SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main"}, "junit.xml"),
    "jenkins": (jenkins, {"CHANGE_TARGET": "main"}, "junit.xml"),
    "bitbucket": (bitbucket, {"BITBUCKET_PR_DESTINATION_BRANCH": "main"}, "test-results/junit.xml"),
    "circleci": (circleci, {"TARGET": "main"}, "test-results/evals/junit.xml"),
    "buildkite": (buildkite, {"BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main"}, "junit.xml"),
}


@pytest.fixture
def programs(tmp_path_factory):
    """A folder with what the commands of a job call."""
    programs = tmp_path_factory.mktemp("programs")
    for name, text in {
        "pip": f'[ "$*" = "install {install().requirement()}" ]',  # it is installed already
        "runevals": f'exec "{sys.executable}" -m runevals "$@"',
        "python": f'exec "{sys.executable}" "$@"',
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    return programs


@pytest.fixture
def job(repository, programs, tmp_path_factory):
    """Runs the commands of a system in a clone of the change, as its shell does → (exit code, output, clone)."""
    repository.git("commit", "-q", "--allow-empty", "-m", "change")
    folder = tmp_path_factory.mktemp("job")

    def run(system, agent):
        lines, variables, _ = SYSTEMS[system]
        repository.write("agent.py", agent)
        repository.git("commit", "-qam", "the change", "--allow-empty")
        clone = folder / "clone"
        subprocess.run(["git", "clone", "-q", "-b", "change", str(repository.path), str(clone)], check=True)
        subprocess.run(["git", "update-ref", "refs/remotes/origin/main", "origin/main"], cwd=clone, check=True)
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        script = "set -e\n" + "\n".join(lines())
        done = called("bash", "-c", script, cwd=clone, env={**os.environ, **variables, "CI": "true", "PATH": path})
        return done.returncode, done.stdout + done.stderr, clone

    return run


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_change_that_loses_a_case_fails_and_leaves_junit_where_the_file_says(job, system):
    code, printed, clone = job(system, WORSE)
    assert (code, "1 of 2 cases regressed" in printed) == (1, True), printed
    junit = SYSTEMS[system][2]
    assert JUnitXml.fromfile(str(clone / junit)).tests
    name = next(path for path in FILES.iterdir() if path.name.lower().startswith(system))
    folder = str(Path(junit).parent)
    assert junit in name.read_text(encoding="utf-8")
    assert folder == "." or folder.partition("/")[0] == "test-results"


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_run_that_ends_early_leaves_no_committed_results_where_the_system_looks(job, repository, system):
    junit = SYSTEMS[system][2]
    for name in (junit, "results.json", "report.html"):
        repository.write(name, '<testsuite name="s" tests="1"><testcase name="a"/></testsuite>')
    repository.write("runevals.yaml", "target: [")
    repository.git("add", "-A")
    code, printed, clone = job(system, AGENT)
    assert code == 2, printed
    assert [name for name in (junit, "results.json", "report.html") if (clone / name).exists()] == []


@pytest.mark.parametrize(("agent", "code"), [(AGENT, 0), (COULD_NOT, 3)], ids=["nothing lost", "not measured"])
def test_exit_codes_are_those_that_the_files_tell_apart(job, agent, code):
    assert job("gitlab", agent)[0] == code


def test_where_a_system_can_exit_3_is_no_failure(job):
    code, printed, _ = job("azure", COULD_NOT)
    assert (code, "##vso[task.complete result=SucceededWithIssues;]" in printed) == (0, True)
    assert loaded("gitlab-ci.yml")["evals"]["allow_failure"] == {"exit_codes": [3]}
    assert loaded("buildkite.yml")["steps"][0]["soft_fail"] == [{"exit_status": 3}]
    assert "if (code == 3) {\n            unstable(" in (FILES / "Jenkinsfile").read_text(encoding="utf-8")


def kubernetes():
    job = loaded("kubernetes.yml")["spec"]
    [container] = job["template"]["spec"]["containers"]
    assert container["command"][:2] == ["sh", "-ec"]
    return container["command"][2], [{"JOB_COMPLETION_INDEX": str(n)} for n in range(job["completions"])]


def slurm():
    script = (FILES / "slurm.sh").read_text(encoding="utf-8")
    first, last = map(int, re.findall(r"--array=(\d+)-(\d+)", script)[0])
    array = {"SLURM_ARRAY_TASK_COUNT": str(last - first + 1), "SLURM_ARRAY_TASK_MIN": str(first)}
    return script, [{**array, "SLURM_ARRAY_TASK_ID": str(n)} for n in range(first, last + 1)]


@pytest.mark.parametrize("system", [kubernetes, slurm], ids=lambda system: system.__name__)
def test_the_tasks_of_an_array_run_all_shards_and_the_command_of_the_page_merges_them(
    system, repository, runevals, programs, monkeypatch
):
    runevals("-o", "base.json")
    script, tasks = system()
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    for variables in tasks:
        done = called("bash", "-ec", script, cwd=repository.path, env={**os.environ, **variables, "PATH": path})
        assert done.returncode == 0, done.stdout + done.stderr
    [merge] = set(
        re.findall(r"runevals merge shards [^\n\"]+", (ROOT / "docs" / "clusters.md").read_text(encoding="utf-8"))
    )
    monkeypatch.setenv("CI", "true")
    code, printed, err = runevals(*merge.split()[1:])
    assert (code, "No regression shown in 2 cases" in printed) == (0, True), printed + err
    assert JUnitXml.fromfile(str(repository.path / "junit.xml")).tests


@pytest.mark.parametrize("system", [kubernetes, slurm], ids=lambda system: system.__name__)
def test_a_task_that_fails_leaves_no_earlier_result_of_its_shard(system, repository, programs):
    repository.write("shards/0.json", "earlier")
    repository.write("runevals.yaml", "fail_onn: none")
    script, [first, *_] = system()
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = called("bash", "-ec", script, cwd=repository.path, env={**os.environ, **first, "PATH": path})
    assert (done.returncode, "fail_onn" in done.stderr) == (2, True)
    assert not (repository.path / "shards/0.json").exists()


@pytest.mark.parametrize(
    ("name", "schema", "more"),
    [
        ("gitlab-ci.yml", "gitlab-ci", ("--data-transform", "gitlab-ci")),
        (
            "azure-pipelines.yml",
            "azure-pipelines",
            ("--data-transform", "azure-pipelines", "--regex-variant", "nonunicode"),
        ),
        ("bitbucket-pipelines.yml", "bitbucket-pipelines", ()),
        ("circleci.yml", "circle-ci", ()),
        ("buildkite.yml", "buildkite", ()),
    ],
)
def test_files_are_valid_by_the_schemas_of_their_systems(name, schema, more):
    words = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *more)
    done = called(*words, str(FILES / name))
    assert done.returncode == 0, done.stdout


def test_all_install_and_use_what_one_line_says():
    """Nothing by a name that is not ours yet."""
    script = install()
    assert script.changed() == {}
    for name, line in (
        ("docs/ci/gitlab-ci.yml", f"'runevals[gitlab] @ git+https://github.com/runevals/runevals@{ACTION_REF}'"),
        ("docs/workflows/change-model.yml", f"pip install git+https://github.com/runevals/runevals@{ACTION_REF}"),
        ("docs/workflows/pull-request.yml", f"uses: runevals/runevals@{ACTION_REF} # zizmor"),
        ("README.md", f"uses: runevals/runevals@{ACTION_REF}\n"),
    ):
        assert line in (ROOT / name).read_text(encoding="utf-8"), name


def test_another_ref_changes_every_form():
    script = install()
    forms = [
        *("pip install runevals", "pip install 'runevals[gitlab]'", "pip install -q other"),
        *("uses: runevals/runevals@v0 # one", "uses: runevals/runevals/container@v0"),
    ]
    source = "git+https://github.com/runevals/runevals@0123abc"
    once = [script.written(form, "0123abc") for form in forms]
    assert once == [
        *(f"pip install {source}", f"pip install 'runevals[gitlab] @ {source}'", "pip install -q other"),
        *("uses: runevals/runevals@0123abc # one", "uses: runevals/runevals/container@0123abc"),
    ]
    assert [script.written(form, "0123abc") for form in once] == once
    assert [script.written(form, "v0") for form in once] == forms
