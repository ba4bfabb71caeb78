"""What the action leaves in its folder may be uploaded: it is our files, and nothing that leads elsewhere."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from tests.attacks.conftest import photograph

UPLOAD = Path(__file__).parents[2] / "action.yml"
OURS = {
    "results.json",
    "report-workflow-job-c14f5bd1.html",
    "junit.xml",
    "results.csv",
    "summary.md",
    "comment.md",
}
RESULTS = ".evals/results"


@pytest.fixture
def job(hostile, tmp_path_factory):
    """The action, as a step; `job.uploaded()` is what its next steps would take: files behind links too."""
    runner = tmp_path_factory.mktemp("runner")
    environment = {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(runner / "output")}

    def step(**inputs):
        (runner / "output").write_text("", encoding="utf-8")
        return hostile.run("action", **environment, **{f"INPUT_{key.upper()}": inputs[key] for key in inputs})

    def uploaded():
        lines = (runner / "output").read_text(encoding="utf-8").splitlines()
        outputs = {line.partition("<<")[0]: told for line, told in pairwise(lines) if "<<" in line}
        _, *uploads = yaml.safe_load(UPLOAD.read_text(encoding="utf-8"))["runs"]["steps"]
        paths = [line for upload in uploads for line in upload["with"]["path"].splitlines()]
        wanted = [line.split(".outputs.")[1].removesuffix(" }}") for line in paths]
        names = [outputs[name] for name in wanted if outputs.get(name)]
        return {name: (hostile.path / name).read_bytes() for name in names}

    hostile.step, hostile.uploaded = step, uploaded
    return hostile


def test_our_six_files_are_uploaded(job):
    """The control; and once more, where those of an earlier step and of a run by hand lie."""
    by_hand = {f"2026-11-28_22-28-25{end}" for end in (".json", ".html", "-2.json", ".mini.html")}
    for name in by_hand:
        job.write(f"{RESULTS}/{name}", "what a run by hand keeps")
    for _ in range(2):
        job.step().must(0)
        assert {Path(name).name for name in job.uploaded()} == OURS
    assert {path.name for path in (job.path / RESULTS).iterdir()} == OURS | by_hand


@pytest.mark.parametrize("name", ["config", "environ", "results.json", "report.html", "comment.md", ".hidden"])
@pytest.mark.parametrize("target", ["../../.git", "/proc/self/environ", "../../evals.json", "nowhere"])
def test_a_link_in_the_folder_is_refused(job, around, name, target):
    (job.path / RESULTS).mkdir(parents=True)
    (job.path / RESULTS / name).symlink_to(target)
    before = photograph(job.path)
    job.step().must(2, f"{RESULTS}/{name} was not created by runevals; remove it, or name another folder")
    assert photograph(job.path) == before
    assert job.uploaded() == {}


@pytest.mark.parametrize("name", ["more.json", "results.json/deep.txt", "folder/deep.txt"])
def test_a_stray_file_or_folder_is_refused(job, name):
    job.write(f"{RESULTS}/{name}", "a secret of another step")
    job.step().must(2, "was not created by runevals")
    assert job.uploaded() == {}


@pytest.mark.parametrize("folder", [RESULTS, "out", "out/deep/er"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_folder_behind_a_link_is_refused(job, around, folder, depth):
    parts = Path(folder).parts[:depth]
    place = job.path.joinpath(*parts)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(around)
    before = photograph(around)
    job.step(output_dir=folder).must(2, f"{Path(*parts)} is a link")
    assert photograph(around) == before
    assert job.uploaded() == {}


OTHERS = [".git", ".git/hooks", "a/../.git", "..", "../x", "/tmp/x", ".", "a*b", "!x", "a\nb"]


@pytest.mark.parametrize("folder", OTHERS)
def test_a_folder_that_is_none_of_ours_is_refused(job, folder):
    before = photograph(job.path)
    job.step(output_dir=folder).must(2, "is no folder inside the workspace")
    assert photograph(job.path) == before


@pytest.mark.parametrize("name", sorted(OURS))
def test_what_a_program_under_test_puts_there_meanwhile_is_not_uploaded(job, around, name):
    def meanwhile():
        (job.path / RESULTS).mkdir(parents=True, exist_ok=True)
        for each in (name, "environ"):
            if not (job.path / RESULTS / each).is_symlink():
                (job.path / RESULTS / each).symlink_to(around / "letter.txt")

    job.meanwhile = meanwhile
    before = photograph(around)
    job.step().must(0 if name == "comment.md" else 3, f"{name} is a link")
    assert photograph(around) == before
    assert len(job.uploaded()) == len(OURS) - 1
    assert not any(b"not yours" in content for content in job.uploaded().values())


@pytest.mark.needs("root")
def test_what_root_hands_over_is_what_it_wrote(job, around):
    """The container's user gives its files to the workspace's owner; a link would give away another's."""
    os.chown(job.path, 1234, 1234)
    (around / "letter.txt").chmod(0o600)
    job.write("docs/theirs.txt", "x")

    def meanwhile():
        (job.path / "docs" / "link").unlink(missing_ok=True)
        (job.path / "docs" / "link").symlink_to(around)

    job.meanwhile = meanwhile
    job.step(output_dir="docs/results", cache="docs/cache", resume="true").must(0)
    given = [path for path in job.path.rglob("*") if path.lstat().st_uid == 1234]
    assert {path.name for path in given} == {"docs", "results", *OURS}
    assert {path.stat().st_uid for path in (around, *around.rglob("*"))} == {0}
    assert json.loads((job.path / "docs/results/results.json").read_text(encoding="utf-8"))["run"]
