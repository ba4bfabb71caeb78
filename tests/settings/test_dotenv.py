"""Dotenv files: which are read, in which order, and what a tracked one may not set."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings
from runevals.settings.dotenv import environment


def test_dotenv_files_are_read_at_home_and_never_in_ci(tmp_path):
    (tmp_path / "env").mkdir()
    (tmp_path / ".env.local").write_text("A=1\nB=1\nC=1\nD=1\n", encoding="utf-8")
    (tmp_path / ".env.local.user").write_text("B=2\nC=2\nD=2\n", encoding="utf-8")
    (tmp_path / "env" / ".env.dev").write_text("C=3\nD=3\n", encoding="utf-8")
    assert environment(tmp_path, "dev", {"D": "4"}) == {"A": "1", "B": "2", "C": "3", "D": "4"}
    assert environment(tmp_path, None, {"CI": "true"}) == {"CI": "true"}
    with pytest.raises(InvalidSettings, match="there is no file"):
        environment(tmp_path, "prod", {})


@pytest.mark.parametrize("place", [".env.local", "real/.env.dev"])
def test_a_file_that_git_tracks_sets_none_of_our_settings(repository, capsys, place):
    """Also one behind a link that git tracks."""
    repository.write(place, "RUNEVALS_REPEAT=3\nGREETING=hello\n")
    name = None
    if place != ".env.local":
        (repository.path / "env").symlink_to("real")
        name = "dev"
    assert environment(repository.path, name, {}) == {"RUNEVALS_REPEAT": "3", "GREETING": "hello"}
    repository.git("add", "-Af")
    assert environment(repository.path, name, {}) == {"GREETING": "hello"}
    assert "RUNEVALS_REPEAT not used: git tracks the file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "HTTPS_PROXY", "https_proxy", "SSL_CERT_FILE"]
)
def test_a_file_that_git_tracks_leads_no_key_elsewhere(repository, capsys, name):
    repository.write(".env.local", f"{name}=x\nGREETING=hello\n")
    repository.git("add", "-Af")
    assert environment(repository.path, None, {}) == {"GREETING": "hello"}
    assert f"{name} not used" in capsys.readouterr().err
