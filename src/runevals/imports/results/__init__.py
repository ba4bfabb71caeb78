"""Results of other tools, recognised by their content: one module for each format."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from runevals.imports.results import inspect_log, junit, rows
from runevals.imports.results.deepeval import DEEPEVAL
from runevals.imports.results.opened import TABLES, OpenedResults, opened, read_opened
from runevals.imports.results.promptfoo import LINES, PROMPTFOO
from runevals.imports.results.records import ImportedCase, ImportedRun, joined
from runevals.imports.results.skill_creator import BENCHMARK, GRADING, is_summary
from runevals.imports.results.tools import AGENTV, HARBOR, PYDANTIC_EVALS, VALLY, WAZA
from runevals.lib.nullable import if_known, known
from runevals.lib.text.numbers import phrase, plural, short_list
from runevals.records.errors import InvalidDocument
from runevals.records.rules import AS_IT_SAYS, Reading

AND = " + "
GRADING_NAME = "grading.json"
MOST_FILES = 10_000
SUFFIXES = (".json", ".jsonl", ".csv", ".tsv", ".xml", ".eval")  # that are looked at in a folder


class ResultFormat(Protocol):
    """One tool's format."""

    @property
    def NAME(self) -> str: ...  # noqa: N802 - the name of a constant

    def recognises(self, file: OpenedResults) -> bool:
        """Whether a file is in this format, or in a version of it."""

    def read(self, file: OpenedResults, reading: Reading = AS_IT_SAYS) -> ImportedRun:
        """The results. Raises InvalidDocument with the place."""


# The first that recognises a file reads it.
FORMATS: tuple[ResultFormat, ...] = (
    PROMPTFOO,
    LINES,
    inspect_log,
    DEEPEVAL,
    WAZA,
    BENCHMARK,
    GRADING,
    AGENTV,
    VALLY,
    HARBOR,
    PYDANTIC_EVALS,
    rows,
    junit,
)


def read_results(paths: Sequence[Path], reading: Reading = AS_IT_SAYS) -> ImportedRun:
    """All these files, and those in folders among them, as one run. Raises InvalidDocument with the place.

    A case that several files have was run several times; a file that is named twice counts once.
    """
    there = [_results_in(path, reading) if path.is_dir() else ([path], []) for path in paths]
    files = [file for read, _ in there for file in read]
    unique: dict[Path, Path] = {}
    copies = [file for file in files if unique.setdefault(file.resolve(), file) is not file]
    base = unique.pop(reading.other_side or Path(), None) if len(unique) > 1 else None
    run = together([_read_file(file, reading) for file in unique.values()])
    notices = [f"{file} is named twice, and counts once" for file in dict.fromkeys(copies)]
    left_out = [str(path) for _, tables in there for path in tables if path.resolve() not in unique]
    of_base = phrase(base, "{} is the baseline, and does not count as a run of the change")
    notices += filter(None, [phrase(short_list(left_out), f"{{}} {_NOT_READ}"), of_base])
    return replace(run, notices=(*run.notices, *notices))


def parse_results(
    content: bytes, path: Path, display_path: str, reading: Reading = AS_IT_SAYS
) -> ImportedRun | None:
    """The results in a file's content; None if it is in no format of these. Raises InvalidDocument."""
    file = opened(content, path, display_path)
    run = _read(file, reading)
    if run is None and path.suffix.lower() in TABLES:  # which nothing else reads
        raise _unknown(file)
    return if_known(lambda one: together([one]), run)


def known_formats() -> str:
    """Their names, for messages."""
    *first, last = dict.fromkeys(one.NAME for one in FORMATS)
    return f"{', '.join(first)} and {last}"


def _read_file(path: Path, reading: Reading) -> ImportedRun:
    file = read_opened(path, str(path))
    run = _read(file, reading)
    if run is None:
        raise _unknown(file)
    return run


