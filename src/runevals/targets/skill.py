"""Skills: `<skills_dir>/<skill>/skill.py`, function `action(**input)`, each call in an isolated process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from runevals.lib.parsing.json_forms import text_or_json
from runevals.lib.parsing.source import lies_inside
from runevals.records import NO_JSON, Conversation, ModelIdentity, Response
from runevals.records.errors import InvalidSettings
from runevals.records.script import Call, ScriptRunner
from runevals.records.traits import Traits
from runevals.targets import Target
from runevals.targets.kind import NOT_SENT, Making, Section, TargetSettings, refusing
from runevals.targets.program_report import failed

SKILLS = "skills"
DEFAULT_TIMEOUT_S = 5.0
MOST_BYTES = 4 * 1024 * 1024


class SkillTarget:
    """Runs a skill's action in the sandbox; the case has the skill, its input and its timeout."""

    def __init__(self, folder: Path, sandbox: ScriptRunner, *, deterministic: bool = True) -> None:
        """`folder` has a folder for each skill."""
        self._folder = folder
        self._sandbox = sandbox
        self._deterministic = deterministic
        self._sources = lru_cache(maxsize=256)(self._read)

    def answer(self, conversation: Conversation) -> Response:
        """The result of the action, or its error: these suites test both."""
        metadata = conversation.metadata
        skill = str(metadata.get("skill"))
        try:
            code, modules = self._sources(skill)
        except (OSError, ValueError) as error:
            return failed("target_failed", f"the skill {skill} cannot be read: {error}")
        answer = self._sandbox.run(
            Call(
                kind="skill",
                code=code,
                language="python",
                filename=str((self._folder / skill / "skill.py").resolve()),
                arguments={
                    "input": metadata.get("input"),
                    "mock_data": metadata.get("mock_data"),
                    "modules": modules,
                },
                timeout_s=conversation.timeout_s or DEFAULT_TIMEOUT_S,
            )
        )
        if answer.error == "evaluator_syntax":  # it was never called
            return failed("target_failed", f"the skill {skill} cannot be loaded: {answer.reason}")
        if answer.error == "evaluator_no_json":
            return replace(failed(NO_JSON, f"the skill {skill}: {answer.reason}"), latency_s=answer.duration_s)
        if answer.error == "evaluator_bad_result":  # it returned, so the skill did not refuse
            return failed("target_unparseable", f"the skill {skill}: {answer.reason}")
        if answer.error is not None:
            late = answer.error == "evaluator_timeout"
            return Response(raised="timeout" if late else answer.reason, latency_s=answer.duration_s)
        return Response(text=text_or_json(answer.value), value=answer.value, latency_s=answer.duration_s)

    def identity(self) -> ModelIdentity:
        """The skills' folder."""
        return ModelIdentity(
            type="skill", deterministic=self._deterministic, detail={"skills_dir": self._folder.name}
        )

    def close(self) -> None:
        """Nothing to end."""

    def _read(self, skill: str) -> tuple[str, dict[str, str]]:
        """(the skill's code, its sibling modules by name). Raises OSError, ValueError."""
        folder = self._folder / skill
        file, inside = folder / "skill.py", folder.resolve().is_relative_to(self._folder.resolve())
        if not file.is_file() or not inside or not file.resolve().is_relative_to(folder.resolve()):
            raise FileNotFoundError(f"there is no {self._folder.name}/{skill}/skill.py inside its folder")
        modules: dict[str, str] = {}
        size = 0
        for path in sorted(folder.rglob("*.py")):
            if not path.resolve().is_relative_to(folder.resolve()):
                continue
            names = path.relative_to(folder).with_suffix("").parts
            text = path.read_text(encoding="utf-8-sig")
            size += len(text)
            if size > MOST_BYTES:
                raise ValueError(f"its modules are larger than {MOST_BYTES // 1024**2} MiB")
            modules[".".join(names[:-1] if names[-1] == "__init__" else names)] = text
        return modules.pop("skill"), modules


class SkillSettings(TargetSettings, frozen=True, kw_only=True):
    """A folder of skills."""

    skills_dir: Path

    traits = Traits(runs_skills=True, brings_skills=True, stays_here=True, takes_model=False, is_steady=True)
    word = "skills_dir"
    form = "FOLDER"
    refuses = refusing(**NOT_SENT, prompt_file="a skill is called with its input, and has no prompt; leave it out")

    @classmethod
    def own_fields(cls, section: Section) -> dict[str, Any]:
        """The folder. Raises InvalidSettings."""
        path = section.base / section.values.get("skills_dir", SKILLS)
        if section.inside is not None and not lies_inside(section.inside, path):
            name = section.values["skills_dir"]
            raise InvalidSettings(f"target.skills_dir: {name} is not a folder inside the repository")
        return {"skills_dir": path, "files": (path,)}

    def build(self, making: Making) -> Target:
        """Each call is made in the sandbox."""
        assert making.sandbox is not None  # noqa: S101 - on this machine there is one
        return SkillTarget(self.skills_dir, making.sandbox, deterministic=self.deterministic)

    def absent(self, environment: Mapping[str, str]) -> str | None:  # noqa: ARG002
        """That there is no such folder."""
        return None if self.skills_dir.is_dir() else f"there is no folder {self.skills_dir}"
