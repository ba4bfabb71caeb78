"""The settings of the target and of the judge."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.parsing.source import decoded, lies_inside, path_inside, read_text, resolved_path
from runevals.lib.text.suggest import MISSPELT, did_you_mean, nearest
from runevals.models.chat.providers import PROVIDERS, Api, ProviderName, address, azure_address
from runevals.models.chat.wire import api_of
from runevals.models.facts import model
from runevals.models.http.endpoint import WebSettings
from runevals.models.http.exchanges import EXCHANGES
from runevals.models.http.origin import OPENAI_URL, origin_of
from runevals.records import PromptTemplate
from runevals.records.agent import AGENT_KEYS, AGENTS, AgentName, AgentSettings
from runevals.records.errors import InvalidSettings
from runevals.repository import git
from runevals.settings.agent import agent_settings
from runevals.settings.file import BaseSide, SettingsFile
from runevals.settings.mcp_servers import servers_under_test
from runevals.settings.prompt_file import read_prompt_file
from runevals.settings.retired import GITHUB_MODELS, RETIRED
from runevals.settings.web_target import sends_messages, web_settings, web_words

if TYPE_CHECKING:
    from runevals.programs.mcp_servers import Server

DEFAULT_TIMEOUT_S = 120.0
SKILLS = "skills"
TargetType = Literal[ProviderName, AgentName, "http", "a2a", "command", "python", "recorded", "skill", "plugin"]
JudgeType = Literal[ProviderName, "recorded"]


_TARGETS = (
    *(f"{name}:MODEL" for name in PROVIDERS),
    *("http:URL", "a2a:URL", "command:PROGRAM", "python:FILE.py:FUNCTION", "recorded:FILE", "skill:FOLDER"),
    *AGENTS,
    "plugin:NAME",
)
_JUDGES = (*(f"{name}:MODEL" for name in PROVIDERS), "recorded:FILE")
_OPTION_OF_WORD = {  # what stands behind the colon
    **dict.fromkeys((*PROVIDERS, *AGENTS), "model"),
    "recorded": "path",
    "skill": "skills_dir",
    "command": "command",
    "python": "function",
    "plugin": "plugin",
}
_STARTED_HERE = ("command", "python", *AGENTS)
_WITHOUT_SYSTEM_PROMPT = ("a2a", "plugin", "skill")  # they take none: it would look tested without being sent


class ModelSettings(Struct, frozen=True, kw_only=True):
    """How a chat model is called, as a target or as a judge."""

    type: str
    model: str | None = None
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    azure_api_version: str | None = None
    auth: Literal["github"] | None = None  # the identity of the job, in place of a key
    api: Api | None = None  # None: the one of its provider
    parameters: Mapping[str, object] = {}
    timeout_s: float = DEFAULT_TIMEOUT_S

    @property
    def spoken_api(self) -> Api:
        """What it is asked by."""
        return self.api or api_of(self.type, self.base_url, self.parameters)


class TargetSettings(ModelSettings, frozen=True, kw_only=True):
    """The resolved settings of a target. `base` is the working directory of its command or function.

    `files` are those that the settings name. `folder` is `base` as the settings write it: a link is not followed.
    """

    type: TargetType
    base: Path
    system_prompt: str | None = None
    prompt: PromptTemplate | None = None
    command: tuple[str, ...] = ()
    function: str | None = None
    interpreter: str | None = None  # of a python target
    plugin: str | None = None
    options: Mapping[str, object] = {}  # of a plugin
    path: Path | None = None
    reuse: bool = False
    deterministic: bool = False
    files: tuple[Path, ...] = ()
    folder: Path | None = None
    reads_other_files: bool = False  # it runs code, here or behind an address
    web: WebSettings | None = None  # of http and a2a
    agent: AgentSettings | None = None  # of a coding agent
    skills_of_suites: bool = False  # the settings name no skills: those that the suites are for are installed
    output: AgentName | None = None  # of a command that prints an agent's events
    trace: Literal["otlp"] | None = None  # how a program exports what it does
    servers: tuple[Server, ...] = ()  # MCP servers under test, which a chat model calls
    variables: tuple[str, ...] | None = None  # of a program, besides the harmless ones; None: all but tokens

    @property
    def key_names(self) -> tuple[str, ...]:
        """The variables that hold its keys."""
        if self.agent is not None:
            return (*AGENT_KEYS[self.type], *self.agent.env)
        return (self.api_key_env, *(self.variables or ())) if self.web is None else self.web.key_names

    def is_deployed_as(self, other: TargetSettings) -> bool:
        """Whether both are the same deployed agent: the same address and the same requests, at any commit."""
        if self.web is None or other.web is None:
            return False
        return self._words == other._words

    @property
    def _words(self) -> tuple[object, ...]:
        messages = None if self.prompt is None else self.prompt.messages
        web = None if self.web is None else replace(self.web, pick=None)
        return self.type, self.model, self.system_prompt, messages, web


class JudgeSettings(ModelSettings, frozen=True, kw_only=True):
    """The resolved settings of a judge."""

    type: JudgeType
    path: Path | None = None
    recorded: str | None = None  # the base's content of `path`, if the base decides
    file: Path | None = None  # `path` as the settings write it: a link is not followed
    votes: int = 1  # how often each question is asked; the median counts


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
    """The target, or None if none is set; `variables`: the variables of its program.

    Raises InvalidSettings, UsageError for its files."""
    value, from_file, base = raw.source_of("target")
    model, repository, environment = raw.values["model"], raw.repository, raw.environment
    if value is None and model is None:
        return None  # a key alone names no model
    section = _written(value or {"type": "openai"})
    if model is not None:
        section["model"] = model
    folder = _working_folder(section, base, repository)
    system_prompt, files = _system_prompt(section, base, repository)
    files += [base / section["prompt_file"]] if "prompt_file" in section else []
    path, files_of_path = _skills_or_recording(section, base, repository if from_file else None)
    files += files_of_path
    base_target = raw.base_values.get("target")
    web = web_settings(section, environment) if section["type"] in ("http", "a2a") else None
    agent = agent_settings(section, base, repository) if section["type"] in AGENTS else None
    if agent is not None:
        files += agent.skills
    started_in = base if agent is not None else (base / section.get("cwd", ".")).resolve()
    files += [started_in / section["mcp"]] if isinstance(section.get("mcp"), str) else []
    servers = servers_under_test(section, started_in, repository)
    as_written = ("function", "interpreter", "plugin", "options", "reuse", "output")
    settings = TargetSettings(
        type=section["type"],
        **_endpoint(section, environment, what="target", has_key=web is None),
        **{name: section[name] for name in as_written if name in section},
        base=base if folder is None else folder.resolve(),
        system_prompt=system_prompt,
        prompt=_prompt(section, base, repository, web),
        parameters=_parameters(section),
        command=_command(section.get("command")),
        path=path,
        deterministic=_is_deterministic(
            section, None if base_target is None or not from_file else _written(base_target)
        ),
        files=tuple(files),
        folder=folder,
        reads_other_files=section["type"] not in (*PROVIDERS, "recorded") or bool(servers),
        web=web,
        agent=agent,
        skills_of_suites=agent is not None and "skills" not in section,
        trace=_trace(section),
        servers=servers,
        variables=variables,
    )
    _complete(settings)
    return settings


def _working_folder(section: Mapping[str, Any], base: Path, repository: Path) -> Path | None:
    """The folder that the target runs in; None if none is named. Raises InvalidSettings."""
    if "cwd" not in section:
        return None
    folder = base / str(section["cwd"])
    real = resolved_path(folder)
    if real is None or not real.is_dir() or not real.is_relative_to(repository.resolve()):
        raise InvalidSettings(f"target.cwd: {section['cwd']} is not a folder inside the repository")
    return folder


def _system_prompt(section: Mapping[str, Any], base: Path, repository: Path) -> tuple[str | None, list[Path]]:
    """(the system prompt, the files it is read from). Raises InvalidSettings, UsageError."""
    text, files = section.get("system_prompt"), []
    if "system_prompt_file" in section:
        name = section["system_prompt_file"]
        path = path_inside(repository, name, base=base, what="target.system_prompt_file")
        text, files = read_text(path, name), [path, base / name]
    if text is not None and section["type"] in _WITHOUT_SYSTEM_PROMPT:
        raise InvalidSettings(f"target.system_prompt: a {section['type']} target is not sent one; remove it")
    return text, files


def _skills_or_recording(
    section: Mapping[str, Any], base: Path, inside: Path | None
) -> tuple[Path | None, list[Path]]:
    """(the folder of skills or the recorded answers, the files to read), which must lie in `inside`, if given."""
    if section["type"] == "skill":
        path = base / section.get("skills_dir", SKILLS)
        if inside is not None and not lies_inside(inside, path):
            name = section["skills_dir"]
            raise InvalidSettings(f"target.skills_dir: {name} is not a folder inside the repository")
        return path, [path]
    if section["type"] == "recorded":
        path = _recording(section.get("path"), base, inside, "target")
        return path, [path, base / section["path"]]
    return None, []


def _trace(section: Mapping[str, Any]) -> Literal["otlp"] | None:
    """How the trace of a program is received. Raises InvalidSettings for a target that is not started here."""
    if "trace" not in section:
        return None
    if section["type"] not in _STARTED_HERE:
        raise InvalidSettings(
            f"target.trace: a {section['type']} target is not a program that is started here; leave it out "
            f"(it is for {', '.join(_STARTED_HERE)})"
        )
    return "otlp"


def _parameters(section: Mapping[str, Any]) -> dict[str, Any]:
    """Of a chat model; the tools of an agent are its permissions."""
    tools = {"tools": section["tools"]} if "tools" in section and section["type"] not in AGENTS else {}
    return {**section.get("parameters", {}), **tools}


def skill_target(base: Path) -> TargetSettings:
    """The skills in their usual folder."""
    return TargetSettings(type="skill", base=base, path=base / SKILLS, deterministic=True, reads_other_files=True)


def model_target(base: Path, environment: Mapping[str, str]) -> TargetSettings:
    """The chat models that the suites themselves name."""
    section = {"type": "openai"}
    base_url = _base_url(section, environment, what="target")
    return TargetSettings(type="openai", base=base, base_url=base_url)


def judge_settings(raw: RawEndpoint) -> tuple[JudgeSettings, ...]:
    """The judges; empty if none is set. Raises InvalidSettings, UsageError for a judge's file."""
    value, _, _ = raw.source_of("judge")
    model = raw.values["judge_model"]
    if isinstance(value, list):
        if model is not None:
            raise InvalidSettings("judge_model names one model, but there are several judges; leave it out")
        return tuple(_judge(raw, one) for one in value)
    if value is None and model is None and not raw.environment.get("AZURE_AI_OPENAI_ENDPOINT"):
        return ()
    section = judge_words(value) if isinstance(value, str) else dict(value or {})
    return (_judge(raw, section if model is None else {**section, "model": model}),)


