"""What the system tests share: the action's image."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import docker


@pytest.fixture(scope="session")
def image() -> str:
    """The name of the image, built from this checkout."""
    built = docker("build", "--quiet", "--tag", "runevals-under-test", str(Path(__file__).parents[2]))
    assert built.returncode == 0, built.stderr
    return "runevals-under-test"
