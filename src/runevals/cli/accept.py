"""`runevals accept`: records accepted losses of the newest comparison, for a reviewer to approve."""

from __future__ import annotations

import shlex
from collections.abc import Sequence, Set
from glob import escape
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from runevals.cli.compared_results import newest_comparison, require_of_head, run_of
from runevals.cli.completed_words import completing
from runevals.cli.options import resolved_settings, settings_options
from runevals.lib.storage.files import relative_name, require_no_link, write_whole
from runevals.lib.terminal import say
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import phrase, plural, short_list
from runevals.lib.text.suggest import did_you_mean
from runevals.records.errors import InvalidSettings
from runevals.reports.past_results import readable
from runevals.run.load import accepted_file
from runevals.suites.accepted import MAX_REASON, content_of, read_entries, written
from runevals.verdict.accepted import lost_cases
from runevals.verdict.lost_together import blocking_losses, cleared_keys, to_accept

if TYPE_CHECKING:
    from runevals.records import AcceptedLoss, CaseReport, Conclusion
    from runevals.verdict.matching import Key

    _Losses = Sequence[AcceptedLoss]

_LOSSES = completing(lambda: [loss.case for loss in lost_cases(newest_comparison(None)[1])])


@click.command("accept")
@click.argument("cases", nargs=-1, metavar="[CASE]...", shell_complete=_LOSSES)
@click.option(
    "--category", "categories", multiple=True, metavar="NAME", help="Every lost case of NAME; repeatable."
)
@click.option("--all", "everything", is_flag=True, help="Every lost case.")
@click.option("--reason", required=True, metavar="TEXT", help="Why these losses are accepted.")
@click.option(
    "--results",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="DOC",
    help="The results of the comparison (default: the newest in .evals/results).",
)
@settings_options("config")
def command(
    cases: tuple[str, ...],
    categories: tuple[str, ...],
    reason: str,
    results: Path | None,
    *,
    everything: bool,
    **options: Any,
) -> None:
    """Accept that each CASE, or "SUITE: CASE", is lost, in runevals.accepted.yaml.

    Commit that file with the change. An entry counts once a reviewer who may write to the repository, and who had
    no part in the change, approves the pull request at that commit. It ends with the merge.

    \b
    Example:
      runevals accept KB-007 KB-012 --reason "shorter answers are wanted"
      runevals accept --category shipping --reason "we deliver in two days now"
    """
    if not any((cases, categories, everything)):
        raise InvalidSettings("name the cases that are accepted: CASE, --category NAME or --all")
    reason = reason.strip()
    if not 0 < len(reason) <= MAX_REASON or not reason.isprintable():
        raise InvalidSettings(f"--reason must be one line of 1 to {MAX_REASON} characters")
    path, conclusion = newest_comparison(results, options["config"], "--results ")
    settings = resolved_settings(options)
    file = accepted_file(settings)
    require_of_head(conclusion.report.run, path, settings.repository, file)
    assert conclusion.comparison is not None  # noqa: S101 - it was chosen for that
    lost, proven = lost_cases(conclusion), blocking_losses(conclusion)
    these = proven or {(loss.suite, loss.case) for loss in lost} - cleared_keys(conclusion.comparison)
    together = _among(lost, these)
    losses = [one for name in categories for one in _of_category(name, together, conclusion, path)]
    losses += [one for key in cases for one in _of(key, lost, conclusion, path)]
    losses += _among(together, to_accept(conclusion) or these) if everything else ()
    if not losses:
        raise InvalidSettings(f"no case was lost in {path}; there is nothing to accept")
    chosen = [replace(loss, reason=reason) for loss in losses]
    of_other_targets = readable(sorted(path.parent.glob(f"{escape(run_of(path))}.*.json")))
    _write(file, chosen, lost, [loss for _, one in of_other_targets for loss in lost_cases(one)], proven)


def _among(losses: _Losses, keys: Set[Key]) -> _Losses:
    return [loss for loss in losses if (loss.suite, loss.case) in keys]


def _cases_of_both_sides(conclusion: Conclusion) -> Sequence[CaseReport]:
    return (*conclusion.report.cases, *(conclusion.comparison.base.cases if conclusion.comparison else ()))


def _of_category(name: str, lost: _Losses, conclusion: Conclusion, path: Path) -> list[AcceptedLoss]:
    """The lost cases of a category, also the removed ones. Raises InvalidSettings if there are none."""
    inside = {(case.suite, case.key) for case in _cases_of_both_sides(conclusion) if case.category == name}
    if losses := [loss for loss in lost if (loss.suite, loss.case) in inside]:
        return losses
    hint = did_you_mean(name, sorted(conclusion.report.by_category.keys() - {name}))
    raise InvalidSettings(f"no case of the category {one_line(name, 60)} was lost in {path}{hint}")


def _of(key: str, lost: _Losses, conclusion: Conclusion, path: Path) -> list[AcceptedLoss]:
    """The losses with this key. Raises InvalidSettings if there are none."""
    if losses := [loss for loss in lost if key in (loss.case, f"{loss.suite}: {loss.case}")]:
        if len(losses) > 1:
            of_one = one_line(shlex.quote(f"{losses[0].suite}: {key}"), 200)
            say(f"{one_line(key, 60)} is of {len(losses)} suites, and accepted in all")
            say(f"in one, once that file is removed: runevals accept {of_one} --reason …")
        return losses
    known = {case.key for case in _cases_of_both_sides(conclusion)}
    if key in known:
        raise InvalidSettings(f"{key} did not regress in {path}; there is nothing to accept")
    of_lost = phrase(short_list([loss.case for loss in lost]), "; lost are {}")
    hint = did_you_mean(key, sorted(known | {loss.case for loss in lost})) or of_lost
    some = phrase(conclusion.report.run.of_some_cases, ", a run of some cases: run all, or name it by --results")
    raise InvalidSettings(f"there is no case {one_line(key, 60)} in {path}{hint}{some}")


def _write(path: Path, chosen: _Losses, lost: _Losses, beside: _Losses, proven: Set[Key]) -> None:
    """Adds the entries to those in the file that are still about a loss. Raises InvalidSuite for a broken file."""
    require_no_link(path)
    before = read_entries(content_of(path), path.name) if path.is_file() else ()
    about = {*map(attrgetter("identity"), (*lost, *beside))}
    stay = (entry for entry in before if entry.identity in about)
    entries = {entry.identity: entry for entry in (*stay, *chosen)}
    write_whole(path, written([*entries.values()]))
    say(f"Written: {relative_name(path, Path.cwd())}, {plural(len(entries), 'case')}")
    for entry in before:
        if entry.identity not in about:
            say(f"Removed: {entry.case}, which is not lost now as it was")
    left = [loss for loss in lost if loss.identity not in entries]
    for what, is_proven in (("still blocking", True), ("not known to be lost", False)):
        if others := [loss.case for loss in left if ((loss.suite, loss.case) in proven) is is_proven]:
            say(f"Not accepted, and {what}: {short_list(others)}")
    say("Commit it. It counts once a reviewer approves the pull request at that commit.")
