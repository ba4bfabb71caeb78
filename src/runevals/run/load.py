"""Settings → the plugins and suites of a run, and its plan."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from runevals.evaluators import catalogue
from runevals.lib import plugins
from runevals.lib.nullable import if_known
from runevals.lib.storage.files import relative_name
from runevals.lib.terminal import notice
from runevals.lib.text.numbers import phrase, short_list
from runevals.records import Suite
from runevals.records.errors import NoSuiteFound
from runevals.records.traits import UNKNOWN, common
from runevals.repository.git_changes import changed_files
from runevals.run.project_folders import way_to_projects
from runevals.settings.places import PLACES, contents_here, settings_file_in
from runevals.settings.resolve import Settings
from runevals.suites import accepted, load
from runevals.suites.discover import SUFFIXES
from runevals.suites.load import LoadedSuites, LoadRequest
from runevals.suites.plan import RunPlan, make_plan

_WITHOUT = (
    "\nThis change deletes {}. If nothing is to be tested any more, remove the step from the workflow as well; "
    "if the cases lie elsewhere now, name them: `suites:` in runevals.yaml"
)


def require_usable_plugins() -> None:
    """Raises UnusablePlugin if an installed one cannot be used, even if this run does not need it.

    After the settings are resolved: they name what is loaded in CI.
    """
    if not plugins.is_any_installed():
        return
    from runevals import reports as reporters  # 25 ms that most installations need not pay
    from runevals.suites import dialects
    from runevals.targets.plugin import PLUGINS

    catalogue.plugin_evaluators()
    dialects.plugin_dialects()
    reporters.reporters()
    plugins.plugins(PLUGINS)
    for package in plugins.left_out():
        notice(f"Notice: the plugins of {package} are not loaded: `plugins` of the settings does not name it")


def load_request(settings: Settings) -> LoadRequest:
    """The settings that say where suites are and how they are read."""
    target, folder, cwd = settings.target, settings.file_base.resolve(), settings.cwd.resolve()
    targets = [*filter(None, (target,)), *settings.load.side_by_side]
    without_prompts = target is None or (target.is_recorded and target.prompt is None)
    return LoadRequest(
        cwd=settings.cwd,
        settings=settings.file_path,
        below=folder if folder != cwd and folder.is_relative_to(cwd) else None,
        repository=settings.repository,
        elsewhere=partial(way_elsewhere, settings),
        entries=settings.load.suites,
        everything=settings.load.everything,
        evaluators=settings.load.evaluators,
        definitions=settings.load.definitions,
        evaluate_only=settings.evaluate_only,
        selection=settings.selection,
        sends_prompts=not settings.evaluate_only and not without_prompts,
        template=None if target is None else target.prompt,
        other_templates=tuple(filter(None, (one.prompt for one in settings.load.side_by_side))),
        target_type=" or ".join(dict.fromkeys(one.type for one in targets)) or None,
        traits=common([one.traits for one in targets] or [UNKNOWN]),
    )


def suites_of(settings: Settings) -> LoadedSuites:
    """discover → load. Raises InvalidSuite with every error of every file, NoSuiteFound."""
    try:
        loaded = load.load_suites(load_request(settings))
    except NoSuiteFound as error:
        raise NoSuiteFound(f"{error}{phrase(short_list(_deleted(settings), 3), _WITHOUT)}") from None
    return replace(loaded, notices=(*loaded.notices, *_of_other_projects(loaded.suites, settings)))


def _deleted(settings: Settings) -> list[str]:
    """The files that a change deletes and that may be suites."""
    commit = change_began_at(settings)
    pairs = () if commit is None else changed_files(settings.repository, commit) or ()
    return [str(old) for old, new in pairs if new is None and str(old).endswith(tuple(SUFFIXES))]


def change_began_at(settings: Settings) -> str | None:
    """The commit at which the change began, if its event or `--base` names its base."""
    return if_known(lambda side: side.began_at or side.commit, settings.base_side)


def _of_other_projects(suites: Sequence[Suite], settings: Settings) -> Iterator[str]:
    """A notice for each suite that the command line names and whose folder has other settings than are read."""
    is_chosen = settings.origins["config"] != "default"
    for suite in suites if not is_chosen and any(not entry.from_file for entry in settings.load.suites) else ():
        own = _settings_above(settings.repository / suite.path, settings)
        if own is not None and own != settings.file_path:
            name = shlex.quote(relative_name(own, settings.cwd))
            yield f"{suite.path} is run without the settings of its project; with them: --config {name}"


def _settings_above(path: Path, settings: Settings) -> Path | None:
    above = [folder for folder in path.parents if folder.is_relative_to(settings.repository)]
    return settings_file_in(above, PLACES, contents_here)


def way_elsewhere(settings: Settings) -> str:
    """What to do in a folder without suites that has projects below it, or settings further up."""
    if settings.load.suites:
        return ""
    path = _settings_above(settings.cwd, settings)
    return way_to_projects(settings.cwd) if path is None else f"\n{path.parent} has settings: run `runevals` there"


def plan_of(suites: LoadedSuites, settings: Settings) -> RunPlan:
    """The trials of all these suites. Raises UsageError if filters leave nothing."""
    return make_plan(suites.suites, settings.selection, repeat=settings.attempts, quarantined=suites.quarantined)


def accepted_file(settings: Settings) -> Path:
    """Where the losses are that a change accepts: beside the settings file."""
    return settings.file_base / accepted.FILENAME
