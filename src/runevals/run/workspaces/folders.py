"""A fresh working folder for each attempt: created, set up, inspected and removed."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from msgspec.structs import replace

from runevals.lib.storage.file_lock import AlreadyLocked, file_lock
from runevals.lib.terminal import notice
from runevals.programs.exchange import Exchange
from runevals.programs.processes import (
    as_owner,
    as_program,
    end_those_in,
    is_open_to_programs,
    make_for_git,
    make_for_programs,
    open_to_programs,
)
from runevals.records import Case, Conversation, FileProbe, ProgramEnded, ProgramProbe, Workspace, WorkspaceChanges
from runevals.records.errors import InvalidSettings
from runevals.repository.fresh_copy import (
    OF_CONTENT,
    CannotCopy,
    Stamp,
    content_hash,
    copy_file,
    copy_folder,
    extract,
    files_below,
    pack,
    read_file,
    remove_folder,
    stamps,
    write_file,
)
from runevals.repository.git import commit_of, git_output, new_repository
from runevals.run.workspaces.changes import MOST_TEXT_BYTES, Attempt, changes, file_at, note_checks, restore
from runevals.targets.environment import bare

SETUP_TIMEOUT_S = 600.0
MOST_KEPT_BYTES = 8 * 1024 * 1024  # of files that `setup` changed, for the diff
MOST_PROGRAM_BYTES = 1024 * 1024
MOST_STDOUT_BYTES = 16 * 1024  # of its end, where a result may be
_NEW, _FOLDER, _PRESERVED = "runevals-new-", "runevals-work-", "runevals-kept-"
_PACKED, _LOCK = "runevals-packed-", "lock"


class NotMade(Exception):
    """Why a workspace cannot be created."""


class _Exchange(Exchange):
    most_bytes = MOST_PROGRAM_BYTES


class Workspaces:
    """Makes the folders of a run, at most so many at once, and removes them all at its end."""

    def __init__(self, environment: Mapping[str, str], *, at_once: int) -> None:
        self._environment = bare(environment)
        self._places = threading.BoundedSemaphore(at_once)
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._folder: Path | None = None
        self._number = 0
        self._attempts: dict[str, Attempt] = {}
        self._left: dict[str, Attempt] = {}  # until it is known whether they are kept
        self._templates: dict[tuple[Path, str], Path] = {}

    def require(self, cases: Sequence[Case]) -> None:
        """Raises InvalidSettings if a source of a workspace is missing."""
        checked: set[int] = set()
        for case in cases:
            spec = case.workspace
            if spec is None or (id(spec) in checked and not case.files):
                continue
            checked.add(id(spec))
            try:
                self._source(spec)  # a commit's files are read here
                for source in filter(None, (spec.folder, *case.files.values())):
                    content_hash(source)
            except (OSError, CannotCopy, NotMade) as error:
                raise InvalidSettings(f"{case.suite}: {case.key}: its workspace cannot be made: {error}") from None

    def open(self, conversation: Conversation) -> Attempt:
        """The folder of a thread, made at its first turn. Raises NotMade."""
        if conversation.turn > 1:
            return self._attempts[conversation.thread]
        self._places.acquire()
        try:
            attempt = self._make(conversation)
        except (OSError, CannotCopy) as error:
            self._places.release()
            raise NotMade(str(error)) from error
        except BaseException:
            self._places.release()
            raise
        self._attempts[conversation.thread] = attempt
        return attempt

    def end(self, thread: str) -> None:
        """A thread is over: its folder goes, or waits for `settle`."""
        attempt = self._attempts.pop(thread, None)
        if attempt is None:
            return
        if attempt.packed is not None:
            attempt.packed.close()
        try:
            if attempt.spec.keep == "never":
                remove_folder(attempt.root)
            else:
                self._left[thread] = attempt
        finally:
            self._places.release()

    def settle(self, thread: str, *, passed: bool) -> None:
        """Keeps or removes what an attempt left, now that its checks are done."""
        attempt = self._left.pop(thread, None)
        if attempt is None:
            return
        if attempt.spec.keep == "always" or not passed:
            preserved = Path(tempfile.mkdtemp(prefix=_PRESERVED))
            shutil.move(attempt.work, preserved)
            notice(f"Workspace of {thread} kept: {preserved / attempt.work.name}")
        remove_folder(attempt.root)

    def close(self) -> None:
        """Removes all folders of this run."""
        for attempt in self._attempts.values():
            if attempt.packed is not None:
                attempt.packed.close()
        self._stack.close()

    def _make(self, conversation: Conversation) -> Attempt:
        spec = conversation.workspace or Workspace()
        source = self._source(spec)
        root = self._new_folder()
        try:
            with as_program():
                origins = _filled(root / "work", source, spec, conversation.files)
                fresh = stamps(root / "work")
            before = self._set_up(root, spec, fresh, origins) if spec.setup else fresh
            return _with_restorable(Attempt(root=root, before=before, origins=origins, spec=spec), conversation)
        except BaseException:
            remove_folder(root)
            raise

    def _new_folder(self) -> Path:
        with self._lock:
            self._number += 1
            root = self._own_folder() / str(self._number)
        root.mkdir()
        make_for_programs(root, "work", "home", "tmp")
        return root

    def _own_folder(self) -> Path:
        """Created with the first workspace; then folders of killed runs are removed."""
        if self._folder is not None:
            return self._folder
        for left in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
            _remove_left_behind(left)
        unlocked = Path(os.path.realpath(tempfile.mkdtemp(prefix=_NEW)))  # under a name that no other run removes
        self._stack.enter_context(file_lock(unlocked / _LOCK))
        self._folder = unlocked.rename(unlocked.with_name(unlocked.name.replace(_NEW, _FOLDER, 1)))
        self._stack.callback(remove_folder, self._folder)
        open_to_programs(self._folder)
        return self._folder

    def _source(self, spec: Workspace) -> Path | None:
        """The folder that is copied into a new one."""
        if spec.commit is not None and spec.repository is not None:
            return self._template(spec.repository, spec.commit)
        return spec.folder

    def _template(self, repository: Path, ref: str) -> Path:
        """A folder with the files of a commit and a repository of its own, made once."""
        with self._lock:
            known = self._templates.get((repository, ref))
        if known is not None:
            return known
        commit = commit_of(repository, ref)
        content = None if commit is None else git_output(repository, ("archive", "--format=tar", commit))
        if content is None:
            raise NotMade(f"git has no commit {ref}")
        with self._lock:
            folder = self._own_folder() / f"commit-{len(self._templates)}"
        make_for_git(folder)
        with as_owner():  # no rights of ours: programs of another side may run
            extract(content, folder)
        content_hash(folder)
        if not new_repository(folder):
            raise NotMade("git cannot make a repository of its own for the workspace")
        with self._lock:
            self._templates[repository, ref] = folder
        return folder

    def _set_up(
        self, root: Path, spec: Workspace, fresh: Mapping[str, Stamp], origins: dict[str, Path | bytes]
    ) -> Mapping[str, Stamp]:
        """Runs the setup; the files that it changed are as they were before the attempt."""
        for argv in spec.setup:
            ended = self.run(root, ProgramProbe(argv=argv, timeout_s=SETUP_TIMEOUT_S))
            if ended.exit_code != 0:
                raise NotMade(f"setup {' '.join(argv)[:80]} {_how(ended)}")
        with as_program():
            before = stamps(root / "work")
            room = MOST_KEPT_BYTES
            for path, stamp in before.items():
                if fresh.get(path) != stamp and stamp.kind == "file":
                    content = read_file(root / "work", path, min(MOST_TEXT_BYTES, room))
                    origins[path] = content or b""  # of another length than the file's: then it has no diff
                    room -= len(content or b"")
        return before

    def run(self, root: Path, probe: ProgramProbe, own: Path | None = None) -> ProgramEnded:
        """Runs a program in the workspace. HOME and TMPDIR are the attempt's, or those in the folder `own`."""
        place = own or root
        env = {**self._environment, "TMPDIR": str(place / "tmp")}
        if own is not None:
            env["PYTHONNOUSERSITE"] = "1"
        try:
            talk = _Exchange(probe.argv, cwd=root / "work", env=env, home=place / "home")
        except (OSError, ValueError) as error:
            return _not_started(probe, error)
        finished = talk.wait(probe.timeout_s)
        end_those_in(root)
        return ProgramEnded(
            probe=probe,
            exit_code=talk.exit_code if finished and not talk.too_much else None,
            last_lines=talk.last_lines,
            stdout=bytes(talk.out[-MOST_STDOUT_BYTES:]).decode(errors="replace"),
            late=not finished and not talk.too_much,
            too_much=talk.too_much,
        )

    def looked_at(self, attempt: Attempt, conversation: Conversation) -> WorkspaceChanges:
        """The changes so far and the results of the probes. Raises CannotCopy for too many changes."""
        with as_program():
            changed = changes(attempt)
            files = tuple(
                file_at(attempt.work, probe.path) for probe in conversation.probes if isinstance(probe, FileProbe)
            )
        probes = [probe for probe in conversation.probes if isinstance(probe, ProgramProbe)]
        if not probes or conversation.turn >= conversation.turns:
            return replace(changed, files=files, programs=tuple(self._program(attempt, one) for one in probes))
        with as_program():
            before = stamps(attempt.work)
        programs = tuple(self._program(attempt, probe) for probe in probes)
        with suppress(OSError, CannotCopy), as_program():  # if that is due to a check, the turn has its verdict
            note_checks(attempt, changed, before)
        return replace(changed, files=files, programs=programs)

    def _program(self, attempt: Attempt, probe: ProgramProbe) -> ProgramEnded:
        try:
            with as_program():
                restore(attempt, probe.restore)
        except (OSError, CannotCopy) as error:
            return ProgramEnded(probe=probe, exit_code=None, problem=f"cannot restore its files: {error}")
        own = Path(tempfile.mkdtemp(prefix="check-", dir=attempt.root))
        try:
            make_for_programs(own, "home", "tmp")
            return self.run(attempt.root, probe, own)
        finally:
            remove_folder(own)


