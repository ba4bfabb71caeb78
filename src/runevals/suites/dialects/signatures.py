"""What a document is, by two or three of its keys: a table of our formats, of other tools' and of data sets."""

from __future__ import annotations

import shlex
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import PurePath

from msgspec import Struct

from runevals.lib.parsing.shapes import list_in, object_in

MOST_ENTRIES = 20  # of a list that are looked at
_GATE = "run it with its own tool, and `runevals gate` what that writes"
_RESULTS = "results are compared by `runevals gate {path}`"
PROMPTFOO = "a promptfoo configuration"
# What promptfoo does not have, though the tests of both have variables and checks.
_OF_AGENTV = "name|assert|environment|workspace|tests.[].criteria|tests.[].assert.[].$|tests.[].assert.[].command"
_OF_RAGAS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness",
             "factual_correctness", "semantic_similarity", "llm_context_precision_with_reference")  # fmt: skip
_SUITE = "a suite is JSON, YAML, JSON Lines or CSV: `runevals init` writes one"
_COLUMNS = "write its rows with the columns 'input' and 'expected'"


class Signature(Struct, frozen=True, kw_only=True):
    """One kind of document; it has all `keys`, each a path or several with `|` between them.

    `[]` in a path is any entry of a list, `*` any value of an object, `$` a text, and `!` before a key stands for
    one that it has not; after `/` is the file's name. `next` says what to do with a file that is not a suite of
    ours; it is empty for those that are.
    """

    name: str
    keys: tuple[str, ...]
    next: str = ""

    def fits(self, value: object, file_name: str) -> bool:
        """Whether a document has all of the keys."""
        return all(_is_true_of(value, file_name, key) for key in self.keys)

    def advice(self, value: object, path: str) -> str:
        """What the document is, by which keys, and what to do with it."""
        names = [_name_of(value, PurePath(path).name, key) for key in self.keys if not key.startswith("!")]
        way = self.next.format(path=shlex.quote(path), last=names[-1])
        return f"is {self.name} ({', '.join(names)}), not a suite: {way}"


def _other(name: str, next_: str, *kinds: tuple[str, ...]) -> tuple[Signature, ...]:
    return tuple(Signature(name=name, keys=keys, next=next_) for keys in kinds)


