"""`shard: auto`: the number of this job among the parallel jobs of a CI system."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from runevals.records.errors import InvalidSettings
from runevals.records.rules import Shard
from runevals.settings.values import read_shard


class ParallelJob(Struct, frozen=True, kw_only=True):
    """The variables by which a system numbers its parallel jobs."""

    system: str
    index: str
    total: str | None  # None: the system does not say how many jobs there are
    first: int = 0  # the index of the first job
    lowest: str | None = None  # of a system whose first job may have any index: the variable that holds it


PARALLEL_JOBS = (
    ParallelJob(system="GitLab", index="CI_NODE_INDEX", total="CI_NODE_TOTAL", first=1),
    ParallelJob(system="CircleCI", index="CIRCLE_NODE_INDEX", total="CIRCLE_NODE_TOTAL"),
    ParallelJob(system="Buildkite", index="BUILDKITE_PARALLEL_JOB", total="BUILDKITE_PARALLEL_JOB_COUNT"),
    ParallelJob(system="Kubernetes", index="JOB_COMPLETION_INDEX", total=None),
    ParallelJob(
        system="Slurm", index="SLURM_ARRAY_TASK_ID", total="SLURM_ARRAY_TASK_COUNT", lowest="SLURM_ARRAY_TASK_MIN"
    ),
)
_AUTO = re.compile(r"auto(?:/([0-9]{1,6}))?")
_NUMBER = re.compile(r"[0-9]{1,6}")


def shard_of(text: str, origin: str, environment: Mapping[str, str]) -> Shard:
    """`2/4`, or for `auto` and `auto/4` the part that the CI's variables name. Raises InvalidSettings."""
    auto = _AUTO.fullmatch(text.strip())
    if auto is None:
        return read_shard(text, origin)
    job = _job(origin, environment)
    index = _number(job.index, environment, origin)
    of = int(auto[1]) if auto[1] else _total(job, environment, origin)
    # The lowest of a complete array; not if only some of its tasks were started again.
    lowest, whole = _lowest(job, environment), job.total is not None and environment.get(job.total) == str(of)
    first = int(lowest) if whole and _NUMBER.fullmatch(lowest) else job.first
    part = index - first + 1
    if not 1 <= part <= of:
        raise InvalidSettings(
            f"{origin}: {job.index} is {index}, but {of} parts have the indexes {first} to {first + of - 1}"
        )
    return Shard(part=part, of=of)


def _job(origin: str, environment: Mapping[str, str]) -> ParallelJob:
    """The one system that numbers this job. Raises InvalidSettings."""
    jobs = [job for job in PARALLEL_JOBS if environment.get(job.index)]
    if len(jobs) == 1:
        return jobs[0]
    if jobs:
        names = " and ".join(job.index for job in jobs)
        raise InvalidSettings(f"{origin}: both {names} are set; write the part and the total: i/n")
    if environment.get("CI_NODE_TOTAL") == "1":
        raise InvalidSettings(f"{origin}: this GitLab job has no parallel:; add it, or run without --shard")
    names = ", ".join(job.index for job in PARALLEL_JOBS)
    raise InvalidSettings(f"{origin}: nothing numbers this job: none of {names} is set; write i/n")


def _total(job: ParallelJob, environment: Mapping[str, str], origin: str) -> int:
    """How many jobs there are. Raises InvalidSettings if the system does not say, or numbers them otherwise."""
    if job.total is None or not environment.get(job.total):
        missing = f"{job.system} does not say" if job.total is None else f"{job.total} is not set, which says"
        raise InvalidSettings(f"{origin}: {missing} how many jobs there are; write the total: auto/N")
    total = _number(job.total, environment, origin)
    if total == 1 and _lowest(job, environment) != str(job.first):
        raise InvalidSettings(
            f"{origin}: this array has only the task {environment[job.index]}; write the part and the total: i/n"
        )
    return total


def _lowest(job: ParallelJob, environment: Mapping[str, str]) -> str:
    return str(job.first) if job.lowest is None else environment.get(job.lowest, str(job.first))


def _number(name: str, environment: Mapping[str, str], origin: str) -> int:
    value = environment[name].strip()
    if _NUMBER.fullmatch(value) is None or not value.isascii():
        raise InvalidSettings(f"{origin}: {name} is '{value[:40]}', not a whole number")
    return int(value)
