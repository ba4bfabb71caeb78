"""Several targets in the settings: which of them run, and what is refused."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings, InvalidSuite
from runevals.settings.file import BaseSide, SettingsFile
from runevals.settings.resolve import RawSettings, each_target, resolve
from tests.sample_suites import SUITE

TARGETS = {
    "mini": {"type": "openai", "model": "gpt-5-mini"},
    "nano": {"type": "openai", "model": "gpt-5-nano"},
    "agent": {"type": "command", "command": "python3 agent.py"},
}

SINGLE = "/targets has a name for each target; for a single one write `target:`"


@pytest.fixture
def settle(project):
    """The settings of flags beside a file with three targets."""

    def resolved(flags=None, **file):
        project.write("runevals.yaml", {"targets": TARGETS, **file} if "target" not in file else file)
        raw = RawSettings(flags=flags or {}, cwd=project.path, environment={})
        return resolve(raw), raw

    return resolved


@pytest.mark.parametrize(
    ("file", "flags", "several", "against"),
    [
        pytest.param({}, {}, ("mini", "nano", "agent"), None, id="all"),
        pytest.param({}, {"target": "nano"}, (), None, id="one"),
        pytest.param({"against": "mini"}, {}, ("mini", "nano", "agent"), "mini", id="against one of them"),
        pytest.param({"against": "mini"}, {"target": "nano"}, ("mini", "nano"), "mini", id="one against another"),
        pytest.param({"against": "mini"}, {"target": "mini"}, (), None, id="that one alone"),
        pytest.param({"against": "mini"}, {"target": "nano", "against": "none"}, (), None, id="not against it"),
        pytest.param({}, {"target": "openai:o9"}, (), None, id="another"),
        pytest.param({}, {"target": "mini", "model": ("a", "b")}, ("a", "b"), None, id="one with two models"),
        pytest.param(
            {"target": "openai"}, {"model": ("a", "b"), "against": "a"}, ("a", "b"), "a", id="two models"
        ),
    ],
)
def test_the_targets_that_run(settle, file, flags, several, against):
    settings, raw = settle(flags, **file)
    assert (settings.targets, settings.compare.against) == (several, against)
    assert (settings.target is None) == bool(several)
    each = [resolve(of_target) for of_target in each_target(settings, raw).values()]
    assert all(one.target is not None and one.compare.against is None and not one.targets for one in each)
    if "model" in flags:
        assert tuple(one.target.model for one in each) == several


def test_one_of_them_is_as_if_it_were_the_only_one(settle):
    settings, _ = settle({"target": "mini", "model": "gpt-6"})
    assert (settings.target_name, settings.target.model, settings.origins["target"]) == (
        "mini",
        "gpt-6",
        "runevals.yaml",
    )


@pytest.mark.parametrize(
    ("file", "flags", "reason"),
    [
        pytest.param(
            {}, {"target": "nan"}, "there is no target 'nan'; `targets` has mini, nano, agent", id="target"
        ),
        pytest.param({}, {"target": "nanno"}, "did you mean 'nano'?", id="did you mean"),
        pytest.param(
            {}, {"against": "mni"}, "one of without-skill, placebo-skill, none, mini, nano, agent", id="against"
        ),
        pytest.param({"against": "mni"}, {}, "runevals.yaml:16:2: against is 'mni'", id="against in the file"),
        pytest.param({}, {"target": "mini", "against": "mini"}, "compared with itself", id="itself"),
        pytest.param({}, {"against": "without-skill"}, "choose one with --target or --model", id="without-skill"),
        pytest.param({}, {"model": "a"}, "of which target?", id="model"),
        pytest.param({}, {"model": ("a", "b")}, "of which target?", id="models"),
        pytest.param({"target": "openai"}, {"model": ("a", "a")}, "--model a was given twice", id="twice"),
        pytest.param({"target": "recorded:a.json"}, {"model": ("a", "b")}, "the recorded target", id="recorded"),
        pytest.param({"target": "python:a.py:f"}, {"model": ("a", "b")}, "the python target answers", id="python"),
        pytest.param(
            {"target": "skill"},
            {"against": "mini"},
            "must be one of without-skill, placebo-skill, none",
            id="no targets",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(settle, file, flags, reason):
    with pytest.raises(InvalidSettings) as caught:
        settle(flags, **file)
    assert reason in str(caught.value)


@pytest.mark.parametrize("left", ["mini", "nano"])
def test_against_beside_one_target_that_the_change_leaves_says_which_it_removes(project, left):
    project.write("runevals.yaml", {"targets": {left: TARGETS[left]}, "against": "mini"})
    values = {"targets": {name: TARGETS[name] for name in ("mini", "nano")}}
    before = SettingsFile(exists=True, display_name="runevals.yaml", base=project.path, values=values)
    side = BaseSide(commit="c" * 40, file=before)
    with pytest.raises(InvalidSettings) as caught:
        resolve(RawSettings(cwd=project.path, environment={}, base_side=side))
    [gone] = {"mini", "nano"} - {left}
    assert str(caught.value).endswith(f"; the change removes {gone} from `targets`: remove `against`, too")


def test_against_of_the_base_whose_gate_it_serves_is_removed_in_a_change_before(project):
    project.write("runevals.yaml", {"targets": {"mini": TARGETS["mini"]}})
    gate = {"name": "near", "metric": "against_drop", "op": "<=", "limit": 0.1}
    values = {"targets": {name: TARGETS[name] for name in ("mini", "nano")}, "against": "nano", "gates": [gate]}
    before = SettingsFile(exists=True, display_name="runevals.yaml", base=project.path, values=values)
    with pytest.raises(InvalidSettings) as caught:
        resolve(RawSettings(cwd=project.path, environment={}, base_side=BaseSide(commit="c" * 40, file=before)))
    way = "remove `against`, and the base's gates on it, in a change before this one"
    assert str(caught.value).endswith(f"; the change removes nano from `targets`: {way}")


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        pytest.param("target: openai\ntargets: {a: openai}\n", "stands beside 'target'", id="both"),
        pytest.param("targets: {without-skill: openai}\n", "give this target another name", id="reserved"),
        pytest.param("targets: {openai: openai}\n", "give this target another name", id="a type"),
        pytest.param("targets: {'a/b': openai}\n", "no usable name", id="a path"),
        pytest.param("targets:\n  a: openai\n  a: openai\n", "duplicate key", id="twice"),
        pytest.param("targets: {}\n", "targets", id="none"),
        pytest.param(
            "version: 1\ntargets: {type: python, function: a.py:f}\n", f"2:1: {SINGLE}", id="keys of one"
        ),
        pytest.param("targets:\n  type: openai\n  reuse: true\n", f"1:1: {SINGLE}", id="keys of other types"),
        pytest.param("targets: openai\n", f"runevals.yaml:1:1: {SINGLE}", id="a text"),
        pytest.param("targets: {a: {model: b}}\n", "type", id="no type"),
    ],
)
def test_a_file_with_other_targets_is_refused_where_it_stands(project, file, reason):
    project.write("runevals.yaml", file)
    with pytest.raises(InvalidSuite) as caught:
        resolve(RawSettings(cwd=project.path, environment={}))
    assert reason in str(caught.value)
    if SINGLE in reason:
        assert len(caught.value.problems) == 1


def test_what_needs_one_target_says_how_to_choose_it(project, runevals):
    project.write("runevals.yaml", {"targets": TARGETS})
    project.write("evals.json", SUITE)
    out = runevals("doctor")[1]
    assert "mini: gpt-5-mini at" in out
    assert "agent: " in out
    out = runevals("plan")[1]
    assert "target      mini, nano, agent: 2 calls each" in out
    assert "cost        mini: at least $" in out
    assert "cost        agent: unknown" in out
    assert runevals("run", "-i")[0] == 2
