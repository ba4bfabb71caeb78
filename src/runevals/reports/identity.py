"""What a run measured, in a few words: its suites and its target."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from runevals.lib.nullable import known
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import plural
from runevals.models.facts import NOTICE, ending
from runevals.records import AND, ModelIdentity, RunInfo, Suite, SuiteInfo

LONGEST = 120
# The details that name a target without a model.
_NAMES = ("function", "command", "url", "path", "skills_dir")


def suite_names(suites: Sequence[SuiteInfo] | Sequence[Suite]) -> str:
    """The one suite by its path, several by their number; empty if none is known."""
    paths = {suite.path for suite in suites}
    return plural(len(paths), "suite") if len(paths) > 1 else one_line("".join(paths), LONGEST)


def target_name(identity: ModelIdentity) -> str:
    """A model with its kind of target, or "python agent.py:answer"."""
    if identity.model:
        return one_line(f"{identity.model} ({identity.type})", LONGEST)
    detail = next((value for name in _NAMES if (value := identity.detail.get(name))), "")
    words = " ".join(map(str, detail)) if isinstance(detail, list | tuple) else str(detail)
    return one_line(f"{identity.type} {words}".strip(), LONGEST)


def endings(run: RunInfo) -> tuple[str, ...]:
    """A sentence on target and judge whose models end soon after the run, as far as that is announced."""
    day = run.started_at.date()
    models = dict.fromkeys(
        (kind, name)
        for identity in known((run.target, run.judge))
        for kind in identity.type.split(AND)
        for name in (identity.model or "").split(AND)
    )
    return tuple(sentence for kind, name in models if (sentence := ending(kind, name, day, NOTICE)))


def moment(run: RunInfo) -> str:
    """When it began, to the minute."""
    return f"{run.started_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def measured(run: RunInfo) -> str:
    """Suites and target."""
    return " · ".join(filter(None, (suite_names(run.suites), target_name(run.target))))
