"""The target's prompt template, filled in for each case.

The template is what is under test, so neither a case's key nor its fingerprint depends on it: a rewritten
prompt is compared, case by case, with the old one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from runevals.lib.text.numbers import phrase, plural
from runevals.lib.text.suggest import did_you_mean
from runevals.lib.text.variables import VARIABLE, fill_variables, variables_in
from runevals.records import Case, FileProblem, Message, PromptTemplate, Suite
from runevals.records.errors import InvalidSettings, InvalidSuite
from runevals.suites.dialects import eval_samples, prompt_yml, rows, skill_cases
from runevals.suites.dialects.variables import texts_of

MOST_CHARACTERS = 512 * 1024 * 1024  # of all prompts together, filled in
PROMPT = "prompt"  # the variable with the prompt of the case
_OTHER_PROMPTS: Mapping[str, str] = {
    prompt_yml.NAME: "is a prompt itself",
    skill_cases.NAME: "calls skills, which take no prompt",
}


def with_prompts(
    suites: Sequence[Suite], template: PromptTemplate | None, runs: Callable[[Case], bool]
) -> tuple[Suite, ...]:
    """The suites with the prompts as sent to the target, for the cases that `runs` selects.

    In a conversation, only the first turn uses the template. Raises InvalidSuite for cases that do not fit the
    template.
    """
    problems = prompt_problems(suites, template, runs)
    if problems:
        raise InvalidSuite(problems)
    if template is None:
        return tuple(suites)

    def prepare(case: Case, suite: Suite) -> Case:
        return _with_template(case, _values(case, suite.dialect, template), template) if runs(case) else case

    return tuple(replace(suite, cases=tuple(prepare(case, suite) for case in suite.cases)) for suite in suites)


def on_prompts_of(suites: Iterable[Suite], heads: Sequence[Suite], former: Mapping[str, str]) -> Iterator[Suite]:
    """The suites, with prompt files on messages and model of the head, if it has them. Raises InvalidSettings."""
    prompts = {former.get(head.path, head.path): head for head in heads if head.messages and head.cases}
    for suite in suites:
        if not suite.messages:
            yield suite
        elif suite.path in prompts:
            yield _on_prompt_of(suite, prompts[suite.path])


def _on_prompt_of(suite: Suite, head: Suite) -> Suite:
    template = PromptTemplate(display_path=head.path, messages=head.messages)
    of_head = {"model": head.cases[0].model, "parameters": head.cases[0].parameters, "opening": ()}
    bare = [
        replace(case, turns=(replace(case.turns[0], prompt=""),), variables=case.metadata, **of_head)
        for case in suite.cases
    ]
    try:
        return with_prompts([replace(suite, cases=tuple(bare), dialect="")], template, lambda _: True)[0]
    except InvalidSuite as error:
        raise InvalidSettings(f"on the base, {error.problems[0].message}") from None


def lending(
    template: PromptTemplate | None, former: PromptTemplate | None, cases: Iterable[Case]
) -> PromptTemplate | None:
    """The template with the variables of these cases for their other forms, if it has all that the former one has.

    What was asked by one name might be asked easier by another.
    """
    if former is None or template is None or not {*variables_of(former)} <= {*variables_of(template)}:
        return template
    return replace(template, lent={(case.suite, case.key): case.variables for case in cases})


def prompt_problems(
    suites: Sequence[Suite], template: PromptTemplate | None, runs: Callable[[Case], bool]
) -> list[FileProblem]:
    """Why cases cannot be run: one problem for all cases of a suite with the same reason."""
    if template is not None and (too_much := _too_much(suites, template, runs)) is not None:
        return [too_much]
    return [problem for suite in suites for problem in _of_suite(suite, template, runs)]


def _too_much(
    suites: Sequence[Suite], template: PromptTemplate, runs: Callable[[Case], bool]
) -> FileProblem | None:
    """The first case with which the prompts are too long: a template may have a variable ten thousand times."""
    counts = Counter(name for message in template.messages for name in VARIABLE.findall(message.content))
    own, total = sum(len(message.content) for message in template.messages), 0
    for suite in suites:
        for case in filter(runs, suite.cases):
            values = _values(case, suite.dialect, template)
            total += own + sum(len(values.get(name, "")) * count for name, count in counts.items())
            if total > MOST_CHARACTERS:
                most = f"{MOST_CHARACTERS // 1024**2} MiB"
                message = f"with case '{case.key}', the prompts that {template.display_path} makes exceed {most}"
                return FileProblem(location=case.location, pointer="", message=message)
    return None


def _of_suite(
    suite: Suite, template: PromptTemplate | None, runs: Callable[[Case], bool]
) -> Iterator[FileProblem]:
    problems_by_kind: dict[str, list[tuple[Case, str]]] = {}
    if template is None and suite.dialect != eval_samples.NAME:
        return  # the other formats require a prompt
    for case in filter(runs, suite.cases):
        if template is None:
            reason = "has variables and no prompt: name their prompt template with target.prompt_file"
            problem = iter([] if case.turns[0].prompt else [("", f"case '{case.key}' {reason}")])
        elif suite.dialect in _OTHER_PROMPTS:
            reason = f"this suite {_OTHER_PROMPTS[suite.dialect]}: run it without target.prompt_file"
            problem = iter([("", reason)])
        else:
            problem = _complaints(case, _values(case, suite.dialect, template), template)
        for kind, message in problem:
            problems_by_kind.setdefault(kind, []).append((case, message))
    for alike in problems_by_kind.values():
        case, message = alike[0]
        rest = phrase(len(alike) > 1, f" (and {plural(len(alike) - 1, 'more case')})")
        yield FileProblem(location=case.location, pointer="", message=f"{message}{rest}")


def variables_of(template: PromptTemplate) -> tuple[str, ...]:
    """The variables that a template uses, in order, each once."""
    return tuple(dict.fromkeys(name for message in template.messages for name in variables_in(message.content)))


def _complaints(case: Case, values: Mapping[str, str], template: PromptTemplate) -> Iterator[tuple[str, str]]:
    """(what all cases with the same have in common, in words what is wrong)."""
    own, template_path = case.turns[0].prompt, template.display_path
    names = variables_of(template)
    missing = [name for name in names if name not in values]
    for name in missing:
        near = did_you_mean(name, values) or "; docs/suites.md#variables says where it stands"
        yield name, f"case '{case.key}' has no variable '{name}', which {template_path} uses{near}"
    if case.turns[0].user is not None:
        yield (
            "user",
            f"case '{case.key}' begins with a simulated user, and {template_path} cannot be filled with it",
        )
    elif own and case.variables.get(PROMPT, own) != own:
        yield "two", f"case '{case.key}' has both a prompt and a variable '{PROMPT}': rename the variable"
    elif own and own not in [*(values[name] for name in names if name in values), *case.variables.values()]:
        yield "own", f"case '{case.key}' has a prompt, but {template_path} does not use it: add {{{{{PROMPT}}}}}"
    elif values and not names:
        some = ", ".join(f"{{{{{name}}}}}" for name in [*values][:3])
        yield "same", f"{template_path} uses no variable: it would ask every case the same; add {some}"
    elif not missing and not _fill(template, values)[-1].content.strip():
        yield "empty", f"the prompt of case '{case.key}' is empty after {template_path} is filled in"


def _values(case: Case, dialect: str, template: PromptTemplate) -> dict[str, str]:
    own = case.turns[0].prompt
    names = (PROMPT, *["input"] * (dialect == rows.NAME)) * bool(own)
    lent = texts_of(template.lent.get((case.suite, case.key), {}))
    return {**lent, **dict.fromkeys(names, own), **texts_of(case.variables)}


def _with_template(case: Case, values: Mapping[str, str], template: PromptTemplate) -> Case:
    *opening, last = _fill(template, values)
    first, *others = case.turns
    turn = replace(first, prompt=last.content, author_prompt=first.author_prompt or first.prompt or None)
    return replace(case, turns=(turn, *others), opening=(*opening, *case.opening))


def _fill(template: PromptTemplate, values: Mapping[str, str]) -> list[Message]:
    return [replace(message, content=fill_variables(message.content, values)[0]) for message in template.messages]
