"""`runevals merge`: the results documents of all shards → one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runevals.cli.help import GroupedCommand
from runevals.cli.options import environment_option, output_option, raw_settings, settings_options
from runevals.cli.output import finish_with, outputs_of
from runevals.cli.progress import progress
from runevals.github.job import change_event, require_own_code
from runevals.records.errors import InvalidDocument
from runevals.reports.results_document import documents_in, read
from runevals.run.baseline.protected_side import protected_side
from runevals.run.pipeline import merge
from runevals.run.request import RunRequest
from runevals.run.shards.merge import merged
from runevals.settings.resolve import ignored_changes, resolve

if TYPE_CHECKING:
    from runevals.records import RunReport


@click.command("merge", cls=GroupedCommand)
@click.argument("documents", nargs=-1, required=True, metavar="DOCUMENT...", type=click.Path(path_type=Path))
@output_option
@settings_options(
    *("config", "baseline", "min_pass_rate", "fail_on", "alpha", "min_effect"),
    *("on_incomparable", "on_inconclusive", "mark"),
    *("verify", "verify_repeats", "target", "model", "judge", "judge_model", "no_judge", "concurrency"),
    *("judge_concurrency", "cache", "max_cost", "max_tokens", "max_duration"),
)
@environment_option
def command(documents: tuple[Path, ...], output: tuple[str, ...], **options: Any) -> None:
    """Merge the results of all shards and judge them as one run.

    Each DOCUMENT is what `runevals run --shard i/n` wrote, or a folder of such files. Before a failing verdict,
    the base is run again, if target and judge are those of the shards and can be asked from here.

    \b
    Examples:
      runevals merge shard-1.json shard-2.json --output results.json
      runevals merge shards/ --baseline base.json
    """
    from dataclasses import replace

    files = _files(documents)
    outputs = outputs_of(output, files, "shards")
    words = raw_settings(options)
    of_change = replace(words, base_side=protected_side(words, change_event(words)))
    request = RunRequest(
        settings=resolve(of_change), raw=words, weakenings=ignored_changes(of_change), progress=progress
    )
    require_own_code(words)
    finish_with(merge(merged_report(files), request), outputs)


def merged_report(documents: Sequence[Path]) -> RunReport:
    """The shards as one run. Raises as `read` and `merged` do."""
    return merged([(str(path), read(path)) for path in _files(documents)])


def _files(documents: Sequence[Path]) -> list[Path]:
    """The documents, and those in the folders among them. Raises InvalidDocument for a folder without any."""
    files: list[Path] = []
    for path in documents:
        inside = documents_in(path, deep=True) if path.is_dir() else [path]
        if not inside:
            raise InvalidDocument(f"there is no results document (.json) in {path}")
        files += inside
    return files
