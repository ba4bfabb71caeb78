"""What past results say of cases, in `runevals validate --health`."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from runevals.reports import results_document as document
from runevals.suites.dialects import LoadOptions, load
from tests.ending import ended
from tests.reports.conclusions import conclusion
from tests.sample_reports import case, report
from tests.sample_suites import WORDS

KEYS = [f"k{n}" for n in range(10)]


@pytest.fixture
def past(project, runevals):
    """Writes past results of a suite of ten cases → the findings. `versions` are changes to the reports' cases."""

    def ask(*versions, arguments=("--results", "past"), commits=None):
        items = [
            {"testId": key, "prompt": f"What is a {word}?", "expected_response": word[::-1]}
            for key, word in zip(KEYS, WORDS, strict=True)
        ]
        suite = {"schemaVersion": "1.2.0", "default_evaluators": {"ExactMatch": {}}, "items": items}
        path = project.write("evals.json", suite)
        content = {one.key: one.fingerprint for one in load(path, "evals.json", LoadOptions()).cases}
        for number, outcomes in enumerate(versions):
            cases = [
                case(
                    key,
                    outcomes.get(key, "p" if number % 2 else "f"),
                    suite="evals.json",
                    fingerprint=content[key],
                )
                for key in KEYS
            ]
            changed = [outcomes.get("each", lambda found: found)(found) for found in cases]
            commit = f"commit{number}" if commits is None else commits[number]
            made = report(changed)
            made = replace(made, run=replace(made.run, commit=commit))
            project.write(f"past/{number}.json", document.write(conclusion(made, None)))
        code, out, _ = runevals("validate", "--health", *arguments)
        assert code == 0
        return [line for line in out.splitlines() if not line.startswith(("✓", "health"))]

    return ask


def test_a_case_with_the_same_outcome_in_every_version_is_a_hint(past):
    always, never = {"k1": "pp"}, {"k2": "f"}
    found = past(*[always | never] * 4)
    passed = "passed; keep it if it guards something, otherwise make it harder"
    failed = "failed; it cannot show a loss: fix the program under test, or the case"
    assert found == [
        f"evals.json:12:3: tells nothing apart: k1: in each of 4 versions every run of it {passed}",
        f"evals.json:17:3: tells nothing apart: k2: in each of 4 versions every run of it {failed}",
    ]


@pytest.mark.parametrize(
    ("versions", "commits"),
    [
        ([{"k1": "p"}] * 2, None),  # two versions are too few to say
        ([{"k1": "p"}] * 4, ["a", "a", "b", "b"]),  # and so are four results of two
        ([{"k1": "p"}, {"k1": "p"}, {"k1": "pf"}, {"k1": "p"}], None),
        ([{"k1": "p"}, {"k1": "p"}, {"k1": "e"}], None),  # what was not measured is no version of it
    ],
)
def test_few_versions_give_no_hint(past, versions, commits):
    assert past(*versions, commits=commits) == []


def test_results_of_an_edited_case_do_not_count(past):
    def edited(found):
        return replace(found, fingerprint="x") if found.key == "k1" else found

    assert past(*[{"k1": "p", "each": edited}] * 4) == []


def spent(key, latency_s, cost_usd, usual=1.0):
    """Changes every case to usual amounts, and one to these."""

    def change(found):
        number = KEYS.index(found.key)
        own = (
            (latency_s, cost_usd)
            if found.key == key
            else (usual * (1 + number / 100), usual * (0.01 + number / 10000))
        )
        (attempt,) = found.attempts
        turns = tuple(replace(turn, latency_s=own[0], cost_usd=own[1]) for turn in attempt.turns)
        return replace(found, attempts=(replace(attempt, turns=turns),))

    return {"each": change}


def test_cases_far_slower_or_costlier_than_the_others_are_hints(past):
    found = past(spent("k3", 9.0, 0.5))
    assert [line.partition(";")[0] for line in found] == [
        "evals.json:22:3: slow: k3: takes 9.0 s, where the middle case takes 1.1 s",
        "evals.json:22:3: costly: k3: costs $0.50, where the middle case costs $0.0106",
    ]


@pytest.mark.parametrize(("latency_s", "cost_usd"), [(1.3, 0.012), (None, None), (0.0, 0.0)])
def test_cases_slightly_above_the_others_or_unknown_are_not_hints(past, latency_s, cost_usd):
    assert past(spent("k3", latency_s, cost_usd)) == []


def test_some_milliseconds_are_not_worth_a_hint(past):
    assert past(spent("k3", 0.5, 0.009, usual=0.001)) == []


def test_health_reads_the_results_folder_by_default(past, project, runevals):
    assert past(*[{"k1": "p"}] * 3, arguments=()) == []
    (project.path / ".evals").mkdir()
    (project.path / "past").rename(project.path / ".evals/results")
    (project.path / ".evals/results/no.json").write_text("{}", encoding="utf-8")
    code, out, err = runevals("validate", "--health")
    ended(code, 0, out, "tells nothing apart: k1")
    assert "skipped .evals/results/no.json: not a results document" in err


def test_a_named_results_file_must_be_valid(past, project, runevals):
    past({})
    project.write("other.json", json.dumps({}))
    code, _, err = runevals("validate", "--health", "--results", "past/0.json", "--results", "other.json")
    ended(code, 2, err, "other.json is not a results document")
    assert runevals("validate", "--health", "--results", "absent.json")[0] == 2
