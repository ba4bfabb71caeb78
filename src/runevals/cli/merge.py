"""`runevals merge`: the results documents of all shards → one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from runevals.cli.help import GroupedCommand
from runevals.cli.options import environment_option, output_option, raw_settings, settings_options
from runevals.cli.output import finish_with, outputs_of, verdict_format_option
from runevals.cli.progress import progress
from runevals.github.this_job import change_event, require_own_code
from runevals.lib.storage.bucket import copy_from_bucket, is_in_bucket
from runevals.records.errors import InvalidDocument
from runevals.reports.results_document import documents_in, read_conclusion
from runevals.run.baseline.protected_side import protected_side
from runevals.run.pipeline import merge
from runevals.run.request import RunRequest
from runevals.run.shards.merge import merged
from runevals.run.shards.verdict import with_rules_of_base
from runevals.settings.resolve import for_target, resolve


@click.command("merge", cls=GroupedCommand)
@click.argument("documents", nargs=-1, required=True, metavar="DOCUMENT...", type=click.Path())
@output_option
@verdict_format_option
@click.option(
    "--base",
    metavar="REF",
    help="Take the rules from the merge base of HEAD and REF. It is run now if no --baseline is given.",
)
@settings_options(
    *("config", "baseline", "min_pass_rate", "fail_on", "alpha", "min_effect", "on_unknown", "mark"),
    *("verify", "verify_repeats", "target", "model", "judge", "judge_model", "no_judge", "concurrency"),
    *("judge_concurrency", "cache", "max_cost", "max_tokens", "max_duration"),
)
@environment_option
def command(
    documents: tuple[str, ...], output: tuple[str, ...], form: str, base: str | None, **options: Any
) -> None:
    """Merge the results of all shards and judge them as one run.

    Each DOCUMENT is what `runevals run --shard i/n` wrote, or a folder of such files, also in a bucket. Before a
    failing verdict, the base is run again, if target and judge are those of the shards and can be asked from here.

    \b
    Examples:
      runevals merge shard-1.json shard-2.json --output results.json
      runevals merge shards/ --baseline base.json --base origin/main
      runevals merge s3://evals/run-7/ --baseline base.json
    """
    from msgspec.structs import replace

    words = raw_settings(options)
    require_own_code(words)
    with _read_from(documents) as files:
        outputs = outputs_of(output, form, [path for _, path in files], "shards")
        report = merged((name, read_conclusion(path, name).report) for name, path in files)
    event = change_event(words)
    words = replace(words, base_side=protected_side(words, event, base))
    words = for_target(words, report.run.settings.get("target"))
    settings = resolve(words)
    request = RunRequest(
        settings=settings, raw=words, base=None if settings.compare.baseline_named else base, progress=progress
    )
    if base is not None and not event.untrusted:  # else the event named the base to the shards
        report = with_rules_of_base(report, resolve(replace(words, base_side=None)), settings)
    finish_with(merge(report, request), outputs, form, keeps=not settings.in_ci)


@contextmanager
def _read_from(documents: Sequence[str]) -> Iterator[list[tuple[str, Path]]]:
    """Name and file of the documents, of those in the folders among them, and of copies of those in buckets.

    Raises InvalidDocument for a folder without any, ExternalError for an address that cannot be read.
    """
    files: list[tuple[str, Path]] = []
    with TemporaryDirectory(prefix="runevals-merge-") as folder:
        for number, name in enumerate(documents):
            if is_in_bucket(name):
                files += copy_from_bucket(name, Path(folder, str(number))).items()
            else:
                files += [(str(path), path) for path in _files(Path(name))]
        yield files


def _files(path: Path) -> list[Path]:
    inside = documents_in(path, deep=True) if path.is_dir() else [path]
    if not inside:
        raise InvalidDocument(f"there is no results document (.json) in {path}")
    return inside
