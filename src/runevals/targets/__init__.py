"""The systems under test, one kind a module."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, cast

from runevals.lib.plugins import TARGETS, package_of, plugins, unusable
from runevals.lib.text.suggest import did_you_mean
from runevals.records import Conversation, ModelIdentity, Problem, Response
from runevals.records.errors import InvalidSettings, RunevalsError


class Target(Protocol):
    """Answers conversations; called from several threads at once."""

    def answer(self, conversation: Conversation) -> Response:
        """The answer to the conversation's prompt. A failed call is a Response with a problem.

        Raises TargetRefused when no further call can succeed.
        """

    def identity(self) -> ModelIdentity:
        """Who answers, as far as it is known by now."""

    def close(self) -> None:
        """Ends what the target started."""


class TargetFactory(Protocol):
    """What a plugin's entry point names: a class, or a function that makes the target."""

    def __call__(self, options: Mapping[str, object], *, base: Path, timeout_s: float) -> Target:
        """The target for `target.options`; its paths are relative to `base`. ValueError: the options are wrong."""


def plugin_target(name: str, options: Mapping[str, object], *, base: Path, timeout_s: float) -> Target:
    """The target of a plugin. Raises UnusablePlugin, and InvalidSettings for options that it does not take."""
    found = plugins(TARGETS)
    if name not in found:
        known = ", ".join(found) or "none is installed"
        raise InvalidSettings(f"there is no target plugin '{name}'{did_you_mean(name, found)} ({known})")
    try:
        made = cast("TargetFactory", found[name])(options, base=base, timeout_s=timeout_s)
    except ValueError as error:
        raise InvalidSettings(f"target.options: {error}") from error
    except TypeError as error:
        raise unusable(TARGETS, name, package_of(TARGETS, name), str(error)) from error
    missing = [part for part in ("answer", "identity", "close") if not hasattr(made, part)]
    if missing:
        raise unusable(TARGETS, name, package_of(TARGETS, name), f"its target has no {', '.join(missing)}")
    return _Guarded(made)


def _sound(response: Response) -> Response:
    """`response`, if its numbers and truths are such: nobody looks for secrets there. Raises TypeError."""
    told = {
        name: getattr(response, name)
        for name in ("cost_usd", "latency_s", "input_tokens", "output_tokens", "turns")
    }
    told |= {"cached": response.cached, "tool_calls.ok": [call.ok for call in response.tool_calls or ()]}
    for name, value in told.items():
        values = value if isinstance(value, list) else [value]
        if not all(one is None or isinstance(one, int | float) for one in values):
            raise TypeError(f"{name} of its answer is of a type that it cannot be")
    return response


class _Guarded:
    """The target of a plugin: what it raises is a failed answer, not the end of the run."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def answer(self, conversation: Conversation) -> Response:
        """The plugin's answer."""
        try:
            return _sound(self._target.answer(conversation))
        except RunevalsError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a package does
            problem = Problem(code="target_failed", message=f"{type(error).__name__}: {error}")
            return Response(problem=problem)

    def identity(self) -> ModelIdentity:
        """Who answers."""
        return self._target.identity()

    def close(self) -> None:
        """Ends what the target started."""
        self._target.close()
