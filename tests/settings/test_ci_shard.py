"""`--shard auto` reads the number of the job that each CI system sets."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings
from runevals.settings.ci_shard import shard_of

SLURM = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_COUNT": "4"}


@pytest.mark.parametrize(
    ("text", "environment", "shard"),
    [
        pytest.param("auto", {"CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "4"}, "1/4", id="GitLab counts from 1"),
        pytest.param("auto", {"CIRCLE_NODE_INDEX": "0", "CIRCLE_NODE_TOTAL": "4"}, "1/4", id="CircleCI from 0"),
        pytest.param(
            "auto",
            {"BUILDKITE_PARALLEL_JOB": "3", "BUILDKITE_PARALLEL_JOB_COUNT": "4"},
            "4/4",
            id="Buildkite from 0",
        ),
        pytest.param("auto/4", {"JOB_COMPLETION_INDEX": "3"}, "4/4", id="Kubernetes gives no total"),
        pytest.param("auto", SLURM, "3/4", id="Slurm from 0"),
        pytest.param(
            "auto/4",
            {**SLURM, "SLURM_ARRAY_TASK_MIN": "2", "SLURM_ARRAY_TASK_COUNT": "1"},
            "3/4",
            id="one task of a Slurm array again",
        ),
        pytest.param("auto", {**SLURM, "SLURM_ARRAY_TASK_MIN": "1"}, "2/4", id="Slurm from 1"),
        pytest.param("auto/4", {**SLURM, "SLURM_ARRAY_TASK_MIN": "1"}, "2/4", id="Slurm from 1, with the total"),
        pytest.param("2/3", {"CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "4"}, "2/3", id="what is written holds"),
    ],
)
def test_the_part_is_that_of_the_job(text, environment, shard):
    assert str(shard_of(text, "--shard", environment)) == shard


@pytest.mark.parametrize(
    ("text", "environment", "told"),
    [
        pytest.param("auto", {}, "nothing numbers this job", id="no CI"),
        pytest.param("auto", {"CI_NODE_TOTAL": "1"}, "has no parallel:", id="GitLab variables alone"),
        pytest.param("auto", {"CI_NODE_INDEX": "1"}, "CI_NODE_TOTAL is not set", id="missing total"),
        pytest.param("auto", {"JOB_COMPLETION_INDEX": "0"}, "Kubernetes does not say", id="unknown total"),
        pytest.param("auto/2", {"JOB_COMPLETION_INDEX": "2"}, "indexes 0 to 1", id="beyond the total"),
        pytest.param("auto", {"CI_NODE_INDEX": "0", "CI_NODE_TOTAL": "4"}, "1 to 4", id="before the first"),
        pytest.param("auto", {"CI_NODE_INDEX": "x", "CI_NODE_TOTAL": "4"}, "CI_NODE_INDEX is 'x'", id="no number"),
        pytest.param(
            "auto",
            {**SLURM, "SLURM_ARRAY_TASK_MIN": "2", "SLURM_ARRAY_TASK_COUNT": "1"},
            "only the task 2; write the part",
            id="one task of a Slurm array again",
        ),
        pytest.param("auto", {**SLURM, "SLURM_ARRAY_TASK_ID": "7"}, "indexes 0 to 3", id="an array with steps"),
        pytest.param(
            "auto",
            {"GITLAB_CI": "true", "CI_NODE_TOTAL": "1"},
            "this GitLab job has no parallel:; add it, or run without --shard",
            id="GitLab without parallel",
        ),
        pytest.param("auto", {**SLURM, "CI_NODE_INDEX": "1"}, "both CI_NODE_INDEX and SLURM", id="two systems"),
        pytest.param("auto/0", {"CI_NODE_INDEX": "1"}, "indexes 1 to 0", id="none of them"),
        pytest.param("automatic", {}, "write i/n", id="another word"),
    ],
)
def test_a_job_whose_part_is_not_known_is_refused(text, environment, told):
    with pytest.raises(InvalidSettings, match=told):
        shard_of(text, "--shard", environment)


def test_a_missing_total_is_a_usage_error(zoo, runevals, monkeypatch):
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "1")
    code, _, err = runevals("--shard", "auto")
    assert (code, "write the total: auto/N" in err) == (2, True)
    assert "shard 2 of 3" in runevals("plan", "--shard", "auto/3")[1]
