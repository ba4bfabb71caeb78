"""A job that is run again goes on with what the attempt before was answered, and believes nobody else."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter

import pytest

from tests.chat_server import Reply, chat_server
from tests.ending import ended, interrupt
from tests.sample_reports import without_times
from tests.sample_suites import EXACT, numbered
from tests.serving import CallBarrier

CASES = 30
SUITE = {**EXACT, "items": numbered(CASES, "yes")}
JOB = {
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "GITHUB_REPOSITORY": "o/r",
    "GITHUB_RUN_ID": "7",
    "GITHUB_SHA": "1" * 40,
    "OPENAI_API_KEY": "the-secret-of-the-job",
    "INPUT_RESUME": "true",
    "INPUT_TARGET": "openai:tiny",
    "INPUT_CONCURRENCY": "4",
    "INPUT_REPEAT": "1",
}
RESULTS = ".evals/results/results.json"


@pytest.fixture
def job(project, runevals, monkeypatch):
    """Runs an attempt of the job → (exit code, what it printed). `job.says` is what the model says to each."""
    project.write("evals.json", SUITE)
    lock, asked = threading.Lock(), Counter()

    class Job:
        path, document = project.path, project.document
        runs = project.path / ".evals" / "runs"
        says = "yes"
        down = ""
        barrier = CallBarrier()

    def answer(body, number):
        key = body["messages"][-1]["content"].partition("Question ")[2].partition("?")[0]
        with lock:
            asked[key] += 1
        Job.barrier.call()
        return Reply(status=404) if Job.down and key.endswith(Job.down) else Reply(Job.says)

    with chat_server(answer) as server:

        def started(**environment):
            asked.clear()
            return subprocess.Popen(
                [sys.executable, "-m", "runevals", "action"],
                cwd=project.path,
                env={**os.environ, **JOB, "OPENAI_BASE_URL": server.base_url, **environment},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )

        def attempt(**environment):
            asked.clear()
            with monkeypatch.context() as job_environment:
                for name, value in {**JOB, "OPENAI_BASE_URL": server.base_url, **environment}.items():
                    job_environment.setenv(name, value)
                code, out, err = runevals("action")
            return code, out + err

        Job.url, Job.asked = server.base_url, asked
        Job.started, Job.attempt = staticmethod(started), staticmethod(attempt)
        yield Job


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "cancelled"])
def test_a_job_that_was_ended_is_not_paid_for_again(job, end):
    assert job.attempt(INPUT_RESUME="")[0] == 0
    whole = without_times(job.document(RESULTS))
    assert not job.runs.exists()

    job.barrier.after(CASES // 2)
    run = job.started()
    job.barrier.wait_until_reached()
    if end == signal.SIGKILL:
        run.kill()
    else:
        interrupt(run, run.stdout, end)
        job.barrier.after(None)
    run.communicate(timeout=60)
    job.barrier.after(None)
    first = sum(job.asked.values())
    code, out = job.attempt()
    assert code == 0, out
    assert "Resuming " in out
    assert sum(job.asked.values()) <= CASES - first + 8  # those under way
    again = without_times(job.document(RESULTS))
    again["run"]["settings"].pop("resume", None)
    assert again == whole
    assert not list(job.runs.iterdir())


def test_what_could_not_be_measured_is_asked_again(job):
    job.down = "3"
    assert job.attempt()[0] == 3
    job.down = ""
    code, out = job.attempt()
    assert code == 0, out
    assert sorted(job.asked) == ["13", "23", "3"]


def test_a_red_whose_reports_could_not_be_written_is_not_paid_for_again(job):
    job.says, blocked = "no", {"INPUT_OUTPUT_DIR": "blocked/results", "INPUT_MIN_PASS_RATE": "0.9"}
    (job.path / "blocked").write_text("a file, no folder")
    code, out = job.attempt(**blocked)
    ended(code, 1, out, "cannot write")
    (job.path / "blocked").unlink()
    code, out = job.attempt(**blocked)
    assert (code, sum(job.asked.values())) == (1, 0), out
    assert not list(job.runs.iterdir())


def test_nothing_is_kept_unless_that_is_asked_for(job):
    job.down = "3"
    assert job.attempt(INPUT_RESUME="")[0] == 3
    assert not job.runs.exists()


@pytest.mark.parametrize(
    "other",
    [
        {"OPENAI_API_KEY": "a-key-of-the-attacker"},
        {"OPENAI_API_KEY": "", "A_TOKEN": "a-key-of-the-attacker"},
        {"GITHUB_RUN_ID": "6"},
        {"GITHUB_SHA": "2" * 40},
        {"GITHUB_REPOSITORY": "m/r"},
        {"INPUT_MIN_PASS_RATE": "0.1"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_answers_of_another_key_run_or_commit_are_not_believed(job, other):
    job.says, job.down = "planted", "3"
    assert job.attempt(**other)[0] == 3
    assert list(job.runs.glob("*/answers.log"))
    job.says, job.down = "yes", ""
    code, out = job.attempt()
    assert code == 0, out
    assert len(job.asked) == CASES
    assert json.loads((job.path / RESULTS).read_text())["totals"]["passed"] == CASES


def test_answers_of_another_endpoint_are_not_believed(job):
    job.down = "3"
    assert job.attempt()[0] == 3
    job.down = ""
    code, out = job.attempt(OPENAI_BASE_URL=job.url.replace("127.0.0.1", "localhost"))
    assert code == 0, out
    assert len(job.asked) == CASES


def test_a_journal_that_a_change_brings_along_is_not_believed(job):
    """It is of a laptop, where no secret signs."""
    job.down = "3"
    assert job.attempt()[0] == 3
    [own] = job.runs.iterdir()
    shutil.rmtree(own)
    job.says = "planted"
    local = subprocess.run(
        [sys.executable, "-m", "runevals", "--target", "openai:tiny", "-q", "-o", "out.json"],
        cwd=job.path,
        env={**os.environ, "OPENAI_BASE_URL": job.url, "OPENAI_API_KEY": JOB["OPENAI_API_KEY"]},
        check=False,
    )
    assert local.returncode == 3
    next(job.runs.iterdir()).rename(own)
    shutil.rmtree(job.path / ".evals" / "results")  # which the job refuses, as it is not its own
    job.says, job.down = "yes", ""
    code, out = job.attempt()
    assert code == 0, out
    assert len(job.asked) == CASES


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"OPENAI_API_KEY": ""}, "*_PAT) could sign it"),
        ({"OPENAI_API_KEY": "short"}, "no secret"),
        ({"RUNEVALS_REDACT": "hashes"}, "`redact` keeps answers out of files"),
    ],
    ids=["no secret", "a short one", "redacted"],
)
def test_what_may_not_be_kept_is_not_and_says_so(job, environment, told):
    job.down = "3"
    code, out = job.attempt(**environment)
    assert code == 3, out
    assert told in out
    assert not job.runs.exists()


@pytest.mark.parametrize(
    ("link", "told"),
    [(".evals", ".evals is a link"), (".evals/runs", ".evals/runs is a link")],
)
def test_a_folder_that_leads_elsewhere_is_refused(job, link, told, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (job.path / link).parent.mkdir(exist_ok=True)
    (job.path / link).symlink_to(elsewhere)
    code, out = job.attempt()
    ended(code, 2, out, told)
    assert not list(elsewhere.iterdir())
    assert not job.asked
