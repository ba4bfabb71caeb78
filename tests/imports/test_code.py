"""Code of promptfoo's configurations as files of checks: the same verdicts, or a reason why not."""

from __future__ import annotations

PARSED = {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}}
FUNCTIONS = {"functions": [{"name": "f"}]}
CALL = {"output": "", "tool_calls": [{"name": "f", "input": {"q": "Rome"}}]}
GRADER = """from typing import Any

def get_assert(output: Any, context) -> dict:
    print(context["prompt"])
    return {"pass": output["n"] == context["vars"]["n"], "score": 1.0, "reason": "n"}

def longer(output, context):
    return len(output) > 1
"""
MODULE = """const limit = 1;
module.exports = { check: (output, context) => output.n > limit && context.vars.n > limit };
"""
ESM = "export default function (output) {\n  return { pass: output === 'a', score: 1, reason: 'r' };\n}\n"
JAVASCRIPT = {
    "field of an object": (PARSED, "output.n === 2\n", {"n": 2}, {"n": 3}),
    "object, text": (PARSED, "typeof output === 'object'", {"n": 2}, "no JSON"),
    "object of any provider": ({}, "output.list[0] === 1", {"list": [1]}, {}),
    "declarations": ({}, "const s = output; s === 'a'", "a", "b"),
    "variable in code": ({}, "output.length === {{n}}", "ab", "a"),
    "text of an object": ({}, "JSON.parse(output).n === 2", {"n": 2}, {"n": 3}),
    "CommonJS": (PARSED, "file://module.cjs:check", {"n": 2}, {"n": 1}),
    "ES module": ({}, "file://esm.mjs", "a", "b"),
    "argument of a call": (FUNCTIONS, "JSON.parse(output.arguments).q === 'Rome'", CALL, {"output": "?"}),
}
PYTHON = {
    "expression": ({}, "max(0, len(output) - 3)", "four", "abc"),
    "lines": (PARSED, "n = output['n']\nreturn n > 1", {"n": 2}, {"n": 1}),
    "file": ({}, "file://grader.py", {"n": 2}, {"n": 1}),
    "function of a file": ({}, "file://grader.py:longer", "abc", "a"),
    "one line and a line break": ({}, "return output == 'a'\n", "a", "b"),
    "text": ({}, "str(len(output) > 1).lower()", "ab", "a"),
    "number as text": ({}, "str(len(output) - 1)", "ab", "a"),
    "JSON as text": ({}, "json.dumps({'pass': output == 'a', 'score': 1, 'reason': ''})", "a", "b"),
}


def test_converted_code_gives_the_same_verdicts(project, verdicts):
    for name, text in (("module.cjs", MODULE), ("esm.mjs", ESM), ("grader.py", GRADER)):
        project.write(name, text)
    table = {
        f"{kind}: {title}": (config, {"type": kind, "value": code}, *answers)
        for kind, rows in (("javascript", JAVASCRIPT), ("python", PYTHON))
        for title, (config, code, *answers) in rows.items()
    }
    table["threshold"] = ({}, {"type": "python", "value": "len(output)", "threshold": 3}, "abc", "ab")
    scored = {"type": "python", "value": "{'pass': True, 'score': len(output), 'reason': ''}", "threshold": 3}
    table["threshold of a dict"] = ({}, scored, "abc", "ab")
    table["negated threshold of a dict"] = ({}, {**scored, "type": "not-python"}, "ab", "abc")
    table["negated"] = ({}, {"type": "not-python", "value": "'x' in output"}, "a", "x")
    assert verdicts(table) == {}


LOST = {
    "a program": ({"type": "javascript", "value": "require('fs').existsSync(output)"}, "it reaches outside"),
    "context": ({"type": "javascript", "value": "context.trace.spans.length > 0"}, "it reads more of its context"),
    "imports": ({"type": "python", "value": "import os\nreturn os.path.exists(output)"}, "it imports os"),
    "syntax": ({"type": "python", "value": "len(output"}, "is not Python that can be read"),
    "a judge": ({"type": "similar", "value": "a", "transform": "output[0].name"}, "what its transform makes"),
    "TypeScript": ({"type": "javascript", "value": "file://check.ts"}, "is a program"),
    "two languages": ({"type": "python", "value": "True", "transform": "output[0]"}, "a transform in JavaScript"),
    "no text": ({"type": "equals", "value": True}, "its value is not text"),
    "no functions": ({"type": "is-valid-openai-tools-call"}, "declares no functions"),
}


def test_code_that_has_no_equal_is_reported_as_lost(project, runevals):
    tests = [{"vars": {"n": 1}, "assert": [assertion]} for assertion, _ in LOST.values()]
    project.write("p.json", {"prompts": ["{{n}}"], "providers": ["openai:tiny"], "tests": tests})
    _, _, err = runevals("import", "promptfoo", "p.json")
    for number, (title, (_, reason)) in enumerate(LOST.items(), start=1):
        (line,) = [line for line in err.splitlines() if line.startswith(f"lost: test {number},")]
        assert reason in line, title
    assert "differs: " not in err
