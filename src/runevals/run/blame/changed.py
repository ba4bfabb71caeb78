"""The changed files that a target reads, with their content on both sides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from msgspec import Struct

from runevals.lib.nullable import if_known
from runevals.lib.text.numbers import phrase, plural
from runevals.records.errors import ExternalError
from runevals.repository.git import file_at
from runevals.repository.git_changes import changed_files
from runevals.run.blame.hunks import ChangedFile
from runevals.run.load import accepted_file
from runevals.run.prompt_changes import PROMPTS, TEXTS, of_other_project, prompt_files, where_put_back
from runevals.settings.resolve import Settings
from runevals.suites.load import LoadedSuites

RUNS = ".evals/"
_RESULTS = (".json", ".jsonl", ".json.gz", ".xml", ".csv", ".html", ".pyc")
_FOOTER = re.compile(rb"<sub>.* \xc2\xb7 runevals \S+</sub>")  # the last line of a report in Markdown


class ChangedFiles(Struct, frozen=True, kw_only=True):
    """The files of a change; `left_out` are those that only `--code` puts back."""

    files: tuple[ChangedFile, ...]
    left_out: tuple[str, ...]
    forms: tuple[ChangedFile, ...]  # of the files of suites, as they were
    uncommitted: bool  # some of them have changes that are in no commit

    @property
    def with_code(self) -> str:
        """What else can be put back, as the end of a sentence; empty if nothing can."""
        return phrase(self.left_out, f"; --code also puts back {plural(len(self.left_out), 'other file')}")


def files_since(commit: str, settings: Settings, loaded: LoadedSuites, *, code: bool) -> ChangedFiles:
    """What the target reads and differs from `commit`; all files but those of the suites if `code`.

    Raises ExternalError if git does not answer.
    """
    pairs, since_head = (changed_files(settings.repository, one) for one in (commit, "HEAD"))
    if pairs is None or since_head is None:
        raise ExternalError(f"git cannot tell what changed since {commit[:7]}")
    prompts, suites = {*prompt_files(settings, loaded)}, {*_files_of_suites(settings, loaded)}
    by_name = getattr(settings.target, "reads_other_files", False)
    files, left_out, forms = [], [], []
    rows = where_put_back(pairs, settings, loaded)
    for old, new, place in sorted(rows, key=lambda row: row[1] or row[0] or ""):
        names = {*filter(None, (old, new))}
        is_of_a_run = (old, new) in since_head and _is_of_a_run(old, new, settings.repository)
        is_known = names & (prompts | suites)
        if is_of_a_run and not is_known:
            continue
        texts = (name for name in names if name.endswith(TEXTS) and (by_name or new is None))
        if not (code or is_known or any(not of_other_project(name, settings) for name in texts)):
            left_out.append(new or old or "")
            continue
        before = if_known(partial(file_at, settings.repository, commit), old)
        now = if_known(lambda name: (settings.repository / name).read_bytes(), new)
        if names & (suites - prompts):
            forms += [ChangedFile(old_path=place, path=place, before=before, now=before)] * (before is not None)
        elif before != now or place != new:
            files.append(ChangedFile(old_path=place, path=new, before=before, now=now))
    own = {file.path for file in files} & {new for _, new in since_head}
    return ChangedFiles(files=tuple(files), left_out=tuple(left_out), forms=tuple(forms), uncommitted=bool(own))


def _is_of_a_run(old: str | None, new: str | None, repository: Path) -> bool:
    """Whether a file that is in no commit is a result of a run rather than part of the change."""
    if old is not None or new is None:
        return False
    if new.startswith(RUNS) or new.endswith(_RESULTS):
        return True
    lines = (repository / new).read_bytes().splitlines() if new.endswith(".md") else []
    return any(map(_FOOTER.fullmatch, lines[-1:]))


def _files_of_suites(settings: Settings, loaded: LoadedSuites) -> Iterator[str]:
    """The cases of a run, and what decides over them: paths in the repository."""
    yield from (suite.path for suite in loaded.suites if not suite.path.endswith(PROMPTS))
    paths = [path for path in loaded.files if not path.name.endswith(PROMPTS)]
    for path in (*paths, settings.load.quarantine, accepted_file(settings)):
        if path.resolve().is_relative_to(settings.repository.resolve()):
            yield path.resolve().relative_to(settings.repository.resolve()).as_posix()
