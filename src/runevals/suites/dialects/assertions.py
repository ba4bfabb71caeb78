"""The assertions of eval-samples files, as evaluators of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from runevals.evaluators import catalogue
from runevals.evaluators.format_names import INVERTED, TYPES
from runevals.evaluators.text.numbers import number_text
from runevals.lib.parsing.source import LANGUAGES, Place, Source, code_file, path_inside, pointer
from runevals.lib.text.suggest import did_you_mean
from runevals.records import EvaluatorSpec, SuiteProblem
from runevals.records.errors import InvalidOptions, UsageError

MOST_NESTED, MOST_COMBINED = 16, 1000
_COMMON = frozenset({"type", "not", "weight", "threshold", "children"})
_TEXT_VALUE = frozenset({"contains", "starts_with", "ends_with"})
_NEEDS_CONTEXT = frozenset({"faithfulness", "context_recall"})


@dataclass(frozen=True, kw_only=True)
class Assertions:
    """Reads the assertions of one sample; what is wrong is collected in `problems`."""

    source: Source
    sample: Mapping[str, Any]
    folder: Path | None  # of the suite file, which `fn` is relative to; None if it has none
    root: Path
    definitions: Mapping[str, EvaluatorSpec]
    problems: list[SuiteProblem] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)  # that were read

    def specs(self, place: Place) -> tuple[EvaluatorSpec, ...]:
        """The sample's assertions, each with an id of its own: its type, and a number where it comes again."""
        found = [
            spec
            for index, assertion in enumerate(self.sample.get("assertions", ()))
            if self._is_small(assertion, (*place, "assertions", index))
            and (spec := self._spec(assertion, (*place, "assertions", index), depth=1)) is not None
        ]
        return tuple(numbered(found))

    def mocks(self, place: Place) -> list[dict[str, Any]]:
        """The sample's mocks, with the text of a `return_file` in its place."""
        found = []
        for index, told in enumerate(self.sample["mocks"]):
            mock, at = dict(told), (*place, "mocks", index)
            named = mock.pop("return_file", None)
            if named is not None and self.folder is not None:
                self.files.append(self.folder / named)
                try:
                    path = path_inside(self.root, named, base=self.folder, what="return_file")
                    mock["return"] = path.read_text(encoding="utf-8")
                except (UsageError, UnicodeDecodeError) as error:
                    self._wrong((*at, "return_file"), str(error))
            elif "return" not in mock and "return_seq" not in mock:
                self._wrong(at, "needs 'return', 'return_file' or 'return_seq'")
            found.append(mock)
        return found

    def _is_small(self, assertion: Mapping[str, Any], place: Place) -> bool:
        """Whether it is built in no time: each set is built once for itself, and once for all above it."""
        left, count = [assertion], 0
        while left and count <= MOST_COMBINED:
            left += left.pop().get("children", ())
            count += 1
        if count > MOST_COMBINED:
            self._wrong(place, f"combines more than {MOST_COMBINED} assertions")
        return count <= MOST_COMBINED

    def _spec(self, assertion: Mapping[str, Any], place: Place, depth: int) -> EvaluatorSpec | None:
        kind: str = assertion["type"]
        if kind in self.definitions:
            return self._built(self.definitions[kind], assertion, place)
        preset = kind.startswith("preset-") and kind in catalogue.names()
        plugin = kind not in TYPES and kind in catalogue.catalogue() and kind not in catalogue.ours()
        if kind not in TYPES and not preset and not plugin:
            hint = did_you_mean(kind, (*TYPES, *self.definitions))
            self._wrong((*place, "type"), f"there is no assertion type '{kind}'{hint}", rule="unknown-evaluator")
            return None
        if depth > MOST_NESTED + (kind != "assert-set"):
            self._wrong(place, f"is nested deeper than {MOST_NESTED} assert-sets")
            return None
        name = INVERTED.get(kind, kind)
        children: tuple[EvaluatorSpec, ...] = ()
        if kind == "assert-set":
            read = [
                self._spec(child, (*place, "children", index), depth + 1)
                for index, child in enumerate(assertion.get("children", ()))
            ]
            children = tuple(numbered([child for child in read if child is not None]))
            if len(children) < len(read):
                return None
        try:
            options = self._options(kind, name, assertion)
        except UsageError as error:
            self._wrong(place, str(error))
            return None
        if kind != "custom":
            self._warn_of_unknown(kind, name, assertion, place)
        spec = EvaluatorSpec(name=name, id=kind, options=options, children=children)
        inverted = kind in INVERTED
        return self._built(spec, assertion, place, inverted=inverted)

    def _options(self, kind: str, name: str, assertion: Mapping[str, Any]) -> dict[str, object]:
        """The assertion's own keys as the evaluator's options. Raises UsageError for an unusable file."""
        told = {key: value for key, value in assertion.items() if key not in _COMMON}
        if kind in ("tools_called", "tools_not_called") and "value" in told and "values" not in told:
            told["values"] = [told.pop("value")]
        value = told.get("value")
        if name in _TEXT_VALUE and isinstance(value, int | float) and not isinstance(value, bool):
            told["value"] = number_text(value)
        if isinstance(told.get("value"), float) and told["value"].is_integer():
            told["value"] = int(told["value"])
        if name == "contains" and "value" not in told:
            raise UsageError(f"{kind} needs the option 'value'")
        if kind in _NEEDS_CONTEXT and "reference" not in told and "context" not in self.sample:
            raise UsageError(f"{kind} needs the sample's context, or a reference")
        if kind == "mock_hit" and isinstance(told.get("value"), str):
            self._check_mock(told["value"])
        if kind == "custom":
            return self._custom(assertion)
        known = {option.name for option in catalogue.options_of(catalogue.find(name))}
        return {key: value for key, value in told.items() if key in known}

    def _warn_of_unknown(self, kind: str, name: str, assertion: Mapping[str, Any], place: Place) -> None:
        known = (*_COMMON, "value", *(option.name for option in catalogue.options_of(catalogue.find(name))))
        for key in assertion:
            if key not in known:
                told = f"{kind} does not read '{key}'{did_you_mean(key, known)}"
                problem = self.source.problem((*place, key), told, key=True, rule="unknown-key")
                self.problems.append(replace(problem, level="warning"))

    def _check_mock(self, value: str) -> None:
        tool, _, number = value.partition(":")
        mocks = [m for m in self.sample.get("mocks", ()) if m["tool"].casefold() == tool.strip().casefold()]
        if number.isascii() and number.isdigit() and int(number) > len(mocks):
            raise UsageError(f"mock_hit: {value} is not declared; the sample has {len(mocks)} mocks of {tool}")

    def _custom(self, assertion: Mapping[str, Any]) -> dict[str, object]:
        named = assertion.get("fn")
        if not isinstance(named, str) or not named:
            raise UsageError("custom needs 'fn', the path of a .js, .mjs or .py file")
        if self.folder is None:
            raise UsageError("custom assertions need a suite file that their path is relative to")
        self.files.append(self.folder / named)
        code, language = code_file(self.root, named, base=self.folder, what="fn")
        if language is None:
            raise UsageError(f"fn: {named} must end in {', '.join(LANGUAGES)}")
        return {"code": code, "language": language, "filename": named, "assertion": dict(assertion)}

    def _built(
        self, spec: EvaluatorSpec, assertion: Mapping[str, Any], place: Place, *, inverted: bool = False
    ) -> EvaluatorSpec | None:
        """`spec` with what every assertion may say, if an evaluator can be built of it."""
        told = EvaluatorSpec(
            name=spec.name,
            id=spec.id or assertion["type"],
            options=spec.options,
            children=spec.children,
            threshold=assertion.get("threshold", spec.threshold),
            weight=float(assertion.get("weight", spec.weight)),
            negated=bool(assertion.get("not", False)) is not inverted,
            location=self.source.locate(place),
            pointer=pointer(place),
        )
        try:
            catalogue.build(told)
        except InvalidOptions as error:
            for option, sentence in error.problems:
                at = place if option is None else (*place, option)
                self._wrong(at, sentence, key=option is not None, rule="evaluator-options")
            return None
        return told

    def _wrong(self, place: Place, message: str, *, key: bool = False, rule: str = "meaning") -> None:
        self.problems.append(self.source.problem(place, message, key=key, rule=rule))


def numbered(specs: Sequence[EvaluatorSpec]) -> Iterator[EvaluatorSpec]:
    """`specs`, a number behind each id that comes again."""
    seen: dict[str, int] = {}
    for spec in specs:
        name = spec.id or spec.name
        seen[name] = seen.get(name, 0) + 1
        yield spec if seen[name] == 1 else replace(spec, id=f"{name} ({seen[name]})")
