"""A model picks the one of several answers to a prompt of one's own that fits the response."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite

from msgspec.structs import replace

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.judged.llm import OfPrompt
from runevals.evaluators.judged.template import template_problems
from runevals.evaluators.kinds import Subject
from runevals.lib.parsing.shapes import is_number
from runevals.records import Scale, Verdict
from runevals.records.judgement import Judgement, Question


@evaluator("llm-choice")
class LlmChoice(OfPrompt):
    """A model picks one of your choices and gives its score; a score above 0 passes.

    It is what `llm` evaluators of `.prompt.yml` files are. The template is that of `llm`.

    Options:
        prompt: the template.
        choices: each choice with its score; at least two different scores.
        model: the model to ask instead of the configured judge's; `modelId` in the file.
        label: under which name it is asked; its name in the file.

    Example:
        "evaluators": {"llm-choice": {"prompt": "Is it polite? {{output}}", "choices": {"polite": 1, "rude": 0}}}
    """

    prompt: str
    choices: Mapping[str, float]
    model: str | None = None
    label: str = "llm-choice"

    def problems(self) -> Iterable[tuple[str | None, str]]:
        yield from (("prompt", sentence) for sentence in template_problems(self.prompt))
        scores = self.choices.values()
        if not all(is_number(score) and isfinite(score) for score in scores):
            yield "choices", "choices must have a number as the score of each"
        elif len(set(scores)) < 2:
            yield "choices", "choices need at least two different scores, or no answer makes a difference"

    def never_fails(self, expected: str | None) -> str | None:  # noqa: ARG002 - the prompt may show it, not more
        return "every choice has a score above 0" if min(self.choices.values()) > 0 else None

    @property
    def scale(self) -> Scale:  # type: ignore[override] # its author says which, not its class
        return Scale(min(self.choices.values()), max(self.choices.values()))

    def question(self, subject: Subject) -> Question:
        question = super().question(subject)
        choices = "\n".join(f"{choice}: {score:g}" for choice, score in self.choices.items())
        how = f"Pick the one of these that fits, and give its score:\n{choices}"
        return replace(question, instructions=f"{question.instructions}\n\n{how}")

    def verdict(self, answer: Judgement) -> Verdict:
        if answer.score is None:
            return Verdict(None, answer.reason)
        answer_score = answer.score
        # The median of several votes may lie between two choices: the lower one of them counts.
        choice, score = min(self.choices.items(), key=lambda item: (abs(item[1] - answer_score), item[1]))
        return Verdict(score, f"{choice}: {answer.reason}", passed=score > 0)
