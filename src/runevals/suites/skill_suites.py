"""Where the suites of Agent Skills lie: `evals/evals.json` beside `SKILL.md`, and lists of trigger queries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from runevals.records.agent import SKILL_SUITE, SKILL_TRIGGERS

SKILL = "SKILL.md"
# Folders that are taken for a skill's, and those that are only with a SKILL.md.
_FOLDERS = (
    "", "skill", "skills/*", "skills/*/*", "evals/*", ".claude/skills/*", ".agents/skills/*", ".github/skills/*",
    ".codex/skills/*", ".cursor/skills/*", ".gemini/skills/*", ".opencode/skill/*", ".opencode/skills/*",
    "plugins/*/skills/*",
)  # fmt: skip
_OF_PROJECT = ("runevals.yaml", "runevals.yml")
_WITH_SKILL = ("*", "plugins/*", "packages/*", "*/skills/*")


def skill_suites(root: Path) -> tuple[Path, ...]:
    """The suites of all skills in `root` without settings of their own, each before its trigger queries."""
    files: dict[Path, None] = {}
    for folder in _folders(root):
        if folder != root and any((folder / name).is_file() for name in _OF_PROJECT):
            continue  # another project
        beside = (folder / SKILL).is_file() or folder.parent == root / "evals"
        names = [f"evals/{name}" for name in (SKILL_SUITE, *SKILL_TRIGGERS)]
        names += [SKILL_SUITE, *SKILL_TRIGGERS] if beside and folder != root else []
        files |= dict.fromkeys(path for name in names if (path := folder / name).is_file())
    return tuple(files)


def skill_folders(root: Path) -> tuple[Path, ...]:
    """The folders of all skills in `root`, each once: one that is linked to from two places is one skill."""
    skills = (folder for folder in _folders(root) if (folder / SKILL).is_file())
    return tuple({folder.resolve(): folder for folder in skills}.values())


def is_trigger_file(path: Path) -> bool:
    """Whether a file is called as lists of trigger queries are, whose shape may be anything."""
    return path.name in SKILL_TRIGGERS


def skill_patterns(root: Path) -> list[Path]:
    """The patterns of all files that `skill_suites` may find."""
    folders = [root / place for place in (*_FOLDERS, *_WITH_SKILL)]
    names = (SKILL, SKILL_SUITE, "evals/*.json", *SKILL_TRIGGERS, *_OF_PROJECT)
    return [folder / name for folder in folders for name in names]


def _folders(root: Path) -> Iterator[Path]:
    for place in _FOLDERS:
        yield from _matches(root, place)
    for place in _WITH_SKILL:
        yield from (folder for folder in _matches(root, place) if (folder / SKILL).is_file())


def _matches(root: Path, place: str) -> list[Path]:
    """The folders that a pattern matches, in order, without hidden ones, workspaces and installed packages."""
    if not place:
        return [root]
    folders = (path for path in root.glob(place) if path.is_dir() and _is_source(path.relative_to(root), place))
    return sorted(folders)


def _is_source(path: Path, place: str) -> bool:
    literal = set(place.split("/"))
    return not any(
        part not in literal and (part.startswith(".") or part.endswith("-workspace") or part == "node_modules")
        for part in path.parts
    )
