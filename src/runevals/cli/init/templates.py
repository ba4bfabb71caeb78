"""Templates for a new project: a small suite, settings, a target program, a workflow."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runevals.cli.init.proposed_cases import with_variables
from runevals.lib.text.numbers import phrase
from runevals.models.facts import model, with_models
from runevals.settings.places import PLACES
from runevals.settings.words import target_words
from runevals.suites.dialects import eval_document
from runevals.suites.load import PLACEHOLDER

SUITE = Path("evals", "evals.json")
SETTINGS = Path(PLACES[0])
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


def ignoring(text: str, names: Sequence[str], *, is_root: bool) -> str:
    """The text of a .gitignore with those of these lines that it lacks, for files beside it or further down."""
    there = {line.strip().removeprefix("/" * is_root).rstrip("/") for line in text.splitlines()}
    missing = [line for line in names if line.removeprefix("/" * is_root).rstrip("/") not in there]
    if not missing:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    gap = end if text and not text.endswith("\n") else ""
    return text + gap + "".join(line + end for line in missing)
