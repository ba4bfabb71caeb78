"""Output formats: each module renders a conclusion as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

from msgspec import Struct

from runevals.lib.plugins import guarded, package_of, plugins, require, unusable_plugin
from runevals.lib.storage.files import STANDARD_STREAM
from runevals.records import Conclusion
from runevals.reports import assistant, html, junit, results, skill_results, summary, table

__all__ = ["REPORTERS", "Reporter", "is_packed_name", "reporter_for", "reporters", "suffix_of", "text_of"]


class Reporter(Protocol):
    """One output format."""

    NAME: str
    FILENAME: str
    """Its usual file name; its suffix selects the reporter of `--output`."""

    def render(self, conclusion: Conclusion) -> str:
        """The whole text of the file."""


@runtime_checkable
class Streaming(Reporter, Protocol):
    """An output that may be too large for memory."""

    def stream(self, conclusion: Conclusion) -> Iterator[str]:
        """The text of `render`, piece by piece."""


PLUGINS = "runevals.reporters"  # their entry points
REPORTERS: tuple[Reporter, ...] = (results, html, junit, table, summary)
PACKED = ".gz"
VERDICT = "json"  # a `--format`: the verdict is printed, and files are as by default
# By `--format`: reporters selected by the complete name of a file.
BY_NAME: Mapping[str, tuple[Reporter, ...]] = {
    "results": (*skill_results.SKILL_CREATOR, assistant),
    VERDICT: (*skill_results.SKILL_CREATOR, assistant),
    "agentskills": (*skill_results.AGENTSKILLS, assistant),
}


def text_of(reporter: Reporter, conclusion: Conclusion) -> Iterator[str]:
    """What the reporter writes, in as many pieces as it can."""
    return reporter.stream(conclusion) if isinstance(reporter, Streaming) else iter((reporter.render(conclusion),))


class _Added(Struct):  # as modules, its protocol is not frozen
    """The reporter of a plugin."""

    NAME: str
    FILENAME: str
    render: Callable[[Conclusion], str]


@cache
def reporters() -> tuple[Reporter, ...]:
    """The built-in ones and those of plugins. Raises UnusablePlugin, also for a suffix in use."""
    suffixes = {suffix_of(reporter): reporter.NAME for reporter in REPORTERS}
    added: list[Reporter] = []
    installed = plugins(PLUGINS, [reporter.NAME for reporter in REPORTERS])
    for name, plugin in installed.items():
        require(PLUGINS, name, plugin, ("NAME", "FILENAME", "render"))
        reporter = cast("Reporter", plugin)
        suffix = suffix_of(reporter)
        if suffix in suffixes:
            why = f"its files end in {suffix}, as those of '{suffixes[suffix]}' do"
            raise unusable_plugin(PLUGINS, name, package_of(PLUGINS, name), why)
        suffixes[suffix] = name
        added.append(_Added(name, reporter.FILENAME, guarded(PLUGINS, name, reporter.render)))
    return (*REPORTERS, *added)


def is_packed_name(filename: str) -> bool:
    """Whether a file of this name is a packed results document."""
    return filename.lower().endswith(f"{suffix_of(results)}{PACKED}")


def suffix_of(reporter: Reporter) -> str:
    """The suffix of the reporter's files."""
    return Path(reporter.FILENAME).suffix


def reporter_for(filename: str, form: str = "results") -> Reporter | None:
    """The reporter whose files have this name, or this suffix; None if none has."""
    if filename == STANDARD_STREAM.name:
        return results
    filename = filename[: -len(PACKED)] if is_packed_name(filename) else filename
    by_name = (reporter for reporter in BY_NAME.get(form, ()) if filename.lower() == reporter.FILENAME)
    for reporter in (*by_name, *reporters()):
        if filename.lower().endswith(suffix_of(reporter)):
            return reporter
    return None
