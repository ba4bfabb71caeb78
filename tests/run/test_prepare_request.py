"""What a run knows before it measures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from runevals.records.errors import InvalidSettings
from runevals.run.load import suites_of
from runevals.run.prepare_request import prepared, require_comparable
from runevals.run.request import RunRequest
from runevals.settings.resolve import RawSettings, resolve
from tests.sample_suites import SUITE, TEN


def request_of(project, base=None, **flags):
    raw = RawSettings(cwd=project.path, environment={}, flags=flags)
    settings = resolve(raw)
    return RunRequest(settings=settings, suites=suites_of(settings), raw=raw, base=base)


def test_a_shard_is_not_compared(project):
    project.write("evals.json", SUITE)
    with pytest.raises(InvalidSettings, match="a shard is compared with nothing, but --base was given"):
        require_comparable(request_of(project, shard="1/2", base="main"))
    with pytest.raises(InvalidSettings, match=r"^there is no file .*b\.json"):
        prepared(request_of(project, shard="1/2", baseline="b.json", target="command:agent"))
    with pytest.raises(InvalidSettings, match="a merge is of all shards"):
        require_comparable(request_of(project, shard="1/2"), merges=True)


def test_the_quarantine_list_and_a_missing_mark_are_in_the_request(project):
    project.write("evals.json", TEN)
    expires = datetime.now(UTC).date() + timedelta(days=2)
    entry = f"- {{key: k1, suite: evals.json, owner: me, reason: flaky, expires: {expires}}}\n"
    project.write("runevals.quarantine.yaml", entry)
    request = prepared(request_of(project, mark="best", target="command:agent"))
    assert request.suites.quarantined == {("evals.json", "k1")}
    assert request.notices == ("quarantined: k1 (me: flaky)", "no mark: no result is stored of these cases")
    assert (request.mark, request.weakenings) == (None, ())
