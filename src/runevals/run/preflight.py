"""Checks before a run that everything a target and the suites need exists; nothing is executed."""

from __future__ import annotations

import ast
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from runevals.evaluators import catalogue
from runevals.lib.text.suggest import MISSPELT, did_you_mean, nearest
from runevals.models.chat.providers import PROVIDERS
from runevals.records import Suite
from runevals.records.errors import InvalidSettings
from runevals.records.rules import GateRules
from runevals.settings.resolve import Settings
from runevals.settings.target import TargetSettings
from runevals.suites.dialects import skill_cases
from runevals.suites.load import without_model
from runevals.verdict.gate_metrics import EVALUATOR

# Targets whose tool calls we answer, or that played them before.
CAN_INTERCEPT = frozenset({*PROVIDERS, "recorded"})


def require_for_suites(suites: Sequence[Suite], settings: Settings) -> None:
    """Raises InvalidSettings if something that the run requires is missing; nothing is executed."""
    missing: list[str] = []
    for suite in suites:
        needed = suite.requires
        if needed is not None:
            missing += [f"{suite.path}: the program {name}" for name in needed.tools if not shutil.which(name)]
            repository = settings.repository
            missing += [
                f"{suite.path}: the file {name}" for name in needed.files if not (repository / name).exists()
            ]
            known = settings.environment
            missing += [f"{suite.path}: the variable {name}" for name in needed.env if not known.get(name)]
        missing += [
            f"{suite.path}: {case.key}: the folder {case.cwd}"
            for case in suite.cases
            if case.cwd is not None and not case.cwd.is_dir()
        ]
    calls = [suite.path for suite in suites if suite.dialect == skill_cases.NAME]
    if calls and settings.target is not None and settings.target.type not in ("skill", "recorded"):
        raise InvalidSettings(
            f"{calls[0]} holds cases for skills, which a {settings.target.type} target is not; "
            "use --target skill, or name other suites"
        )
    target = settings.target
    of_models = target is not None and target.type in PROVIDERS
    if target is not None and of_models and not target.model and (lost := without_model(suites)):
        message = f"the {target.type} target has no model; name one with --model or target.model"
        raise InvalidSettings(f"{message} ({lost[0]} names none either)")
    mocked = [f"{suite.path}: {case.key}" for suite in suites for case in suite.cases if case.mocked]
    if mocked and settings.target is not None and settings.target.type not in CAN_INTERCEPT:
        raise InvalidSettings(
            f"{mocked[0]} answers tool calls by mocks, which a {settings.target.type} target cannot let us do"
        )
    if missing:
        message = "\n".join(f"  {line}" for line in missing)
        raise InvalidSettings(f"missing requirements:\n{message}")


def require_gates(rules: GateRules, suites: Sequence[Suite]) -> None:
    """Raises InvalidSettings for a gate on a misspelt evaluator or category: it would fail after the whole run."""
    categories = {case.category for suite in suites for case in suite.cases if case.category}
    of_gates = {gate.scope.category for gate in rules.gates}
    required = {gate.scope.category for gate in rules.gates if gate.on_missing == "fail"}
    for category in sorted(filter(None, required - categories)) if not rules.labels_of_base else ():
        if (guess := nearest(category, categories - of_gates, least=MISSPELT)) is not None:
            raise InvalidSettings(f"gates: no case has the category '{category}'; did you mean '{guess}'?")
    gated = {
        gate.metric.removeprefix(EVALUATOR)
        for gate in rules.gates
        if gate.on_missing != "pass" and gate.metric.startswith(EVALUATOR)
    }
    if not gated:
        return
    turns = (turn for suite in suites for case in suite.cases for turn in case.turns)
    known = {name for turn in turns for spec in turn.checks for name in (spec.id, spec.name) if name}
    for name in sorted(gated - known):
        if name not in catalogue.names() and (guess := nearest(name, known, least=MISSPELT)) is not None:
            raise InvalidSettings(f"gates: no suite has the evaluator '{name}'; did you mean '{guess}'?")


def require_present(settings: Settings) -> None:
    """Raises InvalidSettings if a file or program of the target is missing."""
    target = settings.target
    if target is None or settings.evaluate_only or "/" in "".join(target.command[:1]):
        return  # a program with a path is looked for in each case's own folder
    problem = absent(target, settings.environment)
    if problem is not None:
        raise InvalidSettings(f"target: {problem}\nrunevals doctor checks all that a run needs")


def absent(target: TargetSettings, environment: Mapping[str, str]) -> str | None:
    """The problem if a file, folder or program of a local target is missing."""
    match target.type:
        case "command":
            program = target.command[0]
            search = environment.get("PATH", os.defpath)
            exists = (target.base / program).is_file() if "/" in program else shutil.which(program, path=search)
            return None if exists else f"there is no program {program}"
        case "python":
            file, _, function = (target.function or "").rpartition(":")
            return _absent_function(target.base, file, function) if file.endswith(".py") else None
        case "skill":
            known = target.path is not None and target.path.is_dir()
            return None if known else f"there is no folder {target.path}"
        case _:
            return None


def _absent_function(base: Path, file: str, function: str) -> str | None:
    path = base / file
    if not path.is_file():
        siblings = sorted(path.parent.glob("*.py")) if path.parent.is_dir() else []
        near = did_you_mean(file, [Path(os.path.relpath(sibling, base)).as_posix() for sibling in siblings])
        return f"there is no file {file}{near}"
    try:
        names = set(_names(ast.parse(path.read_bytes())))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None  # loading it says more
    if function in names or not names.isdisjoint(("*", "__getattr__", "globals", "setattr", "exec")):
        return None
    return f"{file} has no function {function}{did_you_mean(function, sorted(names))}"


def _names(tree: ast.Module) -> Iterator[str]:
    """Every name that the module may define, and more."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name):
                yield name
            case ast.alias(name=name, asname=asname):
                yield asname or name
            case _:
                pass
