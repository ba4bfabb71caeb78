"""Templates for a new project: a small suite, settings, a target program, a workflow."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runevals.cli.init.proposed_cases import with_variables
from runevals.lib.text.numbers import phrase
from runevals.models.chat.providers import PROVIDERS
from runevals.models.facts import model, with_models
from runevals.settings.words import target_words
from runevals.suites.dialects import eval_document
from runevals.suites.load import PLACEHOLDER
from runevals.version import ACTION_REF

SUITE = Path("evals", "evals.json")
SETTINGS = Path("runevals.yaml")
WORKFLOW = Path(".github", "workflows", "evals.yml")
IGNORED = (".evals/", ".env.local.user")

_CAPITAL = "What is the capital of France? Answer with the name of the city only."
_PRODUCT = "What is 12 times 12? Answer with the number only."
_COLOUR = "Which colour do you get from blue and yellow paint? Answer with one word."
_ABILITIES = "What can you help me with?"
_COMMENTS = {
    "repeat": "runs per case at most, to separate chance from change",
    "deterministic": "equal answers every time, so every loss counts; false once it calls a model",
    "depends_on": "a change of these files runs all cases again",
}

_NO_TARGET = """\
# Say what the suites run against, in one of these ways:
#   target: "openai:{openai}"          a chat model (OPENAI_API_KEY, or OPENAI_BASE_URL of a server)
#   target: "command:python my_agent.py"    a program: prompt as JSON on stdin, answer on stdout
#   target: "python:my_agent.py:answer"     a function: answer(prompt, messages, case)
#   target: {type: claude-code, tools: [shell, read, write]}    a coding agent; or codex, copilot, gemini-cli
"""

_PROGRAM = '''\
"""What the suites run against: replace the body of `{function}` by a call of your own agent."""

ANSWERS = {{
{answers}
}}


def {function}(prompt, messages, case):
    return ANSWERS.get(prompt, "I do not know.")
'''

_WORKFLOW = """\
name: evals
on:
  pull_request:
    types: [opened, synchronize, reopened, labeled]
  pull_request_review: # a reviewer may have accepted losses
    types: [submitted]
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
{install}      - uses: runevals/runevals@{ref} # zizmor: ignore[unpinned-uses]
{step}"""


# Another tool → the command that runs it in a job, and what it writes.
GATED: Mapping[str, tuple[str, str]] = {
    "promptfoo": ("npx promptfoo eval --repeat 3 -o output.json || true", "output.json"),
    "inspect": ("inspect eval --log-format json --log-dir logs || true", "logs"),
    "deepeval": ("DEEPEVAL_RESULTS_FOLDER=results deepeval test run tests || true", "results"),
    "pytest": ("pytest --junitxml=junit.xml || true", "junit.xml"),
    "waza": ("waza run eval.yaml -o results.json || true", "results.json"),
}


def starter_suite(names: Sequence[str] = (), *, judged: bool) -> str:
    """Three cases that any model can answer; one of them is judged, if there is a judge.

    `names`: the variables of the prompt file, if it is a template.
    """
    items: list[dict[str, object]] = [
        {"testId": "capital", "prompt": _CAPITAL, "expected_response": "Paris"},
        {"testId": "product", "prompt": _PRODUCT, "expected_response": "144"},
    ]
    items.append(
        {
            "testId": "abilities",
            "prompt": _ABILITIES,
            "expected_response": "I can help you with …",
            "evaluators": {"Relevance": {}, "Coherence": {}},
            "evaluators_mode": "replace",
        }
        if judged
        else {"testId": "colour", "prompt": _COLOUR, "expected_response": "green"}
    )
    items = [{**item, **with_variables(str(item["prompt"]), names)} for item in items]
    return _suite("A first suite: replace its cases by yours", {"ExactMatch": {}}, items)


def proposed_suite(items: Sequence[Mapping[str, object]], *, judged: bool) -> str:
    """The cases proposed from a prompt."""
    evaluators = eval_document.SYSTEM_DEFAULTS if judged else eval_document.WITHOUT_A_JUDGE
    return _suite("Cases proposed from the prompt: replace them by yours", evaluators, items)


def skill_suite(name: str, statements: Sequence[str], *, judged: bool) -> str:
    """A case for a skill, in the format of Agent Skills; `statements` are of the skill, for a judge."""
    known: dict[str, object] = {"type": "contains", "value": f"{PLACEHOLDER}: what every good answer contains"}
    case = {
        "id": "first",
        "prompt": f"{PLACEHOLDER}: a task for the skill, with names and numbers, as a user writes it",
        "expected_output": f"{PLACEHOLDER}: what a good answer is",
        "assertions": [known, *(f"{PLACEHOLDER}: {statement}" for statement in statements if judged)],
    }
    return eval_document.as_text({"skill_name": name, "evals": [case]})


def trigger_queries() -> str:
    """A request for which a skill must be loaded, and one for which it must not."""
    entries = [
        {"id": "asked", "query": f"{PLACEHOLDER}: a request that the skill is for", "should_trigger": True},
        {
            "id": "near-miss",
            "query": f"{PLACEHOLDER}: a similar request that it is not for",
            "should_trigger": False,
        },
    ]
    return json.dumps(entries, indent=2) + "\n"


def _suite(description: str, evaluators: Mapping[str, object], items: Sequence[Mapping[str, object]]) -> str:
    return eval_document.as_text(
        {
            "schemaVersion": eval_document.CURRENT_VERSION,
            "description": description,
            "default_evaluators": dict(evaluators),
            "items": [dict(item) for item in items],
        }
    )


def starter_settings(values: Mapping[str, Any], *, repeats: bool, is_starter: bool) -> str:
    """The text of runevals.yaml; a target that is not known yet is a comment.

    `is_starter`: the target is the starter program, in which every difference is a change.
    """
    lines = ["# `runevals settings` shows every setting, and where it came from.", "version: 1"]
    target = values["target"]
    if is_starter:
        values = {**values, "target": {**target_words(target), "deterministic": True}}
    elif repeats:
        values = {**values, "repeat": 3}
    for name, value in values.items():
        if isinstance(value, Mapping):
            lines += [f"{name}:", *(f"  {_setting(key, of_key)}" for key, of_key in value.items())]
        elif value is not None:
            lines.append(_setting(name, value))
    lines.append("# edits: accept # what passes only in its edited form is a loss until a reviewer accepts it")
    if target is None:
        lines += with_models(_NO_TARGET).splitlines()
        lines += [
            f"#   target: {{type: openai, model: {model('openai')}, system_prompt_file: {json.dumps(name)}}}"
            for name in values.get("depends_on", ())
        ]
    return "\n".join(lines) + "\n"


def _setting(name: str, value: object) -> str:
    comment = phrase(_COMMENTS.get(name), " # {}")
    return f"{name}: {json.dumps(value, ensure_ascii=False)}{comment}"


def starter_program(function: str, items: Sequence[Mapping[str, object]] = ()) -> str:
    """A Python file whose `function` answers these items, or the starter suite."""
    answers = {item["prompt"]: item["expected_response"] for item in items} or {
        _CAPITAL: "Paris",
        _PRODUCT: "144",
        _COLOUR: "green",
        _ABILITIES: "I can answer the questions of this starter suite.",
    }
    lines = (
        f"    {json.dumps(prompt, ensure_ascii=False)}: {json.dumps(answer, ensure_ascii=False)},"
        for prompt, answer in answers.items()
    )
    return _PROGRAM.format(function=function, answers="\n".join(lines))


def ignoring(text: str, names: Sequence[str]) -> str:
    """The text of a .gitignore with those of these lines that it lacks."""
    there = {line.strip().strip("/") for line in text.splitlines()}
    missing = [line for line in names if line.strip("/") not in there]
    if not missing:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    gap = end if text and not text.endswith("\n") else ""
    return text + gap + "".join(line + end for line in missing)


def is_secret(name: str) -> bool:
    """Whether a variable holds a key, not an address."""
    return name.endswith(("_KEY", "_TOKEN")) or name in {provider.key for provider in PROVIDERS.values()}


def workflow(
    *, branch: str | None, config: str, variables: Sequence[str], installs: Sequence[str] = (), folder: str = "."
) -> str:
    """A GitHub workflow with the least permissions; `variables` hold the keys of target and judge.

    `config` is the settings file, relative to the repository's root; `installs` are commands that are run first,
    in `folder`.
    """
    inputs = [] if config == SETTINGS.name else [f"config: {json.dumps(config)}"]
    if any(map(is_secret, variables)):
        inputs.append("require_credentials: true # a fork's change has no keys: it fails until it is measured")
    step = ["        with:", *(f"          {line}" for line in inputs)] if inputs else []
    step += ["        env:"] if variables else ["        # env: what your program needs, such as"]
    mark = "" if variables else "# "
    for name in variables or ["OPENAI_API_KEY"]:
        place = "secrets" if is_secret(name) else "vars"
        step.append(f"        {mark}  {name}: ${{{{ {place}.{name} }}}}")
    return _WORKFLOW.format(
        ref=ACTION_REF,
        branch=_plain(branch),
        install=_runs(installs, folder),
        step="".join(f"{line}\n" for line in step),
    )


def gate_workflow(tool: str, *, branch: str | None, commands: Sequence[str], folder: str, config: str) -> str:
    """A GitHub workflow that runs another tool, the last of the commands, and gates what it writes.

    `config` is the settings file in the repository, empty for that in its root.
    """
    keys = "        # env:\n        #   OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}\n"
    inputs = {"mode": "gate", "results": json.dumps(posixpath.normpath(f"{folder}/{GATED[tool][1]}"))}
    inputs |= {"config": json.dumps(config)} if config else {}
    step = f"        with: {{{', '.join(f'{name}: {value}' for name, value in inputs.items())}}}\n"
    return _WORKFLOW.format(
        ref=ACTION_REF, branch=_plain(branch), install=_runs(commands, folder) + keys, step=step
    )


def _runs(commands: Sequence[str], folder: str) -> str:
    """Steps of a job that run commands in a folder of the repository."""
    where = "" if folder == "." else f"        working-directory: {json.dumps(folder)}\n"
    return "".join(f"      - run: {line}\n{where}" for line in commands)


def _plain(branch: str | None) -> str:
    """The branch's name, unless YAML or a shell could read more in it."""
    return branch if branch and re.fullmatch(r"[A-Za-z0-9][\w./-]*", branch, re.ASCII) else "main"