def _filled(
    work: Path, source: Path | None, spec: Workspace, files: Mapping[str, Path]
) -> dict[str, Path | bytes]:
    """Puts everything into a new folder → where the content of each file came from."""
    origins: dict[str, Path | bytes] = {}
    if source is not None:
        copy_folder(source, work)
        origins[""] = source
    for path, text in spec.files.items():
        write_file(work, path, text)
        origins[path] = text.encode("utf-8", "surrogateescape")
    for path, file in files_below(files):
        copy_file(file, work, path)
        origins[path] = file
    return origins


def _not_started(probe: ProgramProbe, error: OSError | ValueError) -> ProgramEnded:
    """A file of the workspace that cannot be started is the attempt's doing: as a shell, it ends with 127."""
    reason = getattr(error, "strerror", None) or str(error)
    of_workspace = "/" in probe.argv[0] and not Path(probe.argv[0]).is_absolute()
    if of_workspace and getattr(error, "errno", None) in (*OF_CONTENT, errno.ENOEXEC):
        return ProgramEnded(probe=probe, exit_code=127, last_lines=reason)
    return ProgramEnded(probe=probe, exit_code=None, problem=reason)


def _with_restorable(attempt: Attempt, conversation: Conversation) -> Attempt:
    """With a full copy of what checks may restore, made before the target can change it."""
    restored = [probe.restore for probe in conversation.probes if isinstance(probe, ProgramProbe)]
    paths = frozenset(conversation.restorable).union(*restored)
    if not paths:
        return attempt
    with ExitStack() as stack:
        packed = stack.enter_context(tempfile.TemporaryFile(prefix=_PACKED))
        with as_program():
            pack(attempt.work, paths, packed)
        stack.pop_all()
    return replace(attempt, restorable=paths, packed=packed)


def _how(ended: ProgramEnded) -> str:
    if ended.problem is not None:
        return f"cannot be run: {ended.problem}"
    if ended.too_much:
        return f"printed more than {MOST_PROGRAM_BYTES // 1024**2} MiB"
    how = "did not end in time" if ended.late else f"ended with exit code {ended.exit_code}"
    return f"{how}: {ended.last_lines}"


def _remove_left_behind(folder: Path) -> None:
    """The folder of a run that was killed: no process has its lock any more."""
    try:
        ours = is_open_to_programs(folder.lstat())
    except OSError:
        return
    if ours:
        with suppress(AlreadyLocked), file_lock(folder / _LOCK, required=True):
            end_those_in(folder)
            remove_folder(folder)
