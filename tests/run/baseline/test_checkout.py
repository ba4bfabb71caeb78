"""The base's commit in a worktree of its own."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records.errors import InvalidSuite
from runevals.run.baseline.checkout import base_checkout
from runevals.settings.file import BaseSide
from runevals.settings.resolve import RawSettings, resolve


def test_a_commit_with_broken_settings_is_run_by_those_of_the_change_only_if_it_decides(repository):
    """Else a change could begin at such a commit, to be compared by its own settings."""
    repository.write("runevals.yaml", "suites: [")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "broken")
    commit = repository.git("rev-parse", "HEAD")
    repository.write("runevals.yaml", "suites: [evals.json]")
    told = RawSettings(cwd=repository.path, environment={})
    side = BaseSide(commit=commit, unreadable="runevals.yaml:1:1: is not YAML")
    with base_checkout(replace(resolve(told), base_side=side), commit, told) as there:
        assert [entry.path for entry in there.load.suites] == ["evals.json"]
        assert there.file_path == there.cwd / "runevals.yaml"
    elsewhere = replace(side, unreadable=None)
    with pytest.raises(InvalidSuite), base_checkout(replace(resolve(told), base_side=elsewhere), commit, told):
        pass
