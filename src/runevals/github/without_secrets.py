"""Changes whose jobs have no secrets: skipped if models need a key, and measured if only a program may."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from runevals.lib.nullable import known
from runevals.lib.text.secret_variables import SECRET_NAMES
from runevals.records import Conclusion
from runevals.records.errors import COULD_NOT_MEASURE, RunevalsError, TargetRefused
from runevals.run.baseline.checkout import base_checkout
from runevals.run.default_target import with_target
from runevals.run.load import suites_of
from runevals.run.nothing_measured import nothing_measured
from runevals.settings.resolve import RawSettings, Settings
from runevals.verdict.outcome import skipped, unmeasured

MOST_NAMES = 5
_HINT = (
    "nothing of this change was measured; a maintainer can have it measured by pushing its branch here. "
    "`require_credentials: true` makes the check fail instead"
)
IDENTITY = "the identity of this repository's jobs"
_THE_RUNNERS = ("INPUT_", "ACTIONS_", "GITHUB_")


def withheld(settings: Settings) -> tuple[str, ...]:
    """What target and judge lack to be asked: variables of keys, or the identity of the job."""
    environment = settings.environment
    if settings.target is None:
        settings = with_target(settings, suites_of(settings).suites)  # the suites may name the models
    lacking = {
        endpoint.api_key_env if endpoint.auth is None else IDENTITY
        for endpoint in known((settings.target, *settings.judges))
        if endpoint.auth is not None or (endpoint.needs_key and not environment.get(endpoint.api_key_env))
    }
    return tuple(sorted(lacking))


def empty_secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that are empty as GitHub gives a fork's job secrets: a program under test may need them."""
    return tuple(
        sorted(
            name
            for name, value in environment.items()
            if not value and name.upper().endswith(SECRET_NAMES) and not name.startswith(_THE_RUNNERS)
        )
    )


def not_measured(settings: Settings, raw: RawSettings) -> Conclusion | None:
    """What is concluded of a change in a job without secrets; None if it can be measured.

    The base decides: where its target or judge needs a key, the change is skipped. One that only the change needs
    is a reason of its own making, and no pass.
    """
    of_base, of_change = _withheld_of_base(settings, raw), withheld(settings)
    if of_base:
        return _skipped(settings, of_base)
    if of_change:
        names = ", ".join(of_change[:MOST_NAMES])
        why = f"the change needs {names}, which its base does not and changes from forks have no access to"
        return nothing_measured(settings, unmeasured(why), (_HINT,))
    return None


def without_keys_of_programs(
    targets: Sequence[Settings], measure: Callable[[], Sequence[Conclusion]]
) -> Sequence[Conclusion]:
    """The conclusions of a change whose job has no secrets, but which is measured; `targets` are their settings.

    A program under test that needs one of them fails: its target is skipped if nothing of it could be measured.
    A loss is a loss.
    """
    lacking = empty_secrets(targets[0].environment)
    if not lacking:
        return measure()
    try:
        conclusions = measure()
    except TargetRefused:
        return [_skipped(settings, lacking) for settings in targets]
    return [
        _skipped(settings, lacking) if _is_unmeasured(conclusion) else conclusion
        for settings, conclusion in zip(targets, conclusions, strict=True)
    ]


def _is_unmeasured(conclusion: Conclusion) -> bool:
    is_measured = any(case.values for case in conclusion.report.cases)
    return not is_measured and conclusion.verdict.exit_code == COULD_NOT_MEASURE


def _skipped(settings: Settings, names: Sequence[str]) -> Conclusion:
    why = f"changes from forks and Dependabot have no access to {', '.join(names[:MOST_NAMES])}"
    required = settings.github.require_credentials
    verdict = unmeasured(why) if required else skipped(f"Skipped, and the check passes: {why}")
    return nothing_measured(settings, verdict, (_HINT,))


def _withheld_of_base(settings: Settings, raw: RawSettings) -> tuple[str, ...]:
    """The variables that the base's settings need and the job lacks; empty if its endpoints are unknown."""
    if settings.base_side is None:
        return ()
    with suppress(RunevalsError), base_checkout(settings, settings.base_side.commit, raw) as base:
        return withheld(base)
    return ()
