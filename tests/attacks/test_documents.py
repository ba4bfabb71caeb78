"""A results document or a suite of any shape is read, or refused with its place: nothing in it is our bug."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from runevals.lib.storage.packed import pack
from runevals.records import Links
from runevals.records.errors import InvalidDocument, InvalidSuite
from runevals.reports import JUNIT, SUMMARY, TABLE, comment, console, html
from runevals.reports.results_document import parse, read
from runevals.suites.dialects import LoadOptions, load
from tests.attacks.changed_values import places, put

TESTS = Path(__file__).parents[1]
GOLDEN = TESTS / "reports" / "golden" / "regressions.results.json"
DIALECTS = TESTS / "suites" / "dialects"
VALUES = {
    "null": None,
    "a number": -1,
    "text": "x",
    "a list": [1],
    "an empty list": [],
    "an object": {"x": {}},
    "much": 10**90,
    "the first day": "0001-01-01T00:00:00+14:00",
    "the last day": "9999-12-31T23:59:59-14:00",
}


@pytest.fixture(scope="module")
def document():
    """One with a base, one case and its change."""
    found = json.loads(GOLDEN.read_text(encoding="utf-8"))
    kept = {(change["suite"], change["key"]) for change in found["comparison"]["changes"][:1]}
    found["cases"] = [case for case in found["cases"] if (case["suite"], case["key"]) in kept]
    found["comparison"]["changes"] = found["comparison"]["changes"][:1]
    hunks = [{"path": "a.md", "first": number, "last": number, "kind": "changed"} for number in (1, 2)]
    runs = {f"{side}_{name}": 1 for side in ("head", "restored") for name in ("passed", "runs")}
    blamed = {"suite": "s", "key": "k", "hunks": hunks, "put_back": hunks, "calls": 1, "cost_usd": 0.5, **runs}
    found["blame"] = {"base": "0" * 40, "hunks": 2, "files": 1, "uncommitted": True, "cases": [blamed]}
    found["run"]["settings"] = {"concurrency": 4}
    found["prompt_changes"] = [{"path": "a.md", "diff": "+x"}]
    return found


def test_the_document_is_read(document):
    """The control; and there is much in it to be wrong."""
    assert len(parse(json.dumps(document), "a document").report.cases) == 1
    assert len(list(places(document))) > 150


@pytest.mark.parametrize("kind", VALUES)
def test_every_value_may_be_another(document, kind):
    read = 0
    for place in places(document):
        changed = put(document, place, VALUES[kind])
        with suppress(InvalidDocument):
            conclusion = parse(json.dumps(changed), "a document")
            read += 1
            for form in (console, JUNIT, TABLE, SUMMARY, html):
                assert form.render(conclusion), place
            assert comment.render(conclusion, Links(), "<!-- m -->"), place
    assert read  # some of these are what may be there


@pytest.mark.parametrize("packed", [False, True], ids=["as it is", "packed"])
def test_a_document_with_a_case_twice_is_refused(tmp_path, document, packed):
    """Only one of them would be compared: the other may have failed."""
    text = json.dumps({**document, "cases": document["cases"] * 2}, indent=1)
    path = tmp_path / ("results.json.gz" if packed else "results.json")
    path.write_bytes(b"".join(pack([text])) if packed else text.encode())
    key = document["cases"][0]["key"]
    with pytest.raises(InvalidDocument, match=f"results document: the case '{key}' of .* is there twice"):
        read(path)


@pytest.mark.parametrize("of", ["case", "attempt"])
def test_a_document_whose_statuses_contradict_its_checks_is_refused(document, of):
    """They would be believed: a case that failed would be compared as one that passed."""
    changed = copy.deepcopy(document)
    [case] = changed["cases"]
    assert case["status"] == "failed"  # the control
    for one in [case] if of == "case" else [case, *case["attempts"]]:
        one["status"] = "passed"
    with pytest.raises(InvalidDocument, match=f"the case '{case['key']}' of .* contradicts itself"):
        parse(json.dumps(changed), "a document")


def test_a_small_file_does_not_become_many_values(tmp_path):
    """An empty object takes 30 times the memory of its text: half a GiB of them, more than a runner has."""
    path = tmp_path / "results.json.gz"
    with path.open("wb") as file:
        for piece in pack(["[", *["{}," * 10**6] * 16, "0]"]):
            file.write(piece)
    assert path.stat().st_size < 10**6
    with pytest.raises(InvalidDocument, match="more than 30 million values"):
        read(path)


def shapes(dialect):
    """(file, value, place) of the format's valid files; where a thing stands in a list makes no difference."""
    seen = set()
    for path in sorted((DIALECTS / dialect / "valid").glob("*")):
        if path.suffix not in (".json", ".yaml", ".yml") or path.name.endswith(".cases.json"):
            continue
        with suppress(ValueError, yaml.YAMLError):  # a few are about how they are written
            text = path.read_text(encoding="utf-8")
            suite = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
            for place in places(suite):
                words = tuple(key for key in place if isinstance(key, str))
                if words not in seen:
                    seen.add(words)
                    yield path, suite, place


@pytest.mark.parametrize("dialect", ["eval-document", "eval-samples", "prompt-yml", "rows", "skill-cases"])
def test_every_value_of_a_suite_may_be_another(tmp_path, dialect):
    read = refused = 0
    for path, suite, place in shapes(dialect):
        for value in (None, -1, "x", [1], [[]], {"x": {}}, True):
            changed = json.dumps(put(suite, place, value), default=str)
            (tmp_path / path.name).write_text(changed, encoding="utf-8")
            with suppress(InvalidSuite):
                found = load(tmp_path / path.name, path.name, LoadOptions()).problems
                refused += any(problem.level == "error" for problem in found)
                read += 1
    assert 0 < refused < read
