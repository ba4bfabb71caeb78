"""The checks of a large suite are those of a small one with the same cases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from runevals.evaluators import catalogue
from runevals.lib.storage.store import StoredSequence
from runevals.suites.dialects import LoadOptions, load, stored_checks
from tests.open_files import open_below

FEW, MANY = 40, 1000
DEFAULTS = {"max_length": {"value": 1000}}


@pytest.fixture(autouse=True, scope="module")
def many_are_enough():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_checks, "IN_MEMORY", MANY - 1)
        yield


def item(number: int) -> dict[str, object]:
    own: dict[str, object] = {
        "contains": {"value": f"ä {number}", "weight": 1 + number % 3},
        "contains_any": {"values": ["yes", f"{number}"]},
        "regex": {"pattern": rf"{number}\b", "flags": "i"},
        "similarity": {"threshold": 0.5},
    }
    about = {"testId": f"k{number:05}", "prompt": f"{number}?", "expected_response": f"ä {number}"}
    if number >= FEW:
        return about
    kinds: list[dict[str, object]] = [
        {"evaluators": own},
        {"evaluators": own, "evaluators_mode": "replace"},
        {},
    ]
    if number % 4 < 3:
        return {**about, **kinds[number % 4]}
    turns = [{**about, "evaluators": checks} for checks in (own, {"regex": own["regex"]})]
    return {
        "name": about.pop("testId"),
        "turns": [{k: v for k, v in turn.items() if k != "testId"} for turn in turns],
    }


def suite_file(folder: Path, count: int) -> Path:
    """Beginning with the same lines, whatever the count."""
    folder.mkdir()
    head = {"schemaVersion": "1.2.0", "default_evaluators": DEFAULTS}
    items = ",\n".join(json.dumps(item(number), indent=1) for number in range(count))
    path = folder / "evals.json"
    path.write_text(json.dumps(head)[:-1] + f',\n"items": [\n{items}\n]}}', encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def suites(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suites")
    files = [suite_file(folder / str(count), count) for count in (FEW, MANY)]
    return [load(path, "evals.json", LoadOptions(root=path.parent)) for path in files]


def test_checks_of_a_large_suite_are_those_of_a_small_one(suites):
    small, large = suites
    assert not small.problems
    assert not large.problems
    assert large.cases[:FEW] == small.cases
    for few, many in zip(small.cases, large.cases[:FEW], strict=True):
        for turn, same in zip(few.turns, many.turns, strict=True):
            assert [str(spec.location) for spec in same.checks] == [str(spec.location) for spec in turn.checks]
            assert same.evaluators == turn.evaluators == tuple(spec.name for spec in turn.checks)
            built = [list(map(catalogue.build, each.checks)) for each in (turn, same)]
            assert built[0] == built[1]


def test_only_the_checks_that_a_case_has_of_its_own_leave_the_memory(suites):
    small, large = suites

    def are_stored(suite):
        return [isinstance(turn.checks, StoredSequence) for case in suite.cases[:4] for turn in case.turns]

    assert are_stored(small) == [False] * 5
    assert are_stored(large) == [True, True, False, True, True]
    first, third = (case.turns[0].checks for case in large.cases[:3:2])
    assert first[0] is third[0]


@pytest.mark.needs("linux")
def test_the_file_has_no_name_and_ends_with_the_suite(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = suite_file(tmp_path / "suite", MANY)
    suite = load(path, "evals.json", LoadOptions(root=path.parent))
    assert [os.fstat(file).st_nlink for file in open_below(tmp_path)] == [0]
    assert suite.cases[0].turns[0].checks
    del suite
    assert open_below(tmp_path) == []


def test_if_the_disk_is_full_the_checks_stay_in_memory(tmp_path):
    path = suite_file(tmp_path / "suite", MANY)
    program = (
        "import resource, sys; from pathlib import Path\n"
        "from runevals.suites.dialects import LoadOptions, load, stored_checks\n"
        "stored_checks.IN_MEMORY = 0\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))\n"
        "suite = load(path := Path(sys.argv[1]), 'evals.json', LoadOptions(root=path.parent))\n"
        "checks = [turn.checks for case in suite.cases for turn in case.turns]\n"
        "stored = sum(not isinstance(each, tuple) for each in checks)\n"
        "print(sum(map(len, checks)), stored, len(suite.problems))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    total, stored, problems = map(int, done.stdout.split())
    suite = load(path, "evals.json", LoadOptions(root=path.parent))
    checks = [turn.checks for case in suite.cases for turn in case.turns]
    assert (total, problems) == (sum(map(len, checks)), 0)
    assert 0 < stored < sum(isinstance(each, StoredSequence) for each in checks)


def test_a_wrong_check_of_a_large_suite_is_an_error_at_its_line(tmp_path):
    path = suite_file(tmp_path / "suite", MANY)
    text = path.read_text(encoding="utf-8")
    at = text.rindex('"flags": "i"')
    path.write_text(f'{text[:at]}"flagz": "i"{text[at + 12 :]}', encoding="utf-8")
    (problem,) = load(path, "evals.json", LoadOptions(root=path.parent)).problems
    assert (problem.level, problem.location.line) == ("error", text.count("\n", 0, at) + 1)


def test_a_large_run_reports_its_cases_as_a_small_one_does(project, runevals):
    for count in (FEW, MANY):
        path = suite_file(Path(f"of-{count}"), count)
        rows = [
            {"case": f"k{number:05}", "turn": turn, "output": f"ä {number} yes" if number % 5 else "no"}
            for number in range(count)
            for turn in (1, 2)[: 2 if number < FEW and number % 4 == 3 else 1]
        ]
        (path.parent / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        target = f"recorded:{path.parent.name}/answers.jsonl"
        words = ("--target", target, "-o", f"{count}.json", "-o", f"{count}.xml")
        code, out, err = runevals(f"{path.parent.name}/evals.json", *words)
        assert code == 0, out + err

    small, large = (
        Path(f"{count}.json").read_text(encoding="utf-8").replace(f"of-{count}/", "") for count in (FEW, MANY)
    )
    assert json.loads(large)["cases"][:FEW] == json.loads(small)["cases"]
    assert Path(f"{MANY}.xml").read_text(encoding="utf-8").count('<testcase name="k') == MANY + FEW // 4
