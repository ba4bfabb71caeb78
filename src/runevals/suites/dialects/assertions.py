"""The assertions of eval-samples files as evaluators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import field
from msgspec.structs import replace

from runevals.evaluators import catalogue
from runevals.evaluators.format_names import INVERTED, TYPES
from runevals.evaluators.text.numbers import number_text
from runevals.lib.nullable import distinct, known, without
from runevals.lib.parsing.shapes import is_number, text_in
from runevals.lib.parsing.source import LANGUAGES, JsonPath, code_file, path_inside
from runevals.lib.text.suggest import did_you_mean
from runevals.records import EvaluatorSpec
from runevals.records.errors import UsageError
from runevals.suites.dialects.checking import Reader, evaluator_problems

MOST_NESTED, MOST_COMBINED = 16, 1000
_COMMON = frozenset({"type", "not", "weight", "threshold", "children"})
_TEXT_VALUE = frozenset({"contains", "starts_with", "ends_with"})
_NEEDS_CONTEXT = frozenset({"faithfulness", "context_recall"})


class Assertions(Reader, frozen=True, kw_only=True):
    """Reads the assertions of one sample; what is wrong is collected in `problems`."""

    sample: Mapping[str, Any]
    folder: Path | None  # of the suite file, for relative `fn`; None if it has none
    root: Path
    definitions: Mapping[str, EvaluatorSpec]
    files: list[Path] = field(default_factory=list)  # that were read

    def specs(self, json_path: JsonPath) -> tuple[EvaluatorSpec, ...]:
        """The sample's assertions, each with a unique id: its type, and a number if the type is repeated."""
        specs = [
            spec
            for index, assertion in enumerate(self.sample.get("assertions", ()))
            if self._is_small(assertion, (*json_path, "assertions", index))
            and (spec := self._spec(assertion, (*json_path, "assertions", index), depth=1)) is not None
        ]
        return tuple(numbered(specs))

    def mocks(self, json_path: JsonPath) -> list[dict[str, Any]]:
        """The sample's mocks, with the text of a `return_file` in its place."""
        mocks = []
        for index, declared in enumerate(self.sample["mocks"]):
            mock, at = dict(declared), (*json_path, "mocks", index)
            file_name = mock.pop("return_file", None)
            if file_name is not None and self.folder is not None:
                self.files.append(self.folder / file_name)
                try:
                    path = path_inside(self.root, file_name, base=self.folder, what="return_file")
                    mock["return"] = path.read_text(encoding="utf-8")
                except (UsageError, UnicodeDecodeError) as error:
                    self.wrong((*at, "return_file"), str(error))
            elif "return" not in mock and "return_seq" not in mock:
                self.wrong(at, "needs 'return', 'return_file' or 'return_seq'")
            mocks.append(mock)
        return mocks

    def _is_small(self, assertion: Mapping[str, Any], json_path: JsonPath) -> bool:
        """Whether it is built in no time: each set is built once for itself, and once for all above it."""
        queue, count = [assertion], 0
        while queue and count <= MOST_COMBINED:
            queue += queue.pop().get("children", ())
            count += 1
        if count > MOST_COMBINED:
            self.wrong(json_path, f"combines more than {MOST_COMBINED} assertions")
        return count <= MOST_COMBINED

    def _spec(self, assertion: Mapping[str, Any], json_path: JsonPath, depth: int) -> EvaluatorSpec | None:
        kind: str = assertion["type"]
        if kind in self.definitions:
            return self._checked_spec(self.definitions[kind], assertion, json_path)
        preset = kind.startswith("preset-") and kind in catalogue.names()
        if kind not in TYPES and not preset and kind not in catalogue.plugin_evaluators():
            hint = did_you_mean(kind, (*TYPES, *self.definitions))
            self.wrong(
                (*json_path, "type"), f"there is no assertion type '{kind}'{hint}", rule="unknown-evaluator"
            )
            return None
        if depth > MOST_NESTED + (kind != "assert-set"):
            self.wrong(json_path, f"is nested deeper than {MOST_NESTED} assert-sets")
            return None
        name = INVERTED.get(kind, kind)
        children: tuple[EvaluatorSpec, ...] = ()
        if kind == "assert-set":
            read = [
                self._spec(child, (*json_path, "children", index), depth + 1)
                for index, child in enumerate(assertion.get("children", ()))
            ]
            children = tuple(numbered(known(read)))
            if len(children) < len(read):
                return None
        try:
            options = self._options(kind, name, assertion)
        except UsageError as error:
            self.wrong(json_path, str(error))
            return None
        if kind != "custom":
            self._warn_of_unknown(kind, name, assertion, json_path)
        spec = EvaluatorSpec(name=name, id=kind, options=options, children=children)
        return self._checked_spec(spec, assertion, json_path, inverted=kind in INVERTED)

    def _options(self, kind: str, name: str, assertion: Mapping[str, Any]) -> dict[str, object]:
        """The assertion's own keys as the evaluator's options. Raises UsageError for an unusable file."""
        if kind == "custom":
            return self._custom(assertion)
        options = without(assertion, _COMMON)
        if kind in ("tools_called", "tools_not_called") and "value" in options:
            options.setdefault("values", [options.pop("value")])
        value = options.get("value")
        if name in _TEXT_VALUE and is_number(value):
            options["value"] = number_text(value)
        elif isinstance(value, float) and value.is_integer():
            options["value"] = int(value)
        if name == "contains" and "value" not in options:
            raise UsageError(f"{kind} needs the option 'value'")
        if kind in _NEEDS_CONTEXT and "reference" not in options and "context" not in self.sample:
            raise UsageError(f"{kind} needs the sample's context, or a reference")
        if kind == "mock_hit":
            self._check_mock(text_in(value))
        names = {option.name for option in catalogue.options_of(catalogue.find(name))}
        return {key: value for key, value in options.items() if key in names}

    def _warn_of_unknown(self, kind: str, name: str, assertion: Mapping[str, Any], json_path: JsonPath) -> None:
        keys = (*_COMMON, "value", *(option.name for option in catalogue.options_of(catalogue.find(name))))
        for key in assertion:
            if key not in keys:
                message = f"{kind}: unknown option '{key}'{did_you_mean(key, keys)}"
                self.warn((*json_path, key), message, key=True, rule="unknown-key")

    def _check_mock(self, value: str) -> None:
        tool, _, number = value.partition(":")
        mocks = [m for m in self.sample.get("mocks", ()) if m["tool"].casefold() == tool.strip().casefold()]
        if number.isascii() and number.isdigit() and int(number) > len(mocks):
            raise UsageError(f"mock_hit: {value} is not declared; the sample has {len(mocks)} mocks of {tool}")

    def _custom(self, assertion: Mapping[str, Any]) -> dict[str, object]:
        reference = assertion.get("fn")
        if not isinstance(reference, str) or not reference:
            raise UsageError("custom needs 'fn', the path of a .js, .mjs or .py file")
        if self.folder is None:
            raise UsageError("custom assertions need a suite file that their path is relative to")
        self.files.append(self.folder / reference)
        code, language = code_file(self.root, reference, base=self.folder, what="fn")
        if language is None:
            raise UsageError(f"fn: {reference} must end in {', '.join(LANGUAGES)}")
        return {"code": code, "language": language, "filename": reference, "assertion": dict(assertion)}

    def _checked_spec(
        self, spec: EvaluatorSpec, assertion: Mapping[str, Any], json_path: JsonPath, *, inverted: bool = False
    ) -> EvaluatorSpec | None:
        """`spec` with the options of all assertions, if an evaluator can be built from it."""
        complete = replace(
            spec,
            id=spec.id or assertion["type"],
            threshold=assertion.get("threshold", spec.threshold),
            weight=float(assertion.get("weight", spec.weight)),
            negated=bool(assertion.get("not", False)) is not inverted,
            location=self.source.place(json_path),
        )
        problems = list(evaluator_problems(self.source, json_path, spec.name, {}, {}, complete))
        self.problems.extend(problems)
        return None if problems else complete


def numbered(specs: Sequence[EvaluatorSpec]) -> Iterator[EvaluatorSpec]:
    """`specs`, a number behind each id that comes again."""
    for spec, name in zip(specs, distinct(spec.id or spec.name for spec in specs), strict=True):
        yield spec if name == (spec.id or spec.name) else replace(spec, id=name)
