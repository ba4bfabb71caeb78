"""Logs of what happened → conversations: one module for each format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from runevals.imports.logs import claude_transcript, langfuse, openai_log, otlp
from runevals.imports.logs.conversations import Log, has_any_of
from runevals.imports.results.opened import MAX_BYTES, OpenedResults, opened
from runevals.records.errors import InvalidDocument, InvalidSuite, UsageError


class LogFormat(Protocol):
    """One format."""

    @property
    def NAME(self) -> str: ...  # noqa: N802 - the name of a constant

    @property
    def KINDS(self) -> Sequence[Sequence[str]]: ...  # noqa: N802 - the keys of its records, by which it is recognised

    def read(self, file: OpenedResults) -> Log:
        """The conversations. Raises InvalidDocument with the place."""


FORMATS: tuple[LogFormat, ...] = (otlp, claude_transcript, langfuse, openai_log)
NAMES = tuple(sorted(one.NAME for one in FORMATS))


def read_log(path: Path, name: str) -> Log:
    """The conversations of a file in this format. Raises InvalidDocument, or UsageError for another format."""
    format_ = next(one for one in FORMATS if name == one.NAME)
    content = _content(path)
    if name == otlp.NAME and otlp.is_protobuf(content):
        return otlp.read_protobuf(content, str(path))
    file = _opened(content, path)
    if not has_any_of(file, format_.KINDS):
        like = next((one.NAME for one in FORMATS if has_any_of(file, one.KINDS)), None)
        advice = (
            f"it looks like {like}: `runevals import {like} {path}`" if like else f"known are {', '.join(NAMES)}"
        )
        raise UsageError(f"{path} is not a file of {name}; {advice}")
    return format_.read(file)


def _content(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():  # a device or a pipe may have no end
            raise InvalidDocument(f"{path} is not a file")
        if path.stat().st_size > MAX_BYTES:
            raise InvalidDocument(f"{path} is larger than {MAX_BYTES // 1024**2} MiB, the most we read; split it")
        return path.read_bytes()
    except OSError as error:
        raise InvalidDocument(f"{path} cannot be read: {error.strerror}") from None


def _opened(content: bytes, path: Path) -> OpenedResults:
    try:
        return opened(content, path, str(path))
    except InvalidSuite:
        if otlp.is_protobuf(content):
            hint = f"; if it is OTLP in protobuf: `runevals import {otlp.NAME} {path}`"
            raise InvalidDocument(f"{path} is not UTF-8 text{hint}") from None
        raise
