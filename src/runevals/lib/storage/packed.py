"""Text files packed by gzip, which may be broken or unpack without end."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

_MAGIC = b"\x1f\x8b"
_PIECE = 1024 * 1024  # bytes
_GZIP = 31  # window bits: the largest window, in a gzip file without a time


def is_packed(path: Path) -> bool:
    """Whether a file begins as gzip's do. Raises OSError."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def unpacked(content: bytes, most_bytes: int) -> bytes:
    """`content` itself if it is not packed. Raises ValueError if it is broken or has more than `most_bytes`."""
    return b"".join(_pieces(io.BytesIO(content), most_bytes)) if content.startswith(_MAGIC) else content


def unpacked_lines(path: Path, most_bytes: int) -> Iterator[str]:
    """The lines of a packed file of UTF-8 text. Raises ValueError as `unpacked` does, and OSError."""
    rest: list[bytes] = []
    with path.open("rb") as file:
        for piece in _pieces(file, most_bytes):
            *lines, last = piece.split(b"\n")
            for line in lines:
                yield b"".join([*rest, line, b"\n"]).decode()
                rest.clear()
            rest.append(last)
    yield b"".join(rest).decode()


def pack(pieces: Iterable[str]) -> Iterator[bytes]:
    """Text → a gzip file; equal texts give equal bytes."""
    packer = zlib.compressobj(wbits=_GZIP)
    yield from (packer.compress(piece.encode("utf-8", errors="backslashreplace")) for piece in pieces)
    yield packer.flush()


def _pieces(file: BinaryIO, most_bytes: int) -> Iterator[bytes]:
    size = 0
    try:
        with gzip.GzipFile(fileobj=file) as packed:
            while piece := packed.read(_PIECE):
                size += len(piece)
                if size > most_bytes:
                    raise ValueError(f"it unpacks to more than {most_bytes // 1024**2} MiB, the most we read")
                yield piece
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"its gzip data is broken: {error}") from None
