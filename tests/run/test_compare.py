"""Two results documents compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from runevals.records import Weakening
from runevals.records.errors import InvalidSettings
from runevals.reports import results_document
from runevals.run.compare import compare
from runevals.settings.resolve import RawSettings, resolve
from runevals.verdict.outcome import decide
from tests.sample_reports import case, report


@pytest.fixture
def compared(project):
    """Compares the documents of two runs of six cases whose runs ended so."""

    def build(base, head, *weakenings, **more):
        for name, letters in (("base.json", base), ("head.json", head)):
            cases = [case(f"k{number}", letters) for number in range(6)]
            project.write(name, results_document.write(decide(None, report(cases))))
        settings = resolve(RawSettings(cwd=project.path, environment={}))
        return compare(project.path / "base.json", project.path / "head.json", settings, weakenings, **more)

    return build


def test_the_first_document_is_the_base(compared):
    assert compared("ppp", "fff").verdict.exit_code == 1
    assert compared("fff", "ppp").verdict.exit_code == 0


def test_weakenings_of_the_settings_are_reported(compared):
    weakening = Weakening(suite="runevals.yaml", key="alpha", message="is 0.2")
    assert compared("ppp", "ppp", weakening).comparison.weakenings == (weakening,)


def test_answers_that_are_judged_again_replace_those_of_both_documents(compared):
    def judged(document, path):
        return report([case(f"k{number}", "ppp" if path.name == "base.json" else "fff") for number in range(6)])

    assert compared("ppp", "ppp", judged=judged).verdict.exit_code == 1


def test_a_missing_base_is_an_error(project):
    settings = resolve(RawSettings(cwd=project.path, environment={}))
    with pytest.raises(InvalidSettings, match=r"there is no file .*none\.json"):
        compare(Path("none.json"), Path("head.json"), settings)
