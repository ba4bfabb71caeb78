"""Assertions of promptfoo, converted and run on recorded answers."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def verdicts(project, runevals):
    """title → (provider's config, assertion, passing answer, failing answer) ⇒ those that are converted otherwise.

    An answer is a text, a value as JSON, or a recorded answer with its tool calls.
    """

    def run(table):
        samples, answers = [], []
        for number, (title, (config, assertion, *outputs)) in enumerate(table.items()):
            sample = _converted(project, runevals, f"{number}", config, assertion, title)
            for output, outcome in zip(outputs, ("passed", "failed"), strict=True):
                key = f"{title}, {outcome}"
                samples.append({**sample, "sample_id": key, "prompt": "?"})
                answers.append({"case": key, **_recorded(output)})
        project.write("suite.json", samples)
        project.write("answers.jsonl", "\n".join(map(json.dumps, answers)))
        runevals("suite.json", "--target", "recorded:answers.jsonl", "-o", "out.json")
        found = {case["key"]: case["status"] for case in project.document("out.json")["cases"]}
        assert len(found) == 2 * len(table)
        return {key: status for key, status in found.items() if not key.endswith(status)}

    return run


def _converted(project, runevals, folder, config, assertion, title):
    """The sample that a configuration with one assertion becomes."""
    provider = {"id": "openai:tiny", "config": config}
    test = {"vars": {"n": 2}, "assert": [assertion]}
    project.write("p.json", {"prompts": ["{{n}}"], "providers": [provider], "tests": [test]})
    files = ("-o", f"{folder}/s.json", "--settings", f"{folder}/s.yaml")
    code, _, err = runevals("import", "promptfoo", "p.json", *files)
    assert (code, "lost:" in err) == (0, False), f"{title}: {err}"
    (sample,) = project.document(f"{folder}/s.json")["samples"]
    for check in sample["assertions"]:
        check["fn"] = f"{folder}/{check['fn']}"
    return sample


def _recorded(output):
    if isinstance(output, dict) and "output" in output:
        return output
    return {"output": output if isinstance(output, str) else json.dumps(output)}
