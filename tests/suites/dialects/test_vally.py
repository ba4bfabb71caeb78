"""Vally's stimuli: what a grader becomes, what is lost, and how several are scored together."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from functools import reduce
from operator import getitem

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runevals.evaluators import catalogue
from runevals.lib.parsing.schema import schema
from runevals.lib.parsing.source import read_json
from runevals.records import ToolCall
from runevals.sandbox import Sandbox
from runevals.suites.dialects import LoadOptions, vally
from tests.ending import ended
from tests.evaluators.subjects import answering

SCHEMA = schema("runevals.suites.dialects", "vally")
CONFIGS = {
    "output-contains": {"substring": "x"},
    "output-not-contains": {"substring": "x"},
    "output-matches": {"pattern": "(?i)x"},
    "output-not-matches": {"pattern": "x"},
    "file-exists": {"path": "a/b.txt"},
    "file-not-exists": {"path": "a/b.txt"},
    "file-contains": {"path": "a", "value": "x"},
    "completed": {},
    "exit-success": {},
    "run-command": {"command": "make test"},
    "prompt": {"prompt": "Is it polite?", "scoring": "scale_1_5", "threshold": 0.6},
    "skill-invocation": {"required": ["a"], "disallowed": ["b"]},
    "tool-calls": {"required": ["bash"]},
    "tool-call-count": {"max": 3},
    "turn-count": {"max": 3},
    "wall-time": {"max": "2m"},
}
CONSTRAINTS = {
    "max_turns": 3,
    "max_duration": "90s",
    "expect_tools": ["a"],
    "reject_tools": ["b"],
    "expect_skills": ["a"],
    "reject_skills": ["b"],
}


def suite_of(*graders, options=None, scoring=None, **stimulus):
    document = {"stimuli": [{"name": "a", "prompt": "p", "graders": list(graders), **stimulus}]}
    document |= {} if scoring is None else {"scoring": scoring}
    return vally.load(read_json(json.dumps(document), "eval.yaml"), options or LoadOptions())


def lost(suite):
    return [problem.message for problem in suite.problems if problem.rule == "lost-check"]


@pytest.mark.parametrize("kind", CONFIGS)
def test_each_type_of_grader_that_the_schema_allows_is_a_check(kind):
    suite = suite_of({"type": kind, "config": CONFIGS[kind]})
    (spec,) = suite.cases[0].turns[0].checks
    assert (spec.id, spec.negated, suite.problems) == (kind, "-not-" in kind, ())
    catalogue.build(spec)


def test_the_schema_names_no_other_types():
    branches = SCHEMA["$defs"]["grader"]["allOf"]
    assert {branch["if"]["properties"]["type"]["const"] for branch in branches} == CONFIGS.keys()
    assert SCHEMA["checks"].keys() == {kind.replace("-not-", "-") for kind in CONFIGS} | CONSTRAINTS.keys()


@pytest.mark.parametrize("key", CONSTRAINTS)
def test_each_constraint_is_a_check(key):
    suite = suite_of(constraints={key: CONSTRAINTS[key]})
    (spec,) = suite.cases[0].turns[0].checks
    assert (spec.id, suite.problems) == (key, ())
    catalogue.build(spec)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(CONFIGS)), st.text(min_size=9).filter(lambda key: key not in str(SCHEMA)))
def test_a_grader_with_a_key_that_is_not_read_is_lost(kind, key):
    of_config = {"type": kind, "config": {**CONFIGS[kind], key: 1}}
    for grader in (of_config, {"type": kind, "config": CONFIGS[kind], key: 1}):
        suite = suite_of(grader, {"type": "completed"}, {"type": "completed"})
        (message,) = lost(suite)
        assert message.startswith(f"{kind}: no equal here for '{key}'")
        assert len(suite.cases[0].turns[0].checks) == 2


@pytest.mark.parametrize(
    ("grader", "message"),
    [
        ({"type": "diff-empty"}, "diff-empty: this type has no equal here"),
        ({"type": "file-exists", "config": {"path": "*.go"}}, "looks for files by a pattern"),
        ({"type": "prompt", "config": {"prompt": "p", "scoring": "binary"}}, 'must be "scale_1_5"'),
        ({"type": "prompt"}, "has neither a prompt nor a rubric"),
        (
            {"type": "tool-calls", "config": {"required": [{"name": "a", "result": "b"}]}},
            "no equal here for 'result'",
        ),
        ({"type": "run-command", "config": {"command": "x", "expected_exit_code": 1}}, "must be 0, but is 1"),
        ({"type": "completed", "turn": 1}, "is of turn 1, and the last one is 0"),
    ],
)
def test_what_has_no_equal_is_named(grader, message):
    (told,) = lost(suite_of(grader, {"type": "completed"}))
    assert message in told


WHOLE = {
    "tags": {"area": ["a", "b"]},
    "defaults": {"timeout": "2m", "runs": 3},
    "environment": {"files": [{"src": "a", "dest": "b"}], "commands": ["make"], "skills": ["s"]},
    "scoring": {"threshold": 0.5, "weights": {"prompt": 2}},
    "stimuli": [
        {
            "name": "a",
            "turns": ["x", "y"],
            "rubric": ["z"],
            "graders": [{"type": kind, "turn": 1, "config": config} for kind, config in CONFIGS.items()],
        },
        {"name": "b", "prompt": "x", "graders": [{"type": "completed"}], "constraints": CONSTRAINTS},
    ],
}
VALUES = (None, 1, -1, "", "x", [], {}, [1], [None], {"a": 1}, True, 0.5, ["x"], [" "], "(?i", {"name": "x"})


def places(value, above=()):
    """The paths of all values in a document."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in entries:
        yield (*above, step)
        yield from places(inner, (*above, step))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([*places(WHOLE)]), st.sampled_from(VALUES)), max_size=2))
