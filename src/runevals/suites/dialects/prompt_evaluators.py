"""The evaluators of `.prompt.yml` files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from runevals.lib.nullable import without_none
from runevals.lib.parsing.source import JsonPath
from runevals.lib.text.suggest import did_you_mean
from runevals.lib.text.variables import VARIABLE, fill_variables, variables_in
from runevals.records import EvaluatorSpec
from runevals.suites.dialects.assertions import numbered
from runevals.suites.dialects.checking import LOST_CHECK, Reader
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


class Evaluators(Reader, frozen=True, kw_only=True):
    """Reads the evaluators of one file, for each case; the problems of each are the same."""

    declared: Sequence[Mapping[str, Any]]
    names: Sequence[str]  # the fields that the test data has, in any entry

    def specs(self, values: Mapping[str, str], entry: JsonPath) -> tuple[EvaluatorSpec, ...]:
        """The checks of one case with the fields `values`, at `entry`."""
        specs = [spec for index in range(len(self.declared)) for spec in self._of(index, values, entry)]
        return tuple(numbered(specs))

    def _of(self, index: int, values: Mapping[str, str], entry: JsonPath) -> Iterator[EvaluatorSpec]:
        declared, json_path = self.declared[index], ("evaluators", index)
        kinds = [kind for kind in _KINDS if kind in declared]
        if len(kinds) != 1 or declared[kinds[0]] == {}:
            self.wrong(json_path, "needs one of 'string', 'llm' and 'uses', and something to look for")
            return
        match kinds[0]:
            case "string":
                specs = [self._string(key, value, json_path, values) for key, value in declared["string"].items()]
            case "llm":
                specs = [self._llm(declared, json_path)]
            case _:
                specs = self._uses(declared["uses"], (*json_path, "uses"))
        at = (*json_path, kinds[0])
        for spec in specs:
            spec_ = replace(spec, id=declared.get("name", spec.name), location=self.source.locate(at, key=True))
            # Whether the fields of an entry decide what a `string` evaluator looks for.
            has_variables = any(VARIABLE.search(as_text(value)) for value in declared.get("string", {}).values())
            if self.can_be_built(spec_, entry if has_variables else at, f"{spec_.id}: "):
                yield spec_

    def _uses(self, name: str, json_path: JsonPath) -> list[EvaluatorSpec]:
        """The evaluator of GitHub that is named; one that nothing here measures is lost with a warning."""
        if name not in USES:
            self.warn(json_path, f"'{name}' is lost: no evaluator here measures it", rule=LOST_CHECK)
            return []
        return [EvaluatorSpec(name=USES[name])]

    def _string(self, key: str, value: object, json_path: JsonPath, values: Mapping[str, str]) -> EvaluatorSpec:
        text, missing = fill_variables(as_text(value), values)
        for name in missing:
            self.wrong(
                (*json_path, "string", key), f"'{{{{{name}}}}}' has no value in some test data{self._hint(name)}"
            )
        name = STRINGS[key]
        return EvaluatorSpec(
            name=name, options={"value": text, **({} if name == "equals" else {"case_sensitive": True})}
        )

    def _llm(self, declared: Mapping[str, Any], json_path: JsonPath) -> EvaluatorSpec:
        llm = declared["llm"]
        parts = (("systemPrompt", llm.get("systemPrompt", "")), ("prompt", llm["prompt"]))
        options: dict[str, object] = {
            "prompt": "\n\n".join([self._template(text, (*json_path, "llm", key)) for key, text in parts if text]),
            "choices": {as_text(choice["choice"]): choice["score"] for choice in llm["choices"]},
            "label": declared.get("name", "llm"),
        }
        return EvaluatorSpec(name="llm-choice", options=options | without_none(model=llm.get("modelId")))

    def _template(self, text: str, json_path: JsonPath) -> str:
        """The file's `{{completion}}` and fields as the variables of our own templates."""
        variables = {
            **{name: f"{{{{metadata.{name}}}}}" for name in self.names},
            "expected": "{{expected}}",
            "completion": "{{output}}",
        }
        for name in variables_in(text):
            if name not in variables:
                self.wrong(json_path, f"the prompt has no variable '{name}'{self._hint(name)}")
            elif "-" in name:
                self.wrong(
                    json_path, f"'{name}': a variable in the prompt of a judge must not have a hyphen; rename it"
                )
        return VARIABLE.sub(lambda match: variables.get(match[1], match[1]), text)

    def _hint(self, name: str) -> str:
        names = ("completion", "expected", *self.names)
        return did_you_mean(name, names) or f" (there is {', '.join(dict.fromkeys(names))})"
