"""Generates docs/evaluators.md from the evaluators' own documentation."""

from __future__ import annotations

from collections.abc import Iterator

from runevals.evaluators import catalogue, format_names
from runevals.evaluators.describe import EvaluatorDescription, describe, family_title
from runevals.lib.nullable import grouped
from runevals.suites.dialects import skill_cases

_HEAD = """# Evaluators

Written by `runevals evaluators --markdown`; `runevals evaluators NAME` shows one of them.

Eval documents, rows and the settings name an evaluator as it is called here; eval samples name it as the `type` of
an assertion, skill cases as that of `expected`. Where a format has another word for it, its entry says so. Every
evaluator takes `weight`; those with a scale take `threshold`, on that scale.

*Layer* is where a check counts: facts, behavior, or the judge's opinion. An answer under an example is the text
that the target returns; an object with `output` or `value` is a [recorded answer](running.md#targets), which also
says what else the target reported.

![Five checks of a case in the report: two failed, three passed, each with its reason](evaluators.png)"""


def page() -> str:
    """The whole page, families in the catalogue's order."""
    descriptions = {cls: describe(cls) for cls in catalogue.builtin_evaluators().values()}
    titles = {one.family: family_title(cls) for cls, one in descriptions.items()}
    families = grouped((one.family, "\n\n".join(_entry(one))) for one in descriptions.values())
    blocks = [_HEAD]
    for family in catalogue.FAMILIES:
        blocks += [f"## {titles[family].rstrip('.')}", *families[family]]
    return "\n\n".join(blocks) + "\n"


def _entry(one: EvaluatorDescription) -> Iterator[str]:
    yield f"### {one.name}"
    yield f"*{one.summary}* {one.facts}"
    names = _names(one)
    if names:
        yield f"Also known as: {'; '.join(names)}."
    yield one.prose
    if one.options:
        rows_ = [f"| `{o.name}` | {o.kind} | {o.default or '**required**'} | {o.meaning} |" for o in one.options]
        yield "\n".join(["| option | type | default | meaning |", "|---|---|---|---|", *rows_])
    yield f"```{'yaml' if one.example.startswith('evaluators:') else 'json'}\n{one.example}\n```"
    if one.answers:
        yield "\n".join(f"* {verdict}: `{answer}`" for verdict, answer in one.answers)


def _names(one: EvaluatorDescription) -> list[str]:
    """Its other names in the formats."""
    names = [f"`{alias}`" for alias in one.aliases]
    names += [
        f"`{n}` in rows" for n, ours in format_names.PRESETS.items() if ours == one.name and n not in one.aliases
    ]
    names += [f"`{n}` in skill cases" for n, ours in skill_cases.EXPECTED.items() if ours == one.name != n]
    return names + [
        f"`{n}` in eval documents and samples, inverted" for n, o in format_names.INVERTED.items() if o == one.name
    ]
