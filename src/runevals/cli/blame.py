"""`runevals blame`: which changed lines lost the cases of a failing run, and which lines no case notices."""

from __future__ import annotations

import os
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from runevals.cli import finish
from runevals.cli.compared_results import newest_comparison, require_of_head
from runevals.cli.help import GroupedCommand
from runevals.cli.options import (
    CALLS,
    MODELS,
    SUITES,
    environment_option,
    output_option,
    raw_settings,
    settings_options,
)
from runevals.cli.output import outputs_of
from runevals.cli.progress import progress
from runevals.github.this_job import change_event, require_own_code
from runevals.lib.checkout import repository_root
from runevals.lib.ci import in_ci
from runevals.lib.nullable import without_none
from runevals.lib.terminal import say
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import phrase
from runevals.records.errors import INTERRUPTED, PASSED, InvalidSettings
from runevals.reports.blame import plain
from runevals.reports.publish import publish
from runevals.repository.git import common_ancestor, merge_base
from runevals.run.baseline.protected_side import protected_side
from runevals.run.blame.coverage import after_coverage, coverage_plan, covered
from runevals.run.blame.search import blamed, lost_cases
from runevals.run.load import require_usable_plugins
from runevals.run.request import RunRequest
from runevals.run.trust import require_trusted
from runevals.settings.resolve import for_target, resolve

if TYPE_CHECKING:
    from runevals.records import Blame, Conclusion, RunInfo
    from runevals.settings.resolve import RawSettings


@click.command("blame", cls=GroupedCommand)
@click.argument("results", required=False, metavar="[RESULTS]", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--base", metavar="REF", help="Put back what changed since the merge base of HEAD and REF.")
@click.option("--code", is_flag=True, help="Put back code, too, not only prompts, settings and other texts.")
@click.option(
    "--coverage", is_flag=True, help="Also run all cases without each new or changed hunk: is it noticed?"
)
@click.option("--suite", multiple=True, metavar="PATH", help="The suites, if the run named them; repeatable.")
@output_option
@settings_options(*SUITES, *MODELS, *CALLS)
@environment_option
@click.option("-q", "--quiet", is_flag=True, help="Print no progress.")
def command(
    results: Path | None,
    base: str | None,
    suite: tuple[str, ...],
    output: tuple[str, ...],
    *,
    code: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Find the changed lines that lost the cases of a failing run.

    RESULTS is the results document of the run (default: the newest comparison in .evals/results). Its base is what
    is put back, hunk by hunk, in a worktree; only the lost cases run.

    \b
    Examples:
      runevals --base main
      runevals blame
      runevals blame results.json --max-cost 0.50 -o blame.md
      runevals blame --coverage
    """
    coverage, outputs = options.pop("coverage"), outputs_of(output)
    words = raw_settings(options, paths=suite)
    require_local(words, "blame", ", with the results of the job: runevals blame results.json")
    path, conclusion = newest_comparison(results, options["config"], target=options["target"])
    assert conclusion.comparison is not None  # noqa: S101 - it was chosen for that
    run = conclusion.report.run
    if run.of_tool:
        raise InvalidSettings(f"{path} has results of {run.target.type}: only runs of suites can be searched")
    if config := run.settings.get("config"):
        of_run = os.path.relpath(repository_root(words.cwd) / str(config), words.cwd)
        words = replace(words, flags={"config": of_run, **without_none(**words.flags)})
    request = _request(words, base, run, quiet=quiet)
    require_of_head(run, path, request.settings.repository, is_named=results is not None)
    if not lost_cases(conclusion.comparison) and not coverage:
        errors = sum(case.unmeasured for case in conclusion.report.cases)
        more = phrase(errors, "; {} could not be measured: mend the error first")
        say(f"Nothing is searched: no unedited case of {path} lost anything{more}.")
        finish(0)
    commit = _base_commit(base, conclusion, request)
    blame = (_with_coverage if coverage else blamed)(conclusion, commit, request, code=code)
    say("\n".join(plain(blame)))
    publish(replace(conclusion, blame=blame), outputs, was_read=True)
    if outputs:
        say(f"Written: {', '.join(output)}")
    finish(exit_code_of(request))


def exit_code_of(request: RunRequest) -> int:
    """The exit code of a search: whatever it found, only an interruption is a failure."""
    stop = request.budget.stop.problem
    return INTERRUPTED if stop is not None and stop.code == "interrupted" else PASSED


def _with_coverage(conclusion: Conclusion, commit: str, request: RunRequest, *, code: bool) -> Blame:
    """What lost the cases, if any is lost, and which hunks the cases notice."""
    assert conclusion.comparison is not None  # noqa: S101 - it was chosen for that
    plan = coverage_plan(commit, request, deterministic=conclusion.comparison.deterministic, code=code)
    blame = None
    if lost_cases(conclusion.comparison):
        blame = blamed(conclusion, commit, after_coverage(request, plan), code=code)
    return covered(plan, request, blame)


def require_local(words: RawSettings, command: str, how: str = "") -> None:
    """Raises InvalidSettings in a job of a change: the settings in the worktree are all of the change itself."""
    require_own_code(words)
    elsewhere = in_ci(words.environment) and not words.environment.get("GITHUB_EVENT_NAME")
    if elsewhere or change_event(words).untrusted:
        raise InvalidSettings(
            f"runevals {command} runs a change with its own settings, which must not decide in a job of the "
            f"change; run it on your machine{how}"
        )


def _request(words: RawSettings, base: str | None, run: RunInfo, *, quiet: bool) -> RunRequest:
    side, target = protected_side(words, change_event(words), base), run.settings.get("target")
    words = for_target(replace(words, base_side=side), target)
    if target and not words.flags.get("target"):
        flag = f"--target={shlex.quote(one_line(str(target), 200))}"
        raise InvalidSettings(f"the run was of another target than the settings name: runevals blame {flag}")
    settings = resolve(words)
    if settings.origins["suites"] == "default":  # the command line of the run may have named them
        here = [os.path.relpath(settings.repository / suite.path, words.cwd) for suite in run.suites]
        words = replace(words, flags={**words.flags, "all": False, "suites": here})
        settings = resolve(words)
    require_usable_plugins()
    require_trusted(settings)
    shows = partial(progress, detail="none" if quiet else "counts")
    return RunRequest.limited(settings.repeated(settings.measure.repeat), words, shows, base)


def _base_commit(ref: str | None, conclusion: Conclusion, request: RunRequest) -> str:
    """The commit whose lines are put back. Raises InvalidSettings."""
    repository = request.settings.repository
    if ref is not None:
        return merge_base(repository, ref)
    assert conclusion.comparison is not None  # noqa: S101 - it was chosen for that
    commit = conclusion.comparison.base.run.commit
    if commit is None:
        raise InvalidSettings("the base's result does not say its commit; name it: runevals blame --base REF")
    return common_ancestor(repository, commit) or commit  # the base's branch may have gone on
