"""The results documents of past runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from runevals.lib.terminal import notice
from runevals.records.errors import InvalidDocument, InvalidSuite
from runevals.reports.results_document import documents_in, read, read_conclusion

if TYPE_CHECKING:
    from runevals.records import Conclusion, RunReport


def newest(folder: Path, most: int) -> list[Path]:
    """The files of a folder that may be results documents: the newest `most`, the oldest of these first."""
    return _by_age(folder)[-most:]


def newest_results(
    folder: Path, most: int, apart_from: Collection[Path] = ()
) -> Iterator[tuple[Path, Conclusion]]:
    """The newest `most` results documents of a folder, the newest first; other files do not count."""
    return islice(readable(file for file in reversed(_by_age(folder)) if file not in apart_from), most)


def reports_in(paths: Iterable[Path], most: int) -> list[RunReport]:
    """The reports in these documents, and in the newest `most` documents of folders."""
    reports = []
    for path in paths:
        if path.is_dir():
            reports += [past.report for _, past in newest_results(path, most)]
        else:
            reports.append(read(path))
    return reports


def _by_age(folder: Path) -> list[Path]:
    return sorted((file for file in documents_in(folder) if file.is_file()), key=age)


def age(file: Path) -> tuple[int, int, str]:
    """Orders files, the oldest first; for equal times the suffixes `…-2` and `…-10` decide."""
    return file.stat().st_mtime_ns, len(file.name), file.name


def readable(files: Iterable[Path]) -> Iterator[tuple[Path, Conclusion]]:
    """The files that are results documents; the others are reported on stderr."""
    for file in files:
        try:
            yield file, read_conclusion(file)
        except (InvalidDocument, InvalidSuite):
            notice(f"skipped {file}: not a results document")
