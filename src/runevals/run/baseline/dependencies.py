"""What a run depends on, and whether that differs from another commit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from runevals.lib.nullable import if_known
from runevals.lib.text.numbers import first_of, phrase
from runevals.records import Case, RunReport
from runevals.repository.git import commit_of, ignored_in, links_to, matches_in, names
from runevals.repository.git_changes import Changes, PathsRead
from runevals.repository.trees import CannotFollow, FolderTree, matching
from runevals.run.live import judges_of
from runevals.settings.judge import judges_label
from runevals.settings.places import PLACES
from runevals.settings.resolve import Settings
from runevals.suites.discover import looked_at
from runevals.suites.load import LoadedSuites
from runevals.suites.urls.mcp_config import FILENAME
from runevals.targets.agents.settings import AgentTargetSettings
from runevals.targets.agents.target import installed_version
from runevals.verdict.comparability import agent_version
from runevals.version import __version__

_SUFFIXES = ("py", "js", "mjs", "cjs", "ts", "mts", "sh", "rb", "go", "rs", "java", "kt", "php", "cs", "lua", "pl")
_MOST_READ = 1_000_000  # bytes of a program; a word may also name the weights of a model
_PROGRAMS = tuple(f"*.{suffix}" for suffix in _SUFFIXES)
# Folders that are built, installed or written, as a rule, and not read by what is under test.
_BUILT = frozenset(
    {"bin", "build", "coverage", "dist", "env", "htmlcov", "log", "logs", "node_modules", "obj", "out", "target"}
    | {"temp", "tmp", "vendor", "venv"}
)
# How a program names a file: as a whole, in any folder. A folder: with a slash, or alone in quotes.
_NAMED_FILE = "(^|[^[:alnum:]_.-]){0}($|[^[:alnum:]_.-])"
_AROUND = re.compile(r"^[^\w.-]+|[^\w.-]+$")  # what is matched beside the name
_NAMED_FOLDER = """(^|[^[:alnum:]_./-])(\\./)?{0}/|["']{0}["']"""


def changes_since(settings: Settings, loaded: LoadedSuites, commit: str, known: RunReport | None) -> str | None:
    """Why the run must be made; None if nothing that it depends on differs from `commit`.

    `known` is the result that would stand for it: the same model and judge must have been asked by the same
    version of ours.
    """
    try:
        return next(filter(None, _reasons_to_run(settings, loaded, commit, known)), None)
    except CannotFollow as why:
        return f"git cannot tell what changed since {commit[:7]}: {why}"


def _reasons_to_run(
    settings: Settings, loaded: LoadedSuites, commit: str, known: RunReport | None
) -> Iterator[str | None]:
    """The answer to each question, empty if it is no reason; those about files come last. Raises CannotFollow."""
    yield unknown_files(settings)
    yield phrase(settings.selection.has_filters, "only some of the cases are asked for")
    if known is not None:
        yield asked_otherwise(settings, known)
        here = {(case.suite, case.key, case.fingerprint) for case in loaded.cases}
        there = {(case.suite, case.key, case.fingerprint) for case in known.cases}
        yield phrase(here != there, "the base's result is of other cases")
    yield named_changes(commit, Changes(settings.repository, commit).among(_read(settings, loaded, known)))
    yield named_changes(commit, _changed_in_workspaces(settings.repository, commit, loaded))


def named_changes(commit: str, paths: Sequence[str]) -> str:
    """The paths that differ from a commit, in words; empty without any."""
    return phrase(first_of(paths, 3), f"changed since {commit[:7]}: {{}}")


def unknown_files(settings: Settings) -> str | None:
    """Why it is not known which files the target reads; None if it is."""
    target = settings.target
    if target is None or settings.evaluate_only:
        return "there is no target whose files are known"
    for pattern in settings.compare.depends_on:
        if not _matching(pattern):
            return f"depends_on: nothing here matches {Path(pattern).name}"
    if target.reads_other_files and not settings.compare.depends_on:
        return f"the {target.type} target may read any file; name what it depends on with depends_on"
    return None


def lacking_files(settings: Settings, commit: str, before_s: float) -> list[str]:
    """What a checkout of a commit lacks of the files here that its programs name, because git ignores them.

    Only files that were there at this time (seconds since 1970): those that a run makes, a base makes too.
    """
    if settings.compare.base_setup:
        return []
    root, ours = settings.repository, {Path(name).name for name in settings.compare.share} | _BUILT
    if settings.compare.baseline is not None:
        ours.add(Path(settings.compare.baseline).name)
    ignored = [name for name in ignored_in(root) if Path(name).name not in ours]
    paths = {Path(name).name: name for name in ignored if _may_be_data(root / name, root, before_s)}
    patterns = [
        (_NAMED_FOLDER if (root / path).is_dir() else _NAMED_FILE).format(re.escape(name))
        for name, path in paths.items()
    ]
    matches = matches_in(root, commit, patterns, _PROGRAMS)
    mentions = {_AROUND.sub("", match).rpartition("/")[2] for match in matches}
    return sorted(path for name, path in paths.items() if name in mentions)


def _may_be_data(path: Path, root: Path, before_s: float) -> bool:
    """Whether a program may read an ignored file or folder: it is not hidden, compiled or an environment."""
    is_hidden = any(part.startswith((".", "__")) for part in path.relative_to(root).parts)
    if is_hidden or path.suffix in (".pyc", ".log", ".egg-info"):
        return False
    with suppress(OSError):
        return not (path / "pyvenv.cfg").exists() and path.stat().st_mtime < before_s
    return False


def _changed_in_workspaces(repository: Path, commit: str, loaded: LoadedSuites) -> list[str]:
    """The paths that differ in workspaces of a commit, which have all of its files. Raises CannotFollow."""
    differing: dict[str, None] = {}
    for ref in workspace_commits(loaded):
        now = commit_of(repository, ref) or ref
        if not now.startswith(ref):  # a hash is of the same commit on both sides
            changed = names(repository, "diff-tree", "-r", "--name-only", "-z", commit, now)
            if changed is None:
                raise CannotFollow(f"it does not compare it with {ref}")
            differing |= dict.fromkeys(changed)
    return [*differing]


def workspace_commits(loaded: LoadedSuites) -> list[str]:
    """The commits that workspaces are made of, as the suites name them."""
    workspaces = filter(None, (case.workspace for case in loaded.cases))
    return [*dict.fromkeys(filter(None, (one.commit for one in workspaces)))]


def may_differ(settings: Settings, loaded: LoadedSuites, commit: str) -> bool:
    """Whether a file that the run reads may differ from the commit."""
    try:
        return unknown_files(settings) is not None or bool(
            Changes(settings.repository, commit).among(_read(settings, loaded, None))
        )
    except CannotFollow:
        return True


def asked_otherwise(settings: Settings, known: RunReport) -> str | None:
    """How the target, judge or version of a result differs from this run's; None if they do not."""
    if known.tool_version != __version__:
        return f"the base's result was made by runevals {known.tool_version}"
    return other_models(settings, known) or _other_agent(settings, known)


def _other_agent(settings: Settings, known: RunReport) -> str | None:
    """That a result was made by another version of the coding agent than is installed here."""
    then = agent_version(known.run.target)
    if then is None or not isinstance(settings.target, AgentTargetSettings):
        return None
    now = installed_version(settings.target.command_line, settings.environment)
    if now in (None, then):
        return None
    return f"the base's result is of {settings.target.type} {then}, and {now} is installed"


def other_models(settings: Settings, known: RunReport) -> str | None:
    """Which of target and judge a result was made with that the settings do not name; None for neither."""
    judge = judges_label(judges_of(settings))
    target, of_result = settings.target, known.run.target
    if target is not None and (
        (of_result.type, of_result.model) != (target.type, target.model)
        or not target.is_program_of(of_result, (target.base, settings.cwd, settings.repository))
    ):
        return "the base's result is of another target"
    of_judge = known.run.judge and known.run.judge.model
    return "the base's result is of another judge" if judge not in (None, of_judge) else None


def files_of(settings: Settings, loaded: LoadedSuites) -> list[Path]:
    """The files of suites, settings, target and judge, as far as they are known; they need not exist."""
    return [*settings_paths(settings, loaded), *program_files(settings)]


def program_files(settings: Settings) -> list[Path]:
    """The paths that the words of the target's programs and `depends_on` name; they need not exist."""
    return [*_words(settings), *(path for pattern in settings.compare.depends_on for path in _matching(pattern))]


def texts_of_program(settings: Settings) -> Iterator[tuple[Path, str]]:
    """The files of the target's program, as far as its words name them, and the beginning of their text."""
    for path in dict.fromkeys(filter(Path.is_file, _words(settings))):
        with suppress(OSError), path.open("rb") as file:
            yield path, file.read(_MOST_READ).decode("utf-8", "replace")


def settings_paths(settings: Settings, loaded: LoadedSuites) -> Iterator[Path]:
    """The paths that settings and suites name; links are not followed."""
    yield from (settings.load.quarantine, *loaded.files)
    if settings.target is not None:
        yield from settings.target.files
    yield from filter(None, (judge.file for judge in settings.judges))
    for folder in (settings.cwd, settings.repository):
        yield from (folder / place for place in (*PLACES, FILENAME))
    if settings.load.mcp_config is not None:
        yield settings.cwd / settings.load.mcp_config
    if settings.file is not None and settings.file.path is not None:
        yield settings.file.path
        definitions = settings.file.values.get("definitions", ())
        yield from (settings.file.base / entry["file"] for entry in definitions if "file" in entry)


def _words(settings: Settings) -> Iterator[Path]:
    """The files that the words of the target may refer to."""
    return iter(()) if settings.target is None else settings.target.named_files()


def _read(settings: Settings, loaded: LoadedSuites, known: RunReport | None) -> PathsRead:
    """All that the run reads; suites of the base too: one may have been removed. Raises CannotFollow."""
    root = settings.repository
    paths = {root / suite.path for suite in loaded.suites}
    paths |= set() if known is None else {root / suite.path for suite in known.run.suites}
    entries: list[tuple[Path, str | None]] = [(entry.base, entry.path) for entry in settings.load.suites] or [
        (settings.cwd, None)
    ]
    patterns = {path for entry in entries for path in looked_at(*entry)}
    return read_by_all(settings, loaded).joined(paths_inside(root, paths=paths, patterns=patterns))


def read_by_all(settings: Settings, loaded: LoadedSuites) -> PathsRead:
    """What every case may depend on: settings, target, judges, `depends_on`, and of suites what they name.

    Raises CannotFollow.
    """
    root, cases = settings.repository, loaded.cases
    of_all = paths_inside(
        root,
        paths=(*settings_paths(settings, loaded), *folders_of(root, cases)),
        patterns=map(Path, settings.compare.depends_on),
        links=_places(settings, loaded),
    )
    words = frozenset(path for word in _words(settings) if (path := _relative(word, root)) is not None)
    return of_all.joined(PathsRead(paths=words))


def folders_of(root: Path, cases: Iterable[Case]) -> Iterator[Path]:
    """The folders that cases run in. Not the whole repository: what is read of that, `depends_on` says."""
    yield from {case.cwd for case in cases if case.cwd is not None} - {root}


def paths_inside(
    root: Path, *, paths: Iterable[Path] = (), patterns: Iterable[Path] = (), links: Iterable[Path] = ()
) -> PathsRead:
    """These paths as git writes them. Raises CannotFollow for one outside the repository."""
    inside = (frozenset(_inside(path, root) for path in each) for each in (paths, patterns, links))
    return PathsRead(**dict(zip(("paths", "patterns", "links"), inside, strict=True)))


def _places(settings: Settings, loaded: LoadedSuites) -> Iterator[Path]:
    """Working directories, required files, and the links that lead to the current folder."""
    yield from links_to(settings.repository, settings.cwd)
    if settings.target is not None and settings.target.folder is not None:
        yield settings.target.folder
    for suite in loaded.suites:
        yield from filter(None, (case.cwd for case in suite.cases))
        if suite.requires is not None:
            yield from (settings.repository / name for name in suite.requires.files)


def _matching(pattern: str) -> list[Path]:
    """The existing paths; a pattern that ends in ** always includes its folder."""
    start = Path(Path(pattern).anchor)
    try:
        paths = [start / path for path, _ in matching(FolderTree(start), pattern.removeprefix(start.anchor))]
    except CannotFollow:  # too many files
        return [start]
    return [path for path in paths if path.exists()]


def _inside(path: Path, root: Path) -> str:
    """`path` as git writes it. Raises CannotFollow for one outside the repository."""
    relative = _relative(path, root)
    if relative is None:
        raise CannotFollow(f"{path} lies outside the repository")
    return relative


def _relative(path: Path, root: Path) -> str | None:
    """`path` as git writes it, None outside the repository. Links and `..` are not followed."""
    places = (path.relative_to(base) for base in (root, root.resolve()) if path.is_relative_to(base))
    return if_known(Path.as_posix, next(places, None))
