"""The skills that an agent is given: what is put where it looks for them, and the names by which it knows them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from runevals.records.agent import SKILL_SUITE, SKILL_TRIGGERS
from runevals.records.errors import InvalidSettings
from runevals.repository.fresh_copy import CannotCopy, content_hash, copy_folder, make_folder
from runevals.repository.git import ignored_in

SKILL_FILE = "SKILL.md"
_GRADES = ("grading.json", "benchmark.json", "eval_metadata.json")
# Except `.git`: files with what the agent should answer.
NOT_INSTALLED = frozenset({".git", "evals", ".evals", SKILL_SUITE, *SKILL_TRIGGERS, *_GRADES})
_BLOCK = re.MULTILINE | re.DOTALL
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")  # as the Agent Skills specification has it


class InstalledSkill(Struct, frozen=True, kw_only=True):
    """A skill, with what is left out of it."""

    name: str  # of the folder that it is put into
    names: frozenset[str]  # by which suites and agents know it
    folder: Path
    without: frozenset[str]  # paths
    fingerprint: str

    def install(self, home: Path, skills: str) -> None:
        """Copies it to the agent's folder of skills below HOME. Raises CannotCopy, OSError."""
        copy_folder(self.folder, make_folder(home, f"{skills}/{self.name}"), without=self.without)


def installed_skills(folders: Iterable[Path]) -> tuple[InstalledSkill, ...]:
    """The skills in these folders. Raises InvalidSettings for two of one name, and for what cannot be copied."""
    by_name: dict[str, InstalledSkill] = {}
    for folder in folders:
        skill = _installed(folder)
        if skill.name in by_name:
            raise InvalidSettings(
                f"two skills are called {skill.name}: {by_name[skill.name].folder} and {folder}; an agent can "
                "have one of them: run the suites of one, or name it in `target.skills`"
            )
        by_name[skill.name] = skill
    return tuple(by_name.values())


def _installed(folder: Path) -> InstalledSkill:
    front = _name_of(folder)
    without = NOT_INSTALLED
    if (folder / ".git").exists():  # it is a whole repository
        without = without.union(ignored_in(folder))
    try:
        fingerprint = content_hash(folder, without=without)[:16]
    except (CannotCopy, OSError) as error:
        raise InvalidSettings(f"the skill {folder} cannot be installed: {error}") from None
    return InstalledSkill(
        name=front if front is not None and _NAME.fullmatch(front) else folder.name,
        names=frozenset(name for name in (folder.name, front) if name),
        folder=folder,
        without=without,
        fingerprint=fingerprint,
    )


def _name_of(skill: Path) -> str | None:
    """The name in its front matter."""
    front = re.search(r"\A\s*---[ \t\r]*\n(.*?)^---", (skill / SKILL_FILE).read_text("utf-8", "replace"), _BLOCK)
    name = None if front is None else re.search(r"^name:(.+)$", front[1], re.MULTILINE)
    return None if name is None else name[1].strip(" \t").strip("\"'")
