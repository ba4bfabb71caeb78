"""Hints about cases without a check, and labels with too few cases."""

from __future__ import annotations

from tests.sample_suites import WORDS


def sample(key, prompt="Who is it?", **more):
    return {"sample_id": key, "prompt": prompt, "assertions": [{"type": "contains", "value": key[::-1]}], **more}


def test_a_case_without_checks_is_a_hint(health):
    (told,) = health([{"sample_id": "s", "prompt": "?"}], warning="2:2: warning: this case has no check")
    assert told == (
        "eval-samples.json:2:2: no checks: s: no check looks at its answer, so it is never measured; "
        "add one, or remove the case"
    )


def test_a_row_without_expected_text_for_its_checks_is_a_hint(health):
    rows = [{"input": "a", "expected": None, "id": "x"}, {"input": "b", "expected": "y"}]
    warning = "preset-contains: skipped in 1 of 2 rows, as it has no expected text"
    (told,) = health({"evaluators": ["preset-contains"], "rows": rows}, name="rows.json", warning=warning)
    assert told.startswith(
        "rows.json:6:3: no checks: x: its checks compare with an expected text, and it has none"
    )


def test_a_capability_with_few_cases_is_a_hint(health):
    samples = [sample(word, f"What is a {word}?", capability=["common"]) for word in WORDS]
    samples[4]["capability"] = ["common", "rare"]
    samples[7]["category"] = "odd"
    found = health(samples)
    advice = "a loss there may not be detected: add cases until it has 3"
    assert [line.split(": ", 1)[1] for line in found] == [
        f"thin: capability 'rare' rests on 1 case of 10; {advice}",
        f"thin: category 'odd' rests on 1 case of 10; {advice}",
    ]
    assert health(samples[:9]) == []  # of so few, every one is thin
