"""The target's prompt template, filled in for each case.

The template is what is under test, so neither a case's key nor its fingerprint depends on it: a prompt that a
change rewrites is compared, case by case, with what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from runevals.lib.text.numbers import plural
from runevals.lib.text.suggest import did_you_mean
from runevals.lib.text.variables import VARIABLE, fill_variables
from runevals.records import Case, Message, PromptTemplate, Suite, SuiteProblem
from runevals.records.errors import InvalidSuite
from runevals.suites.dialects import eval_samples, prompt_yml, rows, skill_cases
from runevals.suites.dialects.variables import texts_of

PROMPT = "prompt"  # the variable that stands for a case's own prompt
_ASKED_OTHERWISE: Mapping[str, str] = {
    prompt_yml.NAME: "is a prompt itself",
    skill_cases.NAME: "calls skills, which take no prompt",
}


def with_prompts(
    suites: Sequence[Suite], template: PromptTemplate | None, runs: Callable[[Case], bool]
) -> tuple[Suite, ...]:
    """The suites with the prompts that the target is sent, where `runs` says that a case is sent at all.

    In a conversation it is the first turn's: those after it are sent as they stand. Raises InvalidSuite for cases
    that the template does not fit.
    """
    problems = prompt_problems(suites, template, runs)
    if problems:
        raise InvalidSuite(problems)
    if template is None:
        return tuple(suites)

    def asked(case: Case, suite: Suite) -> Case:
        return _asked(case, _values(case, suite.dialect), template) if runs(case) else case

    return tuple(replace(suite, cases=tuple(asked(case, suite) for case in suite.cases)) for suite in suites)


def prompt_problems(
    suites: Sequence[Suite], template: PromptTemplate | None, runs: Callable[[Case], bool]
) -> list[SuiteProblem]:
    """What keeps the cases from being asked: one problem for all cases of a suite with the same."""
    return [problem for suite in suites for problem in _of_suite(suite, template, runs)]


def _of_suite(
    suite: Suite, template: PromptTemplate | None, runs: Callable[[Case], bool]
) -> Iterator[SuiteProblem]:
    told: dict[str, list[tuple[Case, str]]] = {}
    if template is None and suite.dialect != eval_samples.NAME:
        return  # the other formats require a prompt
    for case in filter(runs, suite.cases):
        if template is None:
            found = _without_template(case)
        elif suite.dialect in _ASKED_OTHERWISE:
            why = f"this suite {_ASKED_OTHERWISE[suite.dialect]}: run it without target.prompt_file"
            found = iter([("", why)])
        else:
            found = _complaints(case, _values(case, suite.dialect), template)
        for kind, message in found:
            told.setdefault(kind, []).append((case, message))
    for alike in told.values():
        case, message = alike[0]
        more = "" if len(alike) == 1 else f" (and {plural(len(alike) - 1, 'more case')})"
        yield SuiteProblem(location=case.location, pointer="", message=f"{message}{more}")


def _without_template(case: Case) -> Iterator[tuple[str, str]]:
    if not case.turns[0].prompt:
        told = f"case '{case.key}' has variables and no prompt: name their prompt template with target.prompt_file"
        yield "", told


def _complaints(case: Case, values: Mapping[str, str], template: PromptTemplate) -> Iterator[tuple[str, str]]:
    """(what all cases with the same have in common, in words what is wrong)."""
    own, shown = case.turns[0].prompt, template.shown
    names = dict.fromkeys(name for message in template.messages for name in VARIABLE.findall(message.content))
    missing = [name for name in names if name not in values]
    for name in missing:
        yield name, f"case '{case.key}' has no variable '{name}', which {shown} uses{did_you_mean(name, values)}"
    if own and case.variables.get(PROMPT, own) != own:
        yield "two", f"case '{case.key}' has both a prompt and a variable '{PROMPT}': rename the variable"
    elif own and own not in [values[name] for name in names if name in values]:
        yield "own", f"case '{case.key}' has a prompt, but {shown} does not use it: add {{{{{PROMPT}}}}}"
    elif not missing and not _filled(template, values)[-1].content.strip():
        yield "empty", f"the prompt of case '{case.key}' is empty after {shown} is filled in"


def _values(case: Case, dialect: str) -> dict[str, str]:
    own = case.turns[0].prompt
    of_case = {name: own for name in (PROMPT, *(["input"] if dialect == rows.NAME else [])) if own}
    return {**of_case, **texts_of(case.variables)}


def _asked(case: Case, values: Mapping[str, str], template: PromptTemplate) -> Case:
    *opening, last = _filled(template, values)
    first, *others = case.turns
    turn = replace(first, prompt=last.content, asked=first.asked or first.prompt or None)
    return replace(case, turns=(turn, *others), opening=(*opening, *case.opening))


def _filled(template: PromptTemplate, values: Mapping[str, str]) -> list[Message]:
    return [replace(message, content=fill_variables(message.content, values)[0]) for message in template.messages]
