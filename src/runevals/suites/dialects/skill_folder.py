"""The skill that a suite is for: the nearest folder with a `SKILL.md`, and what its front matter says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runevals.lib.parsing.source import lies_inside, read_text, read_yaml
from runevals.records import Location, SuiteProblem
from runevals.records.errors import InvalidSuite

FILE = "SKILL.md"
_FENCE = "---"
_NOT_SKILLS = frozenset({"evals", "eval", "skill", "skills", "tests"})
_PLACES = ("skills", ".claude/skills", ".agents/skills", ".")  # of a skill whose suite lies in evals/NAME/


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFolder:
    """A skill; without a folder, only the name that its suite gives."""

    name: str
    folder: Path | None = None
    problems: tuple[SuiteProblem, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """What was read of it."""
        return () if self.folder is None else (self.folder / FILE,)


def skill_of(folder: Path | None, root: Path, named: str | None) -> SkillFolder:
    """The skill that a suite in `folder` is for, which calls it `named`."""
    if folder is None:
        return SkillFolder(name=named or "skill")
    place = _nearest(folder, root) or _elsewhere(folder, root, named)
    if place is None:
        return SkillFolder(name=named or _name_of(folder))
    name, problems = _front_matter(place / FILE, root)
    return SkillFolder(name=name or named or _name_of(place), folder=place, problems=tuple(problems))


def _nearest(folder: Path, root: Path) -> Path | None:
    """The first folder with a skill, from `folder` upwards; none above the repository."""
    for place in (folder, *folder.parents):
        if not lies_inside(root, place):
            return None
        if (place / FILE).is_file() and lies_inside(root, place / FILE):
            return place
    return None


def _elsewhere(folder: Path, root: Path, named: str | None) -> Path | None:
    """The folder of a skill whose suite does not lie in it, by its name."""
    for name in dict.fromkeys(name for name in (named, folder.name) if name):
        for place in _PLACES:
            found = root / place / name
            if (found / FILE).is_file() and lies_inside(root, found / FILE):
                return found
    return None


def _name_of(folder: Path) -> str:
    """The name of the nearest folder that is not called for what every skill has."""
    return next((place.name for place in (folder, *folder.parents) if place.name not in _NOT_SKILLS), "skill")


def _front_matter(path: Path, root: Path) -> tuple[str | None, Sequence[SuiteProblem]]:
    """(the name that it says, what is wrong with it)."""
    shown = path.resolve().relative_to(root.resolve()).as_posix()
    try:
        lines = read_text(path, shown).lstrip("\n").splitlines()
        if not lines or lines[0].rstrip() != _FENCE or _FENCE not in map(str.rstrip, lines[1:]):
            told = "has no front matter; begin it with lines '---', 'name: …', 'description: …', '---'"
            return None, [_warning(shown, told)]
        end = [line.rstrip() for line in lines].index(_FENCE, 1)
        value = read_yaml("\n".join(["", *lines[1:end]]), shown).value
    except InvalidSuite as error:
        return None, [_warning(str(problem.location.file), problem.message, problem) for problem in error.problems]
    said = value if isinstance(value, dict) else {}
    missing = [
        key for key in ("name", "description") if not isinstance(said.get(key), str) or not said[key].strip()
    ]
    told = f"the front matter has no {' and no '.join(missing)}, which agents find a skill by"
    name = said["name"].strip() if "name" not in missing else None
    return name, [_warning(shown, told)] if missing else []


def _warning(shown: str, message: str, problem: SuiteProblem | None = None) -> SuiteProblem:
    location = Location(file=shown, line=1) if problem is None else problem.location
    return SuiteProblem(location=location, pointer="", message=message, level="warning")
