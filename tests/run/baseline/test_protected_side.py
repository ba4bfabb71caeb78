"""Whose settings decide over what is checked out, by what the job's event says of it."""

from __future__ import annotations

import pytest

from runevals.records.errors import ExternalError
from runevals.run.baseline.protected_side import ChangeEvent, protected_side
from runevals.settings.resolve import RawSettings


@pytest.fixture
def side_of(repository):
    """What decides over the repository's change, by an event that says this."""
    return lambda **said: protected_side(RawSettings(cwd=repository.path, environment={}), ChangeEvent(**said))


def test_where_no_change_is_checked_out_nothing_else_decides(repository, side_of):
    assert side_of() is None
    assert side_of(base=repository.git("rev-parse", "main")) is None


@pytest.mark.parametrize("proposed", [True, False])
def test_over_a_change_its_base_decides(repository, side_of, proposed):
    main = repository.git("rev-parse", "main")
    side = side_of(untrusted=True, on_pull_request=proposed, base=main)
    assert side is not None
    assert (side.commit, side.on_pull_request) == (main, proposed)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"untrusted": True}, "does not say on which base"),
        ({"untrusted": True, "base": "f" * 40}, "the base commit fffffff is not in this checkout"),
        ({"unreadable": "dubious ownership"}, "which commit is checked out: dubious ownership"),
    ],
)
def test_a_change_whose_base_cannot_be_had_is_not_run(side_of, said, why):
    with pytest.raises(ExternalError, match=why):
        side_of(**said)


def test_a_checkout_below_the_workspace_is_named(side_of, repository):
    """As `path:` of actions/checkout makes it."""
    (repository.path / ".git").rename(repository.path / "elsewhere")
    with pytest.raises(ExternalError, match="into the workspace itself, without `path:`"):
        side_of(untrusted=True, base="f" * 40)
