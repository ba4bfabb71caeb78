"""The log of a run's answers: real files, threads, kills in mid-line and what others put in its place."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from runevals.lib.storage.text_log import TextLog


@pytest.fixture
def told():
    return []


@pytest.fixture
def log(tmp_path, told):
    with closing(TextLog(tmp_path / "run" / "log", told.append, durable=True)) as made:
        yield made


def test_another_process_reads_what_was_stored(log, told, tmp_path):
    log.put("a1", '{"text": "Antwort 答案"}')
    log.put("b2", "")
    with closing(TextLog(tmp_path / "run" / "log", told.append)) as another:
        assert [another.get(key) for key in ("a1", "b2", "c3")] == ['{"text": "Antwort 答案"}', "", None]
        assert another.count() == 2
    assert (tmp_path / "run" / ".gitignore").read_text() == "*\n"
    assert told == []


def test_looking_creates_no_file(log, tmp_path):
    assert log.get("a1") is None
    assert log.count() == 0
    assert list(tmp_path.iterdir()) == []


def test_entries_of_many_threads_are_in_the_file_when_each_returns(log, told):
    def keep(number):
        log.put(f"{number:04x}", f"answer {number}")
        return f"\n{number:04x} answer {number}\n" in "\n" + log.path.read_text(), log.get(f"{number:04x}")

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(keep, range(400))) == [(True, f"answer {number}") for number in range(400)]
    assert log.count() == 400
    assert told == []


def test_a_line_that_a_kill_cut_short_costs_that_entry_alone(log, tmp_path, told):
    log.put("a1", "whole")
    log.put("b2", "cut short")
    log.close()
    log.path.write_bytes(log.path.read_bytes()[:-4])
    with closing(TextLog(tmp_path / "run" / "log", told.append)) as later:
        assert later.get("b2") is None
        later.put("b2", "again")
        later.put("c3", "new")
    found = [log.get(key) for key in ("a1", "b2", "c3")]
    assert found == ["whole", "again", "new"]
    assert told == []


@pytest.mark.parametrize("content", [b"", b"no answers\n at all\n", bytes(5000), b"\xff\xfe 1\n" * 9])
def test_what_is_no_entry_is_ignored(log, content):
    log.path.parent.mkdir()
    log.path.write_bytes(content)
    assert log.count() == 0
    log.put("a1", "text")
    log.close()
    assert (log.get("a1"), log.count()) == ("text", 1)


def test_a_file_that_cannot_be_written_is_told_once_and_read_on(log, told, tmp_path):
    log.path.mkdir(parents=True)
    log.put("a1", "1")
    log.put("b2", "2")
    assert log.get("a1") is None
    assert any(text.startswith("no more answers are stored: ") for text in told)
    assert len(told) == len(set(told))
