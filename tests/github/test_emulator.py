"""The emulator notices what GitHub would not understand."""

from __future__ import annotations

import pytest
import requests

from tests.github.emulator import github


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/repos/o/r/pulls?stat=open", "stat is no query key"),
        ("/repos/o/r/pulls?state=ajar", "ajar"),
        ("/repos/o/r/pullz", "PathNotFound"),
    ],
)
def test_a_request_that_github_would_not_know_fails_the_test(path, told):
    with pytest.raises(AssertionError, match=told), github() as hub:
        requests.get(f"{hub.url}{path}", timeout=30)


def test_a_body_that_github_would_not_take_fails_the_test():
    with pytest.raises(AssertionError, match="body"), github() as hub:
        requests.post(f"{hub.url}/repos/o/r/issues/7/comments", json={"body": 1}, timeout=30)
