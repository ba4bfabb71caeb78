"""`runevals gate` with results that the real tools write: a case is lost, and one breaks."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.ending import ended
from tests.eval_tools import PROGRAMS, program

AGENT = """import os

def answer(question):
    if os.environ["SIDE"] == "head" and "refund" in question:
        return "No idea."
    if os.environ["SIDE"] == "head" and "crash" in question:
        raise ConnectionError("the model is down")
    return "The answer to " + question + " is 42."
"""
QUESTIONS = ("refund", "crash", "hours", "price")
PROMPTFOO = {
    "provider.py": "from agent import answer\n"
    "def call_api(prompt, options, context):\n    return {'output': answer(prompt)}\n",
    "promptfooconfig.json": {
        "description": "Support",
        "prompts": ["{{q}}"],
        "providers": [{"id": "file://provider.py", "label": "support"}],
        "tests": [
            {"description": q, "vars": {"q": q}, "assert": [{"type": "contains", "value": "42"}]}
            for q in QUESTIONS
        ],
    },
}
INSPECT = {
    "task.py": f"""from agent import answer
from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import includes
from inspect_ai.solver import solver

@solver
def agent():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("mockllm/model", answer(state.input_text))
        return state
    return solve

@task
def support():
    samples = [Sample(id=q, input=q, target="42") for q in {QUESTIONS}]
    return Task(dataset=samples, solver=agent(), scorer=includes(), epochs=Epochs(2))
"""
}
DEEPEVAL = {
    "test_support.py": f"""import pytest
from agent import answer
from deepeval import assert_test
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

class Answered(BaseMetric):
    threshold, async_mode = 1, False

    def measure(self, case, *_, **__):
        answer(case.input)
        self.score = float("42" in case.actual_output)
        self.success = self.score == 1
        return self.score

    async def a_measure(self, case, *_, **__):
        return self.measure(case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return "Answered"

@pytest.mark.parametrize("q", {QUESTIONS})
def test_answers(q):
    output = answer(q) if q != "crash" else "42"
    assert_test(LLMTestCase(input=q, actual_output=output), [Answered()])
"""
}
AGENTV = {
    "cli.py": "import sys\nfrom agent import answer\n"
    "open(sys.argv[2], 'w').write(answer(open(sys.argv[1]).read()))\n",
    ".agentv/targets.yaml": {
        "targets": [
            {
                "name": "local",
                "provider": "cli",
                "command": f"{sys.executable} cli.py {{PROMPT_FILE}} {{OUTPUT_FILE}}",
            }
        ]
    },
    "q.eval.yaml": {
        "execution": {"target": "local"},
        "tests": [
            {"id": q, "criteria": "answers", "input": q, "assertions": [{"type": "contains", "value": "42"}]}
            for q in QUESTIONS
        ],
    },
}
QUIET = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "DEEPEVAL_TELEMETRY_OPT_OUT": "YES"}
INSPECT_WORDS = ["eval", "task.py", "--model", "mockllm/model", "--no-fail-on-error", "--display", "none"]
# The files of its project, and how the program is called, once or for each attempt; `OUT` is where results go.
TOOLS = {
    "promptfoo": (PROMPTFOO, [["eval", "--repeat", "2", "--no-cache", "-o", "OUT/output.json"]]),
    "inspect": (INSPECT, [[*INSPECT_WORDS, "--log-format", "json", "--log-dir", "OUT"]]),
    "deepeval": (DEEPEVAL, [["test", "run", "test_support.py", "--repeat", "2"]]),
    "agentv": (AGENTV, [["eval", "run", "q.eval.yaml", "--output", f"OUT/{number}"] for number in (1, 2)]),
}


@pytest.mark.parametrize("tool", [pytest.param(name, marks=pytest.mark.needs(name)) for name in PROGRAMS])
def test_a_lost_case_blocks_and_a_broken_one_is_an_error(tool, project, runevals):
    for side in ("base", "head"):
        results_of(tool, side, project)
    code, out, err = runevals("gate", "base", "--baseline", "base", "--deterministic", "-o", "out.json")
    ended(code, 0, out + err, "No regression shown in 4 cases")
    assert [len(case["attempts"]) for case in project.document()["cases"]] == [2] * 4
    code, out, err = runevals("gate", "head", "--baseline", "base", "--deterministic", "-o", "out.json")
    ended(code, 1, out + err, "1 of 3 cases regressed", without=["was removed"])
    status = {
        word: case["status"] for case in project.document()["cases"] for word in QUESTIONS if word in case["key"]
    }
    assert status == {"refund": "failed", "crash": "errored", "hours": "passed", "price": "passed"}


def results_of(tool, side, project):
    """Runs the real tool in the project; its results are in a folder named for the side."""
    files, commands = TOOLS[tool]
    for name, content in {"agent.py": AGENT, **files}.items():
        project.write(name, content)
    folder = project.path / side
    folder.mkdir()
    home = project.path / "home"
    own = {"HOME": home, "SIDE": side, "DEEPEVAL_RESULTS_FOLDER": folder, "PROMPTFOO_CONFIG_DIR": home, **QUIET}
    own |= {"PROMPTFOO_PYTHON": sys.executable, "PYTHONPATH": project.path}
    for words in commands:
        done = subprocess.run(
            [program(tool), *(word.replace("OUT", str(folder)) for word in words)],
            cwd=project.path,
            env={**os.environ, **{name: str(value) for name, value in own.items()}},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert any(folder.iterdir()), done.stdout[-2000:] + done.stderr[-2000:]
