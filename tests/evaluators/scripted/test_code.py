"""Graders of one's own: the document's examples, and what their authors are told."""

from __future__ import annotations

import pytest

from runevals.evaluators.scripted.code import Code
from runevals.records import Verdict
from tests.evaluators.subjects import answering, run

# The four functions of the evaluator specification, §3.2 and §3.3, as it prints them.
ALWAYS = """
/**
 * 评估函数
 * @returns {Promise<{passed: boolean, score?: number, reason?: string}>}
 */
module.exports = async function evaluate(input, output, expected, metadata) {
  // 评估逻辑
  return {
    passed: true,
    score: 1.0,
    reason: '评估通过'
  };
};
"""
LENGTH = """
module.exports = async function evaluate(input, output, expected, metadata) {
  const minLength = metadata.minLength || 100;

  if (output.length < minLength) {
    return {
      passed: false,
      score: output.length / minLength,
      reason: `输出长度 ${output.length} 小于要求的 ${minLength}`
    };
  }

  return {
    passed: true,
    score: 1.0,
    reason: '长度符合要求'
  };
};
"""
KEYWORDS = """
const _ = require('lodash');

module.exports = async function evaluate(input, output, expected, metadata) {
  const keywords = metadata.keywords || [];
  const foundKeywords = keywords.filter(kw => output.includes(kw));
  const coverage = foundKeywords.length / keywords.length;

  return {
    passed: coverage >= 0.8,
    score: coverage,
    reason: `包含关键词 ${foundKeywords.length}/${keywords.length}`,
    details: { foundKeywords, missingKeywords: _.difference(keywords, foundKeywords) }
  };
};
"""
PYTHON = '''
def evaluate(input: str, output: str, expected: str | None, metadata: dict) -> dict:
    """
    评估函数
    """
    return {
        "passed": True,
        "score": 1.0,
        "reason": "评估通过"
    }
'''


def judged(sandbox, code, text="", *, language="javascript", metadata=None, expected=None):
    from msgspec.structs import replace

    subject = replace(answering(text, prompt="?", expected=expected), metadata=metadata or {})
    return run(Code(code=code, language=language, filename="grader.js"), subject, sandbox)


@pytest.mark.parametrize(
    ("code", "language", "text", "metadata", "verdict"),
    [
        pytest.param(ALWAYS, "javascript", "", {}, Verdict(1.0, "评估通过", passed=True), id="always"),
        pytest.param(PYTHON, "python", "", {}, Verdict(1.0, "评估通过", passed=True), id="python"),
        pytest.param(
            LENGTH,
            "javascript",
            "x" * 50,
            {},
            Verdict(0.5, "输出长度 50 小于要求的 100", passed=False),
            id="too short",
        ),
        pytest.param(
            LENGTH,
            "javascript",
            "x" * 10,
            {"minLength": 10},
            Verdict(1.0, "长度符合要求", passed=True),
            id="long enough",
        ),
        pytest.param(
            KEYWORDS,
            "javascript",
            "一 二 三 四",
            {"keywords": ["一", "二", "三", "四", "五"]},
            Verdict(
                0.8,
                "包含关键词 4/5",
                {"foundKeywords": ["一", "二", "三", "四"], "missingKeywords": ["五"]},
                passed=True,
            ),
            id="most keywords",
        ),
    ],
)
def test_the_documented_examples_give_the_documented_verdicts(sandbox, code, language, text, metadata, verdict):
    assert judged(sandbox, code, text, language=language, metadata=metadata) == verdict


def test_a_result_without_keywords_is_an_invalid_result(sandbox):
    answer = judged(sandbox, KEYWORDS, "x", metadata={})
    assert (answer.error, answer.reason) == (
        "evaluator_bad_result",
        "result does not follow the contract: score is NaN",
    )


