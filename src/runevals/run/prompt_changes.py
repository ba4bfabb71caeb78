"""The diffs of texts that the target reads: prompt files, skills, `.prompt.yml`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path

from runevals.lib.git import file_at
from runevals.lib.sandbox import Sandbox
from runevals.records import Conclusion, TextChange
from runevals.records.errors import ExternalError
from runevals.run.redaction.redactors import text_redactor
from runevals.settings.resolve import Settings
from runevals.suites.load import LoadedSuites

MOST_FILES = 5
MOST_READ = 100
MOST_BYTES = 200_000  # of a file that is compared
MOST_COMPARED = 2000  # lines of a file: it takes the square of them
MOST_LINES = 60  # of a diff
LONGEST_LINE = 400
CONTEXT = 1  # unchanged lines around a change
PROMPTS = (".prompt.yml", ".prompt.yaml")


def with_prompt_changes(conclusion: Conclusion, settings: Settings, loaded: LoadedSuites) -> Conclusion:
    """`conclusion` with the diffs of the target's texts since the base's commit, if git has that commit here."""
    comparison = conclusion.comparison
    commit = None if comparison is None else comparison.base.run.commit
    if commit is None or settings.redact != "full":
        return conclusion
    with Sandbox(workers=1) as sandbox:  # starts nothing until it is used
        changes = [*_changes(settings, loaded, commit, text_redactor(settings, sandbox))][:MOST_FILES]
    return replace(conclusion, prompt_changes=tuple(changes))


def _changes(
    settings: Settings, loaded: LoadedSuites, commit: str, redact: Callable[[str], str]
) -> Iterator[TextChange]:
    for path in prompt_files(settings, loaded):
        try:
            before, now = file_at(settings.repository, commit, path), _here(settings.repository / path)
        except (ExternalError, OSError):
            continue
        if before != now and (diff := _diff(before or b"", now or b"")):
            yield TextChange(path=path, diff=redact(diff))


def prompt_files(settings: Settings, loaded: LoadedSuites) -> Iterator[str]:
    """The texts that a target reads, and the settings file: their paths in the repository, each once."""
    paths = [] if settings.target is None else [*settings.target.files]
    paths += [path for path in loaded.files if path.name.endswith(PROMPTS)]
    paths += [] if settings.file is None or settings.file.path is None else [settings.file.path]
    files = [file for path in paths for file in (sorted(path.rglob("*.md")) if path.is_dir() else [path])]
    root = settings.repository.resolve()
    for path in dict.fromkeys(path.resolve() for path in files[:MOST_READ]):
        if path.is_relative_to(root):
            yield path.relative_to(root).as_posix()


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
