"""The id that distinguishes the comment and the artifact of one step from all others of its workflow."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from runevals.lib.parsing.shapes import text_in
from runevals.lib.text.numbers import phrase
from runevals.records.errors import InvalidSettings

# Set by action.yml, as the runner has no variable for it.
MATRIX, CALLED = "RUNEVALS_MATRIX", "RUNEVALS_CALLED_WORKFLOW"
_PLAIN = re.compile(r"[\w.:/ -]+")
_SECOND_USE = re.compile(r"__.+_(\d+)")  # how the runner names a step without an id, from its second use on
_COMMAND = re.compile(r"__run(_\d+)?")  # a `run:` step: the number says how many of any kind went before it


def automatic_id(environment: Mapping[str, str], shard: str | None) -> str:
    """Workflow, job, leg of the matrix and step. `shard`: its value in a matrix, as all shards are one run.

    Raises InvalidSettings for a job that no variable tells from others.
    """
    called = environment.get(CALLED, "")
    if called:
        raise InvalidSettings(
            f"comment_id is missing: this job is of {called.partition('@')[0]}, which may be called several times "
            "in a run; give the step a comment_id, such as an input of that workflow"
        )
    whole = [environment.get("GITHUB_WORKFLOW", "workflow"), environment.get("GITHUB_JOB", "job")]
    return " ".join([*whole, *leg_and_step(environment, shard)])


def leg_and_step(environment: Mapping[str, str], shard: str | None) -> list[str]:
    """The part of the id for the leg of a matrix and the step."""
    parts = _leg(environment.get(MATRIX, ""), shard), _step(environment.get("GITHUB_ACTION", ""))
    return list(filter(None, parts))


def _leg(matrix: str, shard: str | None) -> str:
    try:
        values = json.loads(matrix or "null")
    except ValueError:
        raise InvalidSettings(f"{MATRIX} is not JSON; it is ${{{{ toJSON(matrix) }}}}") from None
    if not isinstance(values, Mapping):
        return ""
    texts = {
        key: value if _PLAIN.fullmatch(text_in(value)) else json.dumps(value, sort_keys=True)
        for key, value in values.items()
        if shard is None or value != shard
    }
    return phrase(", ".join(f"{key}={text}" for key, text in texts.items()), "({})")


def _step(action: str) -> str:
    """A step's own id, or the number of its use in the job, if it is not the first one."""
    if not action.startswith("__"):
        return "" if action.isdecimal() else action  # act numbers steps, GitHub does not
    match = _SECOND_USE.fullmatch(action)
    return "" if match is None or _COMMAND.fullmatch(action) else match[1]
