"""A run of each project, as if inside its folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from runevals.lib.text.numbers import plural, short_list
from runevals.records import Conclusion
from runevals.records.errors import (
    COULD_NOT_MEASURE,
    GATE_FAILED,
    INTERNAL_ERROR,
    INTERRUPTED,
    PASSED,
    USAGE_ERROR,
    InvalidSettings,
    RunevalsError,
)
from runevals.run.load import suites_of
from runevals.run.nothing_measured import nothing_measured
from runevals.run.project_folders import Project, projects_in
from runevals.settings.file import BaseSide
from runevals.settings.resolve import RawSettings, Settings, resolve
from runevals.verdict.outcome import skipped, unmeasured

# Exit codes in words, the worst first.
_WORST_FIRST = {
    INTERRUPTED: "interrupted",
    GATE_FAILED: "failed",
    INTERNAL_ERROR: "ended with an internal error",
    USAGE_ERROR: "could not be run",
    COULD_NOT_MEASURE: "not measured",
    PASSED: "passed",
}


def projects_apart(raw: RawSettings, side: BaseSide | None) -> Sequence[Project]:
    """The projects here and in the base's commit. Raises as `projects_in`.

    Raises InvalidSettings for a suite of two of them, which would be run, paid and counted twice. A project whose
    settings or suites cannot be read says so when it is run.
    """
    projects = projects_in(raw.cwd, None if side is None else side.commit)
    owners: dict[str, Project] = {}
    for project in projects:
        for suite in () if project.removed else _suites_of(project, raw):
            other = owners.setdefault(suite, project)
            if other is not project:
                raise InvalidSettings(
                    f"{suite}: is a suite of two projects, {other.config} and {project.config}; "
                    "name the suites of each with `suites`, so that none is in both"
                )
    return projects


def settings_of(project: Project, raw: RawSettings, side: BaseSide | None = None) -> RawSettings:
    """The raw settings of a run inside the project's folder."""
    return replace(raw, cwd=raw.cwd / project.name, base_side=side)


def removed(project: Project, settings: Settings) -> Conclusion:
    """The conclusion for a project that only the base has: unmeasured, unless the base's settings let it pass."""
    if settings.rules.on_unknown == "pass":
        allowed = "Skipped, and the check passes: the change removes this project (on_unknown: pass)"
        return nothing_measured(settings, skipped(allowed))
    why = (
        f"the change removes this project ({project.config}), so nothing says what was lost with it; "
        "`on_unknown: pass` in that file allows it, once it is merged"
    )
    return nothing_measured(settings, unmeasured(why))


def worst(codes: Iterable[int]) -> int:
    """The exit code of all projects: a failing verdict is never hidden by another project's error.

    An interruption goes first, as it does in one run.
    """
    return min(codes, key=list(_WORST_FIRST).index)


def in_words(codes: Mapping[str, int], kind: str = "project") -> str:
    """Project → exit code: "1 of 3 projects failed: support; 2 passed"; `kind` is another word for them."""
    groups = {word: [name for name in codes if codes[name] == code] for code, word in _WORST_FIRST.items()}
    parts: list[str] = []
    for word, members in groups.items():
        if members:
            every = plural(len(codes), kind)
            first = every if len(members) == len(codes) else f"{len(members)} of {every}"
            count = str(len(members)) if parts else first
            parts.append(f"{count} {word}" + ("" if word == "passed" else f": {short_list(members, 5)}"))
    return "; ".join(parts)


def _suites_of(project: Project, raw: RawSettings) -> set[str]:
    try:
        loaded = suites_of(resolve(settings_of(project, raw)))
    except RunevalsError:
        return set()
    return {suite.path for suite in loaded.suites}
