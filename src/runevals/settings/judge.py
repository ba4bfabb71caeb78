"""The settings of the judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from runevals.lib.parsing.source import decoded
from runevals.lib.storage.files import path_from
from runevals.models.chat.providers import ProviderName
from runevals.records.errors import InvalidSettings
from runevals.repository import git
from runevals.settings.target import RawEndpoint
from runevals.settings.words import judge_words
from runevals.targets.chat_settings import ModelSettings, model_fields
from runevals.targets.kind import recording

JUDGE_URL = "RUNEVALS_JUDGE_URL"  # in CI, the judge's `base_url` if it is not the provider's address
JudgeType = Literal[ProviderName, "recorded"]


class JudgeSettings(ModelSettings, frozen=True, kw_only=True):
    """The resolved settings of a judge."""

    type: JudgeType
    path: Path | None = None
    recorded: str | None = None  # the base's content of `path`, if the base decides
    file: Path | None = None  # `path` as the settings write it: a link is not followed
    votes: int = 1  # how often each question is asked; the median counts


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
    endpoint = model_fields(section, environment, what="judge")
    if kind == "azure" and endpoint["model"] is None:
        from runevals.models.facts import model

        endpoint["model"] = model("azure judge")
    path = file = recorded = None
    if kind == "recorded":
        recorded = _judgements_of_base(section.get("path"), base, raw)
        inside = repository if from_file else None
        path = None if recorded is not None else recording(section.get("path"), base, inside, "judge")
        file = base / section["path"]
        path = path or file
        if section.get("votes", 1) > 1:
            raise InvalidSettings("judge.votes: a recorded judge has one judgement of each answer; leave it out")
    elif not endpoint["model"]:
        raise InvalidSettings("the judge has no model; name one with --judge-model or judge.model")
    return JudgeSettings(
        type=kind, **endpoint, path=path, recorded=recorded, file=file, votes=section.get("votes", 1)
    )


def _judgements_of_base(name: str | None, base: Path, raw: RawEndpoint) -> str | None:
    """The base's content of a recorded judge's file, if a change could have written the file of the checkout.

    None if the checkout's file is used: of a judge that a change may introduce, or one an earlier step wrote.
    """
    side, root = raw.base_side, raw.repository
    if side is None or not name or raw.origins["judge"] == raw.file.display_name:
        return None
    relative = path_from(base / name, root)
    if relative.startswith("../") or not (raw.is_of_base("judge") or git.may_be_committed(root, base / name)):
        return None
    content = git.file_at(root, side.commit, relative)
    if content is None:
        why = "a change must not bring its own"
        raise InvalidSettings(f"the recorded judge: the base {side.commit[:7]} has no file {name}; {why}")
    return decoded(content, name)
