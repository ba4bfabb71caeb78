"""What is checked out, and what that is compared with."""

from __future__ import annotations

from tests.github.exchanged_files import NAME
from tests.github.job_names import ARTIFACT


def test_the_merge_commit_is_compared_with_its_first_parent(job, hub, stored):
    repository = job.repository
    repository.git("checkout", "-q", "main")
    repository.git("commit", "-q", "--allow-empty", "-m", "on main")
    tip = repository.git("rev-parse", "main")
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "change")
    hub.history = [tip, repository.base]
    hub.run(2, tip)
    hub.artifact(2, ARTIFACT, {NAME: stored})
    code, outputs, _ = job()
    assert (code, outputs["baseline_run_id"]) == (0, "2")


def test_a_head_that_is_checked_out_is_compared_where_it_left_its_base(job, hub, stored):
    repository = job.repository
    repository.git("checkout", "-q", "main")
    repository.git("commit", "-q", "--allow-empty", "-m", "on main")
    tip = repository.git("rev-parse", "main")
    repository.git("checkout", "-q", "change")
    hub.run(2, tip)
    hub.artifact(2, ARTIFACT, {NAME: stored})
    told = job.payload()
    told["pull_request"]["base"]["sha"] = tip
    assert job(told=told)[1]["baseline_run_id"] == "1"


def test_a_shallow_checkout_of_the_head_asks_github_where_it_left_its_base(job, hub, stored, tmp_path_factory):
    repository = job.repository
    repository.git("checkout", "-q", "main")
    repository.git("commit", "-q", "--allow-empty", "-m", "on main")
    told = job.payload()
    told["pull_request"]["base"]["sha"] = repository.git("rev-parse", "main")
    repository.git("checkout", "-q", "change")
    shallow = tmp_path_factory.mktemp("shallow") / "clone"
    repository.git("clone", "-q", "--depth=1", f"file://{repository.path}", str(shallow))
    hub.merge_base = repository.base
    repository.path = shallow
    assert job(told=told)[1]["baseline_run_id"] == "1"
    assert any("/compare/" in path for path in hub.paths("GET"))
