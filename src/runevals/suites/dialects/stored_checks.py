"""The checks of most turns of a large suite, in a file instead of in memory: each case has its own."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import Any

from runevals.evaluators.catalogue import BuiltCheck, is_builtin
from runevals.lib.parsing.source import Place, Source
from runevals.lib.storage.spool import OnDisk, SpoolFile
from runevals.records import WAS_DERIVED, EvaluatorSpec, Turn, attach_derived, derived_of, offload
from runevals.records.quick_dataclass import restored, slots_of

IN_MEMORY = 10_000  # cases: the checks of a suite with more are stored
RECENT = 500  # of those that were read: they are looked at several times in turn


class CheckStore:
    """Those of one suite file. What many cases have, `shared`, stays in memory and is the same for all."""

    def __init__(self, source: Source, shared: Iterable[EvaluatorSpec], *, cases: int) -> None:
        self._source = source.without_value
        self._shared = tuple(shared)
        self._numbers = {id(spec): number for number, spec in enumerate(self._shared)}
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}  # those of all turns, each once
        self._is_used = cases > IN_MEMORY
        self._file = SpoolFile()
        self._read = lru_cache(RECENT)(partial(_read, self._file, self._source, self._shared))

    def offload(self, turn: Turn) -> Turn:
        """`turn` with its checks in the file if there are many cases, and they are its own.

        Those that cannot be built, or are of a plugin, stay in memory.
        """
        if not self._is_used or all(id(spec) in self._numbers for spec in turn.checks):
            return turn
        try:
            content = marshal.dumps([self._plain(spec) for spec in turn.checks])
            offset = self._file.append(content)
        except (ValueError, OSError, AttributeError):  # no plain JSON; or no room, or a system without `pwrite`
            return turn
        names = self._names.setdefault(turn.evaluators, turn.evaluators)
        stored = _Stored(self._read, offset, len(content), names)
        return offload(turn, lambda value: stored if value is turn.checks else value)

    def _plain(self, spec: EvaluatorSpec) -> int | list[Any]:
        """Raises ValueError for one that cannot be read again as it is."""
        if (number := self._numbers.get(id(spec))) is not None:
            return number
        name, options, threshold, weight, id_, negated, children, place = slots_of(spec)
        built, is_here = derived_of(spec), type(place) is Place and place.source is self._source
        if children or not is_here or not isinstance(built, BuiltCheck) or not is_builtin(built.evaluator):
            raise ValueError
        return [name, options, threshold, weight, id_, negated, place.json_path, place.key]


class _Stored(OnDisk):
    """The checks of one turn, and the names of their evaluators, as `Turn.evaluators` reads them."""

    __slots__ = ("evaluators",)

    def __init__(self, read: Any, offset: int, length: int, evaluators: tuple[str, ...]) -> None:
        super().__init__(read, offset, length)
        self.evaluators = evaluators


def _read(
    file: SpoolFile, source: Source, shared: Sequence[EvaluatorSpec], offset: int, length: int
) -> tuple[EvaluatorSpec, ...]:
    plain = marshal.loads(file.read(offset, length))  # noqa: S302 - of this process; no other can write it
    return tuple([shared[one] if isinstance(one, int) else _spec(source, *one) for one in plain])


def _spec(source: Source, *fields: Any) -> EvaluatorSpec:
    *values, json_path, key = fields
    spec: EvaluatorSpec = restored(EvaluatorSpec, *values, (), Place(source, json_path, key))
    attach_derived(spec, WAS_DERIVED)
    return spec
