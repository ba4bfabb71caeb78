"""Tools of the MCP servers under test: those that no case expects, and those that are described alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from msgspec import Struct

from runevals.evaluators.kinds import leaves as evaluators_in
from runevals.lib.text.escape import one_line
from runevals.records import Location
from runevals.records.trace import leaves, same_tool
from runevals.suites.health.hint import Hint
from runevals.suites.plan import RunPlan

ALIKE = 90.0  # percent, of rapidfuzz's ratio
MOST_PAIRS = 100_000
MOST_CHARACTERS = 2000  # of a description
_PACKAGE = "runevals.evaluators.tools."


class ServerTools(Struct, frozen=True, kw_only=True):
    """The descriptions of tools by name, and the settings that name their servers."""

    descriptions: Mapping[str, str]
    location: Location


def server_tools(plan: RunPlan, tools: ServerTools) -> Iterator[Hint]:
    """What could be better about the tools of the servers under test."""
    expected, location = _names_in(plan), tools.location
    for tool in tools.descriptions:
        if not any(same_tool(tool, name) for name in expected):
            message = f"{one_line(tool)}: no case expects this tool; add a case that needs it, or remove the tool"
            yield Hint(kind="unexpected tool", location=location, message=message)
    yield from _alike(tools.descriptions, location)


def _names_in(plan: RunPlan) -> set[str]:
    """All texts in the options of checks on tools."""
    members = [member for check in plan.checks for member in evaluators_in(check.evaluator)]
    options = [vars(member) for member in members if type(member).__module__.startswith(_PACKAGE)]
    return {text for values in options for text in leaves(_plain(values)) if isinstance(text, str)}


def _plain(value: object) -> object:
    """`value` with lists in place of other sequences."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple | set | frozenset) else value


def _alike(descriptions: Mapping[str, str], location: Location) -> Iterator[Hint]:
    from rapidfuzz import fuzz  # loaded when first used

    words = {tool: text.casefold().split() for tool, text in descriptions.items() if text.strip()}
    texts = [(tool, " ".join(some)[:MOST_CHARACTERS]) for tool, some in words.items()]
    for number, (one, other) in enumerate(combinations(texts, 2)):
        if number >= MOST_PAIRS:
            return
        if fuzz.ratio(one[1], other[1], score_cutoff=ALIKE):
            names = f"{one_line(one[0])} and {one_line(other[0])}"
            message = f"{names}: their descriptions are nearly equal; say in each when to use it"
            yield Hint(kind="alike tools", location=location, message=message)
