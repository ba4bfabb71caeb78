"""Checks before a run that everything a target and the suites need exists; nothing is executed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from runevals.evaluators import catalogue
from runevals.lib.text.suggest import MISSPELT, nearest
from runevals.records import Suite
from runevals.records.errors import InvalidSettings
from runevals.records.rules import GateRules
from runevals.settings.resolve import Settings
from runevals.suites.dialects import skill_cases
from runevals.suites.load import without_model
from runevals.verdict.gate_metrics import EVALUATOR


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
    if calls and settings.target is not None and not settings.target.traits.runs_skills:
        raise InvalidSettings(
            f"{calls[0]} holds cases for skills, which the {settings.target.type} target is not; "
            "use --target skill, or name other suites"
        )
    target = settings.target
    if target is not None and target.is_model and not target.model and (lost := without_model(suites)):
        message = f"the {target.type} target has no model; name one with --model or target.model"
        raise InvalidSettings(f"{message} ({lost[0]} names none either)")
    mocked = [f"{suite.path}: {case.key}" for suite in suites for case in suite.cases if case.mocked]
    if mocked and settings.target is not None and not settings.target.traits.answers_tool_calls:
        raise InvalidSettings(
            f"{mocked[0]} answers tool calls by mocks, which the {settings.target.type} target cannot let us do"
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
    problem = target.absent(settings.environment)
    if problem is not None:
        raise InvalidSettings(f"target: {problem}\nrunevals doctor checks all that a run needs")
