"""The diffs of texts that the target reads: prompt files, skills, `.prompt.yml`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from difflib import unified_diff
from functools import cache
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from runevals.lib.text.numbers import phrase, short_list
from runevals.records import Conclusion, TextChange
from runevals.records.errors import ExternalError
from runevals.repository.git import file_at
from runevals.repository.git_changes import changed_files
from runevals.repository.trees import CannotFollow, CommitTree, files_below, matching
from runevals.run.live import runs_code
from runevals.run.redaction.redactors import text_redactor
from runevals.sandbox import Sandbox
from runevals.settings.places import PLACES, content_here, has_settings
from runevals.settings.resolve import Settings
from runevals.suites.load import LoadedSuites
from runevals.suites.skill_suites import SKILL
from runevals.targets.recorded import RecordedSettings

MOST_FILES = 5
MOST_READ = 100
MOST_BYTES = 200_000  # of a file that is compared
MOST_COMPARED = 2000  # lines of a file: it takes the square of them
MOST_LINES = 60  # of a diff
LONGEST_LINE = 400
CONTEXT = 1  # unchanged lines around a change
PROMPTS = (".prompt.yml", ".prompt.yaml")
# What a program may read as a prompt, settings or the description of a tool; the others are code.
PROSE = (".md", ".mdx", ".txt", ".prompt", ".j2", ".jinja", ".jinja2", ".tmpl", ".mustache", ".hbs", ".liquid")
TEXTS = (*PROSE, ".yaml", ".yml", ".json", ".toml", ".xml", ".csv", ".tsv")
_PROMPT = re.compile(rf"(?!\.|docs?/).*prompt.*({'|'.join(map(re.escape, PROSE))})", re.IGNORECASE)  # by its path
# Prose for people and tools.
_NO_PROMPT = re.compile(
    r"(^|/)(docs?|\.[^/]+)/"
    r"|(^|/)(readme|changelog|changes|history|licen[cs]e|notice|authors|contributing|security|code_of_conduct"
    r"|requirements|constraints)[^/]*$",
    re.IGNORECASE,
)


_Pairs = Sequence[tuple[str | None, str | None]]  # a path in the base's commit, and here
_Row = tuple[str | None, str | None, str | None]  # and where its former content is put back
_Changed = Callable[[], _Pairs]


def with_prompt_changes(
    conclusion: Conclusion, commit: str | None, settings: Settings, loaded: LoadedSuites
) -> Conclusion:
    """`conclusion` with the diffs of the target's texts since the base's `commit`, if git has that here."""
    if commit is None or settings.redaction.redact != "full":
        return conclusion

    @cache
    def changed() -> _Pairs:
        return changed_files(settings.repository.resolve(), commit) or ()

    with Sandbox(workers=1) as sandbox:  # starts nothing until it is used
        changes = [*_changes(settings, loaded, commit, changed, text_redactor(settings, sandbox))][:MOST_FILES]
    unread = _unread(settings, loaded, {now for _, now in changed() if now is not None})
    run = replace(conclusion.report.run, notices=(*conclusion.report.run.notices, *filter(None, [unread])))
    return replace(conclusion, report=replace(conclusion.report, run=run), prompt_changes=tuple(changes))


def _unread(settings: Settings, loaded: LoadedSuites, changed: Collection[str]) -> str:
    """What to say of changed prompts that the answers show nothing of; nothing if code may have read them."""
    target, root = settings.target, settings.repository
    if isinstance(target, RecordedSettings):
        texts = [name for name in changed if name.endswith((*PROMPTS, SKILL))]
        is_new = target.path.resolve() in {(root / name).resolve() for name in changed}
        return phrase(
            not is_new and short_list(texts), "the answers are recorded, and show nothing of what changed in {}"
        )
    texts = sorted({*filter(_PROMPT.fullmatch, changed)}.difference(prompt_files(settings, loaded)))
    own = [name for name in texts if not of_other_project(name, settings)]
    message = "nothing that is sent is read from {}, which changed; `system_prompt_file` names a prompt to send"
    return phrase(not runs_code(settings) and short_list(own), message)


def _changes(
    settings: Settings, loaded: LoadedSuites, commit: str, changed: _Changed, redact: Callable[[str], str]
) -> Iterator[TextChange]:
    root, own = settings.repository, [*prompt_files(settings, loaded)]
    of_settings = () if getattr(settings.target, "reads_other_files", False) else own
    paths = (*own, *_other_texts(settings, loaded, commit, changed))
    former = {path: (old, place) for old, path, place in where_put_back(changed(), settings, loaded)}
    for path in dict.fromkeys(paths):
        old, place = former.get(path, (path, path))
        try:
            before, now = old and file_at(root, commit, old), _here(root / path)
        except (ExternalError, OSError):
            continue
        if diff := _diff(before or b"", now or b"") or phrase(old != path and old, "rename from {}"):
            by_code = old != path and path not in (*of_settings, place)
            yield TextChange(path=path, diff=redact(diff), by_code=by_code)


def prompt_files(settings: Settings, loaded: LoadedSuites) -> Iterator[str]:
    """The texts that a target reads, and the settings file: their paths in the repository, each once."""
    paths = [*([] if settings.target is None else settings.target.prompts), *_fixed(settings, loaded)]
    files = [file for path in paths for file in (sorted(path.rglob("*.md")) if path.is_dir() else [path])]
    root = settings.repository.resolve()
    for path in dict.fromkeys(path.resolve() for path in files[:MOST_READ]):
        if path.is_relative_to(root):
            yield path.relative_to(root).as_posix()


def _fixed(settings: Settings, loaded: LoadedSuites) -> Sequence[Path]:
    """The settings file, and the suites that are prompts, too, or a skill."""
    skills = (SKILL,) if getattr(settings.target, "reads_skills", False) else ()
    suites = [path for path in loaded.files if path.name.endswith((*PROMPTS, *skills))]
    return [*suites, *filter(None, [settings.file_path])]


def _other_texts(settings: Settings, loaded: LoadedSuites, commit: str, changed: _Changed) -> list[str]:
    """The changed texts that `depends_on` names, without suites and without files that are in no commit: reports.

    Without `depends_on`: those that look like prompts, if the target may read any file.
    """
    guesses = not settings.compare.depends_on
    if guesses and not getattr(settings.target, "reads_other_files", False):
        return []
    root = settings.repository.resolve()
    texts = [name for pair in changed() if (name := pair[1] or pair[0] or "").endswith(TEXTS)]
    try:
        trees = (CommitTree(root, commit), CommitTree(root, "HEAD")) if texts else ()
        matches = {path for tree in trees for path in _dependencies(settings, tree)}
    except CannotFollow:
        return []
    suites = {path.resolve() for path in loaded.files}
    if guesses:
        of_suites = {path.parent for path in suites} - {root}
        matches = {
            name
            for name in texts
            if name.endswith(PROSE)
            and not _NO_PROMPT.search(name)
            and of_suites.isdisjoint((root / name).parents)
            and not of_other_project(name, settings)
            and any(tree.kind(name) is not None for tree in trees)
        }
    own = {name for name in texts if (root / name).resolve() == root / name}  # no link leads to another file
    return sorted(name for name in own & matches if root / name not in suites)[:MOST_READ]


def where_put_back(pairs: _Pairs, settings: Settings, loaded: LoadedSuites) -> Iterator[_Row]:
    """Each file's former path, its path, and where its former content is put back.

    Settings and suites of the head run, and find nothing at a former path of theirs: they keep their names, and so
    does what moved along with their folders. Settings that follow such a move find nothing if they are put back.
    """
    root = settings.repository.resolve()
    fixed = {os.path.relpath(path.resolve(), root) for path in _fixed(settings, loaded)}
    files = [(PurePosixPath(old), PurePosixPath(new)) for old, new in pairs if old and new in fixed]
    moves = [*files, *((old.parent, new.parent) for old, new in files)]
    added = {new: new for old, new in pairs if old is None}
    texts = {path.resolve() for path in getattr(settings.target, "prompts", ())}
    text_moved = any(old != new and root / new in texts for old, new in files)
    of_settings = filter(None, [settings.file_path])
    following = {os.path.relpath(path.resolve(), root) for path in of_settings if text_moved}
    for old, new in pairs:
        if old is None or new in following:
            continue
        path = PurePosixPath(old)
        places = ((now / path.relative_to(was)).as_posix() for was, now in moves if path.is_relative_to(was))
        place = next((place for place in places if new in (place, None)), old)
        yield old, new or added.pop(place, None), place  # git takes a file with many changes for two
    yield from ((None, new, None) for new in added)


def of_other_project(name: str, settings: Settings) -> bool:
    """Whether the nearest settings file above a path of the repository is that of another project."""
    root, own = settings.repository.resolve(), settings.file_base.resolve()
    folders = (root / name).parents[: len(Path(name).parts)]
    places = ((folder, folder / place) for folder in folders for place in PLACES)
    nearest = next((folder for folder, path in places if has_settings(path, content_here(path))), own)
    return not own.is_relative_to(nearest)


def _dependencies(settings: Settings, tree: CommitTree) -> Iterator[str]:
    """The files that `depends_on` names in a commit. Raises CannotFollow."""
    for pattern in map(Path, settings.compare.depends_on):
        if pattern.is_relative_to(settings.repository):
            for path, _ in matching(tree, pattern.relative_to(settings.repository).as_posix()):
                yield from (file for file, _ in files_below(tree, path))


def _here(path: Path) -> bytes | None:
    """A file's content up to just above the limit; None if there is no file."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


def _diff(before: bytes, now: bytes) -> str:
    """Empty for what is not text, or too long to compare."""
    if max(len(before), len(now)) > MOST_BYTES:
        return ""
    try:
        old, new = before.decode().splitlines(), now.decode().splitlines()
    except UnicodeDecodeError:
        return ""
    if old and new and max(len(old), len(new)) > MOST_COMPARED:
        return ""
    lines = [*unified_diff(old, new, lineterm="", n=CONTEXT)][2:]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"… and {len(lines) - MOST_LINES} more lines"]
    return "\n".join(line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines)