def judges_label(judges: Sequence[JudgeSettings]) -> str | None:
    """How a results document names these judges; None if that is unknown, or there is none."""
    if len(judges) > 1:
        return " + ".join(judge.model or judge.type for judge in judges)
    return judges[0].model if judges else None


def _judge(raw: RawEndpoint, value: str | Mapping[str, Any]) -> JudgeSettings:
    _, from_file, base = raw.source_of("judge")
    repository, environment = raw.repository, raw.environment
    azure = environment.get("AZURE_AI_OPENAI_ENDPOINT")
    written = judge_words(value) if isinstance(value, str) else value
    kind: JudgeType = written.get("type", "azure" if azure and "base_url" not in written else "openai")
    section = {**written, "type": kind}
    endpoint = _endpoint(section, environment, what="judge")
    if kind == "azure" and endpoint["model"] is None:
        endpoint["model"] = model("azure judge")
    path = file = recorded = None
    if kind == "recorded":
        recorded = _judgements_of_base(section.get("path"), base, raw)
        inside = repository if from_file else None
        path = (
            base / section["path"]
            if recorded is not None
            else _recording(section.get("path"), base, inside, "judge")
        )
        file = base / section["path"]
        if section.get("votes", 1) > 1:
            raise InvalidSettings("judge.votes: a recorded judge has one judgement of each answer; leave it out")
    elif not endpoint["model"]:
        raise InvalidSettings("the judge has no model; name one with --judge-model or judge.model")
    return JudgeSettings(
        type=kind,
        **endpoint,
        parameters=section.get("parameters", {}),
        path=path,
        recorded=recorded,
        file=file,
        votes=section.get("votes", 1),
    )


