"""The systems under test, one kind a module."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, cast

from runevals.lib.plugins import package_of, plugins, unusable_plugin
from runevals.lib.text.suggest import did_you_mean
from runevals.records import Conversation, ModelIdentity, Problem, Response
from runevals.records.errors import InvalidSettings, RunevalsError

PLUGINS = "runevals.targets"  # their entry points


class Target(Protocol):
    """Answers conversations; called from several threads at once."""

    def answer(self, conversation: Conversation) -> Response:
        """The answer to the conversation's prompt. A failed call is a Response with a problem.

        Raises TargetRefused when no further call can succeed.
        """

    def identity(self) -> ModelIdentity:
        """The identity of the target, as far as it is known by now."""

    def close(self) -> None:
        """Ends what the target started."""


class TargetFactory(Protocol):
    """What a plugin's entry point names: a class, or a function that makes the target."""

    def __call__(self, options: Mapping[str, object], *, base: Path, timeout_s: float) -> Target:
        """The target for `target.options`; its paths are relative to `base`. ValueError: the options are wrong."""


def plugin_target(name: str, options: Mapping[str, object], *, base: Path, timeout_s: float) -> Target:
    """The target of a plugin. Raises UnusablePlugin, and InvalidSettings for options that it does not take."""
    factories = plugins(PLUGINS)
    if name not in factories:
        names = ", ".join(factories) or "none is installed"
        raise InvalidSettings(f"there is no target plugin '{name}'{did_you_mean(name, factories)} ({names})")
    try:
        target = cast("TargetFactory", factories[name])(options, base=base, timeout_s=timeout_s)
    except ValueError as error:
        raise InvalidSettings(f"target.options: {error}") from error
    except TypeError as error:
        raise unusable_plugin(PLUGINS, name, package_of(PLUGINS, name), str(error)) from error
    missing = [part for part in ("answer", "identity", "close") if not hasattr(target, part)]
    if missing:
        raise unusable_plugin(PLUGINS, name, package_of(PLUGINS, name), f"its target lacks {', '.join(missing)}")
    return _Guarded(target)


def _validated(response: Response) -> Response:
    """`response`, if its numbers and booleans have these types (no secret is redacted there). Raises TypeError."""
    numbers = {
        name: getattr(response, name)
        for name in ("cost_usd", "latency_s", "input_tokens", "output_tokens", "turns")
    }
    numbers |= {"cached": response.cached, "tool_calls.ok": [call.ok for call in response.tool_calls or ()]}
    for name, value in numbers.items():
        values = value if isinstance(value, list) else [value]
        if not all(number is None or isinstance(number, int | float) for number in values):
            raise TypeError(f"{name} of its answer has an invalid type")
    return response


class _Guarded:
    """The target of a plugin: what it raises is a failed answer, not the end of the run."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def answer(self, conversation: Conversation) -> Response:
        """The plugin's answer."""
        try:
            return _validated(self._target.answer(conversation))
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
