"""The changes of an attempt to its workspace: paths, lines, and a diff."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import IO, Literal

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.nullable import if_known
from runevals.records import FileChange, FileFound, Workspace, WorkspaceChanges
from runevals.repository.fresh_copy import (
    CannotCopy,
    Stamp,
    hash_file,
    kind_at,
    put_back,
    read_file,
    remove_everywhere,
    stamps,
)

MOST_CHANGES = 2000  # paths; an attempt that changes more is errored
MOST_DIFF_BYTES = 256 * 1024
MOST_DIFF_LINES = 2000  # of a file, before and after: it takes the square of them
MOST_TEXT_BYTES = 64 * 1024  # of a file that a diff shows
MOST_FOUND_BYTES = 256 * 1024  # of a file that a check looks at


class Attempt(Struct, frozen=True, kw_only=True):
    """The working folder of one attempt, and how it was before."""

    root: Path
    before: Mapping[str, Stamp]
    origins: Mapping[str, Path | bytes]  # path → where its first content is
    spec: Workspace
    restorable: frozenset[str] = frozenset()  # paths that checks may restore
    packed: IO[bytes] | None = None  # an archive of them, which has no name that a program could find
    # Path → its stamp after the checks of a turn wrote there, and what the attempt had changed before them.
    by_checks: dict[str, tuple[Stamp | None, FileChange | None]] = {}

    @property
    def work(self) -> Path:
        """The folder that the target works in."""
        return self.root / "work"

    @property
    def home(self) -> Path:
        """Its HOME."""
        return self.root / "home"


def changes(attempt: Attempt) -> WorkspaceChanges:
    """The changed paths. Raises CannotCopy for too many paths, OSError."""
    now = stamps(attempt.work)
    of_checks = {path: known for path, (stamp, known) in attempt.by_checks.items() if now.get(path) == stamp}
    differing = {path for path in {*attempt.before, *now} if attempt.before.get(path) != now.get(path)}
    paths = sorted(differing - of_checks.keys())
    if len(paths) > MOST_CHANGES:
        raise CannotCopy(f"the attempt changed {len(paths)} files, more than {MOST_CHANGES}")
    changed = [*filter(None, of_checks.values())]
    diffs, size, complete = [], 0, not changed
    for path in paths:
        change, diff = _change(attempt, path, now.get(path), with_diff=size <= MOST_DIFF_BYTES)
        if change is None:
            continue
        changed.append(change)
        size += len((diff or "").encode("utf-8", "replace"))
        if diff is None or size > MOST_DIFF_BYTES:
            complete = False
        else:
            diffs.append(diff)
    in_order = tuple(sorted(changed, key=lambda change: change.path))
    return WorkspaceChanges(changes=in_order, diff="".join(diffs), diff_complete=complete)


def note_checks(attempt: Attempt, turn: WorkspaceChanges, before: Mapping[str, Stamp]) -> None:
    """Later turns neither count what checks wrote since `before`, nor miss what they put back."""
    own = {change.path: change for change in turn.changes}
    after = stamps(attempt.work)
    for path in {*before, *after}:
        if before.get(path) != after.get(path):
            attempt.by_checks[path] = (after.get(path), own.get(path))


def _change(
    attempt: Attempt, path: str, now: Stamp | None, *, with_diff: bool
) -> tuple[FileChange | None, str | None]:
    """(what changed at a path, its diff); nothing for a file that was written anew with the same content."""
    before = attempt.before.get(path)
    kind: Literal["added", "changed", "removed"]
    kind = "added" if before is None else "removed" if now is None else "changed"
    old, new = _content_before(attempt, path, before), _content((attempt.work, path), now)
    digest = if_known(lambda _: hash_file(attempt.work, path), now)
    same = old == new
    if old is None:  # too large for memory, or in no folder but the attempt's
        same = digest is not None and digest == if_known(lambda at: hash_file(*at), _place_before(attempt, path))
    if same and _form(before) == _form(now):
        return None, ""
    change = FileChange(path=path, change=kind, size=if_known(attrgetter("size"), now), sha256=digest)
    lines_old, lines_new = _lines(old), _lines(new)
    if lines_old is None or lines_new is None:
        return change, ""
    if not with_diff or (lines_old and lines_new and max(len(lines_old), len(lines_new)) > MOST_DIFF_LINES):
        added, removed = Counter(lines_new) - Counter(lines_old), Counter(lines_old) - Counter(lines_new)
        return replace(change, lines_added=added.total(), lines_removed=removed.total()), None
    diff = [*difflib.unified_diff(lines_old, lines_new, f"a/{path}", f"b/{path}")]
    change = replace(
        change,
        lines_added=sum(line.startswith("+") for line in diff[2:]),
        lines_removed=sum(line.startswith("-") for line in diff[2:]),
    )
    return change, "".join(line if line.endswith("\n") else f"{line}\n" for line in diff)


def _form(stamp: Stamp | None) -> tuple[str, int, int] | None:
    return if_known(lambda one: (one.kind, one.mode, one.size), stamp)


def _content(place: tuple[Path, str] | None, stamp: Stamp | None) -> bytes | None:
    """What is at a place, that of a link too; nothing for a file that is not there, None if it is not known."""
    if stamp is None:
        return b""
    if stamp.kind == "link":
        return stamp.link.encode("utf-8", "surrogateescape")
    return read_file(*place, MOST_TEXT_BYTES) if place is not None and stamp.kind == "file" else None


def _content_before(attempt: Attempt, path: str, stamp: Stamp | None) -> bytes | None:
    origin = attempt.origins.get(path)
    if stamp is not None and stamp.kind != "link" and isinstance(origin, bytes):
        return origin if len(origin) == stamp.size else None
    return _content(_place_before(attempt, path), stamp)


def _place_before(attempt: Attempt, path: str) -> tuple[Path, str] | None:
    """(folder, path below it) that a file was copied from; None for what the setup wrote."""
    origin = attempt.origins.get(path)
    if isinstance(origin, bytes):
        return None
    if origin is not None:
        return origin.parent, origin.name
    whole = attempt.origins.get("")
    return (whole, path) if isinstance(whole, Path) else None


def _lines(content: bytes | None) -> list[str] | None:
    """The lines of a text; None if it is not text."""
    with suppress(UnicodeDecodeError):
        if content is not None and b"\0" not in content:
            return content.decode("utf-8").splitlines(keepends=True)
    return None


def file_at(root: Path, path: str) -> FileFound:
    """The content of a path in the workspace."""
    content = read_file(root, path, MOST_FOUND_BYTES)
    lines = _lines(content)
    return FileFound(
        path=path, kind=kind_at(root, path), text=if_known("".join, lines), size=if_known(len, content)
    )


def restore(attempt: Attempt, paths: tuple[str, ...]) -> None:
    """Puts files and folders of the workspace back as they were before the attempt. Raises CannotCopy, OSError.

    Nor does compiled code of the attempt's stay: Python would run it in place of the source beside it.
    """
    if not attempt.restorable.issuperset(paths) or (paths and attempt.packed is None):
        raise CannotCopy("it is not known how they were before the attempt")
    if attempt.packed is not None:
        put_back(attempt.packed, attempt.work, paths)
    remove_everywhere(attempt.work, "__pycache__")
