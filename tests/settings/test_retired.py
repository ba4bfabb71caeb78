"""GitHub Models is no more: settings that name it are told so, and a base's do not hold up what replaces it."""

from __future__ import annotations

import pytest

from runevals.records.errors import UsageError
from runevals.settings.file import BaseSide, base_settings_file
from runevals.settings.resolve import RawSettings, resolve

GONE = "GitHub Models was retired on 2026-07-30; name another endpoint, see docs/running.md#targets"


@pytest.mark.parametrize(
    "text",
    [
        "target: {type: github-models, model: openai/gpt-4.1-mini}",
        "target: github-models:openai/gpt-4.1-mini",
        "judge: {type: github-models, model: m}",
        "judges: [openai:gpt-5, {type: github-models, model: m}]",
    ],
)
def test_settings_that_name_it_end_with_2(project, runevals, text):
    project.write("runevals.yaml", f"{text}\n")
    code, _, err = runevals()
    assert code == 2
    assert "runevals.yaml:1" in err
    assert GONE in err
    assert "did you mean" not in err


@pytest.mark.parametrize("flag", ["--target", "--judge"])
def test_so_do_flags(project, runevals, flag):
    code, _, err = runevals(flag, "github-models:openai/gpt-4.1")
    assert code == 2
    assert f"{flag[2:]}: {GONE}" in err


def test_a_change_that_replaces_it_is_judged_by_its_own_judge(project):
    """The base's rules still hold in everything else."""
    old = b"judge: {type: github-models, model: m}\ntarget: github-models:m\nmin_pass_rate: 0.9\n"
    base = base_settings_file([project.path], project.path, None, {"runevals.yaml": old}.get)
    project.write("runevals.yaml", "judge: openai:gpt-5\ntarget: openai:gpt-5-mini\nmin_pass_rate: 0.1\n")
    side = BaseSide(commit="0123456789", file=base, on_pull_request=True)
    settled = resolve(RawSettings(cwd=project.path, environment={}, base_side=side))
    assert [judge.model for judge in settled.judges] == ["gpt-5"]
    assert settled.rules.min_pass_rate == 0.9


def test_what_else_is_wrong_with_a_base_is_still_an_error(project):
    with pytest.raises(UsageError, match="unknown key 'most'"):
        base_settings_file([project.path], project.path, None, {"runevals.yaml": b"most: 1\n"}.get)
