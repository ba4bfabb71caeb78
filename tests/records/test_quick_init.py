from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from runevals.records.quick_init import quick_init, unfrozen


@dataclass(frozen=True, slots=True)
class Generated:
    name: str
    size: int = 1
    parts: list[str] = field(default_factory=list)
    note: str | None = field(default=None, kw_only=True)


@quick_init
@dataclass(frozen=True, slots=True)
class Quick:
    name: str
    size: int = 1
    parts: list[str] = field(default_factory=list)
    note: str | None = field(default=None, kw_only=True)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        (("a",), {}),
        (("a", 2, ["b"]), {"note": "c"}),
        ((), {"name": "a", "parts": ["b"]}),
        ((), {}),
        (("a", 2, [], "c"), {}),
        (("a",), {"name": "a"}),
        (("a",), {"other": 1}),
    ],
)
def test_a_record_is_what_the_generated_init_makes(values, named):
    def made(record):
        try:
            return repr(record(*values, **named))
        except TypeError as error:
            return str(error)

    assert made(Quick).replace("Quick", "Generated") == made(Generated)


def test_a_default_is_made_for_each_record():
    assert Quick("a").parts is not Quick("a").parts


def test_a_record_stays_frozen_and_can_be_copied():
    stays_frozen_and_can_be_copied(Quick("a", note="b"))


def stays_frozen_and_can_be_copied(record):
    with pytest.raises(FrozenInstanceError):
        record.name = "c"
    assert replace(record, size=3) == type(record)("a", 3, note="b")
    assert copy.copy(record) == pickle.loads(pickle.dumps(record)) == record


def test_an_object_that_could_be_set_is_a_record_like_any_other():
    record = unfrozen(Generated)()
    record.name, record.size, record.parts, record.note = "a", 2, [], "b"
    record.__class__ = Generated
    assert record == Generated("a", 2, [], note="b")
    stays_frozen_and_can_be_copied(record)
