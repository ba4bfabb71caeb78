"""The targets of installed packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, cast

from runevals.lib.parsing.shapes import entries_of
from runevals.lib.plugins import plugins, unusable_plugin
from runevals.lib.text.suggest import did_you_mean
from runevals.records import Conversation, Problem, Response
from runevals.records.errors import InvalidSettings, RunevalsError
from runevals.records.traits import Traits
from runevals.targets import Target, TargetAround
from runevals.targets.kind import NOT_SENT, Making, Section, TargetSettings, refusing
from runevals.targets.reach import Reach, Written, canonical, rules

PLUGINS = "runevals.targets"  # their entry points


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
        raise unusable_plugin(PLUGINS, name, str(error)) from error
    missing = [part for part in ("answer", "identity", "close") if not hasattr(target, part)]
    if missing:
        raise unusable_plugin(PLUGINS, name, f"its target lacks {', '.join(missing)}")
    return _Guarded(target)


def _validated(response: Response) -> Response:
    """`response`, if its numbers and booleans have these types (no secret is redacted there). Raises TypeError."""
    numbers = {
        name: getattr(response, name)
        for name in ("cost_usd", "latency_s", "input_tokens", "output_tokens", "turns")
    }
    numbers |= {"cached": response.cached, "tool_calls.ok": [call.ok for call in response.tool_calls or ()]}
    for name, value in numbers.items():
        if not all(number is None or isinstance(number, int | float) for number in entries_of(value)):
            raise TypeError(f"{name} of its answer has an invalid type")
    return response


class _Guarded(TargetAround):
    """The target of a plugin: what it raises is a failed answer, not the end of the run."""

    def answer(self, conversation: Conversation) -> Response:
        """The plugin's answer."""
        try:
            return _validated(self._target.answer(conversation))
        except RunevalsError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a package does
            return Response(problem=Problem(code="target_failed", message=f"{type(error).__name__}: {error}"))


def _plugin(written: Written) -> Iterator[Reach]:
    yield Reach("plugin", str(written.values.get("plugin")), "", canonical(written.values.get("options", {})))


class PluginSettings(TargetSettings, frozen=True, kw_only=True):
    """A target of a package, with the options that the package knows."""

    plugin: str
    options: Mapping[str, object] = {}

    traits = Traits(needs_files=True)
    word = "plugin"
    form = "NAME"
    alone = False
    refuses = refusing(**NOT_SENT)
    reaches = rules("plugin", "options", of=_plugin)

    @classmethod
    def own_fields(cls, section: Section) -> dict[str, Any]:
        """Nothing but what is written. Raises InvalidSettings without a name."""
        if not section.values.get("plugin"):
            raise InvalidSettings("the plugin target needs the name of a plugin: target.plugin or plugin:NAME")
        return {}

    def build(self, making: Making) -> Target:  # noqa: ARG002
        """Raises UnusablePlugin, and InvalidSettings for options that it does not take."""
        return plugin_target(self.plugin, self.options, base=self.base, timeout_s=self.timeout_s)
