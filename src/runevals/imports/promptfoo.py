"""A promptfoo configuration → eval samples, their prompts, and settings for the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import filterfalse
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.imports.assertions import AssertedTest, Assertions, ConvertedAssertions
from runevals.imports.cases import Test, read_tests
from runevals.imports.code import CodeFiles
from runevals.imports.files import Files
from runevals.imports.prompts import Prompt, read_prompts
from runevals.imports.providers import Provider, judge_of, parameters_of, read_providers, targets_for, with_files
from runevals.imports.remarks import Remark, Remarks
from runevals.imports.templates import NotPlain, rendered
from runevals.lib.nullable import distinct, known, without_none
from runevals.lib.parsing.shapes import object_in, text_in
from runevals.suites.dialects.conservation import describes
from runevals.suites.dialects.signatures import PROMPTFOO, other_format
from runevals.suites.dialects.variables import texts_of

# Keys of a configuration that are read here, or that say nothing about what is measured.
_READ = frozenset({"prompts", "providers", "targets", "tests", "scenarios", "defaultTest", "assertionTemplates"})
_READ |= {"evaluateOptions", "$schema"}
_IGNORED_KEYS = frozenset({"outputPath", "sharing", "commandLineOptions", "writeLatestResults"})
_OPTIONS = frozenset({"prefix", "suffix", "provider", "disableVarExpansion"})
_TRANSFORMS = frozenset({"transform", "postprocess"})  # of what checks look at
_OWN_PROMPT = {"{{prompt}}": "{{prompt}}"}  # promptfoo's, without 'prompts'; its label is its text
AFFIXES = ("__prefix", "__suffix")  # as columns of promptfoo's tables are called


class ConvertedConfig(Struct, frozen=True, kw_only=True):
    """`targets` are those of the prompts, and `code` the files of assertions, by their path beside the suite.

    If samples are `tagged`, each prompt is for those that have its label as a tag.
    """

    samples: tuple[dict[str, Any], ...]
    settings: dict[str, Any]
    prompts: tuple[Prompt, ...]
    targets: tuple[dict[str, Any] | None, ...]
    tagged: bool
    code: Mapping[str, str]
    remarks: tuple[Remark, ...]
    assertions: int  # that were converted; several rubrics of a test are one check
    total_assertions: int


def convert(config: Mapping[str, Any], files: Files) -> ConvertedConfig:
    """Everything of `config` that has an equal here; the rest is in the remarks. Raises UsageError."""
    remarks = Remarks()
    other = other_format(config)
    if other is not None and other.name != PROMPTFOO:
        remarks.differs("the configuration", other.advice(config, "FILE"))
    for key in sorted(filterfalse(describes, config.keys() - _READ - _IGNORED_KEYS)):
        remarks.not_converted(key, "has no equivalent in runevals")
    prompts = [
        replace(prompt, config=with_files(prompt.config, f"prompt {prompt.label}", files, remarks))
        for prompt in read_prompts(config.get("prompts", _OWN_PROMPT), files, remarks)
    ]
    providers = read_providers(config.get("providers") or config.get("targets"), files, remarks)
    names = [(prompt.label, prompt.source, f"./{prompt.source}") for prompt in prompts]  # as providers say them
    targets = targets_for(names, providers, remarks)
    provider = next((one for one in providers if one.target is not None), next(iter(providers), Provider()))
    code = CodeFiles(files=files)
    assertions = Assertions(
        code=code,
        remarks=remarks,
        templates=object_in(config.get("assertionTemplates")),
        shape=provider.shape([prompt.config for prompt in prompts]),
        functions=provider.functions,
    )
    tests = read_tests(config, files, remarks)
    affixes = {_affixes(test) for test in tests}
    shared = None if len(affixes) > 1 else next(iter(affixes), ("", ""))  # by all tests: part of the prompts
    prompts = _with_affixes(prompts, shared, remarks)
    samples = _Samples(
        prompts=prompts,
        assertions=assertions,
        transforms=provider.transforms,
        remarks=remarks,
        tagged=len(prompts) > 1 and any(test.prompts for test in tests),
        affixes=shared is None,
    )
    samples.add(tests)
    return ConvertedConfig(
        samples=tuple(samples.samples),
        settings=without_none(judge=_judge(tests, remarks)) | _run_options(config.get("evaluateOptions"), remarks),
        prompts=tuple(prompts),
        targets=tuple(
            _with_config(target, prompt, remarks) for target, prompt in zip(targets, prompts, strict=True)
        ),
        tagged=samples.tagged,
        code=code.code,
        assertions=sum(samples.counts),
        total_assertions=sum(samples.counts) + sum(remarks.entries.values()),
        remarks=tuple(sorted(remarks.entries, key=lambda remark: remark.level != "lost")),
    )


def _with_config(target: dict[str, Any] | None, prompt: Prompt, remarks: Remarks) -> dict[str, Any] | None:
    """A target with the parameters of its prompt; without a target, they are remarked."""
    if target is None:
        for key in sorted(map(str, prompt.config)):
            remarks.not_converted(f"prompt {prompt.label}", f"config.{key} is lost with its provider")
        return None
    parameters = parameters_of(prompt.config, f"prompt {prompt.label}", remarks)
    return target | ({"parameters": {**target.get("parameters", {}), **parameters}} if parameters else {})


def _affixes(test: Test) -> tuple[str, str]:
    """The prefix and suffix of a test's prompts."""
    return str(test.options.get("prefix") or ""), str(test.options.get("suffix") or "")


