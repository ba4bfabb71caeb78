"""What every kind of target says of itself: its settings, its traits, how it is built, and what it may reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct

from runevals.lib.parsing.source import path_inside
from runevals.records import PromptTemplate
from runevals.records.agent import AGENTS
from runevals.records.diagnosis import Diagnosis, good, missing
from runevals.records.errors import USAGE_ERROR, InvalidSettings
from runevals.records.script import ScriptRunner
from runevals.records.traits import Traits
from runevals.targets import Target
from runevals.targets.chat_settings import ModelSettings
from runevals.targets.reach import OF_ALL, Rule

if TYPE_CHECKING:
    from runevals.models.chat.prices import Prices
    from runevals.models.http.throttle import Throttles
    from runevals.records import ModelIdentity, RunReport
    from runevals.targets.conversation_ids import ConversationIds

NOT_TAKEN = "the {} target does not take it; leave it out"
NOT_SENT = dict.fromkeys(("system_prompt", "system_prompt_file"), "the {} target is not sent one; remove it")
NOT_STARTED = (
    "the {} target is not a program that is started here; leave it out "
    f"(it is for {', '.join(('command', 'python', *AGENTS))})"
)


def refusing(**more: str) -> Mapping[str, str]:
    """The settings that a kind does not take, each with the reason; `more` beside those of most kinds."""
    return {"mcp": NOT_TAKEN, "trace": NOT_STARTED, **more}


class Section(Struct, frozen=True, kw_only=True):
    """A target as its settings write it, and what it is resolved with."""

    values: Mapping[str, Any]
    base: Path  # what its paths are relative to
    repository: Path
    environment: Mapping[str, str] = {}
    from_file: bool = True  # a change may have written it: its files lie inside the repository
    variables: tuple[str, ...] | None = None  # of a program, besides the harmless ones; None: all but tokens

    @property
    def kind(self) -> str:
        """Its type."""
        return str(self.values["type"])

    @property
    def inside(self) -> Path | None:
        """The folder that its files must lie in; None if the user names them."""
        return self.repository if self.from_file else None


class Making(Struct, frozen=True, kw_only=True):
    """What a target is built with."""

    environment: Mapping[str, str]
    throttles: Throttles
    conversations: ConversationIds  # whose ids endpoints give
    prices: Prices
    not_from: Path | None = None  # the checkout whose code must not run as this one's
    at_once: int | None = None
    sandbox: ScriptRunner | None = None
    # The report in a results document; None if it is another file
    report_of: Callable[[Path], RunReport | None] = lambda _: None


class TargetSettings(ModelSettings, frozen=True, kw_only=True):
    """The resolved settings of a target. `base` is the working directory of its command or function.

    `files` are those that the settings name. `folder` is `base` as the settings write it: a link is not followed.
    """

    base: Path
    system_prompt: str | None = None
    prompt: PromptTemplate | None = None
    deterministic: bool = False
    files: tuple[Path, ...] = ()
    folder: Path | None = None
    reads_other_files: bool = True  # it runs code, here or behind an address

    traits: ClassVar[Traits] = Traits()
    word: ClassVar[str] = "model"  # the setting that stands behind the colon, and its field
    form: ClassVar[str] = ""  # how messages write it
    alone: ClassVar[bool] = True  # the type alone is a target
    refuses: ClassVar[Mapping[str, str]] = refusing()
    reaches: ClassVar[Mapping[str, Rule]] = OF_ALL

    @classmethod
    def words(cls, kind: str, rest: str) -> dict[str, Any]:
        """The section of a target that is written as one text."""
        return {"type": kind, **({cls.word: rest} if rest else {})}

    @classmethod
    def own_fields(cls, section: Section) -> dict[str, Any]:  # noqa: ARG003
        """The fields that are not as they are written; `files` are those it adds. Raises InvalidSettings."""
        return {}

    @property
    def takes_one_message(self) -> str | None:
        """Why it is sent a prompt alone, without messages before it; None if it is sent them."""
        return None

    def build(self, making: Making) -> Target:
        """The target. Raises InvalidSettings for what the environment lacks."""
        raise NotImplementedError

    @property
    def prompts(self) -> tuple[Path, ...]:
        """The files that it is prompted with."""
        return self.files

    @property
    def reads_skills(self) -> bool:
        """Whether a skill beside a suite has a part in its answers; of recorded ones, only the suites say it."""
        return self.reads_other_files or self.traits.runs_skills

    @property
    def key_names(self) -> tuple[str, ...]:
        """The variables that hold its keys."""
        return (self.api_key_env,)

    @property
    def address(self) -> str | None:
        """The address of a deployed agent."""
        return None

    @property
    def program(self) -> str:
        """What runs: words, a function or a path."""
        return str(getattr(self, self.word))

    @property
    def command(self) -> Sequence[str]:
        """Program and arguments."""
        return ()

    @property
    def interpreters(self) -> Sequence[str]:
        """The programs that may be a Python that imports the code under test."""
        return self.command[:1]

    def is_deployed_as(self, other: TargetSettings | None) -> bool:  # noqa: ARG002
        """Whether both are the same deployed agent: the same address and the same requests, at any commit."""
        return False

    def named_files(self) -> Iterator[Path]:
        """The files that its words may refer to."""
        return iter(())

    def is_program_of(self, result: ModelIdentity, bases: Sequence[Path]) -> bool:  # noqa: ARG002
        """Whether a result does not name another program; its paths may be written from any of the `bases`."""
        return True

    def stays_here_for(self) -> str | None:
        """Why nodes of a cluster cannot run it; None if they can."""
        return None

    def absent(self, environment: Mapping[str, str]) -> str | None:  # noqa: ARG002
        """The problem if a file, folder or program of it is missing."""
        return None

    def diagnosis(self, environment: Mapping[str, str]) -> Diagnosis:
        """What doctor says of it; nothing of it is run."""
        lacking = self.absent(environment)
        if lacking is not None:
            fix = f"name it right in `target:`; it is looked for from {self.base}"
            return missing("target", lacking, fix, USAGE_ERROR)
        return good("target", f"{self.type} {self.program}")


def recording(name: str | None, base: Path, repository: Path | None, what: str) -> Path:
    """A file of recorded answers. Raises InvalidSettings if it is missing, UsageError outside of `repository`."""
    if not name:
        raise InvalidSettings(f"the recorded {what} needs a file: recorded:FILE")
    if repository is not None:
        return path_inside(repository, name, base=base, what=f"{what}.path")
    path = base / name
    if not path.is_file():
        raise InvalidSettings(f"the recorded {what}: there is no file {name}")
    return path
