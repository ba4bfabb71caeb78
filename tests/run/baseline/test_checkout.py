"""The base's commit in a worktree of its own."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records.errors import InvalidSuite, NoSuiteFound
from runevals.run.baseline.checkout import base_checkout
from runevals.settings.file import BaseSide
from runevals.settings.resolve import RawSettings, resolve


@pytest.mark.parametrize(
    ("unreadable", "raised"), [("runevals.yaml:1:1: is not YAML", NoSuiteFound), (None, InvalidSuite)]
)
def test_a_commit_with_broken_settings_has_nothing_to_run_only_if_it_decides(repository, unreadable, raised):
    """Else a change could begin at such a commit, to be compared with nothing."""
    repository.write("runevals.yaml", "suites: [")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "broken")
    commit = repository.git("rev-parse", "HEAD")
    repository.write("runevals.yaml", "suites: [evals.json]")
    told = RawSettings(cwd=repository.path, environment={})
    settings = replace(resolve(told), base_side=BaseSide(commit=commit, unreadable=unreadable))
    with pytest.raises(raised), base_checkout(settings, commit, told):
        pass
