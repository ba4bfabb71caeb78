"""The checks of most turns of a large suite, in a file instead of in memory: each case has its own."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any

from msgspec.structs import force_setattr, replace

from runevals.evaluators.catalogue import BuiltCheck, is_builtin
from runevals.lib.parsing.source import Place, Source
from runevals.lib.storage.store import StoredSequence, StoreFile
from runevals.records import EvaluatorSpec, Turn

IN_MEMORY = 10_000  # cases: the checks of a suite with more are stored
RECENT = 500  # of those that were read: they are looked at several times in turn
_FIELDS = ("name", "options", "threshold", "weight", "id", "negated")


class CheckStore:
    """The checks of one suite file. `shared`, what many cases have, stays in memory and is the same for all."""

    def __init__(self, source: Source, shared: Iterable[EvaluatorSpec], *, cases: int) -> None:
        self._source = source.without_value
        self._shared = tuple(shared)
        self._numbers = {id(spec): number for number, spec in enumerate(self._shared)}
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}  # those of all turns, each once
        self._is_used = cases > IN_MEMORY
        self._file = StoreFile()
        self._load = lru_cache(RECENT)(partial(_loaded, self._file, self._source, self._shared))

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
        return replace(turn, checks=_StoredChecks(self._load, self._file.read, (offset, len(content)), names))

    def _plain(self, spec: EvaluatorSpec) -> int | list[Any]:
        """Raises ValueError for one that cannot be read again as it is."""
        if (number := self._numbers.get(id(spec))) is not None:
            return number
        place, built = spec.location, spec.built
        if not isinstance(place, Place) or place.source is not self._source:
            raise ValueError
        if spec.children or not isinstance(built, BuiltCheck) or not is_builtin(built.evaluator):
            raise ValueError
        return [*(getattr(spec, name) for name in _FIELDS), place.json_path, place.key]


def _loaded(
    file: StoreFile, source: Source, shared: Sequence[EvaluatorSpec], offset: int, length: int
) -> tuple[EvaluatorSpec, ...]:
    plain = marshal.loads(file.read(offset, length))  # noqa: S302 - of this process; no other can write it
    return tuple([shared[one] if isinstance(one, int) else _spec(source, *one) for one in plain])


def _spec(source: Source, *values: Any) -> EvaluatorSpec:
    *fields, json_path, key = values
    spec = EvaluatorSpec(**dict(zip(_FIELDS, fields, strict=True)), location=Place(source, json_path, key))
    force_setattr(spec, "valid", True)  # noqa: FBT003
    return spec


class _StoredChecks(StoredSequence[EvaluatorSpec]):
    """The checks of one turn, and the names of their evaluators, as `Turn.evaluators` reads them."""

    __slots__ = ("evaluators",)

    def __init__(
        self,
        load: Callable[[int, int], tuple[EvaluatorSpec, ...]],
        read: Callable[[int, int], bytes],
        where: tuple[int, int],
        evaluators: tuple[str, ...],
    ) -> None:
        super().__init__(load, read, where, len(evaluators))
        self.evaluators = evaluators
