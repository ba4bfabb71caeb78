"""What a run depends on, and whether it is still as in another commit."""

from __future__ import annotations

from pathlib import Path

from runevals import __version__, git
from runevals.loading import Loaded
from runevals.records import RunReport
from runevals.settings import Settings
from runevals.settings_file import PLACES


def changes_since(settings: Settings, loaded: Loaded, commit: str, known: RunReport | None) -> str | None:
    """Why the run must be made, in words; None where nothing that it depends on differs from `commit`.

    `known` is the result that would stand for it: the same model and judge must have been asked by the same
    version of ours.
    """
    target = settings.target
    if target is None or settings.evaluate_only:
        return "there is no target whose files are known"
    if target.files is None and not settings.depends_on:
        return f"a {target.type} target may read any file; name what it depends on with depends_on"
    if known is not None and (why := _asked_otherwise(settings, known)):
        return why
    differing = git.changed_since(settings.repository, commit, _pathspecs(settings, loaded, known))
    if differing is None:
        return f"git cannot tell what changed since {commit[:7]}"
    if differing:
        more = f" and {len(differing) - 3} more" if len(differing) > 3 else ""
        return f"changed since {commit[:7]}: {', '.join(differing[:3])}{more}"
    return None


def _asked_otherwise(settings: Settings, known: RunReport) -> str | None:
    assert settings.target is not None  # noqa: S101 - looked at above
    judge = None if settings.judge is None or settings.no_judge else settings.judge.model
    if known.tool_version != __version__:
        return f"the base's result was made by runevals {known.tool_version}"
    if known.run.target.type != settings.target.type or known.run.target.model != settings.target.model:
        return "the base's result is of another target"
    if judge is not None and (known.run.judge is None or known.run.judge.model != judge):
        return "the base's result is of another judge"
    if settings.category or settings.tag or settings.filter:
        return "only some of the cases are asked for"
    return None


def _pathspecs(settings: Settings, loaded: Loaded, known: RunReport | None) -> list[str]:
    """Suites (the base's too: one may have been removed), settings, and what target and judge are made of."""
    assert settings.target is not None  # noqa: S101 - looked at above
    root = settings.repository
    files = [*(settings.target.files or ()), settings.quarantine]
    if settings.judge is not None and settings.judge.path is not None:
        files.append(settings.judge.path)
    if settings.target.function is not None:
        files.append(settings.target.base / settings.target.function.partition(":")[0])
    files += [settings.target.base / word for word in settings.target.command]
    files += [folder / place for folder in {settings.cwd, root} for place in PLACES]
    if settings.file is not None and settings.file.path is not None:
        files.append(settings.file.path)
    inside = {path for file in files if (path := _relative(file, root)) is not None}
    inside |= {suite.path for suite in loaded.suites}
    inside |= set() if known is None else {suite.path for suite in known.run.suites}
    globs = [_relative(settings.cwd / pattern, root) for pattern in settings.depends_on]
    return [
        *(f":(top,literal){path}" for path in sorted(inside)),
        *(f":(top,glob){pattern}" for pattern in globs if pattern is not None),
    ]


def _relative(path: Path, root: Path) -> str | None:
    """`path` as git writes it, None outside the repository."""
    joined = Path(path.anchor, *path.parts[1:]) if path.is_absolute() else root / path
    return joined.relative_to(root).as_posix() if joined.is_relative_to(root) else None