# The one with the most keys is what a document is; among equals, the first.
SIGNATURES: tuple[Signature, ...] = (
    Signature(name="an eval document", keys=("schemaVersion", "items.[].prompt|items.[].turns")),
    Signature(name="an eval document", keys=("prompts", "expected_responses")),
    Signature(name="eval samples", keys=("samples.[].sample_id", "samples.[].prompt|samples.[].vars")),
    Signature(name="eval samples", keys=("[].sample_id", "[].prompt|[].vars")),
    Signature(name="eval samples", keys=("sample_id", "prompt|vars")),
    Signature(name="rows", keys=("rows.[].input", "evaluators")),
    Signature(name="a prompt file", keys=("messages.[].role", "testData", "evaluators")),
    Signature(name="the evals of a skill", keys=("skill_name", "evals.[].prompt|evals.[].query")),
    Signature(name="the evals of a skill", keys=("skill_name|skill", "tests.[]|cases.[]|evals.[]|test_cases.[]")),
    Signature(name="an eval of Vally", keys=("stimuli.[].name", "stimuli.[].graders|stimuli.[].prompt|name")),
    Signature(name="a case of a skill", keys=("skill", "input", "expected.type")),
    Signature(name="cases of a skill", keys=("[].skill", "[].input", "[].expected.type")),
    *_other(
        PROMPTFOO,
        "`runevals import promptfoo {path}`, or run it there and `runevals gate` its results",
        ("prompts", "providers|targets"),
        ("prompts", "tests|scenarios|defaultTest"),
        ("providers|targets", "tests.[].assert|tests.[].vars|scenarios|defaultTest"),
        ("prompts", "providers|targets", "tests|scenarios|defaultTest"),
        ("tests.[].vars", "tests.[].assert"),
    ),
    *_other(
        "tests of promptfoo",
        "`runevals import promptfoo` converts the configuration that names them",
        ("[].vars", "[].assert"),
        ("[].vars", "![].sample_id|[].prompt|[].turns|[].input|[].question|[].query"),
        ("[].__expected|[].__expected1",),
    ),
    *_other(
        "an eval of agentv",
        _GATE,
        ("evalcases.[].input|evalcases.[].input_messages",),
        ("tests.[].input|tests.[].input_messages", "tests.[].criteria|tests.[].expected_outcome"),
        ("tests.[].input|tests.[].input_messages", "tests.[].assert|tests.[].assertions|tests.[].rubrics|assert"),
        ("tests.[].input|tests.[].input_messages", "tests.[].expected_output|execution|evaluators"),
        ("prompts", "tests.[].input|tests.[].input_messages", "tests.[].assert|tests.[].criteria|execution"),
        ("[].input|[].input_messages", "[].id", "[].criteria|[].expected_outcome"),
        ("prompts", "tests.[].id", "tests.[].vars", _OF_AGENTV),  # its present form, which resembles promptfoo's
        ("[].id", "[].vars", "[].assert.[].$|[].assert.[].command|[].criteria"),
        ("/EVAL.yaml|/*.eval.yaml", "tests", "name|assert"),
    ),
    *_other(
        "an eval of waza",
        _GATE,
        ("tasks.[]", "graders|metrics"),
        ("tasks.[]", "skill", "config|graders", "!summary"),
        ("tasks.[].prompt", "tasks.[].validators"),
        ("should_trigger_prompts|should_not_trigger_prompts",),
    ),
    *_other("a task of waza", _GATE, ("inputs.prompt", "expected|graders")),
    *_other("an eval of assay", _GATE, ("tests.[].input.prompt", "tests.[].expected.type")),
    *_other("an eval of agent-eval-harness", _GATE, ("dataset", "judges", "skill|runner", "execution|thresholds")),
    *_other(
        "an evaluation of Microsoft Foundry",
        "name its data file in `suites`, with these evaluators (docs/microsoft.md)",
        ("dataset.local_uri", "evaluators"),
    ),
    *_other(
        "a test of Google's ADK",
        "its queries are one conversation: write them as the `turns` of an eval document (docs/suites.md)",
        ("[].query", "[].expected_tool_use|[].expected_intermediate_agent_responses"),
        ("[].data.[].query", "[].initial_session|[].name"),
    ),
    *_other(
        "an eval set of Google's ADK",
        "make an item of an eval document of each case, with its conversation as `turns` (docs/suites.md)",
        ("eval_set_id", "eval_cases.[].conversation"),
    ),
    *_other(
        "an eval of skillgrade",
        "make a case of each task in `evals/evals.json`, with its rubrics as assertions",
        ("tasks.[].instruction", "tasks.[].graders|defaults"),
    ),
    *_other(
        "an eval of skill-validator",
        "run `skill-validator --reporter junit`, and `runevals gate` its results",
        ("scenarios.[].prompt", "scenarios.[].assertions|scenarios.[].rubric"),
    ),
    *_other(
        "a registry of OpenAI Evals",
        "run its `samples_jsonl`, rows of input and ideal: `runevals FILE --evaluators ExactMatch`",
        ("*.class", "*.args"),
    ),
    *_other(
        "a registry of OpenAI Evals that a model grades",
        "run its `samples_jsonl`, rows of input and ideal, with its grading prompt as a rubric (docs/graders.md)",
        ("*.class", "*.args", "*.args.modelgraded_spec"),
    ),
    *_other(
        "settings of Vally",
        "run them by `runevals`, in their folder",
        ("paths.evals", "suites|evalFilenames|version"),
    ),
    *_other("a dataset of pydantic-evals", f"its inputs may be any object: {_COLUMNS}", ("cases.[].inputs",)),
    *_other(
        "an eval of OpenAI Evals",
        "`runevals import openai-evals {path}` converts it, with its runs on further lines",
        ("testing_criteria", "data_source_config"),
        ("[].testing_criteria", "[].data_source_config"),
        ("data.[].testing_criteria", "data.[].data_source_config"),
        ("[].datasource_item", "[].results", "[].sample"),
    ),
    *_other(
        "a data set of ai-agent-evals",
        "leave 'data_mapping', 'evaluator_parameters' and 'openai_graders' out: the settings name columns, and "
        "evaluators with their options (docs/microsoft.md)",
        ("data.[]", "evaluators", "data_mapping|evaluator_parameters|openai_graders"),
    ),
    *_other(
        "a dataset with instruction and input",
        "join both into one column 'input', with 'expected' beside it",
        ("[].instruction", "[].input", "[].output", "![].expected"),
    ),
    *_other("a result of promptfoo", _RESULTS, ("results.results",), ("results", "stats.successes|evalId")),
    *_other("results of promptfoo", _RESULTS, ("[].testCase", "[].promptIdx", "[].success")),
    *_other("results of waza", _RESULTS, ("tasks", "summary", "eval_id|eval_name")),
    *_other(
        "results of agentv", _RESULTS, ("[].test_id|[].testId", "[].score", "![].expected"), ("test_id", "score")
    ),
    *_other(
        "results of Vally", _RESULTS, ("[].type|[].trajectory", "[].gradeResult", "[].stimulus|[].trajectory")
    ),
    *_other("JUnit XML", _RESULTS, ("testsuites",), ("testsuite",)),
    *_other("a trial of Harbor", _RESULTS, ("trial_name", "task_name", "agent_info")),
    *_other("results of pydantic-evals", _RESULTS, ("cases", "failures", "analyses|report_evaluator_failures")),
    *_other("conversations", "write each as `turns` of an eval document (docs/suites.md)", ("[].turns.[].$",)),
    *_other("conversations of DeepEval", _GATE, ("[].scenario", "[].expected_outcome", "[].turns")),
    *_other(
        "results of Ragas",
        "compare them by `runevals gate {path} --columns id=user_input --columns score={last}`",
        ("[].user_input", "[].response", "|".join(f"[].{metric}" for metric in _OF_RAGAS)),
    ),
    *_other("results of DeepEval", _RESULTS, ("testCases", "metricsScores|testPassed"), ("testRunData",)),
    *_other("a log of Inspect", _RESULTS, ("eval", "status", "version|plan"), ("/*.eval",)),
    *_other(
        "a listing of Inspect's evals",
        "run them by `inspect eval`, and `runevals gate` the log",
        ("tasks.[].name|tasks.[].id", "evaluation_framework|group"),
    ),
    *_other("a task of lm-evaluation-harness", _GATE, ("task", "dataset_path|output_type", "metric_list")),
    *_other(
        "results of skill-creator",
        _RESULTS,
        ("run_summary", "metadata|runs"),
        ("runs.[].configuration", "metadata"),
        ("expectations.[].passed|assertion_results.[].passed",),
    ),
    *_other(
        "results of runevals",
        "`runevals compare BASE {path}` compares them, `runevals report {path}` shows them",
        ("format_version", "tool", "cases"),
    ),
    *_other("a program of promptfoo", _GATE, ("/promptfooconfig.*[jt]s",)),
    *_other(
        "a program",
        "run it with its own tool (pytest, Inspect, DeepEval, …), and `runevals gate` the results",
        ("/*.py|/*.js|/*.mjs|/*.cjs|/*.ts|/*.sh|/*.ipynb",),
    ),
    *_other("a prompt", "name it as `target.prompt_file`, beside a suite", ("/*.prompty|/*.prompt",)),
    *_other("a text", f"name a prompt as `target.prompt_file`; {_SUITE}", ("/*.md|/*.mdx|/*.txt",)),
    *_other("a spreadsheet", "save it as CSV", ("/*.xlsx|/*.xls|/*.ods",)),
    *_other("a file of settings", _SUITE, ("/*.toml|/*.ini|/*.cfg",)),
    *_other("an OpenAPI document", _SUITE, ("/openapi.*|/swagger.*",), ("openapi|swagger", "info", "paths")),
    *_other("an experiment of Vally", "run its evals: `runevals FILE`", ("evals.[].$", "variants|vary")),
    *_other(
        "settings of runevals", "run `runevals --config {path}`", ("version", "!version.$", "suites|target|judge")
    ),
    *_other(
        "a log of requests to OpenAI's API",
        "`runevals import openai-log {path}` makes cases of it",
        ("[].request.messages", "[].response"),
    ),
    *_other(
        "a transcript of Claude Code",
        "`runevals import claude-transcript {path}` makes cases of it",
        ("[].sessionId", "[].message.role", "[].type"),
    ),
    *_other(
        "traces of OpenTelemetry",
        "`runevals import otlp {path}` makes cases of them",
        ("resourceSpans.[].scopeSpans",),
        ("[].resourceSpans",),
    ),
    *_other(
        "an export of Langfuse",
        "`runevals import langfuse {path}` makes cases of it",
        ("[].input", "[].output", "[].traceId|[].sessionId|[].projectId", "![].expected"),
        ("data.[].input", "data.[].output", "data.[].traceId|data.[].sessionId|data.[].projectId"),
    ),
)


