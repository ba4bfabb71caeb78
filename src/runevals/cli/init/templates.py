"""Templates for a new project: a small suite, settings, a target program, a workflow."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from runevals.lib.chat.providers import PROVIDERS
from runevals.suites.dialects import eval_document

SUITE = Path("evals", "evals.json")
SETTINGS = Path("runevals.yaml")
WORKFLOW = Path(".github", "workflows", "evals.yml")
IGNORED = (".evals/", ".env.local.user")

_CAPITAL = "What is the capital of France? Answer with the name of the city only."
_PRODUCT = "What is 12 times 12? Answer with the number only."
_ABILITIES = "What can you help me with?"

_NO_TARGET = """\
# Say what the suites run against, in one of these ways:
#   target: "openai:gpt-5-mini"             a chat model (OPENAI_API_KEY, or OPENAI_BASE_URL of a server)
#   target: "command:python my_agent.py"    a program: prompt as JSON on stdin, answer on stdout
#   target: "python:my_agent.py:answer"     a function: answer(prompt, messages, case)
"""

_PROGRAM = '''\
"""What the suites run against: replace the body of `{function}` by a call of your own agent."""

ANSWERS = {{
    "{capital}": "Paris",
    "{product}": "144",
    "{abilities}": "I can answer the questions of this starter suite.",
}}


def {function}(prompt, messages, case):
    return ANSWERS.get(prompt, "I do not know.")
'''

_WORKFLOW = """\
name: evals
on:
  pull_request:
  merge_group:
  push:
    branches: [{branch}] # stores the result that pull requests are compared with
permissions:
  contents: read
  actions: read # the stored result of the base
  pull-requests: write # the comment
concurrency:
  group: evals-${{{{ github.event_name == 'push' && github.sha || github.ref }}}} # no push cancels another
  cancel-in-progress: ${{{{ github.event_name == 'pull_request' }}}}
jobs:
  evals:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
          fetch-depth: 0
      - uses: runevals/runevals@v0 # zizmor: ignore[unpinned-uses]
{step}"""


def starter_suite(*, judged: bool) -> str:
    """A few cases that any model can answer; one of them is judged, if there is a judge."""
    items: list[dict[str, object]] = [
        {"testId": "capital", "prompt": _CAPITAL, "expected_response": "Paris"},
        {"testId": "product", "prompt": _PRODUCT, "expected_response": "144"},
    ]
    if judged:
        items.append(
            {
                "testId": "abilities",
                "prompt": _ABILITIES,
                "expected_response": "I can help you with …",
                "evaluators": {"Relevance": {}, "Coherence": {}},
                "evaluators_mode": "replace",
            }
        )
    document = {
        "schemaVersion": eval_document.CURRENT_VERSION,
        "description": "A first suite: replace its cases by yours",
        "default_evaluators": {"ExactMatch": {}},
        "items": items,
    }
    return eval_document.as_text(document)


def starter_settings(
    *, suite: str | None, target: str | None, judge: str | None, deterministic: bool = False
) -> str:
    """The text of runevals.yaml; unknown values are comments.

    `deterministic`: the target is the starter program, in which every difference is a change.
    """
    lines = ["# `runevals settings` shows every setting, and where it came from.", "version: 1"]
    lines += [] if suite is None else [f"suites: [{json.dumps(suite, ensure_ascii=False)}]"]
    if target is not None and deterministic:
        lines += _deterministic(target)
    elif target is not None:
        lines.append(f"target: {json.dumps(target, ensure_ascii=False)}")
        lines.append("repeat: 3 # runs per case at most, to separate chance from change")
    lines += [] if judge is None else [f"judge: {json.dumps(judge, ensure_ascii=False)}"]
    return "\n".join(lines) + "\n" + (_NO_TARGET if target is None else "")


def _deterministic(target: str) -> list[str]:
    function = json.dumps(target.removeprefix("python:"), ensure_ascii=False)
    return [
        "target:",
        "  type: python",
        f"  function: {function}",
        "  deterministic: true # equal answers every time, so every loss counts; false once it calls a model",
    ]


def starter_program(function: str) -> str:
    """A Python file whose `function` answers the starter suite."""
    return _PROGRAM.format(function=function, capital=_CAPITAL, product=_PRODUCT, abilities=_ABILITIES)


def ignoring(text: str) -> str:
    """The text of a .gitignore with the missing lines added."""
    there = {line.strip().strip("/") for line in text.splitlines()}
    missing = [line for line in IGNORED if line.strip("/") not in there]
    if not missing:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    gap = end if text and not text.endswith("\n") else ""
    return text + gap + "".join(line + end for line in missing)


def is_secret(name: str) -> bool:
    """Whether a variable holds a key, not an address."""
    return name.endswith(("_KEY", "_TOKEN")) or name in {provider.key for provider in PROVIDERS.values()}


def workflow(*, branch: str | None, config: str, variables: Sequence[str]) -> str:
    """A GitHub workflow with the least permissions; `variables` hold the keys of target and judge.

    `config` is the settings file, relative to the repository's root.
    """
    plain = branch if branch and re.fullmatch(r"[A-Za-z0-9][\w./-]*", branch, re.ASCII) else "main"
    step = [] if config == SETTINGS.name else ["        with:", f"          config: {json.dumps(config)}"]
    step += ["        env:"] if variables else ["        # env: what your program needs, such as"]
    mark = "" if variables else "# "
    for name in variables or ["OPENAI_API_KEY"]:
        place = "secrets" if is_secret(name) else "vars"
        step.append(f"        {mark}  {name}: ${{{{ {place}.{name} }}}}")
    return _WORKFLOW.format(branch=plain, step="".join(f"{line}\n" for line in step))
