"""What the base of a change decides, and what of the change's own settings it holds back."""

from __future__ import annotations

from pathlib import Path

import pytest

from runevals.settings.file import BaseSide, SettingsFile
from runevals.settings.resolve import RawSettings, resolve

JUDGE = {"judge": {"type": "openai", "model": "mine"}}


def settled(of_change, of_base, *, environment=(), **flags):
    """The settings of a change, by its own file and its base's; None: there is no file."""
    files = [
        None if values is None else SettingsFile(found=True, shown="runevals.yaml", base=Path("/x"), values=values)
        for values in (of_change, of_base)
    ]
    side = BaseSide(commit="c" * 40, file=files[1])
    told = RawSettings(flags=flags, cwd=Path("/x"), environment=dict(environment), base_side=side)
    return resolve(told, files[0] or SettingsFile(found=False, shown="", base=Path("/x")))


def told(settings):
    return {(w.suite, w.key): w.message.rpartition("; ")[2] for w in settings.weakenings}


@pytest.mark.parametrize("of_base", [None, {}])
def test_a_setting_that_the_base_does_not_name_is_at_its_default(of_base):
    settings = settled({"min_effect": 1.0, "fail_on": ["none"], "max_cost": 9.0, "repeat": 3}, of_base)
    assert (settings.rules.regression.min_effect, settings.rules.fail_on, settings.limits.cost_usd) == (
        0.02,
        None,
        None,
    )
    assert settings.repeat == 3
    holds = f"until that is merged, the base's {'default ' if of_base is None else ''}holds"
    assert told(settings) == {("runevals.yaml", name): holds for name in ("fail_on", "max_cost", "min_effect")}


def test_flags_stand():
    assert settled({"min_effect": 1.0}, None, min_effect=0.5).rules.regression.min_effect == 0.5


@pytest.mark.parametrize("of_base", [None, {}])
def test_a_base_without_any_judge_lets_a_change_bring_the_first(of_base):
    settings = settled(JUDGE, of_base)
    assert [judge.model for judge in settings.judges] == ["mine"]
    assert told(settings) == {("runevals.yaml", "judge"): "this one holds, as the base has none"}


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
    [judge] = settled(change, of_base, **more).judges
    assert (judge.model, judge.parameters, judge.votes) == ("theirs", {}, 1)


@pytest.mark.parametrize(("kind", "holds"), [("python", True), ("command", False)])
def test_the_base_calls_a_target_of_one_type_deterministic(kind, holds):
    function = {"type": "python", "function": "a.py:answer"}
    target = function if kind == "python" else {"type": "command", "command": "x"}
    promised = {**function, "deterministic": True}
    assert settled({"target": target}, {"target": promised}).target.deterministic is holds
    assert not settled({"target": promised}, {"target": function}).target.deterministic