@pytest.mark.parametrize(
    ("language", "code", "error", "reason"),
    [
        ("javascript", "module.exports = (", "evaluator_syntax", "syntax error (line "),
        ("javascript", "import " + "/**/" * 40 + "!", "evaluator_syntax", "syntax error (line "),
        ("python", "\ndef evaluate(:\n    pass", "evaluator_syntax", "syntax error (line 2): "),
        (
            "javascript",
            "require('axios')",
            "evaluator_missing_module",
            "module 'axios' is not available (available: lodash, dayjs, validator, ajv)",
        ),
        (
            "python",
            "import numpy as np",
            "evaluator_missing_module",
            "module 'numpy' is not available (available: collections, difflib, json, math, re)",
        ),
        (
            "javascript",
            "module.exports = (input) => {\n  let nothing;\n  return nothing.x + input;\n}",
            "evaluator_crashed",
            "TypeError: cannot read property 'x' of undefined (line 3)",
        ),
        (
            "python",
            "def evaluate(i, o, e, m):\n    return {}['x']",
            "evaluator_crashed",
            "KeyError: 'x' (line 2)",
        ),
        (
            "python",
            "def evaluate(i, o, e, m):\n    return {'passed': 1}",
            "evaluator_bad_result",
            "result does not follow the contract: 'passed' must be true or false, not a number",
        ),
        (
            "javascript",
            "module.exports = () => ({passed: true, score: 2})",
            "evaluator_bad_result",
            "result does not follow the contract: 'score' must be from 0 to 1, but is 2",
        ),
        (
            "javascript",
            "module.exports = () => ({passed: true, reason: 5})",
            "evaluator_bad_result",
            "result does not follow the contract: 'reason' must be text, not a number",
        ),
        (
            "javascript",
            "module.exports = () => true",
            "evaluator_bad_result",
            "result does not follow the contract: it must be an object with 'passed', not true",
        ),
        (
            "javascript",
            "exports.grade = () => 1",
            "evaluator_bad_result",
            "result does not follow the contract: the code exports no function (input, output, expected",
        ),
        (
            "python",
            "def grade():\n    pass",
            "evaluator_bad_result",
            (
                "result does not follow the contract: the code defines no function evaluate(input, output, "
                "expected, metadata)"
            ),
        ),
        (
            "python",
            "def evaluate(i, o, e, m):\n    open('/etc/passwd')",
            "evaluator_forbidden",
            "the sandbox forbids this: PermissionError: [Errno 1] Operation not permitted: '/etc/passwd' (line 2)",
        ),
    ],
)
def test_an_invalid_grader_is_reported_with_what_to_fix(sandbox, language, code, error, reason):
    answer = judged(sandbox, code, language=language)
    assert answer.error == error
    assert answer.reason.startswith(reason)


def test_output_that_a_grader_prints_is_in_the_details(sandbox):
    code = "module.exports = (i, o) => { console.log('seen', o, {a: 1}); return {passed: true} }"
    assert judged(sandbox, code, "it").details == {"logs": 'seen it {"a":1}\n'}
    code = "def evaluate(i, o, e, m):\n    print('seen', o)\n    return {'passed': True}"
    assert judged(sandbox, code, "it", language="python").details == {"logs": "seen it\n"}


@pytest.mark.parametrize(
    "code",
    [
        "import _ from 'lodash';\nexport default async (i, o) => ({passed: _.isString(o)})",
        "import { isEmail as mail } from 'validator'\nexport default function (i, o) { return {passed: mail(o)} }",
        "import * as dayjs from 'dayjs';\nconst f = () => ({passed: true});\nexport { f as default };",
        (
            "import Ajv from 'ajv';\nexport const x = 1;\nexport default (i, o) => "
            "({passed: new Ajv().validate({type: 'string'}, o) && x === 1})"
        ),
        (
            "const get = require('lodash/get');\nconst utc = require('dayjs/plugin/utc');\n"
            "module.exports = (i, o) => ({passed: get({a: 1}, 'a') === 1 && typeof utc === 'function'})"
        ),
        "module.exports = (i, o) => new Promise((done) => setTimeout(() => done({passed: true}), 5))",
    ],
)
def test_modules_of_either_kind_and_the_libraries_work(sandbox, code):
    assert judged(sandbox, code, "a@example.org").passed is True