def _read(file: OpenedResults, reading: Reading) -> ImportedRun | None:
    return if_known(lambda format_: format_.read(file, reading), _recognised(file, reading))


def _recognised(file: OpenedResults, reading: Reading) -> ResultFormat | None:
    """The format of a file. With `columns`, what has them is plain rows, and so is what is in no other format."""
    if reading.columns and not rows.Columns.chosen(reading.columns).missing_in(file):
        return rows
    other = rows if reading.columns and file.xml is None else None
    formats = (rows,) if file.path.suffix.lower() in TABLES else FORMATS  # no tool's own form is a table
    return next((one for one in formats if one.recognises(file)), other)


def _unknown(file: OpenedResults) -> InvalidDocument:
    """The error for a file in no format of these."""
    path = file.display_path
    if file.has("format_version", "tool", "cases"):
        return InvalidDocument(
            f"{path} is a results document of runevals; `runevals compare BASE {path}` compares it"
        )
    why = f"is in no format of results that we read: {known_formats()} XML"
    if file.path.suffix.lower() in TABLES:
        header = short_list(rows.names_in(file), 5)
        says = f"is a table: the first line must name the columns, such as id,score, and names {header}"
        why = {"": "is a table without a row"}.get(header, says)
    return InvalidDocument(
        f"{path} {why}; "
        "rows with other names: runevals gate FILE --columns id=COLUMN --columns score=COLUMN "
        "(on a change, `columns` are the base's)"
    )


def _results_in(folder: Path, reading: Reading) -> tuple[list[Path], list[Path]]:
    """(the results in a folder, its plain rows that are not read).

    Files of other kinds are left out, and so are the baseline and what another file sums up. Beside results of a
    tool, plain rows are only read if `columns` say what they are: many a table has an id and a score.
    agentv and skill-creator write a `grading.json` for each run in a folder below the file of all runs, and a
    `benchmark.json` that may have none of them.
    """
    other = reading.other_side
    files_there = _files(folder)
    mine = [path for path in files_there if other is None or not path.resolve().is_relative_to(other)]
    known = {path: one for path in mine if (one := _results_format(path, reading)) is not None}
    files = known if reading.columns else {path: one for path, one in known.items() if one is not rows} or known
    if not files:
        theirs = phrase(len(files_there) - len(mine), "; {} of them, of the baseline, do not count")
        raise InvalidDocument(
            f"there are no results in {folder}: none of its files is of {known_formats()} XML{theirs}"
        )
    sums = {path.parent for path, one in files.items() if one in (AGENTV, BENCHMARK)}
    read = [path for path in files if path.name != GRADING_NAME or sums.isdisjoint(path.parents)]
    return read, [path for path in known if path not in files]


def _files(folder: Path) -> list[Path]:
    """The files that may be results. Raises InvalidDocument if there are too many to look at."""
    files = [path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file()]
    if len(files) > MOST_FILES:
        raise InvalidDocument(f"{folder} has {len(files):,} files that may be results; name those to read")
    return sorted(files)


def _results_format(path: Path, reading: Reading) -> ResultFormat | None:
    """The format of a file with results; None for any other. Raises InvalidDocument if it cannot be read."""
    file = read_opened(path, str(path))
    return None if is_summary(file) else _recognised(file, reading)


