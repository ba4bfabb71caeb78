"""Checks before a run that everything a target and the suites need exists; nothing is executed."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from runevals.evaluators import catalogue
from runevals.lib.text.suggest import MISSPELT, nearest
from runevals.models.http.network import unreachable
from runevals.programs.processes import what_to_use
from runevals.records import Requires, Suite
from runevals.records.errors import InvalidSettings
from runevals.run.cluster.setup import on_cluster
from runevals.settings.gates import gates_of
from runevals.settings.resolve import Settings
from runevals.suites.dialects import skill_cases
from runevals.suites.load import without_model
from runevals.targets.kind import TargetSettings
from runevals.verdict.gate_metrics import EVALUATOR


def require_for_suites(suites: Sequence[Suite], settings: Settings) -> None:
    """Raises InvalidSettings if something that the run requires is missing; nothing is executed."""
    if settings.target is not None:
        _require_fitting(suites, settings.target)
    missing = "\n".join(f"  {line}" for suite in suites for line in _missing(suite, settings))
    if missing:
        raise InvalidSettings(f"missing requirements:\n{missing}")


def _require_fitting(suites: Sequence[Suite], target: TargetSettings) -> None:
    """Raises InvalidSettings for suites that this kind of target cannot answer."""
    calls = [suite.path for suite in suites if suite.dialect == skill_cases.NAME]
    if calls and not target.traits.runs_skills:
        raise InvalidSettings(
            f"{calls[0]} holds cases for skills, which the {target.type} target is not; "
            "use --target skill, or name other suites"
        )
    if target.is_model and not target.model and (lost := without_model(suites)):
        message = f"the {target.type} target has no model; name one with --model or target.model"
        raise InvalidSettings(f"{message} ({lost[0]} names none either)")
    mocked = [f"{suite.path}: {case.key}" for suite in suites for case in suite.cases if case.mocked]
    if mocked and not target.traits.answers_tool_calls:
        raise InvalidSettings(
            f"{mocked[0]} answers tool calls by mocks, which the {target.type} target cannot let us do"
        )


def _missing(suite: Suite, settings: Settings) -> Iterator[str]:
    """What is required, or the working directory of a case, and is not there."""
    needed, known = suite.requires or Requires(), settings.environment
    folders = [(case.key, case.cwd) for case in suite.cases if case.cwd is not None]
    there = [
        *((f"the program {name}", shutil.which(name)) for name in needed.tools),
        *((f"the file {name}", (settings.repository / name).exists()) for name in needed.files),
        *((f"the variable {name}", known.get(name)) for name in needed.env),
        *((f"{key}: the folder {folder}", folder.is_dir()) for key, folder in folders),
    ]
    yield from (f"{suite.path}: {what}" for what, is_there in there if not is_there)


def require_gates(settings: Settings, suites: Sequence[Suite]) -> None:
    """Raises InvalidSettings for a gate on a misspelt evaluator or category: it would fail after the whole run.

    Of a change, whose gates are the base's: for those that it would merge.
    """
    gates = settings.rules.gates
    if settings.base_side is not None:
        gates = gates_of(settings.file.values.get("gates", ()) if settings.file else ())
    of_gates = {gate.scope.category for gate in gates}
    required = {gate.scope.category for gate in gates if gate.on_missing == "fail"}
    categories = {case.category for suite in suites for case in suite.cases}
    _require_spelt("case has the category", required - categories, categories - of_gates)
    gated = {
        gate.metric.removeprefix(EVALUATOR)
        for gate in gates
        if gate.on_missing != "pass" and gate.metric.startswith(EVALUATOR)
    }
    if gated:
        turns = (turn for suite in suites for case in suite.cases for turn in case.turns)
        known = {name for turn in turns for spec in turn.checks for name in (spec.id, spec.name)}
        _require_spelt("suite has the evaluator", gated - known - {*catalogue.names()}, known)


def _require_spelt(what: str, names: Collection[str | None], known: Collection[str | None]) -> None:
    """Raises InvalidSettings for one of `names` that is nearly one of `known`."""
    for name in sorted(filter(None, names)):
        if (guess := nearest(name, [*filter(None, known)], least=MISSPELT)) is not None:
            raise InvalidSettings(f"gates: no {what} '{name}'; did you mean '{guess}'?")


def require_present(settings: Settings) -> None:
    """Raises InvalidSettings if a file or program of the target is missing."""
    target = settings.target
    if target is None or settings.evaluate_only or on_cluster(settings) or "/" in "".join(target.command[:1]):
        return  # a program with a path is looked for in each case's own folder
    problem = target.absent(settings.environment)
    if problem is not None:
        raise InvalidSettings(f"target: {problem}{what_to_use()}\nrunevals doctor checks all that a run needs")


def require_reachable(settings: Settings) -> None:
    """Raises InvalidSettings in the container for a server on the runner, which has a localhost of its own."""
    instead = what_to_use()
    for what, address in _addresses(settings) if instead else ():
        if _is_loopback(address) and unreachable(address) is not None:
            raise InvalidSettings(f"{what}: nothing answers at {address} within the container{instead}")


def _addresses(settings: Settings) -> list[tuple[str, str]]:
    target, addresses = settings.target, [("judge", judge.base_url) for judge in settings.judges]
    if target is not None:
        addresses.append(("target", target.address or target.base_url))
    return [(what, address) for what, address in addresses if address is not None]


def _is_loopback(address: str) -> bool:
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False
