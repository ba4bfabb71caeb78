"""A skill was loaded by the agent, or was not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject, missing
from runevals.evaluators.text.blank import is_blank
from runevals.evaluators.tools.calls import NO_TRACE, input_texts
from runevals.records import Layer, Problem, ToolCall, Verdict
from runevals.records.trace import same_tool

_HERE = r"(?:^|[\s\"'=(])(?:\.[/\\]+)?"  # before the name of a file in this folder
_TOOLS = ("skill", "activate_skill")  # of Claude Code and Copilot, of Gemini CLI
_NO_TRACE = missing(f"{NO_TRACE.message}; `suites:` in the settings names those that it can answer")


@evaluator("skill_triggered")
class SkillTriggered(Check):
    """Passes when the agent loaded the skill; with `should_trigger: false`, when it had the skill and did not.

    A skill is loaded by a call of the tool `Skill` or `activate_skill` that names it, or by a call whose input
    names the skill's `SKILL.md`: in a folder of its name, or here if the target has no other skill. Calls that
    failed do not count.

    A target that does not report its tool calls makes this an error (`evidence_missing`). So does one that did not
    load the skill and does not report that it had it (`skills`): *not loaded* and *not installed* look alike.

    Options:
        skill: the skill's name.
        should_trigger: whether it is to be loaded.

    Example:
        "evaluators": {"skill_triggered": {"skill": "pdf"}}
        passes: {"output": "OK", "skills": ["pdf"], "tool_calls": [{"name": "Skill", "input": {"skill": "pdf"}}]}
        fails: {"output": "OK", "skills": ["pdf"], "tool_calls": []}
    """

    layer = Layer.BEHAVIOR

    skill: str
    should_trigger: bool = True

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if is_blank(self.skill):
            yield "skill", "skill is blank; write the name of the skill"

    def check(self, subject: Subject) -> Verdict | Problem:
        calls = subject.response.tool_calls
        if calls is None:
            return _NO_TRACE
        skills = subject.response.skills
        call = next((call for call in calls if _loads(call, self.skill, skills or ())), None)
        if call is not None:
            loads = {self.skill, *_loads_of(calls, skills or ())}
            reason = f"{self.skill} was loaded by a call of {call.name}"
            return Verdict(float(self.should_trigger), reason, self._details(loads))
        if skills is None:
            what = f"{self.skill} was not loaded, and the target does not report which skills it had"
            return missing(f'{what} (a program prints `"skills": ["{self.skill}"]` beside `toolCalls`)')
        if not any(_same_skill(name, self.skill) for name in skills):
            return missing(
                f"the target did not have the skill {self.skill} (it had {', '.join(skills) or 'none'})"
            )
        if any(call.input is None for call in calls):
            return missing(
                f"the target does not report the input of every call, one of which may load {self.skill}"
            )
        loads = _loads_of(calls, skills)
        return Verdict(float(not self.should_trigger), f"{self.skill} was not loaded", self._details(loads))

    def _details(self, loads: Iterable[str]) -> dict[str, object]:
        """What the matrix of all skills is made from."""
        return {
            "skill": _name(self.skill),
            "should_trigger": self.should_trigger,
            "loads": sorted(set(map(_name, loads))),
        }


def _loads_of(calls: Iterable[ToolCall], skills: Sequence[str]) -> set[str]:
    return {skill for skill in skills if any(_loads(call, skill, skills) for call in calls)}


def _loads(call: ToolCall, skill: str, skills: Sequence[str]) -> bool:
    texts = [] if call.ok is False else input_texts(call)
    if any(same_tool(call.name, tool) for tool in _TOOLS):
        return any(_same_skill(text, skill) for text in texts)
    place = rf"(?:^|[^\w.-]){re.escape(_name(skill))}[/\\]+"
    place = rf"(?:{place}|{_HERE})" if len(skills) == 1 else place
    file = re.compile(rf"{place}SKILL\.md\b", re.IGNORECASE)
    return any(file.search(text) for text in texts)


def _name(skill: str) -> str:
    """A skill's name without that of its plugin."""
    return skill.rpartition(":")[2]


def _same_skill(name: str, skill: str) -> bool:
    """Whether both name one skill; that of a plugin is found with its prefix and without."""
    name, skill = name.strip().removeprefix("/").casefold(), skill.strip().casefold()
    return skill in (name, name.rpartition(":")[2])
