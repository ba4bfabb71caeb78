"""Every setting there is: its name, kind, help and bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "texts", "whole", "number", "yes_no"]


ROUNDS_IN_CI = 3  # the default; they stop early if the result is clear


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting of a run: `name` is its flag, its action input and, in capitals, its variable."""

    name: str
    kind: Kind
    help: str
    default: object = None
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    as_flag: bool = True  # also a flag of the command line
    as_input: bool = True  # also an input of the action
    metavar: str = ""  # the placeholder of its value in help


SETTINGS: tuple[Setting, ...] = (
    Setting(name="suites", kind="texts", help="Suite files, folders and globs.", default=(), as_flag=False),
    Setting(name="all", kind="yes_no", help="Run every suite found, not only the first.", default=False),
    Setting(name="config", metavar="FILE", kind="text", help="The settings file (default: runevals.yaml)."),
    Setting(
        name="mcp_config",
        metavar="FILE",
        kind="text",
        help="The file that names the MCP servers which fetch addresses (default: .mcp.json).",
        as_input=False,
    ),
    Setting(
        name="target",
        metavar="TARGET",
        kind="text",
        help="The system under test: PROVIDER[:MODEL] (openai, anthropic, gemini, azure, openrouter, "
        "groq, mistral, deepseek, ollama, bedrock), http:URL, a2a:URL, command:PROGRAM, "
        "python:FILE.py:FUNCTION, skill[:FOLDER], recorded:FILE or plugin:NAME.",
    ),
    Setting(name="model", metavar="MODEL", kind="text", help="The target's model."),
    Setting(
        name="judge",
        metavar="JUDGE",
        kind="text",
        help="The model that grades: MODEL, PROVIDER:MODEL (openai, anthropic, gemini, …) or recorded:FILE.",
    ),
    Setting(name="judge_model", metavar="MODEL", kind="text", help="The judge's model."),
    Setting(name="no_judge", kind="yes_no", help="Run without a judge; its checks are skipped.", default=False),
    Setting(
        name="repeat",
        kind="whole",
        help="The most attempts per case (default: 1; in CI 3, to separate chance from change).",
        minimum=1,
    ),
    Setting(name="concurrency", kind="whole", help="Target calls at once.", default=16, minimum=1),
    Setting(
        name="executor",
        kind="text",
        help="Where target calls run: local (this machine) or ray (the nodes of a Ray cluster).",
        default="local",
        choices=("local", "ray"),
        as_input=False,
    ),
    Setting(
        name="ray_address",
        kind="text",
        help="That cluster, HOST:PORT or ray://HOST:PORT (default: RAY_ADDRESS, else this machine's).",
        as_input=False,
    ),
    Setting(name="judge_concurrency", kind="whole", help="Judge calls at once.", default=8, minimum=1),
    Setting(
        name="category",
        metavar="NAME",
        kind="texts",
        help="Run only cases of this category.",
        default=(),
        as_input=False,
    ),
    Setting(
        name="tag", metavar="TAG", kind="texts", help="Run only cases with this tag.", default=(), as_input=False
    ),
    Setting(
        name="filter",
        metavar="PATTERN",
        kind="texts",
        help="Run only cases whose key matches.",
        default=(),
        as_input=False,
    ),
    Setting(
        name="shard",
        metavar="I/N|auto",
        kind="text",
        help="Run only shard i of n of the cases: i/n, or auto or auto/N to use the CI's own number of this job; "
        "`runevals merge` combines the shards.",
    ),
    Setting(
        name="evaluators",
        metavar="NAME",
        kind="texts",
        help="The evaluators for rows, by name.",
        default=(),
        as_input=False,
    ),
    Setting(
        name="baseline",
        metavar="RESULTS",
        kind="text",
        help="The base's results document, a folder of them, or its address.",
    ),
    Setting(
        name="base",
        kind="text",
        help="What a change is compared with: stored (the result of an earlier run of the base, if there is one) "
        "or run (the base's commit is run now).",
        default="stored",
        choices=("stored", "run"),
        as_flag=False,  # `--base REF` is another option
    ),
    Setting(
        name="base_setup",
        metavar="PROGRAM",
        kind="texts",
        help="A program and its arguments that prepare the worktree of a base; from the base's side only.",
        default=(),
        as_input=False,
        as_flag=False,
    ),
    Setting(
        name="rerun",
        metavar="PROGRAM",
        kind="texts",
        help="A program and its arguments that run one case of another tool again; from the base's side only.",
        default=(),
        as_input=False,
        as_flag=False,
    ),
    Setting(
        name="share",
        metavar="PATH",
        kind="texts",
        help="Paths that git ignores and that the worktree of a base gets from here; from the base's side only.",
        default=(),
        as_input=False,
        as_flag=False,
    ),
    Setting(
        name="verify",
        kind="text",
        help="Run the base again before a failing verdict: auto, interleaved (base and head in turn) or off.",
        default="auto",
        choices=("auto", "interleaved", "off"),
    ),
    Setting(
        name="verify_repeats",
        kind="whole",
        help="Attempts per case of that fresh run.",
        default=6,
        minimum=1,
        as_input=False,
    ),
    Setting(
        name="alpha",
        metavar="P",
        kind="number",
        help="Significance level: a drop with a p-value up to P is a regression (the rate of false alarms).",
        default=0.01,
        minimum=0.0001,
        maximum=0.2,
        as_input=False,
    ),
    Setting(
        name="min_effect",
        kind="number",
        help="The smallest drop that is a regression, as a share of the range.",
        default=0.02,
        minimum=0,
        maximum=1,
        as_input=False,
    ),
    Setting(
        name="max_base_age",
        metavar="DAYS",
        kind="number",
        help="Days after which the base's result is reported as old.",
        default=7.0,
        minimum=0,
        as_input=False,
    ),
    Setting(
        name="mark",
        metavar="30d|TAG|best",
        kind="text",
        help="An earlier run to compare with as well, which shows many small losses: the newest of that age, "
        "that of a tag's commit, or the one with the best pass rate.",
        as_input=False,
    ),
    Setting(
        name="against",
        kind="text",
        metavar="NAME|without-skill|none",
        help="Also measure the same cases so, in the same rounds, and say the difference: without-skill, with the "
        "skill under test not installed; of several targets, the name of the one that the others are compared "
        "with: whether they are at most `margin` worse. It informs, unless a gate names it.",
        as_input=False,
    ),
    Setting(
        name="margin",
        kind="number",
        help="How much worse than that target another may be, as a share of the range.",
        default=0.03,
        minimum=0.001,
        maximum=1,
        as_input=False,
    ),
    Setting(
        name="on_incomparable",
        kind="text",
        help="What a base that cannot be compared with means: unmeasured, or pass (it only informs).",
        default="unmeasured",
        choices=("unmeasured", "pass"),
        as_input=False,
    ),
    Setting(
        name="on_inconclusive",
        kind="text",
        help="What a large drop that may be noise means: pass (with a warning), or fail (exit 3).",
        default="pass",
        choices=("pass", "fail"),
        as_input=False,
    ),
    Setting(
        name="suspects_max_runs",
        kind="whole",
        help="The most fresh runs of single cases that look lost (default: 96, or one per case if that is more).",
        minimum=0,
        as_input=False,
        as_flag=False,
    ),
    Setting(
        name="quarantine",
        metavar="FILE",
        kind="text",
        help="The list of flaky cases that no gate looks at; read from the base's side only.",
        default="runevals.quarantine.yaml",
        as_input=False,
    ),
    Setting(
        name="accept_label",
        metavar="NAME",
        kind="text",
        help="The label with which a reviewer accepts the losses that a pull request lists; from the base's side "
        "only.",
        as_input=False,
        as_flag=False,
    ),
    Setting(
        name="sandbox",
        kind="text",
        help="strict: refuse suite code that the kernel cannot isolate; reduced: run it with less isolation.",
        default="strict",
        choices=("strict", "reduced"),
        as_input=False,
    ),
    Setting(
        name="changed_only",
        kind="yes_no",
        help="Reuse the base's result if nothing that the run depends on has changed.",
        default=False,
    ),
    Setting(
        name="depends_on",
        metavar="PATH",
        kind="texts",
        help="Files and globs that the target depends on, for changed-only.",
        default=(),
        as_input=False,
    ),
    Setting(
        name="min_pass_rate",
        kind="number",
        help="The smallest share of cases that must pass, 0–1.",
        minimum=0,
        maximum=1,
    ),
    Setting(
        name="fail_on",
        metavar="GATE",
        kind="texts",
        help="The gates that may fail the run, or `none`.",
    ),
    Setting(
        name="errors_limit",
        kind="number",
        help="The share of cases, 0–1, that may stay unmeasured.",
        default=0.0,
        minimum=0,
        maximum=1,
        as_input=False,
        as_flag=False,
    ),
    Setting(
        name="baseline_required",
        kind="yes_no",
        help="Fail if there is no baseline.",
        default=False,
        as_input=False,
        as_flag=False,
    ),
    Setting(
        name="redact",
        kind="text",
        help="How results contain prompts and answers: full, hashes or none.",
        default="full",
        choices=("full", "hashes", "none"),
    ),
    Setting(
        name="max_cost",
        metavar="USD",
        kind="number",
        help="The cost limit of target and judge in US dollars; at the limit the run stops and is incomplete.",
        minimum=0.0001,
    ),
    Setting(
        name="max_tokens",
        kind="whole",
        help="The limit on tokens of target and judge, input and output together.",
        minimum=1,
        as_input=False,
    ),
    Setting(
        name="max_calls",
        kind="whole",
        help="Calls of target and judge that a run may plan (default on changes in CI: three times the base's, at "
        "least 1000).",
        minimum=1,
        as_input=False,
    ),
    Setting(
        name="max_duration",
        metavar="SECONDS",
        kind="number",
        help="The time limit in seconds; then no more calls are sent.",
        minimum=0.001,
        as_input=False,
    ),
    Setting(
        name="cache",
        metavar="FOLDER",
        kind="text",
        help="The cache folder for judges' answers, or `none` (default: .evals/cache; in CI none).",
        as_input=False,
    ),
    Setting(
        name="cache_target",
        kind="yes_no",
        help="Cache the target's answers there too (openai targets only).",
        default=False,
        as_input=False,
    ),
    Setting(
        name="output_dir",
        kind="text",
        help="Where the action writes its files.",
        default=".evals/results",
        as_flag=False,
    ),
    Setting(
        name="baseline_artifact",
        kind="text",
        help="The artifact that results are stored in and the base's are found in (default: by comment_id).",
        as_flag=False,
    ),
    Setting(
        name="baseline_branch",
        kind="text",
        help="The branch whose newest result is used if no commit of the base has one; auto: the base's.",
        default="auto",
        as_input=False,
        as_flag=False,
    ),
    Setting(
        name="baseline_workflow",
        metavar="FILE",
        kind="text",
        help="The workflow file whose runs have the base's results (default: this job's, then any).",
        as_input=False,
        as_flag=False,
    ),
    Setting(
        name="baseline_wait",
        metavar="SECONDS",
        kind="number",
        help="Seconds to wait for a run of the base's commit that is in progress, if only its result is missing.",
        default=300.0,
        minimum=0,
        maximum=3600,
        as_input=False,
        as_flag=False,
    ),
    Setting(
        name="comment",
        kind="text",
        help="When the pull request is commented on: always, on-change, on-failure or never.",
        default="always",
        choices=("always", "on-change", "on-failure", "never"),
        as_flag=False,
    ),
    Setting(
        name="comment_id",
        kind="text",
        help="What distinguishes this comment from other runevals comments "
        "(default: workflow, job, leg and step).",
        as_flag=False,
    ),
    Setting(
        name="annotations",
        kind="yes_no",
        help="Mark regressed cases in the files of the pull request.",
        default=True,
        as_flag=False,
    ),
    Setting(
        name="require_credentials",
        kind="yes_no",
        help="Fail if a pull request from a fork cannot be measured, instead of skipping it.",
        default=False,
        as_flag=False,
    ),
)

