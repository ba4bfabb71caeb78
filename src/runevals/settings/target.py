"""The settings of the target."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.parsing.source import path_inside, read_text, resolved_path
from runevals.records.errors import InvalidSettings
from runevals.settings.file import BaseSide, SettingsFile
from runevals.settings.words import target_words
from runevals.targets.chat_settings import model_fields
from runevals.targets.kind import Section, TargetSettings
from runevals.targets.kinds import kind_of

_PATHS = ("system_prompt_file", "prompt_file", "mcp", "cwd")


class RawEndpoint(Struct, frozen=True, kw_only=True):
    """What a target or judge is resolved from: values with their origins, and the places they came from."""

    values: Mapping[str, Any]
    origins: Mapping[str, str]
    file: SettingsFile
    cwd: Path
    repository: Path
    environment: Mapping[str, str]
    base_side: BaseSide | None = None  # the base's commit and settings, which decide over a change
    base_values: Mapping[str, Any] = {}  # of the settings that decide

    def source_of(self, what: str) -> tuple[Any, bool, Path]:
        """(value of the setting `what`, whether the file sets it, what its paths are relative to)."""
        return (
            self.values[what],
            self.file.exists and self.origins[what] == self.file.display_name,
            self.folder(what),
        )

    def is_in_file(self, what: str) -> bool:
        """Whether it is not set by a flag, input or variable."""
        return self.origins[what] in ("default", self.file.display_name) or self.is_of_base(what)

    def is_of_base(self, what: str) -> bool:
        """Whether the base's settings file sets it for a change."""
        return self.base_side is not None and self.origins[what] == self.base_side.display_name

    def folder(self, what: str) -> Path:
        """What the paths of a setting are relative to."""
        if not self.is_in_file(what):
            return self.cwd
        of_base = None if self.base_side is None else self.base_side.file
        return of_base.base if of_base is not None and self.is_of_base(what) else self.file.base


def target_settings(raw: RawEndpoint, variables: tuple[str, ...] | None = None) -> TargetSettings | None:
    """The target, whose program has these variables; None if none is set. Raises InvalidSettings, UsageError."""
    value, from_file, base = raw.source_of("target")
    model = raw.values["model"]
    if value is None and model is None:
        return None  # a key alone names no model
    values = target_words(value or {"type": "openai"})
    if model is not None:
        values["model"] = model
    section = Section(
        values=values,
        base=base,
        repository=raw.repository,
        environment=raw.environment,
        from_file=from_file,
        variables=variables,
    )
    base_target = raw.base_values.get("target")
    deciding = None if base_target is None or not from_file else target_words(base_target)
    return _with_prompt(_settings(section, deciding), section)


def moved(section: Mapping[str, Any], up: str) -> Mapping[str, Any]:
    """The section in settings of another folder, from which `up` leads to that of these."""
    runs = {"cwd": up} if section["type"] in ("command", "python") else {}
    paths = {name: f"{up}/{section[name]}" for name in _PATHS if isinstance(section.get(name), str)}
    return {**section, **runs, **paths}


def _settings(section: Section, of_base: Mapping[str, Any] | None) -> TargetSettings:
    """The settings without a prompt. `of_base`, if of the same type, decides whether they are deterministic."""
    values, kind = section.values, kind_of(section.kind)
    for name, why in kind.refuses.items():
        if name in values:
            raise InvalidSettings(f"target.{name}: {why.format(section.kind)}")
    folder = _working_folder(section)
    system_prompt, files = _system_prompt(section)
    files += [section.base / values["prompt_file"]] if "prompt_file" in values else []
    own = kind.own_fields(section)
    as_written = {name: values[name] for name in kind.__struct_fields__ if name in values}
    deciding = of_base if of_base is not None and of_base["type"] == section.kind else values
    common = {
        **model_fields(values, section.environment, what="target"),
        "base": section.base if folder is None else folder.resolve(),
        "folder": folder,
        "system_prompt": system_prompt,
        "deterministic": bool(deciding.get("deterministic", kind.traits.is_steady)),
    }
    return kind(**{**as_written, **common, **own, "files": (*files, *own.get("files", ()))})


def _working_folder(section: Section) -> Path | None:
    """The folder that the target runs in; None if none is named. Raises InvalidSettings."""
    if "cwd" not in section.values:
        return None
    name = section.values["cwd"]
    folder = section.base / str(name)
    real = resolved_path(folder)
    if real is None or not real.is_dir() or not real.is_relative_to(section.repository.resolve()):
        raise InvalidSettings(f"target.cwd: {name} is not a folder inside the repository")
    return folder


def _system_prompt(section: Section) -> tuple[str | None, list[Path]]:
    """(the system prompt, the files it is read from). Raises UsageError."""
    if "system_prompt_file" not in section.values:
        return section.values.get("system_prompt"), []
    name = section.values["system_prompt_file"]
    path = path_inside(section.repository, name, base=section.base, what="target.system_prompt_file")
    return read_text(path, name), [path, section.base / name]


def _with_prompt(settings: TargetSettings, section: Section) -> TargetSettings:
    """With what `prompt_file` holds. Raises InvalidSettings, UsageError, InvalidSuite for a file with errors."""
    what, name = "target.prompt_file", section.values.get("prompt_file")
    if name is None:
        return settings
    from runevals.settings.prompt_file import read_prompt_file

    path = path_inside(section.repository, name, base=section.base, what=what)
    prompt = read_prompt_file(path, path.relative_to(section.repository.resolve()).as_posix())
    if len(prompt.messages) > 1 and (why := settings.takes_one_message) is not None:
        raise InvalidSettings(f"{what}: {name} has messages before the last one, but {why}")
    return replace(settings, prompt=prompt)
