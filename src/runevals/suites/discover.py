"""Paths and globs → suite files, in a fixed order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from runevals.lib.parsing.shapes import entries_of, object_in, texts_in
from runevals.lib.text.suggest import did_you_mean
from runevals.records.agent import SKILL_RESULTS
from runevals.records.errors import InvalidSettings, InvalidSuite, NoSuiteFound
from runevals.repository.trees import CannotFollow, FolderTree, matching
from runevals.suites.dialects import read, skill_cases
from runevals.suites.skill_suites import SKILL, is_trigger_file, skill_folders, skill_patterns, skill_suites

_NAMES = ("prompts.json", "evals.json", "tests.json")
_SAMPLE_NAMES = ("eval-samples.json", "eval-samples.yaml", "eval-samples.yml")
_CATEGORIES = skill_cases.CATEGORIES
_SKILL_FOLDERS = ("data/eval", "eval", "evals")
_VALLY = ".vally.yaml"  # the settings of Vally and of GitHub's Copilot Evals
_OF_VALLY = {"evals": ["evals"], "evalFilenames": ["eval.yaml", "eval.yml"]}  # where its evals lie without them
SUFFIXES = frozenset({".json", ".yaml", ".yml", ".jsonl", ".csv", ".tsv"})
MOST_PLACES = 1_000_000  # that a pattern leads to


class Discovery(Struct, frozen=True, kw_only=True):
    """The files to run, and those that are left out without `--all`.

    Files that were found by searching a folder are `optional`: they are skipped if they are not suites.
    """

    files: tuple[Path, ...]
    ignored: tuple[Path, ...] = ()
    optional: frozenset[Path] = frozenset()
    folder: Path | None = None  # the given one, if the files are those in it


def discover(root: Path, suite_path: str | None, *, everything: bool = False) -> Discovery:
    """The suite files for a run in `root`.

    `suite_path` is a path, folder or glob from the command line or the settings; it must match something.
    Without it, the places of the documentation are searched; the first hit runs, `everything` runs them all.
    Raises NoSuiteFound.
    """
    if suite_path is not None:
        return _by_name(root, suite_path)
    places = [
        folder / name for names in (_NAMES, _SAMPLE_NAMES) for folder in (root, root / "evals") for name in names
    ]
    standard = tuple(path for path in places if path.is_file())
    evals = [path for pattern in _evals_of_vally(root) for path in _matches(root, pattern)]
    skills = tuple(dict.fromkeys((*skill_suites(root), *evals)))
    optional = frozenset((*filter(is_trigger_file, skills), *evals))
    others = tuple(path for path in suite_files(root / "evals") if path not in (*standard, *skills))
    folders = [root / name for name in _SKILL_FOLDERS if _category_files(root / name)]
    if everything and any((standard, others, folders, skills)):
        cases = [path for folder in folders for path in _category_files(folder)]
        optional = (optional | set(others)) - set(cases)  # a file that lies with the cases is one
        return Discovery(files=tuple(dict.fromkeys((*standard, *others, *cases, *skills))), optional=optional)
    if not any((standard, folders, skills)):
        raise NoSuiteFound(_nothing_found(root, others))
    files, left = _first(root, standard, folders, skills)
    return Discovery(files=files, ignored=tuple(dict.fromkeys((*left, *others))), optional=optional)


def _first(
    root: Path, standard: Sequence[Path], folders: Sequence[Path], skills: Sequence[Path]
) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """(the files of the first place that has some, the files of the other places)."""
    if not standard:
        return (tuple(_category_files(folders[0])), (*folders[1:], *skills)) if folders else (tuple(skills), ())
    of_root = standard[0] in (root / "evals" / "evals.json", root / "evals.json") and bool(skill_folders(root))
    own = [path for path in skills if of_root and path.parent == root / "evals" and is_trigger_file(path)]
    files = (standard[0], *own)
    return files, tuple(path for path in (*standard[1:], *folders, *skills) if path not in files)


_SIMPLEST = (
    '{"schemaVersion": "1.2.0", "default_evaluators": {"ExactMatch": {}}, '
    '"items": [{"prompt": "…", "expected_response": "…"}]}'
)


def _nothing_found(root: Path, others: Sequence[Path]) -> str:
    looked = (
        f"{', '.join(_NAMES)}, eval-samples.json/.yaml/.yml, here and in ./evals/, evals of skills and {_VALLY}"
    )
    names = ", ".join(str(path.relative_to(root)) for path in others)
    there = f"Seen in ./evals/: {names}. Run them all with --all, or name one with --prompts-file"
    lines = [
        f"no suite found in {root} (looked for {looked})",
        there if others else "Name one: runevals --prompts-file PATH",
        'Try one prompt: runevals --prompts "…" --expected "…"',
        "Results of another tool need no suite: runevals gate FILE",
        f"Begin with a suite that runs: runevals init. The simplest one, as evals/evals.json: {_SIMPLEST}",
    ]
    return "\n".join(lines)


def _evals_of_vally(root: Path) -> list[str]:
    """The patterns of the evals that the settings of Vally name. Raises InvalidSuite."""
    if not (root / _VALLY).is_file():
        return []
    fields = {**_OF_VALLY, **object_in(object_in(read(root / _VALLY, _VALLY).value).get("paths"))}
    paths = (texts_in(entries_of(fields[key])) for key in _OF_VALLY)
    folders, names = ([path for path in each if not {"..", "/"} & {*Path(path).parts}] for each in paths)
    return [f"{folder}/**/{name}" for folder in folders for name in names]


def _by_name(root: Path, name: str) -> Discovery:
    path = root / name
    if path.is_dir():
        cases = tuple(_category_files(path))
        if cases:
            return Discovery(files=cases)
        inside = tuple(suite_files(path))
        if not inside or (path / SKILL).is_file():
            inside = skill_suites(path) or inside
            if inside:
                return Discovery(files=inside, optional=frozenset(filter(is_trigger_file, inside)))
        if not inside:
            raise NoSuiteFound(f"{name}: the folder holds no suite file ({', '.join(sorted(SUFFIXES))})")
        return Discovery(files=inside, optional=frozenset(inside), folder=path)
    if path.is_file():
        return Discovery(files=(path,))
    files = tuple(path for path in _matches(root, name) if path.is_file())
    if not files:
        near = did_you_mean(name, _beside(root, Path(name).parent))
        raise NoSuiteFound(f"{name}: there is no such file, and no file matches it as a pattern{near}")
    return Discovery(files=files)


def _matches(root: Path, pattern: str) -> list[Path]:
    """The paths that a pattern matches, in order. Raises InvalidSettings if there are too many."""
    start, relative = root / Path(pattern).anchor, pattern.removeprefix(Path(pattern).anchor)
    try:
        paths = sorted(path for path, _ in matching(FolderTree(start), relative, hidden=False, most=MOST_PLACES))
    except CannotFollow as why:
        raise InvalidSettings(f"suites: {why}") from None
    return [start / path for path in paths]


def looked_at(root: Path, suite_path: str | None) -> list[Path]:
    """The paths and patterns of all files that `discover` may find, whichever of them are there."""
    if suite_path is None:
        names = [folder / name for folder in (root, root / "evals") for name in (*_NAMES, *_SAMPLE_NAMES)]
        cases = [root / folder / "*" / "*.json" for folder in _SKILL_FOLDERS]
        evals = [root / path for path in (_VALLY, *_evals_of_vally(root))]
        return [*names, *_in_folder(root / "evals"), *cases, *skill_patterns(root), *evals]
    path = root / suite_path
    return [*_in_folder(path), path / "*" / "*.json", *skill_patterns(path)] if path.is_dir() else [path]


def _in_folder(folder: Path) -> list[Path]:
    return [folder / f"*{suffix}" for suffix in sorted(SUFFIXES)]


def _beside(root: Path, folder: Path) -> list[str]:
    """What might have been meant by a path that leads into this folder, as it would be written."""
    try:
        entries = sorted((root / folder).iterdir())
    except OSError:
        return []
    return [(folder / path.name).as_posix() for path in entries if path.suffix in SUFFIXES or path.is_dir()]


def _category_files(folder: Path) -> list[Path]:
    """The one-case files in the folders of a skills' evaluation, in order."""
    folders = [folder / name for name in _CATEGORIES if (folder / name).is_dir()]
    files = [path for category in folders for path in sorted(category.iterdir()) if path.suffix == ".json"]
    return files + (_other_categories(folder) if folders else [])


def _other_categories(folder: Path) -> list[Path]:
    """The cases for skills in the folders beside those of the gated categories."""
    others = [path for path in sorted(folder.iterdir()) if path.is_dir() and path.name not in _CATEGORIES]
    files = [path for other in others if not other.name.startswith(".") for path in sorted(other.glob("*.json"))]
    return [path for path in files if _has_skill_cases(path)]


def _has_skill_cases(path: Path) -> bool:
    try:
        return skill_cases.recognises(read(path, path.name).value)
    except InvalidSuite:
        return False


def suite_files(folder: Path) -> list[Path]:
    """The files in a folder that may be suites, by their suffixes."""
    if not folder.is_dir():
        return []
    files = (path for path in sorted(folder.iterdir()) if path.suffix in SUFFIXES and path.is_file())
    return [path for path in files if path.name not in SKILL_RESULTS]
