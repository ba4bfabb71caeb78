"""Picking an answer and what came with it out of a JSON reply, by JSONPath (RFC 9535)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from runevals.lib.nullable import without_none
from runevals.records.errors import InvalidSettings

if TYPE_CHECKING:
    from jsonpath import JSONPath

LISTS = frozenset({"tool_calls", "citations"})  # fields that may have several values


class Pick:
    """The JSONPaths of each field; the first path with a value counts."""

    def __init__(self, paths_by_field: Mapping[str, Sequence[str]], what: str) -> None:
        """`what` names the setting. Raises InvalidSettings for an invalid JSONPath."""
        import jsonpath  # only needed by these targets

        environment = jsonpath.JSONPathEnvironment(strict=True)
        for name in ("match", "search"):  # an expression of the settings over a reply could hang the run
            environment.function_extensions.pop(name)
        self.paths_by_field = {field: tuple(paths) for field, paths in paths_by_field.items()}
        self._compiled: dict[str, list[_Query]] = {}
        for field, paths in self.paths_by_field.items():
            for path in paths:
                try:
                    query = environment.compile(path)
                except (jsonpath.JSONPathError, RecursionError) as error:
                    reason = str(error).partition("\n")[0]
                    raise InvalidSettings(f"{what}.{field}: '{path}' is not a JSONPath: {reason}") from None
                assert isinstance(query, jsonpath.JSONPath)  # noqa: S101 - strict, it knows no other
                self._compiled.setdefault(field, []).append(_Query(path, query))

    def values_in(self, reply: object) -> dict[str, object]:
        """Field → value, for values that are present and not null. Raises ValueError if one is ambiguous."""
        return without_none(**{field: self._value(field, reply) for field in self._compiled})

    def _value(self, field: str, reply: object) -> object:
        for query in self._compiled[field]:
            values = query.values_in(reply)
            if field in LISTS and values and not query.compiled.singular_query():
                return values
            if len(values) > 1:
                raise ValueError(f"{field}: {query.path} finds {len(values)} values, not one")
            if values:
                return values[0]
        return None


class _Query(Struct, frozen=True):
    path: str
    compiled: JSONPath

    def values_in(self, reply: object) -> list[object]:
        """All values that are not null. Raises ValueError if the reply is nested too deep."""
        from jsonpath import JSONPathError

        if not isinstance(reply, dict | list):  # a bare text or number has no members
            return [reply] if self.path == "$" and reply is not None else []
        try:
            return [value for value in self.compiled.findall(reply) if value is not None]
        except (JSONPathError, RecursionError) as error:
            reason = str(error).partition("\n")[0]
            raise ValueError(f"{self.path} cannot be looked for: {reason}") from None
