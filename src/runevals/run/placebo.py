"""A placebo of a skill: its name and description, and text of the same length that helps with nothing."""

from __future__ import annotations

import re
from pathlib import Path

from runevals.lib.storage.files import write_whole
from runevals.targets.agents.skills import SKILL_FILE

_FRONT = re.compile(r"\A\s*---[ \t\r]*\n.*?^---[ \t\r]*\n", re.MULTILINE | re.DOTALL)
NEUTRAL = """The plover is a bird of open country. It is found on shores, on moors and on wet meadows in most
parts of the world. It runs a short way, stops, looks and runs again. It eats worms, insects and small shellfish.
The nest is a hollow in the ground, and both parents sit on the eggs for about four weeks. The young leave the nest
on the first day. In autumn many plovers fly south, some of them for several thousand kilometres.
"""


def placebo(text: str) -> str:
    """The text of a SKILL.md with another body of the same length."""
    front = _FRONT.match(text)
    head = "" if front is None else front[0]
    length = len(text) - len(head)
    return head + (NEUTRAL * (length // len(NEUTRAL) + 1))[:length]


def placebo_of(skill: Path, folder: Path) -> Path:
    """A folder of the skill's name with its placebo alone: no script, no other file."""
    text = (skill / SKILL_FILE).read_text(encoding="utf-8", errors="replace")
    write_whole(folder / skill.name / SKILL_FILE, placebo(text))
    return folder / skill.name
