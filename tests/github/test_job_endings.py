"""Every ending of a job is told: an older verdict is never left standing, and each step output is there."""

from __future__ import annotations

from html import unescape

import pytest

from tests.chat_server import Reply, chat_server
from tests.github.emulator import Fault
from tests.github.job_names import MARKER
from tests.sample_suites import SETTINGS, SUITE

BROKEN = {**SUITE, "items": [{"testId": "a"}, {"testId": "b", "promt": "Capital of Peru?"}]}


@pytest.fixture
def green(job, stored, hub):
    """The comment of a run that passed."""
    assert job()[0] == 0
    [body] = hub.bodies()
    assert body.startswith(f"{MARKER}\n### ✅ No regression shown")


def first_line(hub):
    """Of the one comment that there is."""
    [body] = hub.bodies()
    mark, headline = body.splitlines()[:2]
    assert mark == MARKER
    return unescape(headline)


def summary(job):
    return (job.runner / "summary").read_text(encoding="utf-8")


@pytest.mark.usefixtures("green")
def test_a_broken_suite_is_told_at_its_lines_and_in_the_comment(job, hub):
    job.repository.write("evals.json", BROKEN)
    code, outputs, printed = job()
    assert (code, outputs["verdict"], outputs["exit_code"], outputs["pass_rate"]) == (2, "unmeasured", "2", "")
    assert "::error file=evals.json,line=7,col=3,title=schema::/items/0 'prompt' is missing" in printed
    assert first_line(hub).startswith(
        "### ⛔ Not measured – evals.json:7:3: /items/0 'prompt' is missing (and 2 more problems)"
    )
    [body] = hub.bodies()
    assert "✅" not in body
    assert "Pass rate" not in body
    assert "Not measured" in summary(job)
    assert (job.repository.path / outputs["results_path"]).is_file()


@pytest.mark.usefixtures("green")
def test_a_broken_settings_file_is_told_where_the_bases_settings_say(job, hub):
    job.repository.write("runevals.yaml", SETTINGS + "comment_id: of the change\nrepaet: 2\n")
    code, outputs, printed = job()
    assert (code, outputs["exit_code"]) == (2, "2")
    assert "::error file=runevals.yaml,line=4" in printed
    assert first_line(hub).startswith("### ⛔ Not measured – runevals.yaml:4")


@pytest.mark.usefixtures("green")
def test_a_key_that_has_expired_is_told_in_the_comment(job, hub):
    with chat_server(lambda body, number: Reply(status=401)) as server:
        environment = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "expired-key-of-the-job"}
        code, outputs, _ = job(INPUT_TARGET="openai:tiny", **environment)
    assert (code, outputs["exit_code"]) == (3, "3")
    assert first_line(hub).startswith("### ⛔ Not measured – ")
    [body] = hub.bodies()
    assert "401" in body
    assert "expired-key-of-the-job" not in body


@pytest.mark.usefixtures("green")
def test_a_base_that_was_not_fetched_is_told_in_the_comment(job, hub):
    told = job.payload()
    told["pull_request"]["base"]["sha"] = "e" * 40
    hub.faults.append(Fault("/compare", 404))
    code, outputs, _ = job(told=told)
    assert (code, outputs["verdict"], outputs["exit_code"]) == (3, "unmeasured", "3")
    assert first_line(hub).startswith("### ⛔ Not measured – ")


@pytest.mark.usefixtures("green")
def test_a_folder_for_our_files_that_leads_elsewhere_is_told_in_the_comment(job, hub):
    code, outputs, _ = job(INPUT_OUTPUT_DIR="../elsewhere")
    assert (code, outputs["verdict"], outputs["results_path"]) == (2, "unmeasured", "")
    assert first_line(hub).startswith("### ⛔ Not measured – output_dir: ../elsewhere is no folder inside")


def test_inputs_that_mean_nothing_are_told_to_the_runner(job, hub):
    code, outputs, printed = job(INPUT_REPEAT="often")
    assert (code, outputs) == (2, {"verdict": "unmeasured", "exit_code": "2"})
    assert "::error title=runevals::input repeat must be a whole number" in printed
    assert hub.comments == {}
