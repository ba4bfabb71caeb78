"""Every setting there is: its name, kind, default, bounds and help, and who may set it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Kind = Literal["text", "texts", "whole", "number", "yes_no"]


ROUNDS_IN_CI = 3  # the default; they stop early if the result is clear
Way = Literal["flag", "input"]
FLAG: frozenset[Way] = frozenset({"flag"})
INPUT: frozenset[Way] = frozenset({"input"})
FILE: frozenset[Way] = frozenset()


class _NamedSetting(Struct, frozen=True):
    name: str
    kind: Kind


class Setting(_NamedSetting, frozen=True, kw_only=True):
    """One setting of a run: `name` is its flag, its action input and, in capitals, its variable."""

    default: object = None
    bounds: tuple[float | None, float | None] = (None, None)
    choices: tuple[str, ...] = ()  # of a yes_no: words that it may be besides
    metavar: str = ""  # the placeholder of its value in help
    by: frozenset[Way] = FLAG | INPUT  # besides the settings file and the environment
    protected: bool = False  # it decides over a change: it is read from the base's file, not from the change's
    help: str


SETTINGS: tuple[Setting, ...] = (
    Setting("suites", "texts", default=(), by=INPUT, help="Suite files, folders and globs."),
    Setting("all", "yes_no", default=False, help="Run every suite found, not only the first."),
    Setting("config", "text", metavar="FILE", help="The settings file (default: runevals.yaml)."),
    Setting("mcp_config", "text", metavar="FILE", by=FLAG,
            help="The file that names the MCP servers which fetch addresses (default: .mcp.json)."),
    Setting("target", "text", metavar="TARGET",
            help="The system under test: PROVIDER[:MODEL] (openai, anthropic, gemini, azure, openrouter, groq, "
                 "mistral, deepseek, ollama, bedrock), http:URL, a2a:URL, command:PROGRAM, "
                 "python:FILE.py:FUNCTION, skill[:FOLDER], a coding agent (claude-code, codex, copilot, "
                 "gemini-cli), recorded:FILE or plugin:NAME."),
    Setting("model", "text", metavar="MODEL", help="The target's model."),
    Setting("judge", "text", metavar="JUDGE", protected=True,
            help="The model that grades: MODEL, PROVIDER:MODEL (openai, anthropic, gemini, …) or recorded:FILE."),
    Setting("judge_model", "text", metavar="MODEL", help="The judge's model."),
    Setting("no_judge", "yes_no", default=False, help="Run without a judge; its checks are skipped."),
    Setting("repeat", "whole", bounds=(1, 10000),
            help="The most attempts per case (default: 1; in CI 3, to separate chance from change)."),
    Setting("concurrency", "whole", default=16, bounds=(1, None), help="Target calls at once."),
    # Protected: otherwise a change could run its code on other machines
    Setting("executor", "text", default="local", choices=("local", "ray"), by=FLAG, protected=True,
            help="Where target calls run: local (this machine) or ray (the nodes of a Ray cluster)."),
    Setting("ray_address", "text", by=FLAG,
            help="That cluster, HOST:PORT or ray://HOST:PORT (default: RAY_ADDRESS, else this machine's)."),
    Setting("ray_num_cpus", "number", bounds=(0, None), metavar="N", by=FLAG,
            help="CPUs that each target call books on the cluster."),
    Setting("ray_num_gpus", "number", bounds=(0, None), metavar="N", by=FLAG,
            help="GPUs that each target call books on the cluster."),
    Setting("ray_runtime_env", "text", metavar="FILE", by=FLAG,
            help="Ray's runtime environment of the calls, as JSON or YAML."),
    Setting("judge_concurrency", "whole", default=8, bounds=(1, None), help="Judge calls at once."),
    Setting("category", "texts", default=(), metavar="NAME", by=FLAG, protected=True,
            help="Run only cases of this category."),
    Setting("tag", "texts", default=(), metavar="TAG", by=FLAG, protected=True,
            help="Run only cases with this tag."),
    Setting("filter", "texts", default=(), metavar="PATTERN", by=FLAG, help="Run only cases whose key matches."),
    Setting("shard", "text", metavar="I/N|auto",
            help="Run only shard i of n of the cases: i/n, or auto or auto/N to use the CI's own number of this "
                 "job; `runevals merge` combines the shards."),
    Setting("evaluators", "texts", default=(), metavar="NAME", by=FLAG, help="The evaluators for rows, by name."),
    Setting("baseline", "text", metavar="RESULTS", protected=True,
            help="The base's results document, a folder of them, or its address."),
    # `--base REF` is another option
    Setting("base", "text", default="stored", choices=("stored", "run"), by=INPUT, protected=True,
            help="What a change is compared with: stored (the result of an earlier run of the base, if there is "
                 "one) or run (the base's commit is run now)."),
    Setting("base_setup", "texts", default=(), metavar="PROGRAM", by=FILE, protected=True,
            help="A program and its arguments that prepare the worktree of a base; from the base's side only."),
    Setting("rerun", "texts", default=(), metavar="PROGRAM", by=FILE, protected=True,
            help="A program and its arguments that run one case of another tool again; from the base's side "
                 "only."),
    Setting("columns", "texts", default=(), metavar="OURS=THEIRS", protected=True,
            help="Mode gate, of plain rows: which column is what, such as id=case, passed=ok, score=f1 or, to say "
                 "what passes, 'score=wer<=0.2'."),
    Setting("share", "texts", default=(), metavar="PATH", by=FILE, protected=True,
            help="Paths that git ignores and that the worktree of a base gets from here; from the base's side "
                 "only."),
    Setting("verify", "text", default="auto", choices=("auto", "interleaved", "off"), protected=True,
            help="Run the base again before a failing verdict: auto, interleaved (base and head in turn) or off."),
    Setting("verify_repeats", "whole", default=6, bounds=(1, None), by=FLAG, protected=True,
            help="Attempts per case of that fresh run."),
    Setting("alpha", "number", default=0.01, bounds=(0.0001, 0.2), metavar="P", by=FLAG, protected=True,
            help="Significance level: a drop with a p-value up to P is a regression (the rate of false alarms)."),
    Setting("min_effect", "number", default=0.02, bounds=(0, 1), by=FLAG, protected=True,
            help="The smallest drop that is a regression, as a share of the range."),
    Setting("max_base_age", "number", default=7.0, bounds=(0, None), metavar="DAYS", by=FLAG, protected=True,
            help="Days after which the base's result is reported as old."),
    Setting("mark", "text", metavar="30d|TAG|best", by=FLAG, protected=True,
            help="An earlier run to compare with as well, which shows many small losses: the newest of that age, "
                 "that of a tag's commit, or the one with the best pass rate, then score."),
    # with `margin`, it decides only with a gate on `against_drop` or `lift`
    Setting("against", "text", metavar="NAME|without-skill|placebo-skill|none", by=FLAG, protected=True,
            help="Also run the same cases in the same rounds: without-skill, with the skill under test not "
                 "installed; placebo-skill, with other text of the same length in its place; or the target with "
                 "this NAME, with which the others are compared: are they at most `margin` worse? Reported only, "
                 "unless a gate names it."),
    Setting("margin", "number", default=0.03, bounds=(0.001, 1), by=FLAG, protected=True,
            help="How much worse than that target another may be, as a share of the range."),
    Setting("on_unknown", "text", default="unmeasured", choices=("pass", "unmeasured", "fail"), by=FLAG,
            protected=True,
            help="What a result that is not known means: pass (with a warning), unmeasured (exit 3), or fail: "
                 "exit 3 for what is only a warning, too."),
    Setting("edits", "text", default="warn", choices=("warn", "accept"), by=FILE, protected=True,
            help="What a case that passes only in its edited form means: warn, or accept: it is a loss until a "
                 "reviewer accepts it."),
    Setting("fresh_runs", "whole", bounds=(0, None), by=FILE, protected=True,
            help="The most fresh runs of single cases that look lost, on each side (default: 96, or two per "
                 "case if that is more)."),
    Setting("plugins", "texts", default=(), metavar="PACKAGE", by=FILE, protected=True,
            help="In CI: the packages whose plugins are loaded (default: all installed ones)."),
    Setting("quarantine", "text", default="runevals.quarantine.yaml", metavar="FILE", by=FLAG, protected=True,
            help="The list of flaky cases that no gate looks at; read from the base's side only."),
    Setting("accept_label", "text", metavar="NAME", by=FILE, protected=True,
            help="The label with which a reviewer accepts the losses that a pull request lists; from the base's "
                 "side only."),
    Setting("sandbox", "text", default="strict", choices=("strict", "reduced"), by=FLAG, protected=True,
            help="strict: refuse suite code that the kernel cannot isolate; reduced: run it with less isolation."),
    Setting("trust", "yes_no", default=False, by=FLAG,
            help="Let the settings of a change reach hosts, variables and programs that those of its base do not "
                 "name."),
    Setting("changed_only", "yes_no", default=False, choices=("cases",),
            help="Reuse the base's result if nothing that the run depends on has changed; by settings or variable "
                 "also `cases`: run only the cases that a change affects."),
    Setting("depends_on", "texts", default=(), metavar="PATH", by=FLAG,
            help="Files and globs that the target depends on, for changed-only."),
    Setting("min_pass_rate", "number", bounds=(0, 1), protected=True,
            help="The smallest share of cases that must pass, 0–1."),
    Setting("fail_on", "texts", metavar="GATE", protected=True,
            help="The gates that may fail the run, or `none`."),
    Setting("errors_limit", "number", default=0.0, bounds=(0, 1), by=FILE, protected=True,
            help="The share of cases, 0–1, that may stay unmeasured."),
    Setting("baseline_required", "yes_no", default=False, by=FILE, protected=True,
            help="Fail if there is no baseline."),
    Setting("redact", "text", default="full", choices=("full", "hashes", "none"), protected=True,
            help="How results contain prompts and answers: full, hashes or none."),
    Setting("max_cost", "number", bounds=(0.0001, None), metavar="USD", protected=True,
            help="The cost limit of target and judge in US dollars; at the limit the run stops and is "
                 "incomplete."),
    Setting("max_tokens", "whole", bounds=(1, None), by=FLAG, protected=True,
            help="The limit on tokens of target and judge, input and output together."),
    Setting("max_calls", "whole", bounds=(1, None), by=FLAG, protected=True,
            help="Calls of target and judge that a run may plan (default on changes in CI: three times the "
                 "base's, at least 1000)."),
    Setting("max_duration", "number", bounds=(0.001, None), metavar="SECONDS", by=FLAG, protected=True,
            help="The time limit in seconds; then no more calls are sent."),
    Setting("cache", "text", metavar="FOLDER", by=FLAG,
            help="The cache folder for judges' answers, or `none` (default: .evals/cache; in CI none)."),
    Setting("cache_target", "yes_no", default=False, by=FLAG,
            help="Cache the target's answers too, in the folder of --cache (openai targets only)."),
    Setting("output_dir", "text", default=".evals/results", by=INPUT, help="Where the action writes its files."),
    Setting("baseline_artifact", "text", by=INPUT, protected=True,
            help="The artifact that results are stored in and the base's are found in (default: by comment_id)."),
    Setting("baseline_branch", "text", default="auto", by=FILE, protected=True,
            help="The branch whose newest result is used if no commit of the base has one; auto: the base's."),
    Setting("baseline_workflow", "text", metavar="FILE", by=FILE, protected=True,
            help="The workflow file whose runs have the base's results (default: this job's, then any)."),
    Setting("baseline_wait", "number", default=300.0, bounds=(0, 3600), metavar="SECONDS", by=FILE, protected=True,
            help="Seconds to wait for a run of the base's commit that is in progress, if only its result is "
                 "missing."),
    Setting("comment", "text", default="always", choices=("always", "on-change", "on-failure", "never"), by=INPUT,
            protected=True,
            help="When the pull request is commented on: always, on-change, on-failure or never."),
    Setting("comment_id", "text", by=INPUT, protected=True,
            help="What distinguishes this comment from other runevals comments (default: workflow, job, leg and "
                 "step)."),
    Setting("annotations", "yes_no", default=True, by=INPUT, protected=True,
            help="Mark regressed cases in the files of the pull request."),
    Setting("require_credentials", "yes_no", default=False, by=INPUT, protected=True,
            help="Fail if a pull request from a fork cannot be measured, instead of skipping it."),
)  # fmt: skip

# What only a workflow can say: neither the settings file nor the environment.
INPUTS: tuple[Setting, ...] = (
    Setting("mode", "text", choices=("run", "plan", "merge", "gate", "comment"),
            help="run, plan (list shards), merge (combine a run's shards), gate (compare another tool's results) "
                 "or comment (show another run's results); the default depends on the event."),
    Setting("all_projects", "yes_no", default=False,
            help="Run every folder that has a runevals.yaml: one comment and one artifact for all of them."),
    Setting("cases_per_shard", "whole", default=100, bounds=(1, None),
            help="How many cases mode plan assigns to one shard."),
    Setting("durations", "text", default="",
            help="With shard: the output durations of the job with mode plan, to balance the shards."),
    Setting("shards", "text", default="shards", help="The folder of the shards' results that mode merge reads."),
    Setting("results", "texts", default=(),
            help="The results of another tool that mode gate compares: files, and folders of them."),
    Setting("deterministic", "yes_no",
            help="Mode gate: what ran gives the same result each time, so every newly failing case is a loss."),
    Setting("parameters_are_attempts", "yes_no", default=False,
            help="Mode gate, of JUnit XML: test_x[1] and test_x[2] are two attempts of test_x."),
    Setting("resume", "yes_no", default=False,
            help="Journal answers in .evals/runs, and resume from those that a step restored from an earlier "
                 "attempt."),
    Setting("issue", "yes_no", default=False,
            help="On schedule: keep one issue that is open while cases are lost (permission issues: write)."),
    Setting("allow_untrusted", "yes_no", default=False,
            help="Run untrusted code with access to secrets: pull_request_target with the head checked out."),
    Setting("github_token", "text", help="The token that reads the base's artifact and writes the comment."),
)  # fmt: skip
