"""The skill that a suite is for: the nearest folder with a `SKILL.md`, and its front matter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from runevals.lib.parsing.shapes import object_in
from runevals.lib.parsing.source import lies_inside, read_text, read_yaml
from runevals.lib.text.numbers import phrase
from runevals.records import FileProblem, Location
from runevals.records.errors import InvalidSuite
from runevals.suites.dialects.synonyms import is_text
from runevals.suites.skill_suites import skill_folders

FILE = "SKILL.md"
_FENCE = "---"
_NOT_SKILLS = frozenset({"evals", "eval", "skill", "skills", "tests"})
_PLACES = ("skills", ".claude/skills", ".agents/skills", ".")  # of a skill whose suite lies in evals/NAME/


class SkillFolder(Struct, frozen=True, kw_only=True):
    """A skill; without a folder, only the name that its suite gives."""

    name: str
    folder: Path | None = None
    problems: tuple[FileProblem, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """What was read of it."""
        return () if self.folder is None else (self.folder / FILE,)


def skill_of(folder: Path | None, root: Path, skill_name: str | None) -> SkillFolder:
    """The skill that a suite in `folder` is for, which calls it `skill_name`."""
    if folder is None:
        return SkillFolder(name=skill_name or "skill")
    place = _nearest(folder, root) or _elsewhere(folder, root, skill_name)
    if place is None:
        path = folder.with_name(FILE)
        is_beside = folder.name == "evals" and skill_name and lies_inside(root, path)
        message = f"there is no such file; evals/ beside it is for the skill '{skill_name}'"
        missing = [_warning(path.resolve().relative_to(root.resolve()).as_posix(), message)] if is_beside else []
        return SkillFolder(name=skill_name or _name_of(folder), problems=tuple(missing))
    name, problems = _front_matter(place / FILE, root)
    return SkillFolder(name=name or skill_name or _name_of(place), folder=place, problems=tuple(problems))


def _nearest(folder: Path, root: Path) -> Path | None:
    """The first folder with a skill, from `folder` upwards, not above the repository."""
    for place in (folder, *folder.parents):
        if not lies_inside(root, place):
            return None
        if (place / FILE).is_file() and lies_inside(root, place / FILE):
            return place
    return None


def _elsewhere(folder: Path, root: Path, skill_name: str | None) -> Path | None:
    """The folder of a skill whose suite does not lie in it, by its name."""
    for name in dict.fromkeys(filter(None, (skill_name, folder.name))):
        for place in _PLACES:
            folder_of_name = root / place / name
            if (folder_of_name / FILE).is_file() and lies_inside(root, folder_of_name / FILE):
                return folder_of_name
        others = [place for place in skill_folders(root) if place.name == name and lies_inside(root, place / FILE)]
        if len(others) == 1:  # of two plugins' skills, neither is a guess
            return others[0]
    return None


def _name_of(folder: Path) -> str:
    """The name of the nearest folder that is not called for what every skill has."""
    return next((place.name for place in (folder, *folder.parents) if place.name not in _NOT_SKILLS), "skill")


def _front_matter(path: Path, root: Path) -> tuple[str | None, Sequence[FileProblem]]:
    """(its name, the problem with it)."""
    display_path = path.resolve().relative_to(root.resolve()).as_posix()
    try:
        lines = read_text(path, display_path).lstrip("\n").splitlines()
        is_open = bool(lines) and lines[0].rstrip() == _FENCE
        if not is_open or _FENCE not in map(str.rstrip, lines[1:]):
            what = "does not end its front matter" if is_open else "has no front matter"
            message = f"{what}; begin it with lines '---', 'name: …', 'description: …', '---'"
            return None, [_warning(display_path, message)]
        end = [line.rstrip() for line in lines].index(_FENCE, 1)
        value = read_yaml("\n".join(["", *lines[1:end]]), display_path).value
    except InvalidSuite as error:
        return None, [_warning(str(problem.location.file), problem.message, problem) for problem in error.problems]
    fields = object_in(value)
    missing = [key for key in ("name", "description") if not is_text(fields.get(key))]
    message = phrase(" and no ".join(missing), "the front matter has no {}, which agents find a skill by")
    name, folder = None if "name" in missing else fields["name"].strip(), path.parent.resolve()
    if name not in (None, folder.name) and folder.name not in {root.resolve().name, *_NOT_SKILLS}:
        message = message or f"the name is '{name}', its folder's is '{folder.name}'; agents want them equal"
    return name, [_warning(display_path, message)] if message else []


def _warning(display_path: str, message: str, problem: FileProblem | None = None) -> FileProblem:
    location = Location(file=display_path, line=1) if problem is None else problem.location
    return FileProblem(location=location, pointer="", message=message, level="warning")
