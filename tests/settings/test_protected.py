"""What the base of a change decides, and what of the change's own settings it holds back."""

from __future__ import annotations

from pathlib import Path

import pytest

from runevals.settings.file import BaseSide, SettingsFile
from runevals.settings.resolve import RawSettings, ignored_changes, resolve

JUDGE = {"judge": {"type": "openai", "model": "mine"}}


def settled(of_change, of_base, *, environment=(), **flags):
    """The settings of a change, by its own file and its base's; None: there is no file."""
    files = [
        None
        if values is None
        else SettingsFile(exists=True, display_name="runevals.yaml", base=Path("/x"), values=values)
        for values in (of_change, of_base)
    ]
    side = BaseSide(commit="c" * 40, file=files[1])
    told = RawSettings(flags=flags, cwd=Path("/x"), environment=dict(environment), base_side=side)
    file = files[0] or SettingsFile(exists=False, display_name="", base=Path("/x"))
    ignored = {(one.suite, one.key): one.message.rpartition("; ")[2] for one in ignored_changes(told, file)}
    return resolve(told, file), ignored


@pytest.mark.parametrize("of_base", [None, {}])
def test_a_setting_that_the_base_does_not_name_is_at_its_default(of_base):
    settings, ignored = settled(
        {"min_effect": 1.0, "fail_on": ["none"], "max_base_age": 9.0, "repeat": 3}, of_base
    )
    assert (settings.rules.regression.min_effect, settings.rules.fail_on) == (0.02, None)
    assert settings.rules.regression.max_base_age_days == 7.0
    assert settings.measure.repeat == 3
    holds = f"until that is merged, the base's {'default ' if of_base is None else ''}holds"
    assert ignored == {("runevals.yaml", name): holds for name in ("fail_on", "max_base_age", "min_effect")}


def spent(settings):
    limits = settings.measure.limits
    return {
        "max_cost": limits.cost_usd,
        "max_tokens": limits.tokens,
        "max_calls": limits.calls,
        "max_duration": limits.duration_s,
        "redact": settings.redaction.redact,
        "redact_patterns": list(settings.redaction.redact_patterns),
    }


@pytest.mark.parametrize("name", ["max_cost", "max_tokens", "max_calls", "max_duration"])
@pytest.mark.parametrize(
    ("of_change", "of_base", "holds", "weaker"),
    [(9, 5, 5, True), (5, 9, 5, False), (5, None, 5, False), (None, 5, 5, True), (5, 5, 5, False)],
)
def test_the_smaller_budget_of_change_and_base_holds(name, of_change, of_base, holds, weaker):
    values = [{} if value is None else {name: value} for value in (of_change, of_base)]
    settings, ignored = settled(*values)
    assert spent(settings)[name] == holds
    assert ignored == ({("runevals.yaml", name): "until that is merged, the base's holds"} if weaker else {})


@pytest.mark.parametrize(
    ("of_change", "of_base", "holds", "weaker"),
    [
        ("none", "hashes", "none", False),
        ("hashes", None, "hashes", False),
        ("hashes", "none", "none", True),
        (None, "hashes", "hashes", True),
    ],
)
def test_what_change_or_base_does_not_write_is_not_written(of_change, of_base, holds, weaker):
    settings, ignored = settled(*({} if value is None else {"redact": value} for value in (of_change, of_base)))
    assert spent(settings)["redact"] == holds
    assert bool(ignored) is weaker


@pytest.mark.parametrize(
    ("of_change", "of_base", "holds", "weaker"),
    [
        (["b"], ["a"], ["a", "b"], True),
        (["a", "b"], ["a"], ["a", "b"], False),
        (["b"], None, ["b"], False),
        (None, ["a"], ["a"], True),
    ],
)
def test_patterns_of_both_sides_are_redacted(of_change, of_base, holds, weaker):
    settings, ignored = settled(*((value and {"redact_patterns": value}) or {} for value in (of_change, of_base)))
    assert spent(settings)["redact_patterns"] == holds
    assert bool(ignored) is weaker


def test_flags_stand():
    assert settled({"min_effect": 1.0}, None, min_effect=0.5)[0].rules.regression.min_effect == 0.5


@pytest.mark.parametrize("of_base", [None, {}])
def test_a_base_without_any_judge_lets_a_change_bring_the_first(of_base):
    settings, ignored = settled(JUDGE, of_base)
    assert [judge.model for judge in settings.judges] == ["mine"]
    assert ignored == {("runevals.yaml", "judge"): "this one holds, as the base has none"}


@pytest.mark.parametrize(
    ("of_base", "more"),
    [
        ({"judge": "theirs"}, {}),
        (None, {"judge": "theirs"}),
        (None, {"judge_model": "theirs"}),
        (None, {"environment": {"RUNEVALS_JUDGE_MODEL": "theirs"}}),
        (None, {"environment": {"AZURE_AI_OPENAI_ENDPOINT": "http://a", "AZURE_AI_MODEL_NAME": "theirs"}}),
    ],
)
def test_a_judge_of_the_base_or_of_the_workflow_is_not_replaced_nor_altered(of_base, more):
    change = {"judge": {"model": "mine", "parameters": {"temperature": 2}, "votes": 3}}
    [judge] = settled(change, of_base, **more)[0].judges
    assert (judge.model, judge.parameters, judge.votes) == ("theirs", {}, 1)


@pytest.mark.parametrize(("kind", "holds"), [("python", True), ("command", False)])
def test_the_base_calls_a_target_of_one_type_deterministic(kind, holds):
    function = {"type": "python", "function": "a.py:answer"}
    target = function if kind == "python" else {"type": "command", "command": "x"}
    promised = {**function, "deterministic": True}
    assert settled({"target": target}, {"target": promised})[0].target.deterministic is holds
    assert not settled({"target": promised}, {"target": function})[0].target.deterministic


@pytest.mark.parametrize("small", [True, False])
def test_several_targets_in_place_of_a_deterministic_one_are_called_so_too_or_it_is_said(small):
    function = {"type": "python", "function": "a.py:answer"}
    targets = {"large": {**function, "deterministic": True}, "small": {**function, "deterministic": small}}
    _, ignored = settled({"targets": targets}, {"target": {**function, "deterministic": True}})
    assert (("runevals.yaml", "target") in ignored) is not small
