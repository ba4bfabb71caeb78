"""`runevals doctor`: checks what a run needs, and shows how to fix what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from runevals.cli import finish
from runevals.cli.doctor.checks import diagnosis, exit_code
from runevals.cli.doctor.finding import print_finding
from runevals.cli.help import GroupedCommand
from runevals.cli.options import CALLS, MODELS, SUITES, environment_option, raw_settings, settings_options
from runevals.records.diagnosis import neither
from runevals.records.errors import PASSED, InvalidSettings
from runevals.settings.resolve import RawSettings, resolve

MOST_RESULTS = 20  # of a folder, the newest


@click.command("doctor", cls=GroupedCommand)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@settings_options(*SUITES, *MODELS, *CALLS, "shard", "baseline", "alpha", "min_effect")
@environment_option
@click.option("--call", is_flag=True, help="Also send one short question to target and judge.")
@click.option("--aa", is_flag=True, help="Run the suite twice: what would the verdict see of it?")
@click.option(
    "--results",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    metavar="DOC",
    help="For --aa: results with runs of the suite, in place of new ones, or a folder of them; repeatable.",
)
def command(paths: tuple[str, ...], results: tuple[Path, ...], *, call: bool, aa: bool, **options: Any) -> None:
    """Check what a run needs: ✓ is there, ✗ is missing (with its fix), – is not needed or not known.

    Without --call and --aa no model is called and no program of yours is run. Exits with 0 if a run could work, 2
    if the command, settings or suites are wrong, 3 if a service does not respond.

    \b
    Examples:
      runevals doctor
      runevals doctor --call --target openai:{openai}
      runevals doctor --aa --max-cost 0.50
    """
    if aa:
        for name, sentence in _a_a(raw_settings({**options, "against": "none"}, paths=paths), results):
            print_finding(neither(name, sentence))
        finish(PASSED)
    if results:
        raise InvalidSettings("--results is for --aa; give both")
    findings = []
    for finding in diagnosis(raw_settings(options, paths=paths), call=call):
        findings.append(finding)
        print_finding(finding)
    finish(exit_code(findings))


def _a_a(words: RawSettings, results: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
    """What the verdict would see on these suites."""
    from runevals.cli.progress import progress
    from runevals.reports.past_results import reports_in
    from runevals.run.power.measure import a_a, limited
    from runevals.run.power.predict import described
    from runevals.run.request import RunRequest

    request = RunRequest.limited(limited(resolve(words)), words, progress)
    yield from described(a_a(request, reports_in(results, MOST_RESULTS)))
