"""Settings under their earlier names are read, and a notice says what they are called now."""

from __future__ import annotations

import json
from functools import partial

import pytest

from runevals.records.errors import InvalidSuite
from runevals.settings.file import BaseSide, base_settings_file
from runevals.settings.resolve import RawSettings, resolve
from tests.sample_suites import ANSWERS, SUITE

EARLIER = [
    ("on_inconclusive: fail", "on_unknown", "fail", "on_inconclusive"),
    ("baseline: {on_incomparable: pass, wait: 5}", "on_unknown", "pass", "baseline.on_incomparable"),
    ("suspects: {max_runs: 200}", "max_fresh_runs", 200, "suspects.max_runs"),
]


@pytest.mark.parametrize(("text", "name", "value", "earlier"), EARLIER)
@pytest.mark.parametrize("of_base", [True, False], ids=["of the base", "here"])
def test_a_setting_is_read_under_its_earlier_name(project, text, name, value, earlier, of_base):
    side = None
    if of_base:
        contents = {"runevals.yaml": f"{text}\n".encode()}
        file = base_settings_file([project.path], project.path, None, partial(map, contents.get))
        side = BaseSide(commit="0123456789", file=file, on_pull_request=True)
    else:
        project.write("runevals.yaml", f"{text}\n")
    settings = resolve(RawSettings(cwd=project.path, environment={}, base_side=side))
    rules = settings.rules
    assert getattr(rules if hasattr(rules, name) else rules.regression, name) == value
    today = {"max_fresh_runs": "fresh_runs"}.get(name, name)
    notice, *_ = settings.notices
    assert notice.endswith(f": the setting {earlier} is now called {today}")


def test_the_name_of_today_goes_first_and_an_unknown_name_is_an_error(project):
    project.write("runevals.yaml", "on_inconclusive: pass\non_unknown: fail\n")
    assert resolve(RawSettings(cwd=project.path, environment={})).rules.on_unknown == "fail"
    project.write("runevals.yaml", "suspects: {max_runs: 3, max: 4}\n")
    with pytest.raises(InvalidSuite, match="unknown key 'suspects'"):
        resolve(RawSettings(cwd=project.path, environment={}))


def test_the_report_of_a_run_has_the_notice(project, runevals):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    project.write("runevals.yaml", "on_inconclusive: fail\n")
    runevals("--target", "recorded:answers.jsonl", "-o", "out.json")
    notices = json.loads((project.path / "out.json").read_text())["run"]["notices"]
    assert "runevals.yaml: the setting on_inconclusive is now called on_unknown" in notices
