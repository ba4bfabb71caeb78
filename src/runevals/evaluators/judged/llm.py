"""A model scores the response by a prompt of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterable

from msgspec.structs import replace

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.judged.template import fill_template, label_of, parse_template, template_problems
from runevals.evaluators.kinds import Judged, Subject
from runevals.records import Scale, Verdict
from runevals.records.judgement import Judgement, Question

PASS_FROM = 0.6
DEFAULT_PROMPT = """Assess the quality of an AI assistant's answer.

The user's question:
{{input}}

The assistant's answer:
{{output}}

{{#if expected}}
A reference answer:
{{expected}}
{{/if}}

Look at these:
1. accuracy: is the answer right?
2. completeness: does it answer the whole question?
3. clarity: is it easy to understand?

Give each a score, and one overall."""
_DIMENSIONS = {DEFAULT_PROMPT: ("accuracy", "completeness", "clarity")}


class OfPrompt(Judged):
    """Asks by a prompt of one's own."""

    default_threshold = None

    prompt: str
    model: str | None
    label: str

    def question(self, subject: Subject) -> Question:
        values = template_values(subject)
        instructions, used = fill_template(parse_template(self.prompt), values)
        parts = tuple((label_of(name), values.get(name) or "") for name in used)
        scale, model = self.scale, self.model
        return Question(evaluator=self.label, instructions=instructions, parts=parts, scale=scale, model=model)


@evaluator("llm")
class Llm(OfPrompt):
    """A model scores the response by your own prompt. It is declared in the settings under an id.

    The template knows `{{input}}`, `{{output}}`, `{{expected}}`, `{{metadata.NAME}}` and `{{#if NAME}}…{{/if}}`.
    The model gives `overall` on the range; (overall − min) / (max − min) passes from 0.6 unless `threshold` says
    otherwise.

    Options:
        prompt: the template; without it, accuracy, completeness, clarity and the whole are asked for.
        model: the model to ask instead of the configured judge's; `modelId` in the settings.
        minimum: the least score; `scoreRange.min` in the settings.
        maximum: the greatest score; `scoreRange.max` in the settings.
        pass_from: the normalised score, 0–1, that passes; `threshold` in the settings.
        label: under which name it is asked; its id.

    Example:
        evaluators:
          - {id: tone, type: llm, prompt: "Is this polite? {{output}}", scoreRange: {min: 0, max: 10}}
    """

    threshold_option = "pass_from"

    prompt: str = DEFAULT_PROMPT
    model: str | None = None
    minimum: float = 0.0
    maximum: float = 10.0
    pass_from: float = PASS_FROM
    label: str = "llm"

    def problems(self) -> Iterable[tuple[str | None, str]]:
        yield from (("prompt", sentence) for sentence in template_problems(self.prompt))
        if not self.minimum < self.maximum:
            yield "scoreRange", f"scoreRange goes from {self.minimum:g} to {self.maximum:g}; max must be above min"
        if not 0 <= self.pass_from <= 1:
            yield "threshold", f"threshold is {self.pass_from:g}, but must be from 0 to 1"

    def never_fails(self, expected: str | None) -> str | None:  # noqa: ARG002 - the prompt may show it, not more
        return "every score reaches a threshold of 0" if self.pass_from <= 0 else None

    @property
    def scale(self) -> Scale:  # type: ignore[override] # its author says which, not its class
        return Scale(self.minimum, self.maximum)

    def question(self, subject: Subject) -> Question:
        dimensions = _DIMENSIONS.get(self.prompt, ())
        return replace(super().question(subject), score_key="overall", dimensions=dimensions)

    def verdict(self, answer: Judgement) -> Verdict:
        if answer.score is None:
            return Verdict(None, answer.reason)
        share = self.scale.share(answer.score) or 0.0
        details = {"dimensions": dict(answer.dimensions)} if answer.dimensions else {}
        return Verdict(answer.score, answer.reason, details, passed=share >= self.pass_from - 1e-12)


def template_values(subject: Subject) -> dict[str, str | None]:
    """What each variable of a template stands for."""
    values = {"input": subject.prompt, "output": subject.response.text, "expected": subject.expected}
    return values | {f"metadata.{name}": _text(value) for name, value in subject.metadata.items()}


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
