"""What a run depends on, and whether it is still as in another commit."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from runevals import __version__
from runevals.lib.git_changes import changed_since
from runevals.records import RunReport
from runevals.settings.file import PLACES
from runevals.settings.resolve import Settings
from runevals.settings.target import judges_named
from runevals.suites.load import Loaded
from runevals.suites.urls.mcp_config import FILENAME


def changes_since(settings: Settings, loaded: Loaded, commit: str, known: RunReport | None) -> str | None:
    """Why the run must be made, in words; None where nothing that it depends on differs from `commit`.

    `known` is the result that would stand for it: the same model and judge must have been asked by the same
    version of ours.
    """
    target = settings.target
    if target is None or settings.evaluate_only:
        return "there is no target whose files are known"
    for pattern in settings.depends_on:
        if not _matching(pattern):
            return f"depends_on: nothing here matches {Path(pattern).name}"
    if target.reads_other_files and not settings.depends_on:
        return f"a {target.type} target may read any file; name what it depends on with depends_on"
    if settings.category or settings.tag or settings.filter:
        return "only some of the cases are asked for"
    if known is not None and (why := _asked_otherwise(settings, known)):
        return why
    if known is not None and not same_cases(loaded, known):
        return "the base's result is of other cases"
    differing = changed_since(settings.repository, commit, _pathspecs(settings, loaded, known))
    if differing is None:
        return f"git cannot tell what changed since {commit[:7]}"
    if differing:
        more = f" and {len(differing) - 3} more" if len(differing) > 3 else ""
        return f"changed since {commit[:7]}: {', '.join(differing[:3])}{more}"
    return None


def _asked_otherwise(settings: Settings, known: RunReport) -> str | None:
    assert settings.target is not None  # noqa: S101 - looked at above
    judge = None if settings.no_judge else judges_named(settings.judges)
    if known.tool_version != __version__:
        return f"the base's result was made by runevals {known.tool_version}"
    if known.run.target.type != settings.target.type or known.run.target.model != settings.target.model:
        return "the base's result is of another target"
    if judge is not None and (known.run.judge is None or known.run.judge.model != judge):
        return "the base's result is of another judge"
    return None


def same_cases(loaded: Loaded, known: RunReport) -> bool:
    """Whether a result is of all these cases, as they are, and of no others."""
    here = {(case.suite, case.key, case.fingerprint) for suite in loaded.suites for case in suite.cases}
    return here == {(case.suite, case.key, case.fingerprint) for case in known.cases}


def files_of(settings: Settings, loaded: Loaded) -> list[Path]:
    """Suites, settings, and what target and judge are made of, as far as it is named; it need not be there."""
    files = [settings.quarantine, *loaded.files]
    if settings.target is not None:
        files += settings.target.files
        files += [settings.target.base / word for word in settings.target.command]
        if settings.target.function is not None:
            files.append(settings.target.base / settings.target.function.partition(":")[0])
    files += [judge.path for judge in settings.judges if judge.path is not None]
    files += [folder / place for folder in {settings.cwd, settings.repository} for place in (*PLACES, FILENAME)]
    if settings.mcp_config is not None:
        files.append(settings.cwd / settings.mcp_config)
    if settings.file is not None and settings.file.path is not None:
        files.append(settings.file.path)
    for pattern in settings.depends_on:
        files += _matching(pattern)
    return files


def _pathspecs(settings: Settings, loaded: Loaded, known: RunReport | None) -> list[str]:
    """Suites (the base's too: one may have been removed), settings, and what target and judge are made of."""
    root = settings.repository
    files = files_of(settings, loaded)
    globs = [_relative(Path(pattern), root) for pattern in settings.depends_on]
    # A link and what it leads to: either may have changed.
    both = [*files, *(file.resolve() for file in files if file.exists())]
    inside = {path for file in both if (path := _relative(file, root)) is not None}
    inside |= {suite.path for suite in loaded.suites}
    inside |= set() if known is None else {suite.path for suite in known.run.suites}
    return [
        *(f":(top,literal){path}" for path in sorted(inside)),
        *(f":(top,glob){pattern}" for pattern in globs if pattern is not None),
    ]


def _matching(pattern: str) -> list[Path]:
    """What is there; a pattern that ends in ** names its folder even where there is none."""
    return [path for path in map(Path, glob.glob(pattern, recursive=True, include_hidden=True)) if path.exists()]


def _relative(path: Path, root: Path) -> str | None:
    """`path` as git writes it, None outside the repository. Links are not followed."""
    relative = os.path.relpath(path, root).replace(os.sep, "/")
    return None if relative.startswith("../") else relative