def needs_key(settings: ModelSettings) -> bool:
    """Whether it refuses requests without a key; a self-hosted server may not."""
    if settings.auth is not None:
        return False
    provider = PROVIDERS.get(settings.type)
    return provider is not None and provider.needs_key and (settings.type != "openai" or settings.base_url is None)


def api_key(settings: ModelSettings, environment: Mapping[str, str], what: str) -> str:
    """The key to send. Raises InvalidSettings if it needs one and there is none, and for one that cannot be sent.

    A line break at its end is common: it comes with the file that the variable was set from.
    """
    key, name = environment.get(settings.api_key_env, "").strip(), settings.api_key_env
    if not (key.isascii() and key.isprintable()):
        raise InvalidSettings(f"{what}: {name} holds a line break or another character that no API key has")
    if not key and needs_key(settings):
        raise InvalidSettings(f"{what}: the environment variable {name} is not set; it must hold the API key")
    return key or "none"


def _prompt(
    section: Mapping[str, Any], base: Path, repository: Path, web: WebSettings | None
) -> PromptTemplate | None:
    """What `prompt_file` holds. Raises InvalidSettings, UsageError, InvalidSuite for a file with errors."""
    what, name = "target.prompt_file", section.get("prompt_file")
    if name is None:
        return None
    if section["type"] == "skill":
        raise InvalidSettings(f"{what}: a skill is called with its input, and has no prompt; leave it out")
    path = path_inside(repository, name, base=base, what=what)
    prompt = read_prompt_file(path, path.relative_to(repository.resolve()).as_posix())
    if len(prompt.messages) > 1 and web is not None and not sends_messages(web):
        why = "an a2a agent is sent one text" if section["type"] == "a2a" else "target.body has no {{messages}}"
        raise InvalidSettings(f"{what}: {name} has messages before the last one, but {why}")
    return prompt


