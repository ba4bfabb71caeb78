"""Whether what a target is made of is there, as far as that can be seen without running it."""

from __future__ import annotations

import ast
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from runevals.lib.text.suggest import did_you_mean
from runevals.records.errors import InvalidSettings
from runevals.settings.resolve import Settings
from runevals.settings.target import TargetSettings


def require_present(settings: Settings) -> None:
    """Raises InvalidSettings where the target is made of what is not there."""
    target = settings.target
    if target is None or settings.evaluate_only or "/" in "".join(target.command[:1]):
        return  # a program with a path is looked for in each case's own folder
    told = absent(target, settings.environment)
    if told is not None:
        raise InvalidSettings(f"target: {told}\nrunevals doctor checks all that a run needs")


def absent(target: TargetSettings, environment: Mapping[str, str]) -> str | None:
    """What a target that is no endpoint is made of and that is not there."""
    match target.type:
        case "command":
            program = target.command[0]
            search = environment.get("PATH", os.defpath)
            found = (target.base / program).is_file() if "/" in program else shutil.which(program, path=search)
            return None if found else f"there is no program {program}"
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
        near = did_you_mean(file, [Path(os.path.relpath(found, base)).as_posix() for found in siblings])
        return f"there is no file {file}{near}"
    try:
        names = set(_names(ast.parse(path.read_bytes())))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None  # loading it says more
    if function in names or not names.isdisjoint(("*", "__getattr__", "globals", "setattr", "exec")):
        return None
    return f"{file} has no function {function}{did_you_mean(function, sorted(names))}"


def _names(tree: ast.Module) -> Iterator[str]:
    """Every name that the module may have, and more."""
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
