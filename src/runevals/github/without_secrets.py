"""Skips changes whose jobs have no secrets, if models need a key."""

from __future__ import annotations

from runevals.lib.text.secret_variables import SECRET_NAMES
from runevals.records import Conclusion
from runevals.records.errors import RunevalsError
from runevals.run.baseline.checkout import base_checkout
from runevals.run.default_target import with_target
from runevals.run.load import suites_of
from runevals.run.nothing_measured import nothing_measured
from runevals.settings.resolve import RawSettings, Settings
from runevals.verdict.outcome import skipped, unmeasured

MOST_NAMES = 5
IDENTITY = "the identity of this repository's jobs"
_THE_RUNNERS = ("INPUT_", "ACTIONS_", "GITHUB_")


def withheld(settings: Settings) -> tuple[str, ...]:
    """The variables of keys that target and judge lack, as GitHub gives a fork's job empty secrets."""
    environment = settings.environment
    if settings.target is None:
        settings = with_target(settings, suites_of(settings).suites)  # the suites may name the models
    endpoints = [endpoint for endpoint in (settings.target, *settings.judges) if endpoint is not None]
    lacking = [
        endpoint.api_key_env if endpoint.auth is None else IDENTITY
        for endpoint in endpoints
        if endpoint.auth is not None or (endpoint.needs_key and not environment.get(endpoint.api_key_env))
    ]
    if not any(endpoint.takes_questions for endpoint in endpoints):
        return ()
    empty = [
        name
        for name, value in environment.items()
        if not value and name.upper().endswith(SECRET_NAMES) and not name.startswith(_THE_RUNNERS)
    ]
    return tuple(sorted({*lacking, *empty}))


def not_measured(settings: Settings, raw: RawSettings) -> Conclusion | None:
    """What is concluded of a change in a job without secrets; None if it can be measured.

    The base decides: where its target or judge needs a key, the change is skipped. One that only the change needs
    is a reason of its own making, and no pass.
    """
    hint = (
        "nothing of this change was measured; a maintainer can have it measured by pushing its branch here. "
        "`require_credentials: true` makes the check fail instead"
    )
    of_base, of_change = _withheld_of_base(settings, raw), withheld(settings)
    if of_base:
        why = f"changes from forks and Dependabot have no access to {', '.join(of_base[:MOST_NAMES])}"
        required = settings.github.require_credentials
        verdict = unmeasured(why) if required else skipped(f"Skipped, and the check passes: {why}")
        return nothing_measured(settings, verdict, (hint,))
    if of_change:
        names = ", ".join(of_change[:MOST_NAMES])
        why = f"the change needs {names}, which its base does not and changes from forks have no access to"
        return nothing_measured(settings, unmeasured(why), (hint,))
    return None


def _withheld_of_base(settings: Settings, raw: RawSettings) -> tuple[str, ...]:
    """The same of the base; empty if its endpoints are unknown."""
    if settings.base_side is None:
        return ()
    try:
        with base_checkout(settings, settings.base_side.commit, raw) as base:
            return withheld(base)
    except RunevalsError:
        return ()
