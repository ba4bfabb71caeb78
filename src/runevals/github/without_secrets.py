"""A change that gets no secrets cannot be measured where models need a key: it is skipped, and says so."""

from __future__ import annotations

from runevals.lib.text.secrets import SECRET_NAMES
from runevals.records import Conclusion, FinalVerdict
from runevals.records.errors import MEASURED_GREEN, WORLD_REFUSED
from runevals.run.nothing_measured import nothing_measured, unmeasured
from runevals.settings.resolve import Settings
from runevals.settings.target import needs_key

MOST_NAMES = 5
_THE_RUNNERS = ("INPUT_", "ACTIONS_", "GITHUB_")


def withheld(settings: Settings) -> tuple[str, ...]:
    """The variables of keys that target and judge lack, as GitHub gives a fork's job empty secrets."""
    environment = settings.environment
    asked = [told for told in (settings.target, *settings.judges) if told is not None]
    lacking = [told.api_key_env for told in asked if needs_key(told) and not environment.get(told.api_key_env)]
    if all(told.type in ("recorded", "skill") for told in asked):
        return ()
    empty = [
        name
        for name, value in environment.items()
        if not value and name.upper().endswith(SECRET_NAMES) and not name.startswith(_THE_RUNNERS)
    ]
    return tuple(sorted({*lacking, *empty}))


def skipped(settings: Settings, names: tuple[str, ...]) -> Conclusion:
    """Nothing was measured: green and said in words, unless the settings require credentials."""
    hint = "nothing of this change was measured; a maintainer can have it measured by pushing its branch here"
    why = f"changes from forks and Dependabot have no access to {', '.join(names[:MOST_NAMES])}"
    if settings.require_credentials:
        verdict = unmeasured(why, WORLD_REFUSED)
    else:
        verdict = FinalVerdict(outcome="skipped", headline=f"Skipped – {why}", exit_code=MEASURED_GREEN)
    return nothing_measured(settings, verdict, (hint,))
