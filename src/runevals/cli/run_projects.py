"""`runevals run --all-projects`: each project as if run in its folder, and one exit code for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runevals.cli import explained
from runevals.cli.options import raw_settings
from runevals.cli.terminal import tell
from runevals.github.this_job import change_event, require_own_code
from runevals.github.workflow import to_run
from runevals.lib.terminal import say
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import phrase
from runevals.records.errors import INTERRUPTED, InvalidSettings
from runevals.reports import VERDICT
from runevals.run.baseline.protected_side import protected_side
from runevals.run.projects import in_words, projects_apart, removed, settings_of, worst
from runevals.settings.resolve import resolve

if TYPE_CHECKING:
    from runevals.settings.resolve import RawSettings

    RunProject = Callable[[dict[str, Any], tuple[str, ...], RawSettings], int]

# Options that only make sense for one project.
_OF_ONE = ("config", "prompts", "expected", "interactive", "evaluate_only", "resume", "watched", "opened", "shard")


def run_projects(options: dict[str, Any], paths: tuple[str, ...], run: RunProject) -> int:
    """`run` for every project, with its folder as the current one → the worst exit code.

    The event and the base are read before any program of a project runs: it could write them anew.
    """
    _require_alone(options, paths)
    words = raw_settings(options)
    require_own_code(words)
    event, ref = change_event(words), options["base"]
    inside = to_run(
        (project, settings_of(project, words, protected_side(settings_of(project, words), event, ref)))
        for project in projects_apart(words, protected_side(words, event, ref))
    )
    codes: dict[str, int] = {}
    for project, of_project in inside:
        if INTERRUPTED in codes.values():
            codes[project.name] = INTERRUPTED
            continue
        folder = "" if project.name == "." else project.name
        say(f"== {project.name} ({project.config}{phrase(folder, '; its files are in {}')})", err=True)
        try:
            if project.removed:
                conclusion = removed(project, resolve(of_project))
                tell(conclusion)
                codes[project.name] = conclusion.verdict.exit_code
            else:
                with chdir(of_project.cwd):
                    codes[project.name] = run({**options, "project": folder}, (), of_project)
        except Exception as error:  # noqa: BLE001 - the other projects still run
            codes[project.name] = explained(error)
    say(in_words(codes))
    return worst(codes.values())


def _require_alone(options: Mapping[str, Any], paths: tuple[str, ...]) -> None:
    """Raises InvalidSettings for options that only one project can have."""
    flags = {"opened": "open", "watched": "watch"}
    used = [one_line(path) for path in paths]
    used += [
        f"--{flags.get(name, name).replace('_', '-')}"
        for name in _OF_ONE
        if options.get(name) not in (None, (), False)
    ]
    used += ["--format json"] if options["form"] == VERDICT else []
    used += [f"--output {name}" for name in options["output"] if Path(name).is_absolute()]
    if used:
        raise InvalidSettings(
            f"{', '.join(used)}: not with --all-projects, which runs each project with its own settings file; "
            "run it in the project's folder"
        )
