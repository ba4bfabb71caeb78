"""`runevals report`: a results document → any format."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from typing import Any

import click

from runevals.cli.browser import open_in_browser, open_option, page_of
from runevals.cli.compared_results import LAST, run_of
from runevals.cli.options import kept_folder, output_option, resolved_settings, settings_options
from runevals.cli.output import format_option, outputs_of
from runevals.cli.terminal import tell
from runevals.lib.storage.files import write_whole
from runevals.lib.terminal import notice, say
from runevals.records import Conclusion
from runevals.records.errors import PASSED, InvalidSettings
from runevals.reports.past_results import newest_results
from runevals.reports.publish import publish
from runevals.reports.results_document import read_conclusion
from runevals.run.export_suite import exportable, exported, require_unchanged, separated


@click.command("report")
@click.argument("document", required=False, type=click.Path(path_type=Path))
@output_option
@format_option
@click.option("--suite", metavar="PATH", help="The suite of an eval document, if there are several.")
@open_option
@settings_options("config")
def command(
    document: Path | None, output: tuple[str, ...], *, form: str, suite: str | None, opened: bool, **options: Any
) -> None:
    """Write the results DOCUMENT in other formats; without --output, print it.

    Without DOCUMENT, those of the newest run; - is standard input.

    \b
    Examples:
      runevals report results.json --output report.html --output junit.xml
      runevals report results.json --output scored.json --format eval-document
      runevals -o - | runevals report - --output report.html
    """
    outputs = outputs_of(output, form)
    page = page_of(outputs) if opened else None
    reports, documents = separated(outputs, form)
    if suite is not None and not documents:
        raise InvalidSettings("--suite is for --format eval-document; other formats hold every suite")
    conclusion = _newest() if document is None else read_conclusion(document)
    if documents:
        settings, chosen = resolved_settings(options), exportable(conclusion.report.run.suites, suite)
        require_unchanged(conclusion.report, chosen, settings)
        text = exported(conclusion.report, chosen, settings)
        for path in documents:
            write_whole(path, text)
    publish(conclusion, reports, was_read=True, form=form)
    if outputs:
        say(f"Written: {', '.join(output)}")
    else:
        tell(conclusion)
    if page is not None:
        open_in_browser(page)


def _newest() -> Conclusion:
    """The newest run; of several targets, the worst one of it."""
    latest = newest_results(kept_folder(), LAST)
    if (newest := next(latest, None)) is None:
        way = "name a document, or make them with `runevals run`"
        raise InvalidSettings(f"there are no results in {kept_folder()}: {way}")
    of_run = [newest, *takewhile(lambda each: run_of(each[0]) == run_of(newest[0]), latest)]
    of_run.sort(key=lambda each: (each[1].verdict.exit_code == PASSED, each[1].verdict.exit_code))
    (path, conclusion), *others = of_run
    for other, _ in others:
        notice(f"{path.name} is reported; {other} is of another target of this run")
    return conclusion