def together(runs: Sequence[ImportedRun]) -> ImportedRun:
    """Several files as one run. Raises InvalidDocument if two of them have different cases of one name.

    What files of several models share is a case of each model, and what JUnit XML in several folders shares is a
    case of each folder: one model or project does not hide what another lost.
    """
    if len(runs) == 1:
        return replace(runs[0], stopped=_why_stopped(runs, runs[0].cases))
    runs = [*_of_newest_commit(runs)]
    owners = [*zip(runs, _owners(runs), strict=True)]
    of_case: dict[tuple[str, str], set[str]] = {}
    for run, owner in owners:
        for case in run.cases if owner else ():  # a file that names no model may be of any
            of_case.setdefault((case.suite, case.key), set()).add(owner)
    shared = {key for key, having in of_case.items() if len(having) > 1}
    cases = joined(
        _of_owner(case, run, owner if (case.suite, case.key) in shared else "")
        for run, owner in owners
        for case in run.cases
    )
    notices = dict.fromkeys(notice for run in runs for notice in run.notices)
    if shared and all(run.tool == junit.NAME for run in runs):
        notices[f"{plural(len(shared), 'test')} in {_OF_FOLDERS}"] = None
    repeated = sum(len({(case.suite, case.key) for case in run.cases}) for run in runs) - len(cases)
    if repeated and {run.tool for run in runs} == {rows.NAME}:
        notices[f"{plural(repeated, 'case')} in {_OF_FILES}"] = None
    return ImportedRun(
        tool=AND.join(sorted({run.tool for run in runs})),
        path=_folder_of([run.path for run in runs]),
        cases=cases,
        models=tuple(dict.fromkeys(model for run in runs for model in run.models)),
        judges=tuple(dict.fromkeys(judge for run in runs for judge in run.judges)),
        started_at=min(known(run.started_at for run in runs), default=None),
        duration_s=sum(run.duration_s for run in runs),
        notices=tuple(notices),
        stopped=_why_stopped(runs, cases),
    )


def _of_newest_commit(runs: Sequence[ImportedRun]) -> Iterator[ImportedRun]:
    """The runs without what a newer commit has, too: a folder may keep the results of older ones."""
    by_time = sorted(runs, key=lambda run: str(run.started_at))
    newest = {(case.suite, case.key): run.commit for run in by_time for case in run.cases}
    for run in runs:
        cases = tuple(case for case in run.cases if newest[case.suite, case.key] == run.commit)
        older = phrase(len(run.cases) - len(cases), f"left out of {run.path}, as of an older commit: {{}} cases")
        yield replace(run, cases=cases, notices=tuple(filter(None, (*run.notices, older))))


def _why_stopped(runs: Sequence[ImportedRun], cases: Sequence[ImportedCase]) -> str:
    """Why the results are not whole, as they say themselves, or as they count more attempts than there are."""
    there, counted = sum(len(case.attempts) for case in cases), sum(run.counted for run in runs)
    lost = phrase(there < counted, f"the results count {counted} attempts and have {there}")
    return "; ".join(filter(None, (*(run.stopped for run in runs), lost)))


_NOT_READ = "not read, as plain rows beside results of a tool: name the file, or --columns"
_OF_FILES = "several files: read as further runs of them; a column `suite` tells cases of the same id apart"
_OF_FOLDERS = "reports in several folders: read as tests of several projects; put the runs of one into one folder"


def _owners(runs: Sequence[ImportedRun]) -> Iterator[str]:
    """The models of each file, or the folder of JUnit XML, whose tests name no project; empty if it is unknown."""
    folders = [Path(run.path).absolute().parent for run in runs]
    above = os.path.commonpath(folders)
    for run, folder in zip(runs, folders, strict=True):
        yield os.path.relpath(folder, above) if run.tool == junit.NAME else AND.join(sorted(run.models))


def _of_owner(case: ImportedCase, run: ImportedRun, owner: str) -> ImportedCase:
    """The case, with its file; of a suite of its owner if it has one."""
    suite = suite_of(case.suite, owner) if owner else case.suite
    return replace(case, suite=suite, file=case.file or run.path)


def suite_of(suite: str, owner: str) -> str:
    """What a suite is called that has the cases of one of several models, or of one of several folders."""
    return f"{suite} ({owner})"


def _folder_of(paths: Sequence[str]) -> str:
    """The folder that has all these files; their names if there is none."""
    try:
        return os.path.commonpath(paths) or ", ".join(paths)
    except ValueError:  # some are absolute
        return ", ".join(paths)
