"""What a release does, step by step (`.ci/release`), against a registry and a git remote of the test's own.

Not seen here: a second platform, attestations, PyPI and a registry that asks for an account.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from runevals import __version__
from tests.conftest import docker

ROOT = Path(__file__).parents[2]
IMAGE = f"ghcr.io/runevals/runevals@sha256:{'a' * 64}"
WITH_WORKFLOWS = """#!/bin/sh
while read -r old new ref; do
  if git cat-file -e "$new:.github" 2>/dev/null; then
    echo "refusing to allow a GitHub App to create or update workflow" >&2
    exit 1
  fi
done
"""
AS_AUTHOR = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, env={**os.environ, **AS_AUTHOR}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


class Release:
    """A checkout of main, and the remote that it is released to."""

    def __init__(self, folder: Path) -> None:
        self.main, self.remote, self.wheel = (
            folder / "main",
            folder / "remote.git",
            folder / "runevals-1-py3-none-any.whl",
        )
        git(folder, "init", "-q", "--bare", str(self.remote))
        git(folder, "init", "-q", "-b", "main", str(self.main))
        for name in ("container", "runner", ".ci", ".github"):
            shutil.copytree(ROOT / name, self.main / name)
        shutil.copy(ROOT / "action.yml", self.main)
        self.wheel.write_bytes(b"a wheel")
        git(self.main, "remote", "add", "origin", str(self.remote))
        self.hook(WITH_WORKFLOWS)
        self.change("first")

    def hook(self, text: str) -> None:
        path = self.remote / "hooks" / "pre-receive"
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def change(self, text: str) -> None:
        """A commit of main, which changes a workflow too."""
        for name in ("CHANGELOG.md", ".github/workflows/ci.yml"):
            (self.main / name).write_text(text, encoding="utf-8")
        git(self.main, "add", "-A")
        git(self.main, "commit", "-qm", text)

    def tag(self, version: str) -> subprocess.CompletedProcess[str]:
        """The step, in a fresh checkout as each job has it."""
        job = self.main.with_name("job")
        shutil.rmtree(job, ignore_errors=True)
        git(self.main, "clone", "-q", str(self.main), str(job))
        git(job, "remote", "set-url", "origin", str(self.remote))
        command = [".ci/release", "tag", IMAGE, str(self.wheel), version]
        return subprocess.run(command, cwd=job, capture_output=True, text=True, check=False)

    @property
    def tags(self) -> dict[str, str]:
        lines = git(self.main, "ls-remote", "--tags", "origin").splitlines()
        return {name.removeprefix("refs/tags/"): commit for commit, name in map(str.split, lines)}


@pytest.fixture
def release(tmp_path):
    return Release(tmp_path)


def test_a_release_is_a_commit_with_the_image_and_the_wheel_and_without_workflows(release):
    done = release.tag("0.1.0")
    assert done.returncode == 0, done.stderr
    commit = done.stdout.strip()
    assert release.tags == {"v0.1.0": commit, "v0": commit}
    files = git(release.remote, "ls-tree", "-r", "--name-only", commit).splitlines()
    assert "wheel/runevals-1-py3-none-any.whl" in files
    assert not any(name.startswith(".github/") for name in files)
    actions = [git(release.remote, "show", f"{commit}:{name}") for name in ("action.yml", "container/action.yml")]
    used = re.findall(r"uses: (\S+)", "\n".join(actions))
    assert f"docker://{IMAGE}" in used
    assert all(re.search(r"@(sha256:[0-9a-f]{64}|[0-9a-f]{40})$", name) for name in used), used


def test_it_may_be_run_again_and_the_next_one_moves_the_major_tag(release):
    first = release.tag("0.1.0").stdout.strip()
    assert release.tag("0.1.0").stdout.strip() == first
    release.change("second")
    second = release.tag("0.2.0").stdout.strip()
    assert release.tags == {"v0.1.0": first, "v0.2.0": second, "v0": second}


def test_tags_are_pushed_all_or_none_and_a_resumed_release_pushes_them(release):
    first = release.tag("0.1.0").stdout.strip()
    release.change("second")
    release.hook('#!/bin/sh\nwhile read -r old new ref; do [ "$ref" != refs/tags/v0 ] || exit 1; done\n')
    assert release.tag("0.2.0").returncode != 0
    assert release.tags == {"v0.1.0": first, "v0": first}
    release.hook(WITH_WORKFLOWS)
    second = release.tag("0.2.0").stdout.strip()
    assert release.tags == {"v0.1.0": first, "v0.2.0": second, "v0": second}


def test_where_only_the_version_was_pushed_the_major_tag_follows(release):
    commit = release.tag("0.1.0").stdout.strip()
    git(release.remote, "tag", "-d", "v0")
    assert release.tag("0.1.0").returncode == 0
    assert release.tags == {"v0.1.0": commit, "v0": commit}


def test_an_older_release_that_is_resumed_does_not_move_the_major_tag_back(release):
    release.tag("0.9.0")
    release.main.rename(release.main.with_name("old"))
    shutil.copytree(release.main.with_name("old"), release.main)
    release.change("second")
    newer = release.tag("0.10.0").stdout.strip()
    shutil.rmtree(release.main)
    release.main.with_name("old").rename(release.main)
    assert release.tag("0.9.0").returncode == 0
    assert release.tags["v0"] == newer


def test_a_version_is_never_released_twice(release):
    release.tag("0.1.0")
    before = release.tags
    release.change("something else")
    done = release.tag("0.1.0")
    assert done.returncode == 1
    assert "v0.1.0 is released already, and is another commit" in done.stderr
    assert release.tags == before


STUB = {
    "runevals/__init__.py": "",
    "runevals/__main__.py": "print('runevals 0.1.0')\n",
    "runevals-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: runevals\nVersion: 1\n",
    "runevals-1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "runevals-1.dist-info/RECORD": "",
}


def test_what_was_released_is_checked_as_a_stranger_gets_it(release):
    """A clone without an account, its commit and digest, and the wheel installed as the action does."""
    with zipfile.ZipFile(release.wheel, "w") as wheel:
        for name, text in STUB.items():
            wheel.writestr(name, text)
    (release.main / "requirements-image.lock").touch()
    release.change("a wheel that says its version")
    commit = release.tag("0.1.0").stdout.strip()

    def check(tag="v0", of=commit):
        command = [".ci/release", "check", f"file://{release.remote}", tag, of, "0.1.0"]
        return subprocess.run(command, cwd=release.main, capture_output=True, text=True, check=False)

    done = check("v0.1.0")
    assert done.returncode == 0, done.stderr
    assert "v0 is not aaaaaaa" in check(of="a" * 7).stderr
    git(release.remote, "fetch", "-q", str(release.main), "main:refs/tags/v1")  # a tag of no release
    unreleased = git(release.main, "rev-parse", "main")
    assert "the container form names no digest" in check("v1", unreleased).stderr
    assert check("v2").returncode != 0, "there is no such tag"


def test_each_version_of_the_documentation_stands_beside_the_others(release):
    shutil.copytree(ROOT / "docs", release.main / "docs")
    shutil.copy(ROOT / "SECURITY.md", release.main)
    python = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for version in ("0.1.0", "0.1.0", "0.2.0"):
        subprocess.run(
            [".ci/release", "site", version], cwd=release.main, env=python, check=True, capture_output=True
        )
    commits = git(release.remote, "log", "--format=%s", "gh-pages").splitlines()
    assert commits == ["Documentation of v0.2.0", "Documentation of v0.1.0"]
    assert git(release.remote, "show", "gh-pages:0.1/gates/index.html")
    listed = json.loads(git(release.remote, "show", "gh-pages:versions.json"))
    assert [one["version"] for one in listed] == ["0.2", "0.1"]


def test_notes_that_say_nothing_end_it(release):
    (release.main / "CHANGELOG.md").write_text("## 0.2.0\n\n## 0.1.0\n\n- One.\n", encoding="utf-8")

    def notes(version):
        command = [".ci/release", "notes", version]
        return subprocess.run(command, cwd=release.main, capture_output=True, text=True, check=False)

    assert notes("0.1.0").stdout.strip() == "- One."
    assert notes("0.2.0").returncode == notes("0.3.0").returncode == 1


@pytest.fixture
def registry(tmp_path):
    """A container registry → its host and port."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    (tmp_path / "registry.yml").write_text(
        f"version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {tmp_path / 'layers'}}}}}\n"
        f"http: {{addr: '127.0.0.1:{port}'}}\n",
        encoding="utf-8",
    )
    command = ["docker-registry", "serve", str(tmp_path / "registry.yml")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        ends_at = time.monotonic() + 20
        while time.monotonic() < ends_at:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"127.0.0.1:{port}"
        process.kill()


@pytest.mark.needs("container")
@pytest.mark.needs("docker-registry")
def test_an_image_is_pushed_once_and_pulled_by_its_digest(registry, image):
    name = f"{registry}/runevals/runevals"

    def step(*words: str) -> str:
        env = {**os.environ, "DOCKER_BUILDKIT": "1", "INSECURE": "1", "PATH": f"/usr/bin:{os.environ['PATH']}"}
        done = subprocess.run(
            [".ci/release", *words], cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    digest = step("build", name, __version__, "f" * 40)
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", digest)
    tags = docker("images", "--quiet", name).stdout
    docker("image", "rm", f"{name}:v{__version__}-amd64")
    assert step("build", name, __version__, "f" * 40) == digest, tags
    joined = step("join", name, __version__, digest)
    assert step("join", name, __version__, digest) == joined != digest
    docker("image", "rm", f"{name}:v{__version__}-amd64", f"{name}@{digest}")
    step("pull", f"{name}@{joined}", __version__)
