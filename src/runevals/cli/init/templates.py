"""Templates for a new project: a small suite, settings, a target program, a workflow."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from runevals.cli.init.proposed_cases import with_variables
from runevals.lib.text.numbers import phrase
from runevals.models.facts import model, with_models
from runevals.settings.places import PLACES
from runevals.suites.dialects import eval_document
from runevals.suites.load import PLACEHOLDER

SUITE = Path("evals", "evals.json")
SETTINGS = Path(PLACES[0])
IGNORED = (".evals/", ".env.local.user")

_COMMENTS = {
    "repeat": "runs per case at most, to separate chance from change",
    "deterministic": "equal answers every time, so every loss counts; false once it calls a model",
}


def starter_suite(names: Sequence[str] = (), *, judged: bool) -> str:
    """Three cases that any model can answer; one of them is judged, if there is a judge.

    `names`: the variables of the prompt file, if it is a template.
    """
    *items, exact, judged_one = json.loads(starter_text(SUITE.name))
    items.append(judged_one if judged else exact)
    items = [{**item, **with_variables(item["prompt"], names)} for item in items]
    return _suite("A first suite: replace its cases by yours", {"ExactMatch": {}}, items)


def starter_text(name: str) -> str:
    """A file that a new project begins with, or that one is made from."""
    return files(__package__).joinpath("starter", name).read_text(encoding="utf-8")


def proposed_suite(items: Sequence[Mapping[str, object]], *, judged: bool) -> str:
    """The cases proposed from a prompt."""
    evaluators = eval_document.SYSTEM_DEFAULTS if judged else eval_document.WITHOUT_A_JUDGE
    return _suite("Cases proposed from the prompt: replace them by yours", evaluators, items)


def skill_suite(name: str, statements: Sequence[str], *, judged: bool) -> str:
    """A case for a skill, in the format of Agent Skills; `statements` are of the skill, for a judge."""
    suite = json.loads(starter_text("skill.json"))
    suite["evals"][0]["assertions"] += [f"{PLACEHOLDER}: {statement}" for statement in statements if judged]
    return eval_document.as_text({**suite, "skill_name": name})


def _suite(description: str, evaluators: Mapping[str, object], items: Sequence[Mapping[str, object]]) -> str:
    return eval_document.as_text(
        {
            "schemaVersion": eval_document.CURRENT_VERSION,
            "description": description,
            "default_evaluators": dict(evaluators),
            "items": [dict(item) for item in items],
        }
    )


def starter_settings(values: Mapping[str, Any], sent: Mapping[str, str] = {}) -> str:
    """The text of runevals.yaml; a target that is not known yet is a comment, which sends a prompt file so."""
    lines = ["# `runevals settings` shows every setting, and where it came from.", "version: 1"]
    for name, value in values.items():
        if isinstance(value, Mapping):
            lines += [f"{name}:", *(f"  {_setting(key, of_key)}" for key, of_key in value.items())]
        elif value is not None:
            lines.append(_setting(name, value))
    lines.append("# edits: accept # what passes only in its edited form is a loss until a reviewer accepts it")
    if values["target"] is None:
        lines += with_models(starter_text("target.yaml")).splitlines()
        start = f"#   target: {{type: openai, model: {model('openai')}"
        lines += [f"{start}, {key}: {json.dumps(name)}}}" for key, name in sent.items()]
    return "\n".join(lines) + "\n"


def _setting(name: str, value: object) -> str:
    return f"{name}: {json.dumps(value, ensure_ascii=False)}{phrase(_COMMENTS.get(name), ' # {}')}"


def starter_program(function: str, items: Sequence[Mapping[str, object]] = ()) -> str:
    """A Python file whose `function` answers these items, or the starter suite."""
    answers = {item["prompt"]: item["expected_response"] for item in items or json.loads(starter_text(SUITE.name))}
    text = json.dumps(answers, indent=4, ensure_ascii=False)
    return starter_text("program.py.txt").format(function=function, answers=text)


def ignoring(text: str, names: Sequence[str], *, is_root: bool) -> str:
    """The text of a .gitignore with those of these lines that it lacks, for files beside it or further down."""
    there = {line.strip().removeprefix("/" * is_root).rstrip("/") for line in text.splitlines()}
    missing = [line for line in names if line.removeprefix("/" * is_root).rstrip("/") not in there]
    if not missing:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    return text + end * (not f"\n{text}".endswith("\n")) + "".join(line + end for line in missing)
