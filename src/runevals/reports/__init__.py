"""Output formats: each writes a conclusion as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from msgspec import Struct

from runevals.lib.plugins import guarded, plugins, require, unusable_plugin
from runevals.lib.storage.files import STANDARD_STREAM
from runevals.records import Conclusion


class Reporter(Protocol):
    """One output format."""

    NAME: str
    FILENAME: str
    """Its usual file name; its suffix selects the reporter of `--output`."""

    def render(self, conclusion: Conclusion) -> str:
        """The whole text of the file."""


class Streaming(Reporter, Protocol):
    """An output that may be too large for memory."""

    def stream(self, conclusion: Conclusion) -> Iterator[str]:
        """The text of `render`, piece by piece."""


class Format(Struct):  # as modules, its protocol is not frozen
    """A reporter of ours. `function` is its place in this package, which is imported when something is written."""

    NAME: str
    FILENAME: str
    function: str

    def stream(self, conclusion: Conclusion) -> Iterator[str]:
        """The text in pieces: all of it may not fit in memory."""
        module, _, name = self.function.partition(".")
        text = getattr(import_module(f"{__name__}.{module}"), name)(conclusion)
        return iter((text,)) if isinstance(text, str) else text

    def render(self, conclusion: Conclusion) -> str:
        """The whole text."""
        return "".join(self.stream(conclusion))


PLUGINS = "runevals.reporters"  # their entry points
RESULTS = Format("results", "results.json", "results_document.written")
HTML = Format("html", "report.html", "html.render")
SUMMARY = Format("summary", "summary.md", "sections.summary")
JUNIT = Format("junit", "junit.xml", "junit.stream")
TABLE = Format("table", "results.csv", "table.stream")
REPORTERS: tuple[Streaming, ...] = (RESULTS, HTML, JUNIT, TABLE, SUMMARY)
ASSISTANT = Format("assistant", "fix.md", "assistant.render")
_SKILL_CREATOR = (
    Format("benchmark", "benchmark.json", "skill_results.benchmark"),
    Format("grading", "grading.json", "skill_results.grading"),
    ASSISTANT,
)
PACKED = ".gz"
VERDICT = "json"  # a `--format`: the verdict is printed, and files are as by default
# By `--format`: reporters selected by the complete name of a file.
BY_NAME: Mapping[str, tuple[Streaming, ...]] = {
    "results": _SKILL_CREATOR,
    VERDICT: _SKILL_CREATOR,
    "agentskills": (
        Format("benchmark", "benchmark.json", "skill_results.benchmark_of_agentskills"),
        Format("grading", "grading.json", "skill_results.grading_of_agentskills"),
        ASSISTANT,
    ),
}


class _Added(Struct):  # as modules, its protocol is not frozen
    """The reporter of a plugin."""

    NAME: str
    FILENAME: str
    render: Callable[[Conclusion], str]

    def stream(self, conclusion: Conclusion) -> Iterator[str]:
        """The text in one piece."""
        yield self.render(conclusion)


@cache
def reporters() -> tuple[Streaming, ...]:
    """The built-in ones and those of plugins. Raises UnusablePlugin, also for a suffix in use."""
    suffixes = {suffix_of(reporter): reporter.NAME for reporter in REPORTERS}
    added: list[Streaming] = []
    for name, plugin in plugins(PLUGINS, [reporter.NAME for reporter in REPORTERS]).items():
        require(PLUGINS, name, plugin, ("NAME", "FILENAME", "render"))
        reporter = cast("Reporter", plugin)
        suffix = suffix_of(reporter)
        if suffix in suffixes:
            raise unusable_plugin(PLUGINS, name, f"its files end in {suffix}, as those of '{suffixes[suffix]}' do")
        suffixes[suffix] = name
        added.append(_Added(name, reporter.FILENAME, guarded(PLUGINS, name, reporter.render)))
    return (*REPORTERS, *added)


def is_packed_name(filename: str) -> bool:
    """Whether a file of this name is a packed results document."""
    return filename.lower().endswith(f"{suffix_of(RESULTS)}{PACKED}")


def suffix_of(reporter: Reporter) -> str:
    """The suffix of the reporter's files."""
    return Path(reporter.FILENAME).suffix


def reporter_for(filename: str, form: str = "results") -> Streaming | None:
    """The reporter whose files have this name (`fix.md`, and `fix.mini.md` of a target), or this suffix."""
    if filename == STANDARD_STREAM.name:
        return RESULTS
    name = (filename[: -len(PACKED)] if is_packed_name(filename) else filename).lower()
    suffix = "".join(name.rpartition(".")[1:])
    by_name = {suffix_of(reporter): reporter for reporter in reporters()}
    by_name |= {reporter.FILENAME: reporter for reporter in BY_NAME.get(form, ())}
    return by_name.get(name.partition(".")[0] + suffix, by_name.get(suffix))
