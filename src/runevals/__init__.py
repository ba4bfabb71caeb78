"""CI for prompts, agents and skills: did this change make it worse, really?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runevals.verdict.decide import decide as decide

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """`runevals.decide`, loaded when it is asked for: `runevals --version` must not pay for it."""
    if name == "decide":
        from runevals.verdict.decide import decide

        return decide
    raise AttributeError(f"module 'runevals' has no attribute '{name}'")
