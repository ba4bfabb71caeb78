"""The quarantine list of a run: the base's, never the one in a change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from runevals.lib.storage.files import relative_name
from runevals.records import Case, CaseReport
from runevals.records.errors import InvalidSuite
from runevals.repository import git
from runevals.repository.git_changes import former_names
from runevals.settings.resolve import Settings
from runevals.suites import quarantine
from runevals.suites.quarantine import NOTICES, Quarantine, QuarantineEntry


def quarantine_of(settings: Settings, cases: Sequence[Case | CaseReport]) -> Quarantine:
    """The list that applies. Outside a change the checkout is the base. Raises InvalidSuite for a broken list."""
    path, root = settings.load.quarantine, settings.repository
    display_path = relative_name(path, root)
    of_head = quarantine.read_entries(path.read_bytes(), path.suffix, display_path) if path.is_file() else ()
    notices: tuple[str, ...] = ()
    of_base = of_head
    if settings.base_side is not None:
        of_base, notices = _of_base(settings, path, display_path)
    if settings.origins.get("quarantine", "default") != "default" and not (of_base or notices or path.is_file()):
        notices = (f"quarantine: there is no file {display_path}, so no case is quarantined",)
    active, later = (
        quarantine.active_entries(each, cases, datetime.now(UTC).date()) for each in (of_base, of_head)
    )
    once_merged = [one.removeprefix(NOTICES[0]) for one in later.notices if one not in active.notices]
    return replace(
        active,
        notices=(*notices, *active.notices, *(f"{NOTICES[0]}once it is merged, {one}" for one in once_merged)),
        weakenings=quarantine.weakened_entries(of_base, of_head, display_path),
    )


def _of_base(
    settings: Settings, path: Path, display_path: str
) -> tuple[tuple[QuarantineEntry, ...], tuple[str, ...]]:
    assert settings.base_side is not None  # noqa: S101 - called only then
    root, commit = settings.repository, settings.base_side.commit
    former = former_names(root, commit, relative_name(path.parent, root))
    content = git.file_at(root, commit, former.get(display_path, display_path))
    if content is None:
        return (), ()
    try:
        return quarantine.read_entries(content, path.suffix, f"{display_path} of the base"), ()
    except InvalidSuite as error:
        why = f"the base's list cannot be read, so that nothing is left out ({error.problems[0]})"
        return (), (f"quarantine: {why}",)