def _with_affixes(prompts: Sequence[Prompt], shared: tuple[str, str] | None, remarks: Remarks) -> list[Prompt]:
    """The prompts with prefix and suffix; if tests differ, these are variables of each case."""
    affixes = shared or tuple(f"{{{{{name}}}}}" for name in AFFIXES)
    result: list[Prompt] = []
    for prompt in prompts:
        prompt_ = prompt.between(*affixes)
        try:
            _ = prompt_.variables
        except NotPlain as reason:
            remarks.not_converted("options.prefix, options.suffix", f"{reason}; write them into the prompt")
            prompt_ = prompt
        if prompt_.source and prompt_.file is None:
            remarks.differs(prompt_.source, "its prompt is copied to a file of its own: edit that one from now on")
        result.append(prompt_)
    return result


class _Samples(Struct, frozen=True, kw_only=True):
    """Collects a sample for every test."""

    prompts: Sequence[Prompt]
    assertions: Assertions
    transforms: tuple[str, ...]  # of the provider
    remarks: Remarks
    tagged: bool  # with the labels of the prompts that ask them
    affixes: bool  # of each its own
    samples: list[dict[str, Any]] = []
    counts: list[int] = []  # assertions of each sample

    def add(self, tests: Sequence[Test]) -> None:
        names = distinct(test.id or test.description or f"test-{at}" for at, test in enumerate(tests, start=1))
        for name, test in zip(names, tests, strict=True):
            asserted = self._asserted(test)
            prompts = [prompt for prompt in self.prompts if not test.prompts or prompt.label in test.prompts]
            try:
                self.samples.append(self._sample(test, prompts, name, asserted))
                self.counts.append(asserted.number)
            except NotPlain as reason:
                self.remarks.not_converted(test.location, str(reason), checks=asserted.number)

    def _asserted(self, test: Test) -> ConvertedAssertions:
        for key in sorted(test.rest):
            self.remarks.not_converted(test.location, f"'{key}' has no equivalent in runevals")
        for key in sorted(test.options.keys() - (_OPTIONS | _TRANSFORMS if test.asserted else _OPTIONS)):
            self.remarks.not_converted(test.location, f"options.{key} has no equivalent in runevals")
        for name, value in test.values.items():
            if "{{" in text_in(value):
                self.remarks.differs(test.location, f"templates inside the variable '{name}' stay as they are")
        if "conversationId" in test.metadata:
            message = (
                "conversationId: the tests of a conversation are asked one by one; write a thread (eval document)"
            )
            self.remarks.not_converted(test.location, message)
        transforms = (*self.transforms, *known([test.options.get("transform", test.options.get("postprocess"))]))
        asserted_test = AssertedTest(location=test.location, values=test.values, transforms=transforms)
        return self.assertions.of(test.asserted, asserted_test)

    def _sample(
        self, test: Test, prompts: Sequence[Prompt], name: str, asserted: ConvertedAssertions
    ) -> dict[str, Any]:
        """The sample of a test. Raises NotPlain if there is nothing to ask."""
        if not prompts:
            names = f" is called {', '.join(sorted(test.prompts))}" if test.prompts else " is left"
            raise NotPlain(f"no prompt{names}")
        values = self._values(test, prompts)
        if empty := next((prompt for prompt in prompts if prompt.is_empty(values)), None):
            raise NotPlain(f"the prompt {empty.label} is empty: `prompts` uses none of {', '.join(test.values)}")
        parts = {
            "description": test.description if test.id else "",  # else it is the name
            "tags": list(dict.fromkeys(prompt.label for prompt in prompts)) if self.tagged else [],
            "category": text_in(test.metadata.get("category")),
            "metadata": dict(test.metadata),
            "assertions": list(asserted.assertions),
        }
        has = {key: part for key, part in parts.items() if part}
        return {"sample_id": name, "vars": values, **has, **_rubric(asserted)}

    def _values(self, test: Test, prompts: Sequence[Prompt]) -> dict[str, Any]:
        """The variables of a test; one that a prompt names and it does not have is empty, as in Nunjucks."""
        values = dict(test.values)
        if self.affixes:
            values |= {
                name: rendered(text, test.values) for name, text in zip(AFFIXES, _affixes(test), strict=True)
            }
        texts = texts_of(values)
        names = dict.fromkeys(name for prompt in prompts for name in prompt.variables if name not in texts)
        return {**values, **dict.fromkeys(names, "")}


def _rubric(asserted: ConvertedAssertions) -> dict[str, Any]:
    text = "".join(asserted.rubrics)
    if len(asserted.rubrics) > 1:
        lines = "\n".join(f"{number}. {rubric}" for number, rubric in enumerate(asserted.rubrics, start=1))
        text = f"All of these must hold; if one of them does not, the score is 1 or 2.\n{lines}"
    return without_none(rubric=text if asserted.rubrics else None, judge_threshold=asserted.rubric_threshold)


def _judge(tests: Sequence[Test], remarks: Remarks) -> dict[str, Any] | None:
    with_provider = [test for test in tests if test.options.get("provider")]
    judges = known(judge_of(test.options["provider"], remarks, test.location) for test in with_provider)
    if any(judge != judges[0] for judge in judges):
        remarks.not_converted("options.provider", "a run has the same judges for all tests; the first one is kept")
    return next(iter(judges), None)


def _run_options(raw: Any, remarks: Remarks) -> dict[str, Any]:
    names = {"repeat": "repeat", "maxConcurrency": "concurrency"}
    options: dict[str, Any] = {}
    for key, value in object_in(raw).items():
        if key in names and isinstance(value, int) and value > 0:
            options[names[key]] = value
        elif key not in ("showProgressBar", "cache", "verbose"):
            remarks.not_converted(f"evaluateOptions.{key}", "has no equivalent in runevals")
    return options
