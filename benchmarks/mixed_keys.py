"""Files made by mixing the keys of all formats: `python benchmarks/mixed_keys.py [--files N] [--seed S]`.

Each text in a file is its own. A file must be refused, have a warning, or be loaded with each of its prompts in a
case (or in a note of it, which checks may read) and each of its checks in a check. Each loss is printed.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from runevals.records.errors import InvalidSuite
from runevals.suites.dialects import LoadOptions, load

# What stands for a value: `prompt`, `check` and `note` texts get a number, and `[...]` is a list of such.
CHECKS: dict[str, Any] = {
    "evaluators": {"ExactMatch": {}, "Contains": {"value": "check"}},
    "assertions": [{"type": "contains", "value": "check"}],
    "assert": [{"type": "icontains", "value": "check"}],
    "graders": [{"type": "output-contains", "name": "note", "config": {"substring": "check"}}],
    "expectations": ["check check"],
    "rubric": "check check",
    "rubrics": ["check check"],
    "criteria": ["check check"],
    "checks": [{"type": "contains", "value": "check"}],
    "expected": "check",
    "expected_response": "check",
    "expected_output": "check",
    "expected_behavior": ["check check"],
    "expected_outcome": "check check",
    "acceptance_criteria": ["check check"],
    "ideal": "check",
    "ground_truth": "check",
    "should_trigger": True,
}
CASES: dict[str, Any] = {
    **CHECKS,
    "prompt": "prompt",
    "input": "prompt",
    "query": "prompt",
    "question": "prompt",
    "turns": [{"prompt": "prompt", "expected_response": "check"}],
    "messages": [{"role": "user", "content": "prompt"}],
    "vars": {"question": "prompt"},
    "inputs": {"question": "prompt"},
    "sample_id": "id",
    "testId": "id",
    "id": "id",
    "name": "id",
    "item": {"input": "prompt", "ideal": "check"},
    "input_messages": [{"role": "user", "content": "prompt"}],
    "scenario": "prompt",
    "actual_output": "note",
    "retrieval_context": ["note"],
    "skill": "notes",
    "category": "note",
    "description": "note",
    "notes": "note",
}
LISTS = (
    "items", "samples", "rows", "evals", "tests", "cases", "testData", "tasks", "stimuli", "data", "scenarios",
    "evalcases", "queries", "test_cases",
)  # fmt: skip
ROOTS: dict[str, Any] = {
    "schemaVersion": "1.2.0",
    "prompts": ["prompt prompt"],
    "expected_responses": ["check"],
    "default_evaluators": {"Contains": {"value": "check"}},
    "providers": ["openai:gpt"],
    "targets": ["openai:gpt"],
    "defaultTest": {"assert": [{"type": "contains", "value": "check"}]},
    "assertionTemplates": {"one": {"type": "contains", "value": "check"}},
    "skill_name": "notes",
    "messages": [{"role": "user", "content": "prompt {{input}}"}],
    "model": "openai/gpt",
    "modelParameters": {"temperature": 0},
    "data_mapping": {"query": "question"},
    "description": "note",
    "metadata": {"owner": "note"},
    "graders": [{"type": "contains", "value": "check"}],
    "evaluators": ["ExactMatch"],
    "execution": {"target": "default"},
    "config": {"trials_per_task": 3},
    "assert": [{"type": "contains", "value": "check"}],
    "tags": ["note"],
    "name": "note",
}
# Which root keys belong together, so that a file often is nearly one of a format.
TOGETHER = (
    ("schemaVersion", "items", "default_evaluators"),
    ("prompts", "expected_responses"),
    ("samples",),
    ("rows", "evaluators"),
    ("skill_name", "evals"),
    ("messages", "model", "testData", "evaluators"),
    ("prompts", "providers", "tests", "defaultTest"),
    ("tests", "execution", "assert"),
    ("tasks", "graders", "config"),
    ("stimuli", "name"),
    ("stimuli", "config"),
    ("data", "evaluators", "name"),
)
IN_A_CASE = (
    ("testId", "prompt", "expected_response", "evaluators"),
    ("sample_id", "prompt", "assertions", "rubric"),
    ("input", "expected", "id"),
    ("id", "prompt", "expectations", "expected_output"),
    ("query", "should_trigger"),
    ("vars", "assert", "description"),
    ("skill", "input", "expected", "id"),
    ("question", "expected"),
    ("turns", "testId"),
    ("name", "prompt", "graders"),
    ("name", "turns", "graders"),
    ("item",),
    ("query", "ground_truth"),
    ("query", "expected_behavior"),
    ("input", "expected_output", "actual_output"),
    ("scenario", "turns", "expected_outcome"),
)


def generated(random_: random.Random) -> tuple[str, str]:
    """(a suffix, the text of a file)."""
    suffix = random_.choice((".json", ".json", ".jsonl"))
    numbers = count()
    case = random_.choice(IN_A_CASE)
    keys = [*case, *_some(random_, list(CASES), 2)]
    entries = [_numbered({key: CASES[key] for key in keys}, numbers) for _ in range(random_.randint(1, 2))]
    if suffix == ".jsonl":
        return suffix, "\n".join(map(json.dumps, entries))
    if random_.random() < 0.3:
        return suffix, json.dumps(entries if random_.random() < 0.7 else entries[0])
    roots = dict.fromkeys([*random_.choice(TOGETHER), *_some(random_, [*ROOTS, *LISTS], 2)])
    document = {key: entries if key in LISTS else _numbered(ROOTS[key], numbers) for key in roots}
    others = [key for key in document if key in LISTS][1:]
    for key in others:  # a case of each list is another one
        document[key] = [_numbered({name: CASES[name] for name in keys}, numbers)]
    return suffix, json.dumps(document)


def _some(random_: random.Random, keys: list[str], most: int) -> list[str]:
    return random_.sample(keys, random_.randint(0, most))


def _numbered(value: Any, numbers: Iterator[int]) -> Any:
    """The value with texts of its own."""
    if isinstance(value, dict):
        return {key: _numbered(inner, numbers) for key, inner in value.items()}
    if isinstance(value, list):
        return [_numbered(inner, numbers) for inner in value]
    if isinstance(value, str):
        return re.sub(r"\b(prompt|check|note|id)\b", lambda match: f"{match[1]}{next(numbers)}", value)
    return value


def lost(suffix: str, text: str, folder: Path) -> list[str] | None:
    """The prompts and checks that a valid file loses; None for one that is refused or has a warning."""
    path = folder / f"suite{suffix}"
    path.write_text(text, encoding="utf-8")
    try:
        suite = load(path, path.name, LoadOptions(root=folder, evaluators={"ExactMatch": {}}))
    except InvalidSuite:
        return None
    if suite.errors or any(problem.level == "warning" for problem in suite.problems):
        return None
    turns = [turn for case in suite.cases for turn in case.turns]
    opening = [message.content for case in suite.cases for message in case.opening]
    variables = [case.variables for case in suite.cases]
    notes = [value for case in suite.cases for value in case.metadata.values() if isinstance(value, str)]
    kept = {
        "prompt": repr((turns, opening, variables, notes)),
        "check": repr([(turn.checks, turn.expected) for turn in turns]),
    }
    words = re.findall(r"\b(prompt|check)(\d+)\b", text)
    return [kind + number for kind, number in words if not re.search(rf"\b{kind}{number}\b", kept[kind])]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random_ = random.Random(options.seed)
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.files):
            suffix, text = generated(random_)
            missing = lost(suffix, text, Path(folder))
            ends["refused, or with a warning" if missing is None else "whole" if not missing else "LOST"] += 1
            if missing:
                print(f"{', '.join(missing)} lost: {text}")
    print(dict(ends))
    raise SystemExit(bool(ends["LOST"]))


if __name__ == "__main__":
    main()
