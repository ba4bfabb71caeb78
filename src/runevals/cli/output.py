"""A conclusion's files and its final screen; the verdict is shown even if nothing can be written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any, NoReturn

import click
from msgspec import Struct
from msgspec.structs import replace

from runevals.cli import finish
from runevals.cli.options import document_alone, kept_folder
from runevals.cli.terminal import tell
from runevals.lib.checkout import repository_root
from runevals.lib.storage.files import STANDARD_STREAM, created, keep_out_of_git, remove, require_no_link
from runevals.lib.terminal import fitted, say
from runevals.records import Conclusion
from runevals.records.errors import PASSED, CannotWrite, InvalidSettings
from runevals.records.suite import AGENTSKILLS, EVAL_DOCUMENT
from runevals.reports import RESULTS, VERDICT, reporter_for
from runevals.reports.next_steps import Where
from runevals.reports.publish import check_outputs, print_text, publish, unwritable

_OF_FILES = ("results", EVAL_DOCUMENT, AGENTSKILLS)
_ABOUT_FILES = (
    "The format of a .json output: the results document (default), or the suite as an eval document with "
    "responses, scores and status. agentskills: benchmark.json and grading.json in the format of agentskills.io."
)
_ABOUT_JSON = "json: print the verdict as one JSON object (`runevals schema verdict`), and all else to stderr."


def _format_option(choices: Sequence[str], about: str) -> Callable[[Any], Any]:
    return click.option(
        "--format",
        "form",
        type=click.Choice(choices),
        default="results",
        callback=document_alone(lambda form: form == VERDICT),
        help=about,
    )


format_option = _format_option(_OF_FILES, _ABOUT_FILES)
run_format_option = _format_option((*_OF_FILES, VERDICT), f"{_ABOUT_FILES} {_ABOUT_JSON}")
verdict_format_option = _format_option(("results", VERDICT), f"results: as text. {_ABOUT_JSON}")


class RunFiles(Struct, frozen=True, kw_only=True):
    """The files that a run is asked for: reports, suites with responses, files in buckets; else default ones."""

    outputs: Sequence[Path]
    reports: Sequence[Path]
    documents: Sequence[Path]
    copies: Mapping[str, Path]  # address → its file here
    default: Sequence[Path]


class OutputResult(Struct, frozen=True, kw_only=True):
    """The written files or why they are missing, and the exit code."""

    files: tuple[Path, ...]
    failure: CannotWrite | None
    exit_code: int


def reported(
    conclusion: Conclusion,
    write: Callable[[], Sequence[Path]],
    where: Where | None = None,
    *,
    screen: bool = True,
    form: str = "results",
) -> OutputResult:
    """Writes, tells the verdict, and says where the files are, or why they are not; `where`: as for `tell`.

    A failing verdict stays one if its reports cannot be written; a passing one without them is a failure.
    Without a `screen`, the answers were all that was asked for, and there is no verdict.
    """
    done = written(write, partial(tell, conclusion, where) if screen else None)
    done = replace(done, exit_code=(screen and conclusion.verdict.exit_code) or done.exit_code)
    if form == VERDICT:
        from runevals.reports import verdict_json

        print_text([verdict_json.render(conclusion, where, done.files, done.exit_code)])
    return done


def written(write: Callable[[], Sequence[Path]], show: Callable[[], None] | None) -> OutputResult:
    """Writes, shows the verdict in any case, and says where the files are, or why they are not."""
    files: Sequence[Path] = ()
    failure: CannotWrite | None = None
    try:
        files = write()
    except CannotWrite as error:
        failure = error
    finally:
        if show is not None:
            show()
    if failure is not None:
        say(f"Error: {failure}", err=True)
    elif files:
        say("\n".join(fitted(f"       Written: {', '.join(map(str, files))}")))
    return OutputResult(files=tuple(files), failure=failure, exit_code=failure.exit_code if failure else PASSED)


def require_one_verdict(form: str, others: Mapping[str, object]) -> None:
    """Raises InvalidSettings if the verdict is to be printed, and one of these options prints something else."""
    used = list(filter(others.get, others))
    if form == VERDICT and used:
        raise InvalidSettings(f"--format json prints one verdict; leave out {' and '.join(used)}")


def outputs_of(
    names: Iterable[str | Path], form: str = "results", read: Iterable[Path] = (), what: str = ""
) -> list[Path]:
    """The files of --output. Raises as `check_outputs`, and InvalidSettings for one of the files that are read."""
    outputs = [Path(name) for name in names]
    require_one_verdict(form, {"--output -": STANDARD_STREAM in outputs})
    check_outputs(outputs)
    for path in {path.resolve() for path in outputs} & {path.resolve() for path in read}:
        raise InvalidSettings(f"--output {path.name} is one of the {what}; it would be overwritten")
    return outputs


def document_of(outputs: Sequence[Path], form: str = "results") -> str | None:
    """The first of these files that is a results document."""
    return next((str(path) for path in outputs if reporter_for(path.name, form) is RESULTS), None)


def finish_with(conclusion: Conclusion, outputs: Sequence[Path], form: str, *, keeps: bool = False) -> NoReturn:
    """Reports results that were read, and keeps those of a run; tells the verdict, and ends with its exit code."""
    document = kept_results()[:1]

    def write() -> Sequence[Path]:
        publish(conclusion, outputs, was_read=True)
        if keeps and not outputs:
            return keep(conclusion, document)
        if keeps:
            keep_beside(conclusion, document, outputs)
        return outputs

    file = "" if keeps else document_of(outputs)
    here = os.path.relpath(".", repository_root(Path.cwd()))
    where = None if file is None else Where(document=file, folder=here)
    finish(reported(conclusion, write, where, form=form).exit_code)


def require_kept_results() -> None:
    """Raises InvalidSettings before a run whose results could not be stored."""
    folder = kept_folder()
    require_no_link(folder / "results.json")
    above = unwritable(folder / "results.json")
    if above is not None:
        raise InvalidSettings(
            f"results cannot be stored in {folder.as_posix()}: {above} is not a writable folder; "
            "write them elsewhere: --output FILE"
        )


def kept_results() -> list[Path]:
    """The files in which the run of this moment is kept."""
    now = datetime.now().astimezone()
    return [kept_folder() / f"{now:%Y-%m-%d_%H-%M-%S}{suffix}" for suffix in (".json", ".html")]


def keep(conclusion: Conclusion, files: Sequence[Path]) -> list[Path]:
    """Writes the results under unused names, in a folder that git ignores. Raises CannotWrite."""
    with free_names(files) as free:
        keep_out_of_git(kept_folder().parent)
        publish(conclusion, free)
    return free


def keep_beside(conclusion: Conclusion, files: Sequence[Path], outputs: Sequence[Path]) -> None:
    """Keeps the results if it is possible, unless the user named files of that folder."""
    if files[0].parent.resolve() not in {path.resolve().parent for path in outputs}:
        with suppress(CannotWrite, InvalidSettings):
            require_kept_results()
            keep(conclusion, files)


@contextmanager
def free_names(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """These files under unused names; the first name is released if it was not written.

    Raises CannotWrite.
    """
    try:
        free = next(names for names in iter(partial(unused, paths), None) if created(names[0]))
    except OSError as error:
        raise CannotWrite(f"cannot write {paths[0]}: {error.strerror}") from error
    try:
        yield free
    finally:
        if free[0].is_file() and free[0].stat().st_size == 0:
            remove(free[0].parent, [free[0].name])


def unused(paths: Sequence[Path]) -> list[Path]:
    """These files under the first name of which none is there: their own, or with `-2`, `-3` and so on."""
    ends = chain([""], map("-{}".format, count(2)))
    choices = ([path.with_stem(f"{path.stem}{end}") for path in paths] for end in ends)
    return next(names for names in choices if not any(map(os.path.lexists, names)))
