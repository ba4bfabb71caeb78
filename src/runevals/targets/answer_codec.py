"""Answers and judgements as text, and back: what caches and journals keep."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from runevals.records import (
    Citation,
    Delivery,
    FileChange,
    FileFound,
    Message,
    Problem,
    ProgramEnded,
    ProgramProbe,
    Response,
    SimulatedConversation,
    ToolCall,
    WorkspaceChanges,
)
from runevals.records.judgement import Judgement, Vote


def response_text(response: Response) -> str:
    """An answer as JSON."""
    return json.dumps(_fields(response), default=_fields)


def read_response(text: str, *, cached: bool) -> Response:
    """The answer in such a text. Raises ValueError, TypeError, KeyError for any other."""
    fields = json.loads(text)
    calls, sources, delivery = fields["tool_calls"], fields["citations"], fields.get("delivery")
    workspace = fields.get("workspace")
    skills, talk = fields.get("skills"), fields.get("conversation")
    return Response(
        **{
            **fields,
            "tool_calls": None if calls is None else tuple(ToolCall(**call) for call in calls),
            "skills": None if skills is None else tuple(skills),
            "citations": None if sources is None else tuple(Citation(**source) for source in sources),
            "delivery": None if delivery is None else Delivery(**delivery),
            "refused": tuple(fields.get("refused", ())),
            "workspace": None if workspace is None else read_workspace(workspace),
            "conversation": None if talk is None else _conversation(talk),
            "problem": None if fields.get("problem") is None else Problem(**fields["problem"]),
            "cached": cached,
        }
    )


def _conversation(fields: dict[str, Any]) -> SimulatedConversation:
    messages = tuple(Message(**message) for message in fields["messages"])
    return SimulatedConversation(**{**fields, "messages": messages})


def read_workspace(fields: dict[str, Any]) -> WorkspaceChanges:
    """What such a text, or a recorded answer, says of a workspace. Raises TypeError, KeyError."""
    return WorkspaceChanges(
        **{
            **fields,
            "changes": tuple(FileChange(**change) for change in fields.get("changes", ())),
            "files": tuple(FileFound(**file) for file in fields.get("files", ())),
            "programs": tuple(_program(one) for one in fields.get("programs", ())),
        }
    )


def _program(fields: dict[str, Any]) -> ProgramEnded:
    probe = fields["probe"]
    lists = {"argv": tuple(probe["argv"]), "restore": tuple(probe.get("restore", ()))}
    return ProgramEnded(**{**fields, "probe": ProgramProbe(**{**probe, **lists})})


def judgement_text(judgement: Judgement) -> str:
    """A judgement without a problem, as JSON."""
    return json.dumps(_fields(judgement), default=_fields)


def _fields(record: Any) -> dict[str, object]:
    """A record as JSON has it; those within it come here too. Raises TypeError for what is none."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def read_judgement(text: str) -> Judgement:
    """The judgement in such a text. Raises ValueError, TypeError, KeyError for any other."""
    fields = json.loads(text)
    return Judgement(**{**fields, "votes": tuple(Vote(**vote) for vote in fields["votes"])})
