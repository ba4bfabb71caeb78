"""Reads one file of an untrusted zip archive; nothing is extracted."""

from __future__ import annotations

import hashlib
import io
import stat
import zipfile
import zlib
from collections.abc import Callable, Mapping
from itertools import product

from runevals.records.errors import ExternalError

MOST_BYTES = 64 * 1024 * 1024  # of the file wanted, and of the archive
MOST_ENTRIES = 200
MOST_RATIO = 200  # times its packed size; repetitive text is packed 50 times
FREE_BYTES = 1024 * 1024  # below which no ratio is too high
CHUNK = 65536
_ENTRY = b"PK\x01\x02"  # what every entry of the directory begins with
_ENCRYPTED = 0x1
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # `zipfile` unpacks chunks of others without a bound


class UnsafeArchive(ExternalError):
    """An archive that a regular run cannot produce."""


def check_digest(archive: bytes, digest: str | None) -> None:
    """Raises UnsafeArchive if these are not the uploaded bytes. Old servers send no digest."""
    if digest is None:
        return
    kind, _, expected = digest.partition(":")
    if kind != "sha256" or hashlib.sha256(archive).hexdigest() != expected.lower():
        raise UnsafeArchive(f"it is not what was uploaded (its {kind[:20]} differs)")


def members(archive: bytes, is_selected: Callable[[str], bool], most: int) -> list[bytes]:
    """The first files whose names are wanted; together they have the limits of one.

    Raises UnsafeArchive: an archive is refused completely if any part is irregular.
    """
    if archive.count(_ENTRY) > MOST_ENTRIES:
        raise UnsafeArchive(f"it has more than {MOST_ENTRIES} entries")
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            contents = list[bytes]()
            for entry in [entry for entry in _checked(opened) if is_selected(entry.filename)][:most]:
                contents.append(_read(opened, entry, MOST_BYTES - sum(map(len, contents))))
            return contents
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise UnsafeArchive(f"it is no zip archive that can be read ({type(error).__name__})") from None


def _leads_out(entry: zipfile.ZipInfo) -> bool:
    name, parts = entry.filename, entry.filename.split("/")
    return ".." in parts or name.startswith("/") or "\\" in name or ":" in parts[0]


_REFUSED: Mapping[str, Callable[[zipfile.ZipInfo], bool]] = {
    "an entry's name leads out of it": _leads_out,
    "an entry is a link": lambda entry: stat.S_ISLNK(entry.external_attr >> 16),
    "an entry is encrypted": lambda entry: bool(entry.flag_bits & _ENCRYPTED),
    "an entry is packed in a way that an upload is not": lambda entry: entry.compress_type not in _PACKED,
}


def _checked(opened: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    entries = opened.infolist()
    for entry, (reason, is_refused) in product(entries, _REFUSED.items()):
        if is_refused(entry):
            raise UnsafeArchive(reason)
    if len({entry.filename for entry in entries}) != len(entries):
        raise UnsafeArchive("two entries have one name")
    return entries


def _read(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes:
    """The content of the entry; the size in its header is not trusted."""
    limit = min(most, max(FREE_BYTES, MOST_RATIO * entry.compress_size))
    content = bytearray()
    with opened.open(entry) as stream:
        while chunk := stream.read(CHUNK):
            content += chunk
            if len(content) > limit:
                raise UnsafeArchive(f"{entry.filename} unpacks to far more than it should")
    return bytes(content)
