"""The evaluators of `.prompt.yml` files, as evaluators of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from runevals.evaluators import catalogue
from runevals.lib.parsing.source import Place, Source, pointer
from runevals.lib.text.suggest import did_you_mean
from runevals.lib.text.variables import VARIABLE, fill_variables
from runevals.records import EvaluatorSpec, SuiteProblem
from runevals.records.errors import InvalidOptions
from runevals.suites.dialects.assertions import numbered
from runevals.suites.dialects.variables import as_text

# What a `string` evaluator's key is called here; capitals count.
STRINGS = {"contains": "contains", "startsWith": "starts_with", "endsWith": "ends_with", "equals": "equals"}
USES = {
    "github/similarity": "Similarity",
    "github/relevance": "Relevance",
    "github/groundedness": "Groundedness",
    "github/coherence": "Coherence",
}
_KINDS = ("string", "llm", "uses")


@dataclass(frozen=True, kw_only=True)
class Evaluators:
    """Reads the evaluators of one file; what is wrong is collected in `problems`, each thing once."""

    source: Source
    told: Sequence[Mapping[str, Any]]
    names: Sequence[str]  # the fields that the test data has, in any entry
    problems: dict[SuiteProblem, None] = field(default_factory=dict)

    def specs(self, values: Mapping[str, str], entry: Place) -> tuple[EvaluatorSpec, ...]:
        """The checks of one case, whose fields are `values` and stand at `entry`."""
        found = [spec for index in range(len(self.told)) for spec in self._of(index, values, entry)]
        return tuple(numbered(found))

    def _of(self, index: int, values: Mapping[str, str], entry: Place) -> Iterator[EvaluatorSpec]:
        told, place = self.told[index], ("evaluators", index)
        kinds = [kind for kind in _KINDS if kind in told]
        if len(kinds) != 1 or told[kinds[0]] == {}:
            self._wrong(place, "needs one of 'string', 'llm' and 'uses', and something to look for")
            return
        match kinds[0]:
            case "string":
                specs = [self._string(key, value, place, values) for key, value in told["string"].items()]
            case "llm":
                specs = [self._llm(told, place)]
            case _:
                specs = [EvaluatorSpec(name=USES[told["uses"]])]
        at = (*place, kinds[0])
        for spec in specs:
            named = replace(
                spec,
                id=told.get("name", spec.name),
                location=self.source.locate(at, key=True),
                pointer=pointer(at),
            )
            if self._can_be_built(named, entry if _has_variables(told) else at):
                yield named

    def _string(self, key: str, value: object, place: Place, values: Mapping[str, str]) -> EvaluatorSpec:
        text, missing = fill_variables(as_text(value), values)
        for name in missing:
            self._wrong(
                (*place, "string", key), f"'{{{{{name}}}}}' has no value in some test data{self._hint(name)}"
            )
        name = STRINGS[key]
        return EvaluatorSpec(
            name=name, options={"value": text, **({} if name == "equals" else {"case_sensitive": True})}
        )

    def _llm(self, told: Mapping[str, Any], place: Place) -> EvaluatorSpec:
        llm = told["llm"]
        parts = (("systemPrompt", llm.get("systemPrompt", "")), ("prompt", llm["prompt"]))
        texts = [self._template(text, (*place, "llm", key)) for key, text in parts if text]
        options: dict[str, object] = {
            "prompt": "\n\n".join(texts),
            "choices": {as_text(choice["choice"]): choice["score"] for choice in llm["choices"]},
            "label": told.get("name", "llm"),
        }
        return EvaluatorSpec(
            name="llm-choice", options=options | ({"model": llm["modelId"]} if "modelId" in llm else {})
        )

    def _template(self, text: str, place: Place) -> str:
        """The file's `{{completion}}` and fields as the variables of our own templates."""
        ours = {
            **{name: f"{{{{metadata.{name}}}}}" for name in self.names},
            "expected": "{{expected}}",
            "completion": "{{output}}",
        }
        for name in dict.fromkeys(VARIABLE.findall(text)):
            if name not in ours:
                self._wrong(place, f"the prompt has no variable '{name}'{self._hint(name)}")
            elif "-" in name:
                self._wrong(place, f"'{name}': a variable that a judge is shown has no hyphen; call it otherwise")
        return VARIABLE.sub(lambda match: ours.get(match[1], match[1]), text)

    def _hint(self, name: str) -> str:
        known = ("completion", "expected", *self.names)
        return did_you_mean(name, known) or f" (there is {', '.join(dict.fromkeys(known))})"

    def _can_be_built(self, spec: EvaluatorSpec, place: Place) -> bool:
        try:
            catalogue.build(spec)
        except InvalidOptions as error:
            for _, sentence in error.problems:
                self._wrong(place, f"{spec.id}: {sentence}", rule="evaluator-options")
            return False
        return True

    def _wrong(self, place: Place, message: str, *, rule: str = "meaning") -> None:
        self.problems[self.source.problem(place, message, rule=rule)] = None


def _has_variables(told: Mapping[str, Any]) -> bool:
    """Whether the fields of an entry decide what a `string` evaluator looks for."""
    return any(VARIABLE.search(as_text(value)) for value in told.get("string", {}).values())