def other_format(value: object, file_name: str = "") -> Signature | None:
    """The signature of a document that is not a suite of ours; None for one that may be."""
    fitting = [signature for signature in SIGNATURES if signature.fits(value, file_name)]
    best = max(fitting, key=lambda signature: len(signature.keys), default=None)
    return best if best is not None and best.next else None


def has_any(value: object, key: str) -> bool:
    """Whether a document has any of the paths of a key."""
    return any(_has(value, path.split(".")) for path in key.split("|"))


def _is_true_of(value: object, file_name: str, key: str) -> bool:
    if key.startswith("/"):
        return any(fnmatchcase(f"/{file_name}", pattern) for pattern in key.split("|"))
    return has_any(value, key.removeprefix("!")) is not key.startswith("!")


def _name_of(value: object, file_name: str, key: str) -> str:
    """The path among those of a key that a document has, as messages write it."""
    path = next(path for path in key.split("|") if _is_true_of(value, file_name, path))
    return path.removeprefix("/").removeprefix("[].").removesuffix(".$").replace(".[]", "[]")


def _has(value: object, path: list[str]) -> bool:
    """Whether a document has what is at the end of the path."""
    if not path:
        return True
    name, *rest = path
    if name == "$":
        return isinstance(value, str)
    if name in ("[]", "*"):
        entries = list_in(value) if name == "[]" else object_in(value).values()
        return any(_has(entry, rest) for entry in islice(entries, MOST_ENTRIES))
    return name in (fields := object_in(value)) and _has(fields[name], rest)
