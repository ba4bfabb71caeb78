"""The package as an index has it: what is in it, what its page says, and that it runs beside a plugin."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from runevals import __version__

ROOT = Path(__file__).parents[2]
AT_VERSION = re.compile(
    rf"https://(?:raw\.githubusercontent|github)\.com/runevals/runevals/(?:blob/)?v{__version__}/([^#]+)"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [built] = folder.glob("*.whl")
    return built


def metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("/METADATA")]
        return message_from_bytes(archive.read(name))


def test_every_file_that_git_has_is_in_it(wheel):
    tracked = subprocess.check_output(["git", "ls-files", "src/runevals"], cwd=ROOT, text=True).splitlines()
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("runevals/")}
    assert {name.removeprefix("src/") for name in tracked} <= names


def test_links_and_pictures_of_its_page_lead_to_what_is_there(wheel):
    links = re.findall(r"\]\(([^)]+)\)", metadata(wheel).get_payload())
    ours = [match[1] for match in map(AT_VERSION.match, links) if match]
    assert len(ours) > 20
    assert [path for path in ours if not (ROOT / path).exists()] == []
    assert [link for link in links if not link.startswith("https://")] == []


def test_it_says_where_its_documentation_and_source_are(wheel):
    labels = {url.partition(",")[0] for url in metadata(wheel).get_all("Project-URL")}
    assert labels == {"Documentation", "Source", "Issues", "Changelog"}


def test_it_runs_beside_a_plugin(wheel, installed, tmp_path):
    """Neither from the checkout: both as pip installs them."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(tmp_path), str(wheel)]
    subprocess.run(command, check=True, capture_output=True)
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(installed)])}
    python = [sys.executable, "-P"]
    where = [*python, "-c", "import runevals; print(runevals.__file__)"]
    assert subprocess.check_output(where, cwd=tmp_path, env=paths, text=True).startswith(str(tmp_path))
    shown = subprocess.check_output([*python, "-m", "runevals", "evaluators"], cwd=tmp_path, env=paths, text=True)
    assert "no_shouting" in shown
