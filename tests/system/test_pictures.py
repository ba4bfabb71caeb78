"""The pictures of the documentation can be made again."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.needs("cmark-gfm")]


def test_every_picture_is_made_from_a_run(tmp_path):
    for folder in ("docs", "examples"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns(".evals", "__pycache__"))
    pictures = {path.name for path in (ROOT / "docs").glob("*.png")}
    for name in pictures:
        (tmp_path / "docs" / name).unlink()
    command = [sys.executable, tmp_path / "docs" / "pictures.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    made = {path.name: path.stat().st_size for path in (tmp_path / "docs").glob("*.png")}
    assert made.keys() == pictures
    assert all(20_000 < size < 120_000 for size in made.values()), made
