"""Values of a document of unknown origin: what has another shape is refused with its place."""

from __future__ import annotations

import pytest

from runevals.imports.results.fields import Json
from runevals.records.errors import InvalidDocument

DOCUMENT = Json({"a": [1, "x", None], "big": 10**400, "nan": float("nan"), "minus": -1, "id": 7}, "x.json")


def test_what_is_absent_is_nothing():
    absent = DOCUMENT["no"]["such"]
    assert (absent.value, absent.entries, absent.members, absent.number_or_none, absent.text_or_none) == (
        *(None, [], []),
        *(None, None),
    )


def test_a_number_is_an_id():
    assert DOCUMENT["id"].text == "7"


@pytest.mark.parametrize(
    ("read", "message"),
    [
        pytest.param(lambda d: d["a"]["b"].value, r"x.json: /a is \[1, \"x\", null\], not an object", id="object"),
        pytest.param(lambda d: d["id"].entries, "x.json: /id is 7, not a list", id="list"),
        pytest.param(lambda d: d["a"].entries[2].text, "x.json: /a/2 is null, not a text", id="text"),
        pytest.param(lambda d: d["a"].entries[1].number_or_none, 'x.json: /a/1 is "x", not a number', id="number"),
        pytest.param(lambda d: d["big"].number_or_none, "not a number that can be computed with", id="huge"),
        pytest.param(lambda d: d["nan"].number_or_none, "not a number that can be computed with", id="nan"),
        pytest.param(lambda d: d["minus"].amount_or_none, "x.json: /minus is -1, not 0 or more", id="negative"),
        pytest.param(lambda d: d["id"].flag, "x.json: /id is 7, not true or false", id="flag"),
    ],
)
def test_another_shape_is_refused(read, message):
    with pytest.raises(InvalidDocument, match=message):
        read(DOCUMENT)
