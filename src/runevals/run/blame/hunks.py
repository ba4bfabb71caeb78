"""The hunks of a change, each of which can be put back alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.nullable import known
from runevals.records import Hunk
from runevals.verdict.blame_search import HunkSet

MOST_BYTES = 1_000_000  # of a file that is compared by lines
MOST_LINES = 5_000  # of it: the comparison takes the square of them

# Files of sentences, list items and settings; of code, neighbouring lines rarely work one by one.
_BY_SENTENCE = (
    *(".md", ".mdx", ".txt", ".prompt", ".yml", ".yaml"),
    *(".j2", ".jinja", ".jinja2", ".tmpl", ".mustache"),
)
_BEGINS = re.compile(rb"\s*(?:[-*+#>|]|\d+[.)]\s)")  # a list item, a heading, a quotation, a row of a table
_ENDS = re.compile(rb"[.!?:;|]\s*$")


class ChangedFile(Struct, frozen=True, kw_only=True):
    """A file on both sides. None: it is not there; a renamed file has two paths."""

    old_path: str | None
    path: str | None
    before: bytes | None
    now: bytes | None


class _Part(Struct, frozen=True):
    """A part of a file on both sides; `hunk` None: it is the same."""

    before: Sequence[bytes]
    now: Sequence[bytes]
    hunk: int | None = None


class ChangeHunks(Struct, frozen=True, kw_only=True):
    """All hunks of a change, by number, and the files that they are in."""

    hunks: tuple[Hunk, ...]
    files: tuple[tuple[ChangedFile, tuple[_Part, ...]], ...]  # without parts: the file is the next hunk

    @property
    def added(self) -> HunkSet:
        """The hunks in whose place the base has nothing."""
        lines = [part.hunk for _, parts in self.files for part in parts if not part.before]
        files = {file.path for file, _ in self.files if file.old_path is None}
        whole = [number for number, hunk in enumerate(self.hunks) if hunk.kind == "file" and hunk.path in files]
        return frozenset([*known(lines), *whole])

    def contents(self, put_back: HunkSet) -> dict[str, bytes | None]:
        """Every changed file with these hunks put back: path → content; None: it is not there."""
        contents: dict[str | None, bytes | None] = {}
        of_file = {hunk.path: number for number, hunk in enumerate(self.hunks) if hunk.kind in ("file", "renamed")}
        for file, parts in self.files:
            is_back = of_file.get(file.path or file.old_path or "") in put_back
            lines = b"".join(
                line for part in parts for line in (part.before if part.hunk in put_back else part.now)
            )
            whole = file.before if is_back else file.now
            contents |= {file.old_path: None, file.path: None}
            contents[file.old_path if is_back else file.path] = lines if parts else whole
        return {path: content for path, content in contents.items() if path is not None}


def hunks_of(files: Iterable[ChangedFile]) -> ChangeHunks:
    """The hunks of these files. A file that was added or removed, or is not text, is one hunk.

    That a file has another name is a hunk of its own.
    """
    hunks: list[Hunk] = []
    parts_of = []
    for file in files:
        parts: list[_Part] = []
        for part, hunk in _compared(file):
            parts.append(part if hunk is None else replace(part, hunk=len(hunks)))
            hunks += filter(None, [hunk])
        if not parts or file.path != file.old_path:
            hunks.append(Hunk(path=file.path or file.old_path or "", kind="renamed" if parts else "file"))
        parts_of.append((file, tuple(parts)))
    return ChangeHunks(hunks=tuple(hunks), files=tuple(parts_of))


def _compared(file: ChangedFile) -> Iterator[tuple[_Part, Hunk | None]]:
    """The parts of a file in order, those that differ with their hunk; nothing for a file that is one hunk."""
    before, now, path = file.before, file.now, file.path
    if path is None or before is None or now is None or not (_is_text(before) and _is_text(now)):
        return
    old, new = before.splitlines(keepends=True), now.splitlines(keepends=True)
    if max(len(old), len(new)) > MOST_LINES:
        return
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield _Part(old[a:b], new[c:d]), None
            continue
        at, old_at = c, a
        whole = _Part(old[a:b], new[c:d])
        for part in _units(whole) if path.lower().endswith(_BY_SENTENCE) else [whole]:
            yield part, _hunk(path, part, at, old_at)
            at, old_at = at + len(part.now), old_at + len(part.before)


def _hunk(path: str, part: _Part, at: int, old_at: int) -> Hunk:
    """The hunk of a part that begins after so many lines of the head and of the base."""
    if part.now:
        return Hunk(path=path, first=at + 1, last=at + len(part.now))
    return Hunk(path=path, first=old_at + 1, last=old_at + len(part.before), kind="removed")


def _units(part: _Part) -> Iterator[_Part]:
    """The sentences or list items of changed lines, if both sides have as many, or one side has none."""
    old, new = [*_paragraphs(part.before)], [*_paragraphs(part.now)]
    if not old or len(new) in (0, len(old)):
        yield from (_Part(a, b) for a, b in zip_longest(old, new, fillvalue=()))
    else:
        yield part


def _paragraphs(lines: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """The lines in groups that belong together: a sentence may be wrapped, and blank lines follow it."""
    start = 0
    for number in range(1, len(lines)):
        line, before = lines[number], lines[number - 1]
        if line.strip() and (not before.strip() or _BEGINS.match(line) or _ENDS.search(before)):
            yield lines[start:number]
            start = number
    if lines:
        yield lines[start:]


def _is_text(content: bytes) -> bool:
    if len(content) > MOST_BYTES or b"\0" in content:
        return False
    with suppress(UnicodeDecodeError):
        content.decode()
        return True
    return False
