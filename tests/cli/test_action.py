"""The action's entry, where no container is needed to see it."""

from __future__ import annotations

import json

import pytest

from tests.sample_suites import SUITE


def told(project, name):
    return (project.path / "runner" / name).read_text(encoding="utf-8")


LONG = "a" * 300


@pytest.mark.parametrize(
    "inputs",
    [{"suites": LONG}, {"baseline": LONG}, {"mode": "gate", "results": LONG}, {"mode": "merge", "shards": LONG}],
    ids="-".join,
)
def test_a_path_that_no_system_can_have_is_a_usage_error(job, zoo, project, inputs, capfd):
    assert job(**inputs, output_dir="out") == 2
    assert "File name too long" in project.document("out/results.json")["verdict"]["headline"]
    assert "[Errno" not in capfd.readouterr().out


def test_a_key_by_any_name_is_masked(job, project, capfd):
    project.write("runevals.yaml", "target: {type: recorded, path: answers.jsonl, api_key_env: MODEL_ACCESS}\n")
    assert job() == 0
    assert capfd.readouterr().out.splitlines()[0] == "::add-mask::not-named-like-a-secret"


@pytest.mark.parametrize("parts", [[1, 2, 3], [1, 3]], ids=["all", "one is missing"])
def test_a_matrix_of_parts_and_the_job_that_merges_them(job, zoo, project, parts):
    """As in docs/action.md: each part leaves its document in a folder of its own."""
    project.write("runevals.yaml", (project.path / "runevals.yaml").read_text() + "min_pass_rate: 0.99\n")
    for part in parts:
        assert job(shard=f"{part}/3", output_dir=f"shards/part-{part}") == 0
        assert "verdict<<" in told(project, "output")
    if len(parts) < 3:
        assert job(mode="merge", output_dir="merged") == 3
        verdict = project.document("merged/results.json")["verdict"]
        assert verdict["outcome"] == "unmeasured"
        assert verdict["headline"].startswith("Not measured – of 3 shards, these are missing: 2")
        assert "these are missing" in told(project, "summary")
        return
    assert job(mode="merge", output_dir="merged") == 1
    assert project.document("merged/results.json")["totals"]["cases"] == 25
    assert {gate["name"] for gate in project.document("merged/results.json")["gates"]} >= {"min_pass_rate"}


@pytest.mark.parametrize("left", ["nothing", "a shard that was not finished"])
def test_a_merge_of_no_shards_measures_nothing(job, zoo, project, left):
    reason = "no shard left its results in shards"
    if left != "nothing":
        assert job(shard="1/1", output_dir="shards/part-1") == 0
        document = project.document("shards/part-1/results.json")
        project.write("shards/part-1/results.json", {**document, "complete": False})
        reason = "shard 1 of 1 was not finished; run it again"
    assert job(mode="merge", output_dir="merged") == 3
    assert reason in project.document("merged/results.json")["verdict"]["headline"]


def planted(repository, job, name):
    """A shard of a whole run is committed, and then the suite no shard could be made of."""
    assert job(shard="1/1", output_dir="made") == 0
    repository.write(name, repository.document("made/results.json"))
    repository.write("evals.json", "{ broken")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "a green of my own")


@pytest.mark.parametrize("link", [False, True], ids=["folder", "link"])
def test_a_shard_that_a_change_committed_is_no_result(repository, job, link):
    if link:
        (repository.path / "shards").symlink_to("elsewhere")
    planted(repository, job, "elsewhere/mine.json" if link else "shards/mine.json")
    assert job(mode="merge", output_dir="merged") == 3
    headline = repository.document("merged/results.json")["verdict"]["headline"]
    assert headline.startswith("Not measured – shards/mine.json is in the repository itself")


def test_a_shard_beside_a_committed_repository_is_no_result(repository, job):
    repository.git("init", "-q", "--bare", "shards")
    for empty in ("objects", "refs"):
        repository.write(f"shards/{empty}/kept", "")
    planted(repository, job, "shards/mine.json")
    assert "shards/HEAD" in repository.git("ls-files")
    assert job(mode="merge", output_dir="merged") == 3
    headline = repository.document("merged/results.json")["verdict"]["headline"]
    assert headline.startswith("Not measured – shards/mine.json is in the repository itself")


def test_a_shard_of_another_commit_is_no_result(repository, job):
    planted(repository, job, "shards/mine.json")
    repository.git("rm", "-q", "--cached", "shards/mine.json")
    assert job(mode="merge", output_dir="merged") == 3
    headline = repository.document("merged/results.json")["verdict"]["headline"]
    assert headline.startswith("Not measured – shards/mine.json is of another commit than this job")


@pytest.mark.parametrize(("size", "count"), [("", 1), ("25", 1), ("24", 2), ("7", 4), ("1", 25)])
def test_a_plan_says_which_shards_a_matrix_is_made_of(job, zoo, project, runevals, size, count):
    shards = [f"{part}/{count}" for part in range(1, count + 1)]
    project.write("one.jsonl", "")  # nobody is asked
    assert job(mode="plan", cases_per_shard=size) == 0
    line = told(project, "output").splitlines()[1]
    assert json.loads(line) == shards
    code, out, _ = runevals("plan", "--format", "json", *(["--cases-per-shard", size] if size else []))
    assert (code, json.loads(out)["shards"]) == (0, shards)


def test_a_plan_of_very_many_cases_has_as_many_shards_as_a_matrix_may(runevals, project):
    items = [{"testId": str(number), "prompt": "?", "expected_response": "!"} for number in range(300)]
    project.write("evals.json", {**SUITE, "items": items})
    plan = json.loads(runevals("plan", "--format", "json", "--cases-per-shard", "1", "--repeat", "2")[1])
    assert plan["shards"][-1] == "256/256"
    assert (plan["cases"], plan["target_calls"], plan["judge_calls"]) == (300, 600, 0)