HONEST = [
    "const F = `\nimport os from 'os'\n`;\nmodule.exports = () => ({passed: F.includes(\"import os from 'os'\")})",
    "// export default 1\nundeclared = 5;\nmodule.exports = () => ({passed: undeclared === 5})",
    "/*\nimport x from 'x'\n*/ export default () => ({passed: true})",
    "import _ from 'lodash'; import dayjs from 'dayjs';\nexport default () => ({passed: !!_ && !!dayjs})",
    "import{map}from'lodash'\nexport default () => ({passed: map([1], x => x)[0] === 1})",
    "import { /* c */ map, // d\n filter as f } from 'lodash';\nexport default () => ({passed: !!f && !!map})",
    "import { default as _ } from 'lodash'\nexport default () => ({passed: _.isString('')})",
    "export default async () => { const { map } = await import('lodash'); return {passed: !!map} }",
    "const x = map([1], y => y);\nimport {map} from 'lodash';\nexport default () => ({passed: x[0] === 1})",
    "export default function f(){ return {passed: f.x === 1} }\nf.x = 1",
    "export default function () { return {passed: true} }\n(function(){})()",
    "export default function () { return {passed: true} }\n['a'].forEach(x => x)",
    "export default function () { return {passed: other()} } function other() { return true }",
    "#!/usr/bin/env node\nmodule.exports = () => ({passed: true})",
    "\ufeffexport default () => ({passed: true})",
    "module.exports = () => { const re = /export default `/; return {passed: `a${`b${1}`}c` === 'ab1c'} }",
    "const a = 4 / 2 / 1; export default () => ({passed: a === 2})",
    "module.exports = () => { console.log('x' + '😀'.repeat(20000)); return {passed: true} }",
    "module.exports = () => { console.log('\\ud83d'); console.assert(true); return {passed: true} }",
    "module.exports = () => new Promise(r => setTimeout(() => r({passed: true}), Infinity))",
    "\n" * 5000 + "module.exports = () => ({passed: true})",
]
HONEST_PYTHON = [
    "from __future__ import annotations\ndef evaluate(i, o, e, m) -> dict:\n    return {'passed': True}",
    (
        "try:\n    import ujson as json\nexcept ImportError:\n    import json\n"
        "def evaluate(i, o, e, m):\n    return {'passed': json.loads('1') == 1}"
    ),
    "\ufeffdef evaluate(i, o, e, m):\n    return {'passed': True}",
    "def evaluate(i, o, e, m):\n    return {'passed': True, 'details': {'logs': 'mine'}, 'reason': 'é'}",
]


@pytest.mark.parametrize(
    ("language", "code"),
    [*(("javascript", code) for code in HONEST), *(("python", code) for code in HONEST_PYTHON)],
)
def test_usual_grader_code_works(sandbox, language, code):
    assert judged(sandbox, code, "Paris", language=language).passed is True


@pytest.mark.parametrize(
    ("language", "code", "error", "told"),
    [
        ("javascript", "module.exports = (i, o) => JSON.parse(o)", "evaluator_crashed", "SyntaxError: unexpected"),
        ("javascript", "import x from './x.json' with {type: 'json'}", "evaluator_missing_module", "'./x.json'"),
        (
            "javascript",
            "const A = require('ajv');\nmodule.exports = () => new A().compile({type: 'string', format: 'email'})",
            "evaluator_crashed",
            'unknown format "email"',
        ),
        ("python", "def evaluate(i, o, e, m):\n    compile(o, 'x', 'exec')", "evaluator_crashed", "SyntaxError"),
        ("python", "from . import x", "evaluator_missing_module", "module '.' is not available"),
        (
            "python",
            "def evaluate(i, o, e, m):\n    return {'passed': True, 'score': 10**400}",
            "evaluator_bad_result",
            "",
        ),
        (
            "python",
            (
                "d = []\nfor _ in range(100):\n    d = [d]\ndef evaluate(i, o, e, m):\n"
                "    return {'passed': True, 'details': {'d': d}}"
            ),
            "evaluator_bad_result",
            "nested deeper than 64",
        ),
        (
            "python",
            "class X(Exception):\n    __str__ = None\ndef evaluate(i, o, e, m):\n    raise X",
            "evaluator_crashed",
            "an error that cannot be shown",
        ),
    ],
)
def test_runtime_errors_of_a_grader_are_reported_as_runtime_errors(sandbox, language, code, error, told):
    answer = judged(sandbox, code, "Paris now", language=language)
    assert answer.error == error
    assert told in answer.reason


def test_without_a_reason_it_is_what_the_file_returned(sandbox):
    found = judged(sandbox, "module.exports = () => ({ passed: false })")
    assert found.reason == "grader.js returned false"
