"""A project with several suites, attempts and judges, all of it recorded."""

from __future__ import annotations

import json

import pytest

ATTEMPTS = 3
ANIMALS = [f"animal {number}" for number in range(18)]


def items(prefix, count, **more):
    return [
        {
            "testId": f"{prefix}-{number}",
            "prompt": f"Say {ANIMALS[number]}.",
            "expected_response": ANIMALS[number],
            "category": ("replay", "farm", "wild")[number % 3],
            **more,
        }
        for number in range(count)
    ]


@pytest.fixture
def zoo(project):
    """Two suites whose answers and judgements, some of them errors, are recorded for three attempts."""
    checks = {
        "ExactMatch": {},
        "Relevance": {"threshold": 4, "weight": 2},
        "max_length": {"value": 100},
        "tone": {},
    }
    project.write(
        "evals/a.json", {"schemaVersion": "1.2.0", "default_evaluators": checks, "items": items("a", 18)}
    )
    project.write("evals/b.json", {"schemaVersion": "1.2.0", "default_evaluators": checks, "items": items("b", 7)})
    answers, judgements = [], []
    for prefix, count in (("a", 18), ("b", 7)):
        for number in range(count):
            for attempt in range(1, ATTEMPTS + 1):
                answer = {"case": f"{prefix}-{number}", "attempt": attempt, "output": f"{ANIMALS[number]}!"}
                answer |= {
                    "cost_usd": 0.1 * (number + 1),
                    "input_tokens": number,
                    "latency_ms": 10 * number + attempt,
                }
                answer |= {
                    "tool_calls": [{"name": "Read", "input": {"n": number, "deep": [1.0, None]}, "ok": True}]
                }
                if (number + attempt) % 7 == 0:
                    answer["output"] = "nothing of the kind"
                if number == 11:
                    answer["error"] = {"code": "target_timeout", "message": "no answer"}
                answers.append(answer)
        judgements += [
            {"case": f"{prefix}-{number}", "evaluator": name, "score": 1 + number % 5, "reason": "so"}
            for number in range(count)
            for name in ("Relevance", "tone")
        ]
    other = [{**judgement, "score": 5} for judgement in judgements]
    for name, lines in (("answers.jsonl", answers), ("one.jsonl", judgements), ("two.jsonl", other)):
        project.write(name, "".join(json.dumps(line) + "\n" for line in lines))
    project.write(
        "runevals.yaml",
        "suites: [evals/a.json, evals/b.json]\nrepeat: 3\nerrors: {limit: 0.1}\n"
        "evaluators: [{id: tone, type: llm, prompt: 'Polite? {{output}}', scoreRange: {min: 0, max: 10}}]\n"
        "judges: [recorded:one.jsonl, recorded:two.jsonl]\n"
        "target: {type: recorded, path: answers.jsonl, deterministic: false}\n",
    )
    return project
