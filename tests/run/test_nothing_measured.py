"""What is said where an error ended a run."""

from __future__ import annotations

import pytest

from runevals.records.errors import ExternalError
from runevals.run.nothing_measured import ended_by
from runevals.settings.resolve import RawSettings, resolve


@pytest.fixture
def settings(tmp_path):
    return resolve(RawSettings(cwd=tmp_path, environment={"DEPLOY_TOKEN": "the-secret-of-the-job"}))


def test_an_error_that_nobody_foresaw_is_a_bug_and_no_pass(settings):
    verdict = ended_by(ZeroDivisionError("division by zero"), settings).verdict
    assert (verdict.outcome, verdict.exit_code) == ("unmeasured", 4)
    assert (
        verdict.headline
        == "Not measured – a bug in runevals ended the run (ZeroDivisionError); its log says where"
    )


def test_a_secret_in_the_words_of_an_error_is_not_told(settings):
    found = ended_by(
        ExternalError("the server said the-secret-of-the-job\nand the-secret-of-the-job again"), settings
    )
    assert found.verdict.exit_code == 3
    assert "the-secret-of-the-job" not in found.verdict.headline + " ".join(found.report.run.notices)
