"""The cache: real files, several processes, and what happens to it when a disk or a file is bad."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from runevals.lib.storage.cache import Cache

WRITER = """
import sys
from pathlib import Path
from runevals.lib.storage.cache import Cache
cache = Cache(Path(sys.argv[1]), lambda told: sys.exit(told))
for n in range(100):
    cache.put(f"{sys.argv[2]}-{n}", "x" * n)
    cache.get(f"{sys.argv[2]}-{n}")
"""


@pytest.fixture
def told():
    return []


@pytest.fixture
def cache(tmp_path, told):
    made = Cache(tmp_path / "cache", told.append)
    yield made
    made.close()


def test_another_run_reads_cached_answers(cache, told, tmp_path):
    cache.put("k", "Antwort 答案")
    with closing(Cache(tmp_path / "cache", told.append)) as another:
        assert another.get("k") == "Antwort 答案"
    assert cache.get("other") is None
    assert told == []


def test_a_second_answer_does_not_overwrite_the_first(cache):
    cache.put("k", "first")
    cache.put("k", "second")
    assert cache.get("k") == "first"


def test_reading_creates_no_cache_file(cache, tmp_path):
    assert cache.get("k") is None
    assert cache.info().answers == 0
    assert list(tmp_path.iterdir()) == []


def test_the_cache_folder_is_ignored_by_git(cache):
    cache.put("k", "v")
    assert (cache.path.parent / ".gitignore").read_text() == "*\n"


def test_concurrent_writes_of_threads_are_stored_when_each_returns(cache, told):
    def keep(number):
        cache.put(f"k{number}", f"answer {number}")
        with closing(sqlite3.connect(cache.path)) as another:
            return another.execute("SELECT answer FROM answers WHERE key = ?", (f"k{number}",)).fetchone()

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(keep, range(400)))
    assert found == [(f"answer {number}",) for number in range(400)]
    assert told == []


def test_several_processes_write_to_the_cache_at_once(cache, tmp_path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "cache"), name], stderr=subprocess.PIPE)
        for name in "abc"
    ]
    for writer in writers:
        _, err = writer.communicate(timeout=60)
        assert writer.returncode == 0, err
    assert cache.info().answers == 300


def test_clearing_reports_the_number_of_entries_and_leaves_a_usable_cache(cache):
    cache.put("a", "1")
    cache.put("b", "2")
    assert cache.clear() == 2
    assert cache.get("a") is None
    cache.put("c", "3")
    assert cache.info().answers == 1


@pytest.mark.parametrize(
    "content", [b"this is no database, and rather long at that" * 50, b"SQLite format 3\0" + b"\xff" * 4096]
)
def test_a_cache_file_that_is_not_a_database_is_moved_aside_with_a_notice(cache, told, content):
    cache.path.parent.mkdir()
    cache.path.write_bytes(content)
    cache.put("k", "v")
    assert cache.get("k") == "v"
    assert len(told) == 1
    assert "put aside as answers-1.broken" in told[0]
    assert cache.path.with_suffix(".broken").read_bytes() == content


def test_an_unwritable_cache_folder_is_reported_once_and_does_not_fail_the_run(told, tmp_path):
    (tmp_path / "file").write_text("no folder")
    cache = Cache(tmp_path / "file", told.append)
    cache.put("a", "1")
    cache.put("b", "2")
    assert cache.get("a") is None
    assert len(told) == 1
    assert told[0].startswith("nothing is cached: ")


def test_an_entry_that_cannot_be_written_does_not_block_other_entries(cache, told):
    with pytest.raises(UnicodeEncodeError):
        cache.put("half", "\ud800")
    cache.put("k", "whole")
    assert cache.get("k") == "whole"
    assert told == []
