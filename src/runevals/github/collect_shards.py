"""The results of all shards, for the job that merges them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from runevals.lib.text.numbers import phrase, plural
from runevals.records import RunReport
from runevals.records.errors import ExternalError
from runevals.reports.results_document import documents_in, read
from runevals.repository import git
from runevals.run.provenance import commit_here
from runevals.settings.resolve import Settings

MOST_NAMED = 5


def collected(settings: Settings, name: str) -> Iterator[tuple[str, RunReport]]:
    """The shards in the workspace's folder of this name, each with its file's name, read one by one.

    A change can commit any file there, but none that holds the sha of its own commit. Raises ExternalError if
    there is nothing, or, when the last is read, something that no job of this commit left.
    """
    folder = (settings.cwd / name).resolve()
    files = documents_in(folder, deep=True)
    if not files:
        raise ExternalError(f"no shard left its results in {name}")
    repository = settings.repository.resolve()
    committed = git.tracked_in(repository, folder)
    if committed is None:
        raise ExternalError(
            f"git cannot tell what of {name} is in the repository itself: {git.why_unavailable(repository)}"
        )
    planted = [path for path in files if not committed.isdisjoint((path, *path.parents))]
    _refuse(planted, folder, name, "in the repository itself")
    here = commit_here(settings)
    others = []
    for path in files:
        report = read(path)
        if report.run.commit != here:
            others.append(path)
        elif not others:
            yield _display_path(path, folder, name), report
    _refuse(others, folder, name, "of another commit than this job")


def _refuse(files: Sequence[Path], folder: Path, name: str, what: str) -> None:
    if files:
        first = ", ".join(_display_path(path, folder, name) for path in files[:MOST_NAMED])
        more = phrase(len(files) > MOST_NAMED, f" and {plural(len(files) - MOST_NAMED, 'more file')}")
        verb = "is" if len(files) == 1 else "are"
        raise ExternalError(f"{first}{more} {verb} {what}; only what the jobs of its shards left counts")


def _display_path(path: Path, folder: Path, name: str) -> str:
    return Path(name, path.relative_to(folder)).as_posix()
