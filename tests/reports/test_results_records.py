"""Cases of results documents, read quickly where they are as we write them."""

import copy
import json
import random

import jsonschema
import pytest

from runevals.lib.parsing.schema import schema
from runevals.records import CaseReport
from runevals.reports import results_document as document
from runevals.reports.results_records import read_case
from tests.reports.conclusions import everything_broken, regressions, renames

SCHEMA = schema("runevals.reports", "results-1")
OTHERS = (None, True, 0, -1, 1.5, "", "passed", "other", [], ["x"], [1], {}, {"a": 1}, [{}], float("inf"), 10**400)


def cases():
    for make in (regressions, renames, everything_broken):
        yield from json.loads(document.write(make()))["cases"]


def test_cases_are_read_as_the_converter_reads_them():
    found = [read_case(case) for case in cases()]
    assert found == [document._structured(case, CaseReport) for case in cases()]


def test_what_cases_have_in_common_is_in_memory_once():
    one, other = (read_case(next(cases())) for _ in range(2))
    assert one.suite is other.suite
    assert one.layers is other.layers
    first, second = (case.attempts[0].turns[0].results[0] for case in (one, other))
    assert first.id is second.id
    assert (one.composite, one.composite is other.composite) == (1.0, True)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_read_is_valid_and_means_what_the_converter_makes_of_it(seed):
    luck = random.Random(seed)
    valid = jsonschema.Draft202012Validator({**SCHEMA["$defs"]["case"], "$defs": SCHEMA["$defs"]})
    originals, read = list(cases()), 0
    for _ in range(400):
        case = copy.deepcopy(luck.choice(originals))
        parent, key = luck.choice(list(places(case)))
        if luck.random() < 0.3:
            del parent[key]
        else:
            parent[key] = luck.choice(OTHERS)
        try:
            found = read_case(case)
        except (ValueError, KeyError, TypeError):
            continue
        read += 1
        assert valid.is_valid(case)
        assert found == document._structured(case, CaseReport)
    assert read > 20


def places(value):
    """Each place in a value: what holds it, and its key or index."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from places(item)