def test_with_another_value_anywhere_a_file_is_refused_or_its_checks_can_be_built(changes):
    document = json.loads(json.dumps(WHOLE))
    for (*above, last), value in changes:
        with suppress(KeyError, IndexError, TypeError):  # a change before it took its place
            reduce(getitem, above, document)[last] = deepcopy(value)
    if not vally.recognises(document):
        return
    suite = vally.load(read_json(json.dumps(document), "eval.yaml"), LoadOptions())
    specs = [spec for case in suite.cases for turn in case.turns for spec in turn.checks]
    assert suite.errors or all(map(catalogue.build, specs))


def test_a_file_of_which_less_than_half_can_be_kept_is_an_error_with_the_next_step():
    graders = [{"type": "completed"}, {"type": "diff-empty"}, {"type": "panel"}]
    assert suite_of(*graders[:2]).errors == ()
    (error,) = suite_of(*graders).errors
    assert error.message == "1 of 3 checks can be kept; run it with Vally, and `runevals gate` its results"


def scored(text, threshold, *, graders=("yes", "maybe"), weights=None):
    """Whether an answer passes by the mean of graders that look for these texts."""
    entries = [{"type": "output-contains", "name": word, "config": {"substring": word}} for word in graders]
    entries += [{"type": "output-not-contains", "config": {"substring": "never"}}]
    scoring = {"threshold": threshold, **({} if weights is None else {"weights": weights})}
    (spec,) = suite_of(*entries, scoring=scoring).cases[0].turns[0].checks
    built = catalogue.build(spec)
    parts = [(one.evaluator.check(answering(text)).score or 0.0, one.negated) for one in built.evaluator.members]
    assert built.evaluator.pass_from == threshold
    return [1 - score if negated else score for score, negated in parts], built.evaluator


@pytest.mark.parametrize(
    ("weights", "expected"),
    [(None, [1.0, 1.0, 1.0]), ({"output-contains": 2}, [2, 2, 1.0]), ({"output-not-contains": 3}, [1.0, 1.0, 3])],
)
def test_a_threshold_is_of_the_mean_by_the_weights_of_types(weights, expected):
    scores, evaluator = scored("yes", 0.7, weights=weights)
    assert (scores, list(evaluator.weights)) == ([1.0, 0.0, 1.0], expected)


@pytest.mark.parametrize("number", [1, 2])
def test_a_threshold_is_kept_of_one_grader_too(number):
    rubric = {"type": "prompt", "config": {"prompt": "Is it polite?"}}
    (spec,) = suite_of(*[rubric] * number, scoring={"threshold": 0.8}).cases[0].turns[0].checks
    assert (spec.name, spec.threshold, len(spec.children)) == ("composite", 0.8, number)


@pytest.mark.parametrize(
    ("graders", "stimulus", "why"),
    [
        ([{"type": "completed"}, {"type": "diff-empty"}], {}, "not every grader counts"),
        ([{"type": "wall-time", "config": {"max": "1m"}}], {}, "a budget that is exceeded scores 0 at once"),
        ([{"type": "exit-success"}], {}, "a type without a weight counts 1"),
        (
            [{"type": "completed", "turn": 0}, {"type": "completed"}],
            {"turns": ["x", "y"]},
            "the graders are of several turns, and each must pass",
        ),
    ],
)
def test_a_threshold_that_means_something_else_here_is_named(graders, stimulus, why):
    scoring = {"threshold": 0.5, "weights": {"completed": 1, "wall-time": 1, "diff-empty": 1}}
    messages = [problem.message for problem in suite_of(*graders, scoring=scoring, **stimulus).problems]
    assert f"'threshold' is of another mean here: {why}" in messages


CALLS = (ToolCall(name="bash", input={"command": "azd up"}), ToolCall(name="view", input={"path": "a.md"}))


