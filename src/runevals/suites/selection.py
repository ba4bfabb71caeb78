"""Which cases the filters of a run leave in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runevals.records import Case, CaseReport
    from runevals.records.rules import Selection


def is_selected(case: Case | CaseReport, selection: Selection) -> bool:
    """Whether this case matches the filters of a run."""
    return (
        (not selection.category or case.category in selection.category)
        and (not selection.tag or any(tag in selection.tag for tag in case.tags))
        and (not selection.filter or any(fnmatchcase(case.key, pattern) for pattern in selection.filter))
    )


def chosen_there(selection: Selection, cases: Iterable[Case | CaseReport]) -> Callable[[Case | CaseReport], bool]:
    """Whether the filters of a run choose a case of its base, as such or as what one of its `cases` was."""
    chosen = [case for case in cases if is_selected(case, selection)]
    names = {*((case.suite, case.key) for case in chosen), *(case.fingerprint for case in chosen)}
    return lambda case: is_selected(case, selection) or bool(names & {(case.suite, case.key), case.fingerprint})


def will_run(case: Case, selection: Selection) -> bool:
    """Whether this case matches the filters and the shard of a run."""
    return is_selected(case, selection) and (
        selection.shard is None or selection.shard.holds(case.suite, case.key)
    )
