"""`runevals cache-info`, `cache-clear` and `cache-dir`."""

from __future__ import annotations

from contextlib import closing

import pytest

from runevals.lib.storage.cache import Cache
from tests.ending import ended


@pytest.fixture
def cached(project):
    """A project with two cached answers."""
    with closing(Cache(project.path / ".evals/cache", print)) as cache:
        cache.put("a", "one")
        cache.put("b", "two")
    return project


def test_what_is_cached_is_shown_and_deleted(cached, runevals):
    assert runevals("cache-dir")[1].strip() == str(cached.path / ".evals/cache")
    assert runevals("cache-info")[1].startswith("2 answers, ")
    assert runevals("cache-clear")[1].startswith("Removed 2 answers")
    assert runevals("cache-info")[1].startswith("0 answers, ")


def test_to_clear_a_cache_that_is_not_there_is_no_error(project, runevals):
    code, out, _ = runevals("cache-clear")
    assert (code, out.startswith("There is no cache at ")) == (0, True)


@pytest.mark.parametrize("command", ["cache-info", "cache-clear", "cache-dir"])
def test_without_a_cache_it_says_what_to_name(project, runevals, command):
    code, _, err = runevals(command, "--cache", "none")
    ended(code, 2, err, "nothing is cached here; name a folder with --cache")