@pytest.mark.parametrize(
    ("config", "passed"),
    [
        ({"required": ["bash"]}, True),
        ({"required": ["^ba$"]}, False),
        ({"required": [{"name": "^BASH$"}]}, False),
        ({"required": [{"name": "(?i)^BASH$", "command": r"azd\s+(up|down)"}]}, True),
        ({"required": [{"name": "bash", "min_count": 2}]}, False),
        ({"required": [{"name": "bash", "final": True}]}, False),
        ({"required": [{"name": "view", "final": True, "args": {"path": "md$"}}]}, True),
        ({"disallowed": [{"name": "view", "path": "secret"}]}, True),
        ({"disallowed": [{"name": "view", "path": "^a"}]}, False),
        ({"sequence": ["bash", "view"]}, True),
        ({"sequence": ["view", "bash"]}, False),
        ({"required": ["bash"], "disallowed": ["view"]}, False),
    ],
)
def test_tool_calls_are_looked_for_by_patterns(config, passed, sandbox):
    (spec,) = suite_of({"type": "tool-calls", "config": config}).cases[0].turns[0].checks
    answer = sandbox.run(catalogue.build(spec).evaluator.call(answering("", tool_calls=CALLS)))
    assert (answer.error, answer.passed) == (None, passed)


def test_without_reported_tool_calls_nothing_is_decided(sandbox):
    (spec,) = suite_of({"type": "tool-calls", "config": {"disallowed": ["rm"]}}).cases[0].turns[0].checks
    assert sandbox.run(catalogue.build(spec).evaluator.call(answering(""))).error is not None


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(workers=1) as running:
        yield running


def test_files_commands_and_the_skill_are_those_of_both_environments(project):
    project.write("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: d\n---\n")
    project.write("evals/pdf/fixtures/in.txt", "x")
    options = LoadOptions(root=project.path, folder=project.path / "evals/pdf")
    own = {
        "files": [{"src": "fixtures", "dest": "work/data"}, {"src": "none.txt", "dest": "b"}],
        "commands": ["make"],
    }
    suite = suite_of({"type": "completed"}, options=options, environment={**own, "mcpServers": {"db": {}}})
    (case,) = suite.cases
    assert case.files == {"work/data": (project.path / "evals/pdf/fixtures").resolve()}
    assert case.workspace.setup == (("sh", "-c", "make"),)
    assert "there is no none.txt" in case.problem.message
    assert suite.skill == project.path / "skills/pdf"
    messages = [problem.message for problem in suite.problems]
    assert "'mcpServers' is not set up; the target must have it" in messages


EVAL = """\
name: capitals
defaults: {timeout: 1m}
scoring: {threshold: 0.6, weights: {output-contains: 2, output-not-matches: 1, completed: 1}}
stimuli:
  - name: france
    prompt: Capital of France?
    tags: {tier: smoke}
    graders:
      - {type: output-contains, config: {substring: paris}}
      - {type: output-not-matches, config: {pattern: "(?i)^paris$"}}
      - {type: completed}
  - name: peru
    prompt: Capital of Peru?
    graders:
      - {type: output-contains, config: {substring: lima}}
      - {type: completed}
"""
AGENT = "def answer(prompt):\n return 'Paris' if 'France' in prompt else 'Quito'\n"


def test_the_evals_that_vally_yaml_names_are_validated_planned_and_run(project, runevals):
    project.write(".vally.yaml", "paths: {evals: [tests/evals], evalFilenames: '*.eval.yaml'}\n")
    project.write("tests/evals/geo/capitals.eval.yaml", EVAL)
    project.write("tests/evals/geo/other.yaml", EVAL)
    project.write("agent.py", AGENT)
    code, out, _ = runevals("validate")
    ended(code, 0, out, "✓ tests/evals/geo/capitals.eval.yaml: 2 cases, 2 checks (vally)")
    code, out, _ = runevals("plan")
    assert (code, "other.yaml" in out) == (0, False)
    code, out, err = runevals("run", "--target", "python:agent.py:answer")
    ended(code, 0, out + err, "1 of 2 cases pass", "scoring: weighted average 0.33")
    code, out, err = runevals("run", "--target", "python:agent.py:answer", "--tag", "tier:smoke")
    ended(code, 0, out + err, "1 of 1 case passes")


ELSEWHERE = "paths: {evals: [/, ../.., 1, evals], evalFilenames: [eval.yaml, /etc/hosts]}\n"


@pytest.mark.parametrize("text", ["{}\n", "[]\n", "paths: [x]\n", "paths: {skills: [s]}\n", ELSEWHERE])
def test_without_paths_the_evals_lie_where_vally_looks_for_them(project, runevals, text):
    project.write(".vally.yaml", text)
    project.write("evals/geo/eval.yaml", EVAL)
    project.write("evals/geo/waza/eval.yaml", "tasks: [a.yaml]\ngraders: []\n")
    code, out, err = runevals("validate")
    ended(code, 0, out, "evals/geo/eval.yaml: 2 cases", "skipped: not a suite file")
    assert "an eval of waza" in out + err