def _is_deterministic(section: Mapping[str, Any], base_section: Mapping[str, Any] | None) -> bool:
    """Whether equal prompts get equal responses. For a change, a base with a target of the same type decides."""
    deciding = section if base_section is None or base_section["type"] != section["type"] else base_section
    return bool(deciding.get("deterministic", deciding["type"] in ("recorded", "skill")))


def _written(value: str | Mapping[str, Any]) -> dict[str, Any]:
    return target_words(value) if isinstance(value, str) else dict(value)


def target_words(text: str) -> dict[str, Any]:
    """A target written as one text → its section. Raises UsageError."""
    kind, _, rest = text.partition(":")
    if kind in ("http", "https", "a2a"):
        return web_words(kind, rest)
    if kind not in _OPTION_OF_WORD:
        raise _unknown("target", text, _TARGETS)
    return {"type": kind, **({_OPTION_OF_WORD[kind]: rest} if rest else {})}


def judge_words(text: str) -> dict[str, Any]:
    """A judge written as one text → its section. Raises InvalidSettings."""
    kind, colon, rest = text.partition(":")
    if kind == "recorded":
        return {"type": kind, "path": rest}
    if text == "azure":
        return {"type": text}
    if colon and kind in PROVIDERS:
        return {"type": kind, "model": rest}
    if colon or kind == GITHUB_MODELS:
        raise _unknown("judge", text, _JUDGES)
    return {"model": text}


_MAKERS = {  # how the names of their models begin
    "gpt-": "openai",
    "claude-": "anthropic",
    "gemini-": "gemini",
    "mistral-": "mistral",
    "deepseek-": "deepseek",
}


JUDGE_URL = "RUNEVALS_JUDGE_URL"  # in CI, the judge's `base_url` if it is not the provider's address


def _unknown(what: str, text: str, known: Sequence[str]) -> InvalidSettings:
    kind = text.partition(":")[0]
    if kind == GITHUB_MODELS:
        return InvalidSettings(f"{what}: {RETIRED}")
    model = f", or MODEL without a colon (openai:{text})" if what == "judge" else ""
    names = [form.partition(":")[0] for form in known]
    maker = next((maker for start, maker in _MAKERS.items() if text.startswith(start)), None)
    is_model = what == "target" and maker is not None and nearest(kind, names, least=MISSPELT) is None
    hint = f"; did you mean '{maker}:{text}'?" if is_model else did_you_mean(kind, names)
    return InvalidSettings(f"there is no {what} '{text}'; it is one of {', '.join(known)}{model}{hint}")


