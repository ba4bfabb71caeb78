from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, field, fields, replace
from itertools import product

import pytest

from runevals.records.quick_dataclass import dataclass, unfrozen


def made_by(decorator, name):
    class Record:
        name: str
        size: int = 1
        parts: list[str] = field(default_factory=list)
        note: str | None = field(default=None, kw_only=True, repr=False)
        place: str = field(default="", compare=False)

    Record.__name__ = Record.__qualname__ = name
    return decorator(frozen=True, slots=True)(Record)


Generated = made_by(dataclasses.dataclass, "Generated")
Quick = made_by(dataclass, "Quick")


@dataclass(frozen=True, slots=True)
class Longer(Quick):
    """A record with one more field."""

    more: float = 0.5
    doubled: float = field(init=False)
    kept: list[float] = field(init=False, default_factory=list)
    number: int = field(init=False, default=3)

    def __post_init__(self) -> None:
        object.__setattr__(self, "doubled", 2 * self.more)


@dataclass(slots=True, kw_only=True)
class Changing:
    count: int = 0


@dataclass(frozen=True, slots=True)
class Single:
    value: float


@pytest.mark.parametrize(
    ("values", "named"),
    [
        (("a",), {}),
        (("a", 2, ["b"]), {"note": "c"}),
        ((), {"name": "a", "parts": ["b"]}),
        ((), {}),
        (("a", 2, [], "c", "d"), {}),
        (("a",), {"name": "a"}),
        (("a",), {"other": 1}),
    ],
)
def test_a_record_is_what_the_standard_one_makes(values, named):
    def made(record):
        try:
            return repr(record(*values, **named))
        except TypeError as error:
            return str(error)

    assert made(Quick).replace("Quick", "Generated") == made(Generated)


def test_two_records_are_equal_where_the_standard_ones_are():
    values = [("a", 1, ()), ("a", 2, ()), ("a", 1, (), "elsewhere")]
    for first, second in product(values, values):
        assert (Quick(*first) == Quick(*second)) is (Generated(*first) == Generated(*second))
        assert (hash(Quick(*first)) == hash(Quick(*second))) is (
            hash(Generated(*first)) == hash(Generated(*second))
        )
    assert Quick("a") != Generated("a")
    assert Quick("a") != Longer("a")
    unknown = float("nan")
    assert Single(unknown) == Single(unknown) != Single(float("nan"))


def test_a_default_is_made_for_each_record():
    assert Quick("a").parts is not Quick("a").parts
    assert Longer("a").kept is not Longer("a").kept


def test_a_record_inherits_fields_and_may_compute_others():
    record = Longer("a", 2, note="b", more=1.5)
    assert [field.name for field in fields(record)][-4:] == ["more", "doubled", "kept", "number"]
    assert (record.name, record.note, record.doubled, record.kept, record.number) == ("a", "b", 3.0, [], 3)
    assert replace(record, more=2.0).doubled == 4.0


def test_a_record_that_is_not_frozen_changes_and_has_no_hash():
    record = Changing(count=1)
    record.count += 1
    assert record == Changing(count=2)
    with pytest.raises(TypeError, match="unhashable"):
        hash(record)
    with pytest.raises(AttributeError):
        record.cuont = 3


@pytest.mark.parametrize("record", [Quick("a", note="b"), Longer("a", note="b")])
def test_a_record_stays_frozen_and_can_be_copied(record):
    stays_frozen_and_can_be_copied(record)


def stays_frozen_and_can_be_copied(record):
    for change in (lambda: setattr(record, "name", "c"), lambda: delattr(record, "name")):
        with pytest.raises(FrozenInstanceError, match="name"):
            change()
    assert replace(record, size=3) == type(record)("a", 3, note="b")
    assert copy.copy(record) == pickle.loads(pickle.dumps(record)) == record


def test_a_standard_dataclass_inherits_if_it_is_frozen_too():
    @dataclasses.dataclass(frozen=True)
    class More(Quick):
        more: float = 0.5

    with pytest.raises(FrozenInstanceError, match="name"):
        More("a").name = "b"
    assert replace(More("a"), size=3, more=1.0) == More("a", 3, more=1.0)
    assert More("a", more=1.0) != More("a") == More("a", more=0.5)
    for make in (dataclasses.dataclass, dataclass(slots=True)):
        with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
            make(type("Set", (Quick,), {}))
    for make in (dataclasses.dataclass(frozen=True), dataclass(slots=True, frozen=True)):
        with pytest.raises(TypeError, match="cannot inherit frozen dataclass from a non-frozen one"):
            make(type("Frozen", (Changing,), {}))


def test_an_object_that_could_be_set_is_a_record_like_any_other():
    record = unfrozen(Generated)()
    record.name, record.size, record.parts, record.note, record.place = "a", 2, [], "b", ""
    record.__class__ = Generated
    assert record == Generated("a", 2, [], note="b")
    stays_frozen_and_can_be_copied(record)
