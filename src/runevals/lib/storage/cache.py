"""A cache of answers between runs, in SQLite; several threads and processes may share one folder."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from runevals.lib.storage.files import IGNORE, keep_out_of_git, open_folder, refuse_links, remove_files
from runevals.lib.storage.text_log import TextLog

T = TypeVar("T")

FILENAME = "answers-1.sqlite"
_SQLITE_FILES = (f"{FILENAME}-wal", f"{FILENAME}-shm")  # SQLite's own
_ASIDE = "answers-1.broken"
# Not created by runevals: SQLite would roll it back and delete the files that it names.
_ROLLBACK = f"{FILENAME}-journal"
FILES = (FILENAME, *_SQLITE_FILES, _ROLLBACK, _ASIDE, IGNORE)
WAIT_S = 30.0  # for another process that is writing
_COLUMNS = "answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID"


class CacheInfo(Struct, frozen=True, kw_only=True):
    """The content of a cache."""

    path: Path
    answers: int | None  # None: they cannot be read
    size_bytes: int


class Cache:
    """Texts by key. Its errors are reported once and do not fail a run.

    If it cannot be written, it is still read; if it cannot be read, it is empty.
    """

    def __init__(self, folder: Path, warn: Callable[[str], None]) -> None:
        """`folder` is created for the first entry. `warn` gets the reason if a cache cannot be used.

        Entries survive the end of the process.
        """
        self.path = folder / FILENAME
        self._warn = warn
        self._lock = threading.Lock()
        self._queue: deque[tuple[str, str]] = deque()
        self._batch: list[tuple[str, str]] = []  # of the thread with the lock
        self._open_connection: sqlite3.Connection | None = None
        self._usable = True
        self._writable = True

    def get(self, key: str) -> str | None:
        """The entry for `key`, or None."""
        if self._open_connection is None and not self.path.exists():
            return None
        row = self._do(lambda file: file.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone())
        return None if row is None else str(row[0])

    def put(self, key: str, answer: str) -> None:
        """Stores `answer` under `key` and returns when it is stored; an existing entry stays.

        Group commit: the thread with the lock writes every waiting entry in one transaction.
        """
        if self._usable and self._writable:
            self._queue.append((key, answer))
            self._do(self._write_waiting, writes=True)

    def info(self) -> CacheInfo:
        """How many answers there are, and how large their file is."""
        if not self.path.exists():
            return CacheInfo(path=self.path, answers=0, size_bytes=0)
        row = self._do(lambda file: file.execute("SELECT count(*) FROM answers").fetchone())
        answers = None if row is None else int(row[0])
        return CacheInfo(path=self.path, answers=answers, size_bytes=self.path.stat().st_size)

    def clear(self) -> int | None:
        """Removes all entries → their number, None if unknown."""
        answers = self.info().answers
        self.close()
        remove_files(self.path.parent, (FILENAME, *_SQLITE_FILES, _ROLLBACK))
        return answers

    def close(self) -> None:
        """Ends the connection; it opens again by itself."""
        with self._lock:
            if self._open_connection is not None:
                self._open_connection.close()
            self._open_connection = None

    def _write_waiting(self, file: sqlite3.Connection) -> None:
        while self._queue:
            self._batch.append(self._queue.popleft())
        if self._batch:
            try:
                with file:
                    file.execute("BEGIN IMMEDIATE")
                    file.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?)", self._batch)
            except sqlite3.Error:
                raise  # it can be written into a new file
            except BaseException:
                self._batch.clear()  # one of them can go nowhere
                raise
            self._batch.clear()

    def _do(self, work: Callable[[sqlite3.Connection], T], *, writes: bool = False) -> T | None:
        with self._lock:
            if not self._usable or (writes and not self._writable):
                return None
            try:
                return work(self._connection())
            except sqlite3.OperationalError as error:
                if writes and self._open_connection is not None:  # a full disk, say
                    self._writable = False
                    self._forget_waiting()
                    self._warn(f"no more answers are cached: {self.path}: {error}")
                else:
                    self._give_up(error)
                return None
            except sqlite3.DatabaseError as error:
                return self._again(error, work)
            except OSError as error:
                self._give_up(error)
                return None

    def _again(self, error: sqlite3.DatabaseError, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Moves a file aside that is not a cache database, and starts a new one."""
        with suppress(sqlite3.Error):
            if self._open_connection is not None:
                self._open_connection.close()
        self._open_connection = None
        try:
            with open_folder(self.path.parent) as folder:
                os.replace(FILENAME, _ASIDE, src_dir_fd=folder, dst_dir_fd=folder)
            remove_files(self.path.parent, _SQLITE_FILES)
            self._warn(f"the cache {self.path} cannot be read ({error}); it was put aside as {_ASIDE}")
            return work(self._connection())
        except (sqlite3.Error, OSError) as second:
            self._give_up(second)
            return None

    def _give_up(self, error: Exception) -> None:
        self._usable = False
        self._forget_waiting()
        self._warn(f"nothing is cached: {self.path}: {error}")

    def _forget_waiting(self) -> None:
        self._queue.clear()
        self._batch.clear()

    def _connection(self) -> sqlite3.Connection:
        if self._open_connection is None:
            folder = self.path.parent
            keep_out_of_git(folder)
            refuse_links(folder, FILES)
            remove_files(folder, [_ROLLBACK])
            connection = sqlite3.connect(self.path, timeout=WAIT_S, isolation_level=None, check_same_thread=False)
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")  # a broken answer costs no other
            try:
                connection.execute("PRAGMA trusted_schema = OFF")
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(f"CREATE TABLE IF NOT EXISTS {_COLUMNS}")
                # A foreign database might have triggers and views.
                if connection.execute("SELECT sql FROM sqlite_master").fetchall() != [
                    (f"CREATE TABLE {_COLUMNS}",)
                ]:
                    raise sqlite3.DatabaseError("it has tables of another make")
                refuse_links(folder, FILES)  # SQLite opens them by their paths
            except (sqlite3.Error, OSError):
                connection.close()
                raise
            self._open_connection = connection
        return self._open_connection


class SignedCache:
    """Signed texts by question: without the secret, none can be forged."""

    def __init__(self, cache: Cache | TextLog, secret: bytes) -> None:
        self._cache = cache
        self._secret = secret

    def get(self, question: object) -> str | None:
        """The entry for `question`, which is plain JSON; None if it is absent or its signature is wrong."""
        key = _key(question)
        entry = self._cache.get(key)
        if entry is None or not hmac.compare_digest(
            entry[:64].encode(), self._signature(key, entry[64:]).encode()
        ):
            return None
        return entry[64:]

    def put(self, question: object, text: str) -> None:
        """Stores `text` for `question`; an existing entry stays."""
        key = _key(question)
        self._cache.put(key, self._signature(key, text) + text)

    def _signature(self, key: str, text: str) -> str:
        return hmac.new(self._secret, f"{key}{text}".encode(), hashlib.sha256).hexdigest()


def _key(question: object) -> str:
    return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()