# What only a workflow can say: neither the settings file nor the environment.
INPUTS: tuple[Setting, ...] = (
    Setting(
        name="mode",
        kind="text",
        help="run, plan (list shards), merge (combine a run's shards), gate (compare another tool's results) or "
        "comment (show another run's results); the default depends on the event.",
        choices=("run", "plan", "merge", "gate", "comment"),
    ),
    Setting(
        name="all_projects",
        kind="yes_no",
        help="Run every folder that has a runevals.yaml: one comment and one artifact for all of them.",
        default=False,
    ),
    Setting(
        name="cases_per_shard",
        kind="whole",
        help="How many cases mode plan assigns to one shard.",
        default=100,
        minimum=1,
    ),
    Setting(
        name="shards",
        kind="text",
        help="The folder of the shards' results that mode merge reads.",
        default="shards",
    ),
    Setting(
        name="results",
        kind="texts",
        help="The results of another tool that mode gate compares: files, and folders of them.",
        default=(),
    ),
    Setting(
        name="deterministic",
        kind="yes_no",
        help="Mode gate: what ran gives the same result each time, so every newly failing case is a loss.",
        default=False,
    ),
    Setting(
        name="parameters_are_attempts",
        kind="yes_no",
        help="Mode gate, of JUnit XML: test_x[1] and test_x[2] are two attempts of test_x.",
        default=False,
    ),
    Setting(
        name="resume",
        kind="yes_no",
        help="Journal answers in .evals/runs, and resume from those that a step restored from an earlier attempt.",
        default=False,
    ),
    Setting(
        name="issue",
        kind="yes_no",
        help="On schedule: keep one issue that is open while cases are lost (permission issues: write).",
        default=False,
    ),
    Setting(
        name="allow_untrusted",
        kind="yes_no",
        help="Run untrusted code with access to secrets: pull_request_target with the head checked out.",
        default=False,
    ),
    Setting(
        name="github_token",
        kind="text",
        help="The token that reads the base's artifact and writes the comment.",
    ),
)
