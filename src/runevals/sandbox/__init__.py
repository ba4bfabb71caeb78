"""Runs what a suite brings along: graders, custom assertions, skills, patterns, schemas; locked in and killable.

Usable by itself:

    from runevals.sandbox import Sandbox

    with Sandbox(workers=2) as sandbox:
        answer = sandbox.call(
            code="module.exports = (input, output) => ({passed: output.length > 3})",
            filename="length.js", language="javascript", kind="evaluator",
            arguments={"input": "", "output": "Paris", "expected": None, "metadata": {}},
            timeout_s=5, memory_bytes=128 * 1024**2,
        )
    answer.passed, answer.error
"""

from runevals.records.script import Answer
from runevals.sandbox.pool import Sandbox

__all__ = ["Answer", "Sandbox"]
