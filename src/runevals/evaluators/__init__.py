"""Evaluators: checks of answers, one evaluator per file. These public names are what one is written with."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runevals.evaluators.catalogue import evaluator as evaluator
    from runevals.evaluators.kinds import Check as Check
    from runevals.evaluators.kinds import Composite as Composite
    from runevals.evaluators.kinds import Judged as Judged
    from runevals.evaluators.kinds import Scripted as Scripted
    from runevals.evaluators.kinds import Subject as Subject
    from runevals.records import Verdict as Verdict

__all__ = ["Check", "Composite", "Judged", "Scripted", "Subject", "Verdict", "evaluator"]

_MODULES = {"evaluator": "runevals.evaluators.catalogue", "Verdict": "runevals.records"}


def __getattr__(name: str) -> object:
    """A public name, loaded when it is used."""
    if name not in __all__:
        raise AttributeError(f"module 'runevals.evaluators' has no attribute '{name}'")
    return getattr(import_module(_MODULES.get(name, "runevals.evaluators.kinds")), name)
