"""A promptfoo configuration → eval samples, and settings for their target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runevals.suites.importing.assertions import Asserted, Assertions
from runevals.suites.importing.cases import Test, read_tests
from runevals.suites.importing.files import Files
from runevals.suites.importing.prompts import Filled, Prompt, fill, read_prompts
from runevals.suites.importing.providers import judge_of, target_of
from runevals.suites.importing.remarks import Remark, Remarks
from runevals.suites.importing.templates import NotPlain, rendered

# Keys of a configuration that are read here, or that say nothing about what is measured.
_READ = frozenset({"prompts", "providers", "targets", "tests", "scenarios", "defaultTest", "assertionTemplates"})
_READ |= {"evaluateOptions", "$schema"}
_NOTHING = frozenset(
    {"description", "outputPath", "sharing", "tags", "metadata", "commandLineOptions", "writeLatestResults"}
)
_OPTIONS = frozenset({"prefix", "suffix", "provider", "disableVarExpansion"})
_WITHOUT_OUTPUT = frozenset({"latency", "cost", "not-latency", "not-cost"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """`code` are the files of assertions, by their path beside the suite."""

    samples: tuple[dict[str, Any], ...]
    settings: dict[str, Any]
    code: Mapping[str, str]
    remarks: tuple[Remark, ...]


def convert(config: Mapping[str, Any], files: Files) -> Converted:
    """Everything of `config` that has an equal here; the rest is in the remarks. Raises ToldWrong."""
    remarks = Remarks()
    for key in config.keys() - _READ - _NOTHING:
        remarks.lost(key, "has no equal here")
    templates = config.get("assertionTemplates")
    assertions = Assertions(
        files=files, remarks=remarks, templates=templates if isinstance(templates, Mapping) else {}
    )
    prompts = read_prompts(config.get("prompts", []), files, remarks)
    tests = read_tests(config, files, remarks)
    made = _Samples(prompts=prompts, assertions=assertions, remarks=remarks, samples=[], systems=[])
    made.add(tests)
    settings: dict[str, Any] = {"version": 1}
    target = target_of(config.get("providers") or config.get("targets"), remarks)
    if target is not None:
        settings["target"] = {**target, **made.system_prompt()}
    elif made.system_prompt():
        remarks.lost("prompts", "the system message; there is no target to give it to")
    judge = _judge(tests, remarks)
    if judge is not None:
        settings["judge"] = judge
    settings |= _run_options(config.get("evaluateOptions"), remarks)
    return Converted(
        samples=tuple(made.samples),
        settings=settings,
        code=dict(assertions.code),
        remarks=tuple(sorted(remarks.found, key=lambda remark: remark.level != "lost")),
    )


@dataclass(frozen=True, kw_only=True)
class _Samples:
    """Collects a sample for every test and prompt."""

    prompts: Sequence[Prompt]
    assertions: Assertions
    remarks: Remarks
    samples: list[dict[str, Any]]
    systems: list[str | None]

    def add(self, tests: Sequence[Test]) -> None:
        seen: dict[str, int] = {}
        for number, test in enumerate(tests, start=1):
            name = test.description or f"test-{number}"
            seen[name] = seen.get(name, 0) + 1
            name = name if seen[name] == 1 else f"{name} ({seen[name]})"
            asserted = self._asserted(test)
            for prompt in self.prompts:
                if not test.prompts or prompt.label in test.prompts:
                    self._sample(test, prompt, name, asserted)

    def system_prompt(self) -> dict[str, Any]:
        """The system message that every sample is asked after."""
        found = set(self.systems)
        if len(found) == 1 and None not in found:
            return {"system_prompt": self.systems[0]}
        if found - {None}:
            told = "the system message, which is not the same in all samples; `.prompt.yml` files keep it"
            self.remarks.lost("prompts", told)
        return {}

    def _asserted(self, test: Test) -> Asserted:
        for key in sorted(test.rest):
            self.remarks.lost(test.where, f"'{key}' has no equal here")
        for key in sorted(test.options.keys() - _OPTIONS - {"transform", "postprocess"}):
            self.remarks.lost(test.where, f"options.{key} has no equal here")
        for name, value in test.values.items():
            if isinstance(value, str) and "{{" in value:
                self.remarks.differs(test.where, f"templates inside the variable '{name}' stay as they are")
        if "conversationId" in test.metadata:
            told = (
                "conversationId: the tests of a conversation are asked one by one; write a thread (eval document)"
            )
            self.remarks.lost(test.where, told)
        told_of = test.asserted
        if "transform" in test.options or "postprocess" in test.options:
            told_of = tuple(
                one for one in told_of if isinstance(one, Mapping) and str(one.get("type")) in _WITHOUT_OUTPUT
            )
            dropped = len(test.asserted) - len(told_of)
            self.remarks.lost(
                test.where, f"options.transform: what is checked is not the answer; {dropped} assertions left out"
            )
        return self.assertions.of(told_of, test.values, test.where)

    def _sample(self, test: Test, prompt: Prompt, name: str, asserted: Asserted) -> None:
        where = f"{test.where}, {prompt.label}"
        try:
            filled = fill(prompt, test.values)
            affixes = [rendered(str(test.options.get(key) or ""), test.values) for key in ("prefix", "suffix")]
        except NotPlain as reason:
            self.remarks.lost(where, f"{reason}; write the prompt out")
            return
        text = f"{affixes[0]}{filled.user}{affixes[1]}"
        if not text.strip():
            self.remarks.lost(where, "the prompt is empty")
            return
        self._remember(filled, where)
        several = len(self.prompts) > 1
        sample: dict[str, Any] = {
            "sample_id": f"{name} [{prompt.label}]" if several else name,
            "prompt": text,
            **({"tags": [prompt.label]} if several else {}),
            **({"vars": dict(test.values)} if test.values else {}),
            **({"metadata": dict(test.metadata)} if test.metadata else {}),
            **({"assertions": list(asserted.assertions)} if asserted.assertions else {}),
            **_rubric(asserted),
        }
        self.samples.append(sample)

    def _remember(self, filled: Filled, where: str) -> None:
        self.systems.append(filled.system)
        if filled.others:
            told = f"{filled.others} messages before the last; `.prompt.yml` files and threads keep them"
            self.remarks.lost(where, told)


def _rubric(asserted: Asserted) -> dict[str, Any]:
    if not asserted.rubrics:
        return {}
    if len(asserted.rubrics) == 1:
        text = asserted.rubrics[0]
    else:
        listed = "\n".join(f"{number}. {one}" for number, one in enumerate(asserted.rubrics, start=1))
        text = f"All of these must hold; if one of them does not, the score is 1 or 2.\n{listed}"
    threshold = asserted.rubric_threshold
    return {"rubric": text, **({} if threshold is None else {"judge_threshold": threshold})}


def _judge(tests: Sequence[Test], remarks: Remarks) -> dict[str, Any] | None:
    told = [test for test in tests if test.options.get("provider")]
    judges = [judge_of(test.options["provider"], remarks, test.where) for test in told]
    found = [judge for judge in judges if judge is not None]
    if found and any(judge != found[0] for judge in found):
        remarks.lost("options.provider", "a run has the same judges for all tests; the first one is kept")
    return found[0] if found else None


def _run_options(told: Any, remarks: Remarks) -> dict[str, Any]:
    names = {"repeat": "repeat", "maxConcurrency": "concurrency"}
    made: dict[str, Any] = {}
    for key, value in told.items() if isinstance(told, Mapping) else ():
        if key in names and isinstance(value, int) and value > 0:
            made[names[key]] = value
        elif key not in ("showProgressBar", "cache", "verbose"):
            remarks.lost(f"evaluateOptions.{key}", "has no equal here")
    return made
