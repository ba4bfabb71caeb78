"""The files in a zip archive, read one by one and never extracted; sizes are limited, whatever its headers say."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Iterator

from runevals.records.errors import InvalidDocument

MOST_FILES = 200_000
MOST_BYTES = 64 * 1024 * 1024  # of one file
MOST_IN_ALL = 1024 * 1024 * 1024
MOST_RATIO = 1000  # times its compressed size
FREE_BYTES = 1024 * 1024  # below which no ratio is too high
CHUNK = 65536
ZSTANDARD = 93  # the number of the compression in a zip archive
ZSTANDARD_CHUNK = 4096  # so much of it is unpacked at once, whatever that gives: 128 MiB at most
_ENTRY = b"PK\x01\x02"  # what every entry of the directory begins with


def is_archive(content: bytes) -> bool:
    """Whether these are the first bytes of a zip archive."""
    return content.startswith((b"PK\x03\x04", b"PK\x05\x06"))


class Archive:
    """A zip archive that any program may have written. Raises InvalidDocument for one that cannot be read."""

    def __init__(self, content: bytes, display_path: str) -> None:
        self.display_path = display_path
        self._left = MOST_IN_ALL
        if content.count(_ENTRY) > MOST_FILES:
            raise InvalidDocument(f"{display_path} has more than {MOST_FILES:,} files, the most we read")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise InvalidDocument(
                f"{display_path} is not a whole zip archive ({error}); was its tool still writing?"
            ) from None
        self._entries = {entry.filename: entry for entry in self._zip.infolist()}
        if len(self._entries) != len(self._zip.infolist()):
            raise InvalidDocument(f"{display_path}: two files in it have the same name")

    def names(self) -> Iterator[str]:
        """The names of its files, in order."""
        yield from self._entries

    def read(self, name: str) -> bytes:
        """One file. Raises InvalidDocument."""
        entry = self._entries[name]
        if entry.compress_type == ZSTANDARD:
            _add_zstandard()
        elif entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InvalidDocument(f"{self.display_path}: {name} is compressed in a way that we do not read")
        limit = min(MOST_BYTES, self._left, max(FREE_BYTES, MOST_RATIO * entry.compress_size))
        content = bytearray()
        try:
            with self._zip.open(entry) as stream:
                while chunk := stream.read(CHUNK if entry.compress_type != ZSTANDARD else ZSTANDARD_CHUNK):
                    content += chunk
                    if len(content) > limit:
                        raise InvalidDocument(f"{self.display_path}: {name} unpacks to more than we read")
        except InvalidDocument:
            raise
        except Exception as error:  # noqa: BLE001 - the package for Zstandard has errors of its own
            raise InvalidDocument(
                f"{self.display_path}: {name} cannot be unpacked ({str(error) or type(error).__name__})"
            ) from None
        self._left -= len(content)
        return bytes(content)


def _add_zstandard() -> None:
    """Python 3.14 reads it; before, the import of a package adds it to `zipfile`."""
    if sys.version_info < (3, 14):
        import zipfile_zstd  # noqa: F401
