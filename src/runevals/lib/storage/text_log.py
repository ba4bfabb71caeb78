"""Texts by key in a file that only grows: what the journal of a run is kept in."""

from __future__ import annotations

import os
import re
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from runevals.lib.storage.files import keep_out_of_git, open_plain

_ENTRY = re.compile(rb"[0-9a-f]+ ")
_TO_DISK = getattr(os, "fdatasync", os.fsync)


class TextLog:
    """Texts by key, one a line; of two with one key, the last counts. One process at a time writes the file.

    Its errors are reported once and do not fail a run. Lines that are no entries are ignored.
    """

    def __init__(self, path: Path, warn: Callable[[str], None], *, durable: bool = False) -> None:
        """Folder and file are created for the first entry. `warn` gets the reason if the file cannot be used.

        Entries survive the end of the process, and with `durable` also a power failure, which takes a few
        milliseconds each.
        """
        self.path = path
        self._warn = warn
        self._durable = durable
        self._lock = threading.Lock()
        self._waiting: deque[tuple[str, bytes]] = deque()
        self._starts: dict[str, int] | None = None  # where the entry of each key begins; None: not looked yet
        self._reader: BinaryIO | None = None
        self._writer: int | None = None
        self._end = 0
        self._writable = True

    def get(self, key: str) -> str | None:
        """The text of `key`, or None."""
        with self._lock:
            start = self._entries().get(key)
            if start is None:
                return None
            try:
                file = self._reading()
                file.seek(start + len(key) + 1)
                return file.readline()[:-1].decode("utf-8", "replace")
            except OSError as error:
                self._warn(f"no stored answer is read: {self.path}: {error}")
                self._starts = {}
                return None

    def put(self, key: str, text: str) -> None:
        """Stores `text` without a line end under `key`, a hexadecimal number; returns when it is stored.

        The thread with the lock writes every entry that waits.
        """
        self._waiting.append((key, f"{key} {text}\n".encode()))
        with self._lock:
            try:
                if self._waiting and self._writable:
                    self._write_waiting()
            except OSError as error:  # a full disk, say
                self._writable = False
                self._warn(f"no more answers are stored: {self.path}: {error}")
            if not self._writable:
                self._waiting.clear()

    def count(self) -> int:
        """How many keys have a text."""
        with self._lock:
            return len(self._entries())

    def close(self) -> None:
        """Ends the use of the file; it begins again by itself."""
        with self._lock:
            if self._reader is not None:
                self._reader.close()
            if self._writer is not None:
                os.close(self._writer)
            self._reader = self._writer = self._starts = None

    def _entries(self) -> dict[str, int]:
        if self._starts is None:
            self._starts, self._end = {}, 0
            try:
                for line in self._reading() if os.path.lexists(self.path) else ():
                    if line.endswith(b"\n") and (entry := _ENTRY.match(line)):
                        self._starts[entry[0][:-1].decode()] = self._end
                    self._end += len(line)
            except OSError as error:
                self._warn(f"no stored answer is read: {self.path}: {error}")
        return self._starts

    def _reading(self) -> BinaryIO:
        if self._reader is None:
            self._reader = os.fdopen(open_plain(self.path, os.O_RDONLY), "rb")
        return self._reader

    def _write_waiting(self) -> None:
        starts, new, lines = self._entries(), {}, bytearray()
        if self._writer is None:
            keep_out_of_git(self.path.parent)
            self._writer = open_plain(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            self._end = os.fstat(self._writer).st_size
            lines += b"\n" if self._end else b""  # the last line of a killed process may have no end
        while self._waiting:
            key, line = self._waiting.popleft()
            new[key] = self._end + len(lines)
            lines += line
        self._end += len(lines)
        while lines:
            del lines[: os.write(self._writer, lines)]
        if self._durable:
            _TO_DISK(self._writer)
        starts.update(new)
