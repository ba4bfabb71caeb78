"""The results of the newest run that was compared with a base."""

from __future__ import annotations

import re
import shlex
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from runevals.cli.options import kept_folder
from runevals.lib.checkout import repository_root
from runevals.lib.storage.files import path_from
from runevals.lib.text.escape import one_line
from runevals.records.errors import InvalidSettings
from runevals.reports.past_results import newest_results
from runevals.reports.results_document import read_conclusion
from runevals.repository.git import commit_of, default_branch, names
from runevals.run.project_folders import way_to_projects
from runevals.verdict.accepted import lost_cases

if TYPE_CHECKING:
    from runevals.records import Conclusion, RunInfo

_MERGE = re.compile(r"refs/pull/[0-9]+/merge")
LAST = 50  # results that are searched for a comparison


def newest_comparison(
    results: Path | None, config: str | None = None, option: str = "", target: str | None = None
) -> tuple[Path, Conclusion]:
    """The newest results that were compared with a base, or this document; of several, of `target` or with a loss.

    A look at single cases is no run of the change, if there is one. With `config`, runs by another settings
    file do not count: several projects may be run from one folder. `option` is how the command takes a document.
    Raises InvalidSettings, or InvalidDocument.
    """
    if results is None:
        latest, where = newest_results(kept_folder(), LAST), kept_folder().as_posix()
        elsewhere = f"\nif it ran elsewhere, name its document: {option}results.json"
        elsewhere += way_to_projects(Path.cwd())
    else:
        latest, where, elsewhere = iter([(results, read_conclusion(results))]), str(results), ""
    of_config = (None, config and path_from(Path(config).resolve(), repository_root(Path.cwd()).resolve()))
    compared = (
        (path, one)
        for path, one in latest
        if one.comparison is not None and (not config or one.report.run.settings.get("config") in of_config)
    )
    if (newest := next(compared, None)) is not None:
        commit = newest[1].report.run.commit
        of_commit = [newest, *takewhile(lambda each: each[1].report.run.commit == commit, compared)]
        whole = max(of_commit, key=lambda each: _breadth(each[1], newest[1]))
        of_run = [each for each in of_commit if run_of(each[0]) == run_of(whole[0])]
        of_target = [each for each in of_run if each[1].report.run.settings.get("target", target) == target]
        return next(filter(lambda each: lost_cases(each[1]), of_target or of_run), whole)
    makes = base_command(Path.cwd()) or "runevals --base REF"
    raise InvalidSettings(f"there are no results of a comparison in {where}; `{makes}` makes them{elsewhere}")


def _breadth(conclusion: Conclusion, narrow: Conclusion) -> int:
    """How many cases it has, if it has all of another that filters narrowed; else 0."""
    keys, others = ({case.key for case in one.report.cases} for one in (conclusion, narrow))
    return narrow.report.run.of_some_cases * (others <= keys) * len(keys)


def run_of(document: Path) -> str:
    """What the names of the documents of a run begin with; of several targets, each has its own."""
    return document.name.split(".")[0]


def base_command(repository: Path) -> str | None:
    """The command that compares with the target branch of changes; None if no commit of it is here."""
    branch = default_branch(repository)
    if branch is None:
        return None
    known = next((ref for ref in (branch, f"origin/{branch}") if commit_of(repository, ref) is not None), None)
    return None if known is None else f"runevals --base {shlex.quote(one_line(known))}"


def require_of_head(
    run: RunInfo, path: Path, repository: Path, apart_from: Path | None = None, *, is_named: bool = True
) -> None:
    """Raises InvalidSettings for a comparison of another commit: its losses are not those of this change.

    `apart_from` is a file that may have changed since; `is_named`: the user named the document.
    """
    head = commit_of(repository, "HEAD")
    merged = _MERGE.fullmatch(run.ref or "")  # GitHub's test merge of a pull request, which is in no clone
    if head is None or run.commit in (None, head) or merged:
        return
    measured = commit_of(repository, run.commit)
    changed = measured and names(repository, "diff-tree", "-r", "--name-only", "-z", measured, head)
    if changed and apart_from and [(repository / name).resolve() for name in changed] == [apart_from.resolve()]:
        return
    elsewhere = "" if is_named else "; if it ran elsewhere, name its document"
    raise InvalidSettings(f"{path} compares commit {run.commit[:7]}, HEAD is {head[:7]}; run again{elsewhere}")
