"""What the system tests share: an installed plugin."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import created_once


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """Where pip has installed the example of a plugin."""

    def install(place):
        source = tmp_path_factory.mktemp("source") / "plugin"
        shutil.copytree(Path(__file__).parents[2] / "examples" / "plugin", source)  # a build leaves files behind
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(place), str(source)]
        subprocess.run(command, check=True, capture_output=True)

    return created_once(tmp_path_factory, "installed", install)