def _endpoint(
    section: Mapping[str, Any], environment: Mapping[str, str], *, what: str, has_key: bool = True
) -> dict[str, Any]:
    """The fields of ModelSettings that a target and a judge read alike. Raises InvalidSettings."""
    place = _base_url(section, environment, what=what)
    base_url, azure_version = azure_address(section["type"], place, environment)
    return {
        "model": _model(section, environment),
        "base_url": base_url,
        "api_key_env": _key_name(section) if has_key else "",
        "azure_api_version": azure_version,
        "auth": _auth(section, what),
        "api": section.get("api"),
        "timeout_s": float(section.get("timeout_s", DEFAULT_TIMEOUT_S)),
    }


def _auth(section: Mapping[str, Any], what: str) -> Literal["github"] | None:
    """Whether the identity of the job is sent. Raises InvalidSettings if it cannot be."""
    if "auth" not in section:
        return None
    if section["type"] not in EXCHANGES:
        raise InvalidSettings(
            f"{what}.auth: {section['type']} takes no identity of a job; leave it out ({', '.join(EXCHANGES)} do)"
        )
    if "api_key_env" in section:
        raise InvalidSettings(f"{what}.auth: with it, no key is sent; leave out api_key_env")
    return "github"


def _model(section: Mapping[str, Any], environment: Mapping[str, str]) -> str | None:
    azure_model = environment.get("AZURE_AI_MODEL_NAME") if section["type"] == "azure" else None
    return section.get("model") or azure_model or None


def _base_url(section: Mapping[str, Any], environment: Mapping[str, str], *, what: str) -> str | None:
    """The endpoint's address, None for OpenAI's. Raises InvalidSettings for one that cannot be called."""
    name = section["type"] if section["type"] in PROVIDERS else "openai"
    written = section.get("base_url")
    place = written or address(name, environment, section.get("model"))
    if place == OPENAI_URL and not written:
        return None
    source = f"{what}.base_url" if written else PROVIDERS[name].located_by or what
    try:
        origin_of(place)
    except ValueError as error:
        raise InvalidSettings(f"{source}: the address of a model cannot be read: {error}") from None
    return _http(place, source)


def _http(address: str, name: str) -> str:
    """An address that can be called. Raises InvalidSettings for one without a scheme, or with another."""
    if not address.lower().startswith(("http://", "https://")):
        raise InvalidSettings(f"{name}: '{address}' must begin with http:// or https://")
    return address


def _key_name(section: Mapping[str, Any]) -> str:
    own = PROVIDERS[section["type"] if section["type"] in PROVIDERS else "openai"].key
    return str(section.get("api_key_env", own))


def _recording(name: str | None, base: Path, repository: Path | None, what: str) -> Path:
    if not name:
        raise InvalidSettings(f"the recorded {what} needs a file: recorded:FILE")
    if repository is not None:
        return path_inside(repository, name, base=base, what=f"{what}.path")
    path = base / name
    if not path.is_file():
        raise InvalidSettings(f"the recorded {what}: there is no file {name}")
    return path


def _judgements_of_base(name: str | None, base: Path, raw: RawEndpoint) -> str | None:
    """The base's content of a recorded judge's file, if a change could have written the file of the checkout.

    None if the checkout's file is used: of a judge that a change may introduce, or one an earlier step wrote.
    """
    side, root = raw.base_side, raw.repository
    if side is None or not name or raw.origins["judge"] == raw.file.display_name:
        return None
    relative = os.path.relpath(base / name, root).replace(os.sep, "/")
    if relative.startswith("../") or not (raw.is_of_base("judge") or git.may_be_committed(root, base / name)):
        return None
    content = git.file_at(root, side.commit, relative)
    if content is None:
        why = "a change must not bring its own"
        raise InvalidSettings(f"the recorded judge: the base {side.commit[:7]} has no file {name}; {why}")
    return decoded(content, name)


def _command(value: str | list[str] | None) -> tuple[str, ...]:
    if isinstance(value, str):
        try:
            return tuple(shlex.split(value))
        except ValueError as error:
            raise InvalidSettings(f"target.command cannot be read: {error}") from None
    return tuple(value or ())


def _complete(target: TargetSettings) -> None:
    if target.type == "command" and not target.command:
        raise InvalidSettings("the command target has no command; give target.command or command:PROGRAM")
    if target.type == "plugin" and not target.plugin:
        raise InvalidSettings("the plugin target needs the name of a plugin: target.plugin or plugin:NAME")
    if target.type == "python" and (not target.function or ":" not in target.function):
        raise InvalidSettings("the python target needs a function: FILE.py:FUNCTION or MODULE:FUNCTION")
