"""The end of `runevals run` with several targets: a results document each, and one table with a column each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from runevals.cli.answers import show_answers
from runevals.cli.output import OutputResult, RunFiles, document_of, free_names, keep_beside, unused, written
from runevals.cli.terminal import tell
from runevals.lib.storage.files import STANDARD_STREAM, write_whole
from runevals.lib.terminal import say
from runevals.records.errors import InvalidSettings
from runevals.reports import ASSISTANT, HTML, SUMMARY, VERDICT, side_by_side
from runevals.reports.publish import publish, reporter_of
from runevals.run.projects import worst
from runevals.run.targets import of_target

if TYPE_CHECKING:
    from runevals.records import Conclusion
    from runevals.reports.next_steps import Where


def require_possible(files: RunFiles, options: Mapping[str, Any]) -> None:
    """Raises InvalidSettings for what is of one target only."""
    of_one = {
        "--format": files.documents or options["form"] == VERDICT,
        "--open": options["opened"],
        "--output -": STANDARD_STREAM in files.outputs,
        **{f"--output {address}": True for address in files.copies},
    }
    for option, is_given in of_one.items():
        if is_given:
            raise InvalidSettings(f"{option} is of one target; choose one with --target or --model")


def reported(
    conclusions: Mapping[str, Conclusion],
    files: RunFiles,
    options: Mapping[str, Any],
    where: Where | None,
    store: Sequence[Path],
) -> OutputResult:
    """Shows each and the table, writes and keeps the results; without a verdict if only answers are asked for."""
    checked: dict[str, Conclusion] = {}
    outputs, store = files.outputs or unused(files.default), unused(store)
    document = document_of([*outputs, *store])
    places = {}
    if where is not None and document is not None:
        places = {name: replace(where, document=str(of_target(Path(document), name))) for name in conclusions}
    for name, conclusion in conclusions.items():
        say(f"\n== {name}")
        if not (options["prompts"] and show_answers(conclusion)):
            checked[name] = conclusion
            tell(replace(conclusion, against=None), places.get(name))  # the comparison stands below the table
    if not checked and not files.outputs:
        return OutputResult(files=(), failure=None, exit_code=0)
    say("\n".join(("", *side_by_side.lines(conclusions))))

    def write() -> Sequence[Path]:
        for path, (name, conclusion) in product(store, conclusions.items()):
            keep_beside(conclusion, [of_target(path, name)], outputs)
        with nullcontext(outputs) if files.outputs else free_names(outputs) as paths:
            return _write(conclusions, paths, options["form"])

    done = written(write, None)
    codes = [conclusion.verdict.exit_code for conclusion in checked.values()]
    return replace(done, exit_code=worst([0, *codes]) or done.exit_code)


def _write(conclusions: Mapping[str, Conclusion], outputs: Sequence[Path], form: str) -> Sequence[Path]:
    """The files of each target, and one of all where a format has that. Raises CannotWrite."""
    from runevals.reports import assistant, html

    files = []
    for name, conclusion in conclusions.items():
        own = [of_target(path, name) for path in outputs]
        publish(conclusion, own, form=form)
        files += own
    for path in outputs:
        pages = {name: of_target(path, name).name for name in conclusions}
        of_all: dict[str, Callable[[Mapping[str, Conclusion]], str]] = {
            HTML.NAME: partial(html.render_several, pages=pages),
            SUMMARY.NAME: side_by_side.render_markdown,
            ASSISTANT.NAME: assistant.render_several,
        }
        if render := of_all.get(reporter_of(path, form).NAME):
            write_whole(path, render(conclusions))
            files.append(path)
    return files
