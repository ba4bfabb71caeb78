"""The action on a GitHub of its own: baselines from artifacts, the comment, and what can go wrong with them."""

from __future__ import annotations

import io
import json
import re
import shutil
import zipfile

import pytest
from msgspec.structs import replace

from runevals.reports.results_document import parse, write
from runevals.verdict.score import run_report
from tests.docs.pages import ACTION
from tests.github.emulator import FORK_ID, TOKEN, Fault
from tests.github.exchanged_files import BOMB, NAME, packed
from tests.github.job_names import ARTIFACT, MARKER
from tests.reports.hostile import TEXTS
from tests.sample_reports import case
from tests.sample_suites import AGENT, SETTINGS, SUITE, WORSE

HOSTILE_AGENT = "import json\ndef answer(prompt):\n return json.load(open('texts.json'))[int(prompt)] or 'x'\n"


def test_the_base_of_a_pull_request_is_its_stored_result(job, hub, stored):
    job.repository.write("agent.py", WORSE)
    code, outputs, printed = job()
    assert code == 1, printed
    assert (outputs["verdict"], outputs["regressions"], outputs["baseline_run_id"]) == ("failed", "1", "1")
    assert outputs["artifact_name"] == ARTIFACT
    assert f"base: run 1 on main, {job.repository.base[:7]}" in printed
    [body] = hub.bodies()
    assert body.startswith(f"{MARKER}\n### ❌ 1 of 2 cases regressed")
    assert body == (job.repository.path / outputs["comment_body_path"]).read_text(encoding="utf-8")
    assert outputs["comment_url"] == "https://github.com/o/r/pull/7#issuecomment-1"
    assert f"blob/{job.repository.head}/evals.json#L" in body
    assert "- Paris\n+ Rome" in body
    assert re.search(
        r"^::error file=evals.json,line=\d+,title=a regressed::1/1 → 0/1 runs passed; ", printed, re.M
    )
    assert job.repository.git("status", "--porcelain") == "M agent.py"


def test_a_case_that_fresh_runs_cleared_is_counted_as_no_regression(job, hub, stored, tmp_path):
    """The change answers wrong once."""
    seen = tmp_path / "seen"
    once = f"\n\nWORSE = answer\n\n\ndef answer(prompt):\n with open({str(seen)!r}, 'a+') as file:\n"
    once += "  file.write(prompt[0])\n  return WORSE(prompt) if file.tell() < 3 else RIGHT(prompt)\n"
    job.repository.write("agent.py", AGENT + "\n\nRIGHT = answer\n\n\n" + WORSE + once)
    code, outputs, printed = job()
    assert (code, outputs["verdict"], outputs["regressions"]) == (0, "passed", "0"), printed
    assert "looked lost: fresh runs pass" in printed


def measured_at(stored, commit):
    """The stored document as the run of another commit would make it."""
    return re.sub(r'("commit": ")\w+', rf"\g<1>{commit}", stored)


def stored_at(hub, stored, commit):
    """Run 1 is of another commit than the base's."""
    hub.runs[0]["head_sha"] = commit
    hub.artifacts.clear()
    hub.artifact(1, ARTIFACT, {NAME: measured_at(stored, commit)})


def test_a_result_of_an_older_commit_is_not_compared_with_if_the_base_can_be_run(job, hub, stored):
    stored_at(hub, stored, "1" * 40)
    hub.history = [job.repository.base, "2" * 40, "1" * 40]
    code, outputs, printed = job()
    assert (code, outputs["baseline_run_id"]) == (0, ""), printed
    assert f"base: a fresh run of {job.repository.base[:7]}" in printed
    assert "the base was run anew: the stored result is of 1111111, 2 commits before the base" in printed
    assert hub.bodies()[0].startswith(f"{MARKER}\n### ✅ No regression shown in 2 cases\n")


def test_line_one_says_against_which_older_commit_it_was_compared(job, hub, deployed, stored):
    before = job.repository.git("rev-parse", "main")[:7]
    on_main(job, "agent.py", AGENT + "\n")
    code, outputs, printed = job()
    assert (code, outputs["baseline_run_id"]) == (0, "1"), printed
    older = f"{before}, 1 commit before the base"
    assert f"No regression shown in 2 cases – compared with an older commit: {older}" in printed
    assert "the base was not run: it is not run again (verify: off)" in printed
    line = hub.bodies()[0].splitlines()[1]
    assert f"older commit&#58; {older}" in line
    assert line.startswith("### ⚠️ ")
    assert "\n⚠ No regression shown" in printed


def test_line_one_says_so_of_the_newest_of_the_branch_too(job, hub, deployed, stored):
    stored_at(hub, stored, "1" * 40)
    hub.history = [job.repository.base, "1" * 40]
    _, outputs, printed = job()
    assert outputs["baseline_run_id"] == "1"
    assert "compared with an older commit: 1111111, the newest of main" in printed


@pytest.mark.parametrize("told", ["by the checkout", "by GitHub", "by nobody"])
def test_a_run_of_a_tag_that_is_called_as_the_branch_is_no_base(job, hub, deployed, stored, told):
    """The newest run of "main" is of a commit that main does not have; the one before is the control."""
    stored_at(hub, stored, "1" * 40)
    hub.history = ["2" * 40, job.repository.base, "1" * 40]
    tagged = job.repository.head if told == "by the checkout" else "2" * 40
    hub.run(2, tagged)
    hub.artifact(2, ARTIFACT, {NAME: stored.replace(': "passed"', ': "failed"')})
    if told == "by nobody":
        hub.faults.append(Fault("/compare/", 404))
    _, outputs, printed = job()
    assert outputs["baseline_run_id"] == ("" if told == "by nobody" else "1"), printed
    assert f"run 2 is of {tagged[:7]}, which is not before the base" in printed
    assert not any("/runs/2/artifacts" in path for path in hub.paths("GET"))


def test_ancestors_are_those_of_the_branch_itself_where_the_checkout_has_them(job, hub, stored):
    on_main(job, "README.md", "Hello.")
    hub.faults.append(Fault("/commits", 500, {"Retry-After": "0"}))
    assert "1 commit before the base" in job()[2]


def test_commits_of_a_merged_branch_are_not_before_the_base(job, hub, stored):
    """GitHub lists them among those before; only what main itself was may stand in for it."""
    feature, before = "2" * 40, "1" * 40
    stored_at(hub, stored, before)
    hub.run(2, feature, branch="feature")
    hub.artifact(2, ARTIFACT, {NAME: measured_at(stored, feature)})
    hub.history, hub.merged = [job.repository.base, feature, before], {feature}
    assert "the stored result is of 1111111, 1 commit before the base" in job()[2]


def on_main(job, name, content):
    """A commit of main after the stored result, with the change on top of it."""
    repository = job.repository
    repository.git("checkout", "-q", "main")
    repository.write(name, content)
    repository.git("add", "-A")
    repository.git("commit", "-q", "--allow-empty", "-m", "on main")
    repository.base = repository.git("rev-parse", "main")
    repository.git("checkout", "-qB", "change")
    repository.git("commit", "-q", "--allow-empty", "-m", "change")
    repository.head = repository.git("rev-parse", "HEAD")


def test_an_older_result_of_the_same_files_is_of_the_base(job, hub, stored):
    on_main(job, "agent.py", AGENT)
    code, outputs, printed = job()
    assert (code, outputs["baseline_run_id"]) == (0, "1"), printed
    assert "older commit" not in printed
    assert "what the run depends on is as in the base" in printed


@pytest.fixture
def declared(job):
    """A target that says what it is made of."""
    on_main(job, "runevals.yaml", SETTINGS + "depends_on: [agent.py]\n")


@pytest.mark.parametrize(
    ("changed", "run"),
    [
        pytest.param(("README.md", "Hello."), "1", id="of something else"),
        pytest.param(("agent.py", AGENT + "\n"), "", id="of the agent"),
        pytest.param(("runevals.quarantine.yaml", "[]\n"), "", id="of a list"),
    ],
)
@pytest.mark.usefixtures("declared")
def test_git_says_whether_an_older_result_is_of_the_base(job, stored, changed, run):
    on_main(job, *changed)
    job.repository.write("agent.py", WORSE)
    code, outputs, printed = job()
    assert (code, outputs["baseline_run_id"]) == (1, run), printed


@pytest.mark.usefixtures("declared", "stored")
def test_a_change_of_nothing_runs_nothing_whatever_commit_the_stored_result_is_of(job):
    on_main(job, "agent.py", AGENT + "\n")
    code, outputs, printed = job()
    assert (code, outputs["baseline_run_id"]) == (0, ""), printed
    assert f"No relevant changes since {job.repository.base[:7]} – nothing was run" in printed


def test_what_the_base_depends_on_is_asked_of_the_base_and_not_of_the_change(job, hub, declared, stored):
    """The change moves to another file, so that its own list does not name the one that main has fixed."""
    on_main(job, "agent.py", "def answer(prompt):\n return 'Paris Lima'\n")
    repository = job.repository
    settings = (repository.path / "runevals.yaml").read_text(encoding="utf-8")
    repository.write("runevals.yaml", settings.replace("agent.py", "other.py"))
    repository.write("other.py", AGENT)
    code, outputs, printed = job()
    assert (code, outputs["baseline_run_id"], outputs["regressions"]) == (1, "", "1"), printed


def test_a_stacked_change_is_compared_with_the_branch_that_it_is_for(job, hub, stored):
    """Only main stores: the branch below fixed a case, which the change breaks again."""
    on_main(job, "agent.py", "def answer(prompt):\n return 'Paris Lima'\n")
    told = job.payload()
    told["pull_request"]["base"]["ref"] = "below"
    job.repository.write("agent.py", AGENT)
    code, outputs, printed = job(told=told)
    assert (code, outputs["regressions"], outputs["baseline_run_id"]) == (1, "1", ""), printed


FIXED = "def answer(prompt):\n return 'Paris Lima'\n"


@pytest.fixture
def running(job, hub, stored):
    """Main fixed a case after the stored result, and its run is in progress; the change undoes the fix."""

    def start(content=FIXED, **more):
        on_main(job, "agent.py", content)
        hub.run(2, job.repository.base, **{"status": "in_progress", "conclusion": None, **more})
        job.repository.write("agent.py", AGENT)

    return start


def waiting(job, settings):
    """The base's settings, which the stored result may be older than."""
    repository = job.repository
    repository.git("checkout", "-q", "main")
    repository.write("runevals.yaml", SETTINGS + settings)
    repository.git("commit", "-qam", "wait")
    repository.git("checkout", "-qB", "change")


def test_a_run_of_the_base_that_is_in_progress_is_waited_for(job, hub, stored, running):
    running()
    hub.artifact(2, ARTIFACT, {NAME: fixed(job, stored)})
    hub.ends_after[2] = 2
    code, outputs, printed = job()
    assert (code, outputs["regressions"], outputs["baseline_run_id"]) == (1, "1", "2"), printed
    base = job.repository.base[:7]
    told = (
        rf"Waiting for run 2 of the base {base}, which is in progress: (300|2\d\d) s at most"  # on a busy machine
    )
    assert re.search(told, printed), printed


def fixed(job, stored):
    """The stored document as the run of a base that passes every case would make it."""
    report = parse(stored, "x").report
    cases = tuple(case(c.key, "p", suite=c.suite, file=c.file, fingerprint=c.fingerprint) for c in report.cases)
    run = replace(report.run, commit=job.repository.base)
    return write(replace(parse(stored, "x"), report=run_report(run, cases)))


@pytest.mark.parametrize("workflow", [None, "main.yml"], ids=["that stored before", "that the settings name"])
def test_a_run_of_another_workflow_file_is_waited_for(job, hub, stored, running, workflow):
    """main.yml stores, and evals.yml compares."""
    if workflow is not None:
        waiting(job, f"baseline: {{workflow: {workflow}}}\n")
    elsewhere = {"path": ".github/workflows/main.yml"}
    hub.runs[0] |= elsewhere
    running(**elsewhere)
    hub.run(3, job.repository.base, status="in_progress", conclusion=None, path=".github/workflows/lint.yml")
    hub.ends_after[2] = 2
    hub.artifact(2, ARTIFACT, {NAME: fixed(job, stored)})
    code, outputs, printed = job()
    assert (code, outputs["regressions"], outputs["baseline_run_id"]) == (1, "1", "2"), printed
    assert re.search(r"Waiting for run 2 (of main.yml )?of the base \w{7}, which is in progress", printed)
    assert not any("lint.yml" in path for path in hub.paths("GET"))


def test_waiting_ends_and_the_base_is_run(job, hub, stored, running):
    waiting(job, "baseline: {wait: 1}\n")
    running()
    code, outputs, printed = job()
    assert (code, outputs["regressions"], outputs["baseline_run_id"]) == (1, "1", ""), printed
    assert f"run 2 of the base {job.repository.base[:7]} is still in progress after 1 s" in printed


def test_without_any_result_but_that_of_a_run_in_progress_nothing_is_green(job, hub, stored, running):
    waiting(job, "baseline: {wait: 0}\nverify: 'off'\n")
    running()
    hub.artifacts.clear()
    code, outputs, printed = job()
    assert (code, outputs["verdict"]) == (3, "unmeasured"), printed
    assert "there is no base to compare with: run 2 of the base" in printed


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"content": AGENT}, id="git says that nothing changed"),
        pytest.param({"repository_id": FORK_ID}, id="of a fork"),
        pytest.param({"event": "pull_request"}, id="of a pull request"),
        pytest.param({"status": "completed", "conclusion": "cancelled"}, id="that has ended"),
    ],
)
def test_only_a_run_that_will_store_what_is_missing_is_waited_for(job, running, more):
    running(**more)
    code, _, printed = job()
    assert code == (0 if "content" in more else 1), printed
    assert "Waiting for" not in printed


def test_base_run_asks_for_no_stored_result(job, hub, stored):
    hub.asked.clear()
    job.repository.write("agent.py", WORSE)
    code, outputs, printed = job(INPUT_BASE="run")
    assert (code, outputs["baseline_run_id"]) == (1, ""), printed
    assert f"base: a fresh run of {job.repository.base[:7]}" in printed
    assert not [path for path in hub.paths("GET") if "/actions/" in path]


def test_base_run_without_a_base_that_can_be_run_is_no_pass(job, hub, stored):
    on_main(job, "agent.py", "import nothing_of_that_name\n")
    job.repository.write("agent.py", AGENT)
    code, outputs, printed = job(INPUT_BASE="run")
    assert (code, outputs["verdict"]) == (3, "unmeasured"), printed
    assert "Not known – there is no base to compare with: the base" in printed
    assert "No module named 'nothing_of_that_name'" in printed


def test_a_change_does_not_choose_its_base(job, hub, stored):
    repository = job.repository
    repository.write("runevals.yaml", SETTINGS + "base: run\n")
    code, outputs, printed = job()
    assert (code, outputs["baseline_run_id"]) == (0, "1"), printed
    assert "the setting was changed; until that is merged, the base" in printed


def test_a_schedule_is_compared_with_the_newest_of_its_branch_which_is_no_older_commit(job, hub, stored):
    job.repository.git("checkout", "-q", "main")
    told = {"repository": {"default_branch": "main"}}
    code, outputs, printed = job("schedule", told)
    assert (code, outputs["baseline_run_id"]) == (0, "1"), printed
    assert "older" not in printed


def test_the_newest_of_two_artifacts_of_a_name_is_taken(job, hub, stored):
    hub.artifact(1, ARTIFACT, {NAME: "broken"})
    assert "not JSON" in job()[2]
    hub.artifact(1, ARTIFACT, {NAME: stored})
    assert job()[1]["baseline_run_id"] == "1"


def test_a_fork_whose_branch_is_called_main_is_no_base(job, hub, stored):
    hub.runs.clear()
    hub.run(1, job.repository.base, repository_id=FORK_ID)
    hub.run(2, job.repository.base, event="pull_request")
    hub.artifact(2, ARTIFACT, {NAME: stored})
    _, outputs, printed = job()
    assert outputs["baseline_run_id"] == ""
    assert "has stored runevals-evals-test; the first run on main after merging" in printed
    assert hub.blob_asked == []


def expired(hub):
    hub.artifacts[0]["shown"]["expired"] = True


def gone(hub):
    hub.faults.append(Fault("/zip", 410))


def content(archive):
    def change(hub):
        shown = hub.artifacts[0]["shown"]
        hub.artifacts.clear()
        hub.artifact(1, ARTIFACT, archive)
        assert shown["name"] == ARTIFACT

    return change


def tampered(hub):
    hub.artifacts[0]["content"] = packed((NAME, "{}"))


def too_large(hub):
    hub.artifacts[0]["shown"]["size_in_bytes"] = 10**9


def elsewhere(hub):
    hub.blob_faults.append(Fault("GET", 302, {"Location": "http://127.0.0.1:9/"}))


def fault(*words, **more):
    return lambda hub: hub.faults.append(Fault(*words, **more))


def another_format(hub):
    document = {**json.loads(archived(hub)), "format_version": 99}
    content({NAME: json.dumps(document)})(hub)


def archived(hub):
    with zipfile.ZipFile(io.BytesIO(hub.artifacts[0]["content"])) as archive:
        return archive.read(NAME)


UNREADABLE = [
    pytest.param(expired, "it has expired", id="expired"),
    pytest.param(gone, "it has expired", id="410"),
    pytest.param(fault("/zip", 404), "it has expired", id="404"),
    pytest.param(tampered, "not what was uploaded", id="digest"),
    pytest.param(too_large, "larger than 64 MiB", id="announced size"),
    pytest.param(content(BOMB), "unpacks to far more", id="zip bomb"),
    pytest.param(content(packed((NAME, "{}"), ("../x", "y"))), "leads out of it", id="traversal"),
    pytest.param(content(packed((NAME, "{}"), (NAME, "{}"))), "two entries have one name", id="two of a name"),
    pytest.param(content(packed(("other.json", "{}"))), "holds no results.json", id="another file"),
    pytest.param(content(packed((NAME, "{}"))), "no 'format_version'", id="schema"),
    pytest.param(another_format, "'format_version' is 99", id="another format"),
    pytest.param(content(packed((NAME, b"\xff\xfe"))), "not UTF-8", id="no text"),
    pytest.param(content(b"x"), "no zip archive", id="no archive"),
    pytest.param(fault("/zip", 502, {"Retry-After": "0"}), "GitHub answers with 502", id="outage of artifacts"),
    pytest.param(fault("/artifacts", 403), "lacks `permissions: {actions: read}`", id="forbidden"),
    pytest.param(fault("/runs", 403), "lacks `permissions: {actions: read}`", id="runs forbidden"),
    pytest.param(fault("/runs", 404), "404", id="no such workflow"),
    pytest.param(fault("/runs", 429, {"Retry-After": "3600"}), "rate limit", id="limit of an hour"),
    pytest.param(elsewhere, "answers with 302", id="redirect to another host"),
]


@pytest.mark.parametrize(("trouble", "told"), UNREADABLE)
def test_a_stored_base_that_cannot_be_read_is_run_instead(job, hub, stored, trouble, told):
    trouble(hub)
    job.repository.write("agent.py", WORSE)
    code, outputs, printed = job()
    assert (code, outputs["verdict"], outputs["baseline_run_id"]) == (1, "failed", ""), printed
    assert f"base: a fresh run of {job.repository.base[:7]}" in printed
    assert told in printed
    [body] = hub.bodies()
    assert body.startswith(f"{MARKER}\n### ❌ 1 of 2 cases regressed")


def run_again(job, hub):
    """The job is run again: its result is there as the artifact of its first attempt."""
    text = (job.repository.path / ".evals/results/results.json").read_text(encoding="utf-8")
    hub.artifact(99, ARTIFACT, {NAME: text})
    return job(GITHUB_RUN_ATTEMPT="2")


@pytest.fixture
def by_chance(job, hub):
    """The target may answer otherwise each time; what it says in an attempt is in a file that git ignores."""
    on_main(job, "runevals.yaml", SETTINGS.replace(", deterministic: true", "").replace("agent.py:", "coin.py:"))
    coin = "import importlib, agent\ndef answer(prompt):\n return importlib.reload(agent).answer(prompt)\n"
    on_main(job, "coin.py", coin)


def test_a_case_that_was_confirmed_as_lost_stays_lost_when_the_job_is_run_again(job, hub, by_chance, stored):
    job.repository.write("agent.py", WORSE)
    code, _, printed = job()
    assert code == 1, printed
    job.repository.write("agent.py", AGENT)  # luck
    code, outputs, printed = run_again(job, hub)
    assert (code, outputs["verdict"]) == (1, "failed"), printed
    assert hub.bodies()[-1].startswith(f"{MARKER}\n### ❌ 1 case lost&#58; a")


def test_what_an_earlier_attempt_could_not_measure_does_not_count(job, hub, by_chance, stored):
    assert job()[0] == 0
    path = job.repository.path / ".evals/results/results.json"
    found = parse(path.read_text(encoding="utf-8"), "results")
    cases = [case("a", "e"), *found.report.cases[1:]]
    errored = replace(cases[0], fingerprint=found.report.cases[0].fingerprint)
    report = run_report(found.report.run, [errored, *cases[1:]])
    path.write_text(write(replace(found, report=report)), encoding="utf-8")
    code, _, printed = run_again(job, hub)
    assert code == 0, printed
    assert [len(one.attempts) for one in job.cases()] == [1, 2]


def test_the_runs_of_an_earlier_attempt_count_too(job, hub, by_chance, stored):
    code, _, printed = job()
    assert code == 0, printed
    assert [len(found.attempts) for found in job.cases()] == [1, 1]
    code, _, printed = run_again(job, hub)
    assert code == 0, printed
    assert [len(found.attempts) for found in job.cases()] == [2, 2]
    assert "an earlier attempt of this job ran the same commit: its runs count, too" in printed


@pytest.mark.parametrize("again", [("1", "2"), ("1",), ()], ids=["all", "failed jobs", "the merge alone"])
def test_a_merge_that_is_run_again_counts_the_runs_of_the_attempt_before(job, hub, by_chance, stored, again):
    """A shard that is not run again has the same runs as before: they count once."""

    def merged(parts, **attempt):
        for part in parts:
            code, _, printed = job(INPUT_SHARD=f"{part}/2", INPUT_OUTPUT_DIR=f"shards/{part}", **attempt)
            assert code == 0, printed
        return job(INPUT_MODE="merge", **attempt)

    job.repository.write("agent.py", WORSE)
    code, _, printed = merged(("1", "2"))
    assert code == 1, printed
    made = {found.key: len(found.attempts) for found in job.cases()}
    hub.artifact(99, ARTIFACT, {NAME: (job.repository.path / ".evals/results/results.json").read_text()})
    job.repository.write("agent.py", AGENT)  # luck
    code, outputs, printed = merged(again, GITHUB_RUN_ATTEMPT="2")
    assert (code, outputs["verdict"]) == (1, "failed"), printed
    assert hub.bodies()[-1].startswith(f"{MARKER}\n### ❌ 1 ")
    counted = {found.key: len(found.attempts) for found in job.cases()}
    assert sum(counted[key] > made[key] for key in made) == len(again)


@pytest.fixture
def deployed(job):
    """The base cannot be run: its settings say that there is no old version of the target."""
    on_main(job, "runevals.yaml", SETTINGS + "verify: 'off'\n")


@pytest.mark.parametrize(
    "trouble",
    [
        expired,
        fault("/zip", 502, {"Retry-After": "0"}),
        fault("/runs", 429, {"Retry-After": "3600"}),
        fault("/runs", 403),
    ],
)
def test_an_outage_is_no_pass_where_the_base_cannot_be_run_either(job, hub, deployed, stored, trouble):
    trouble(hub)
    code, outputs, printed = job()
    assert (code, outputs["verdict"], outputs["baseline_run_id"]) == (3, "unmeasured", ""), printed
    [body] = hub.bodies()
    assert body.startswith(f"{MARKER}\n### ⚠️ Not known – there is no base to compare with")
    assert outputs["pass_rate"] == "0.5000"
    assert (job.repository.path / outputs["results_path"]).is_file()


def test_a_failed_gate_fails_without_a_base_that_can_be_read_too(job, hub, deployed, stored):
    expired(hub)
    code, outputs, _ = job(INPUT_MIN_PASS_RATE="0.9")
    assert (code, outputs["verdict"]) == (1, "failed")


@pytest.mark.parametrize("event", ["pull_request", "pull_request of a merge", "merge_group"])
def test_a_loss_is_found_though_nothing_was_ever_stored(job, hub, stored, event):
    hub.artifacts.clear()
    repository = job.repository
    repository.write("agent.py", WORSE)
    repository.git("commit", "-qam", "worse")
    repository.head = repository.git("rev-parse", "HEAD")
    if event != "pull_request":
        repository.git("checkout", "-q", "--detach", "main")
        repository.git("merge", "-q", "--no-ff", "-m", "merge", "change")
    group = {"head_sha": repository.head, "base_sha": repository.base, "base_ref": "refs/heads/main"}
    told = {"merge_group": group} if event == "merge_group" else None
    code, outputs, printed = job(event.partition(" ")[0], told)
    assert (code, outputs["verdict"], outputs["baseline_run_id"]) == (1, "failed", ""), printed
    assert "the base was run anew: no run of " in printed


@pytest.mark.usefixtures("deployed")
def test_a_first_run_has_no_baseline_and_says_what_will_make_one(job, hub, stored):
    hub.artifacts.clear()
    code, outputs, printed = job()
    assert (code, outputs["verdict"], outputs["baseline_run_id"]) == (0, "passed", "")
    assert "the first run on main after merging stores one" in printed
    [body] = hub.bodies()
    assert body.startswith(f"{MARKER}\n### ⚪ 1 of 2 cases pass – nothing to compare with yet")
    assert "No baseline yet" in body
    assert (job.repository.path / outputs["results_path"]).is_file()


def test_a_base_commit_that_has_no_suite_is_a_first_run_whatever_cannot_be_read(job, hub, stored):
    repository = job.repository
    repository.git("checkout", "-q", "main")
    repository.git("rm", "-q", "evals.json", "runevals.yaml")
    repository.git("commit", "-qm", "before there were suites")
    repository.base = repository.git("rev-parse", "main")
    repository.git("checkout", "-qB", "change")
    repository.git("revert", "--no-edit", "HEAD")
    repository.head = repository.git("rev-parse", "HEAD")
    hub.faults.append(Fault("/runs", 403))
    code, outputs, printed = job()
    assert (code, outputs["verdict"]) == (0, "passed"), printed
    assert f"the base {repository.base[:7]} has nothing to run" in printed


def test_after_a_result_that_cannot_be_read_the_next_one_is_tried(job, hub, stored):
    """Deterministic: the older result is of the same files, and so of the base."""
    repository = job.repository
    repository.git("checkout", "-q", "main")
    repository.git("commit", "-q", "--allow-empty", "-m", "on main")
    repository.base = repository.git("rev-parse", "main")
    repository.git("checkout", "-qB", "change")
    hub.run(2, repository.base)
    hub.artifact(2, ARTIFACT, {NAME: stored})
    hub.faults.append(Fault("artifacts/2/zip", 500, {"Retry-After": "0"}))
    code, outputs, printed = job()
    assert (code, outputs["baseline_run_id"]) == (0, "1"), printed
    assert "the result of run 2" in printed


def with_errors(stored, errored):
    """The stored document as if the runs of so many of its cases had ended in an error."""
    conclusion = parse(stored, "x")
    report = conclusion.report
    cases = tuple(
        case(one.key, "e", suite=one.suite, file=one.file, fingerprint=one.fingerprint) if n < errored else one
        for n, one in enumerate(report.cases)
    )
    return write(replace(conclusion, report=run_report(report.run, cases)))


@pytest.fixture
def ten(job, hub):
    """Ten cases that pass, with the base's result in run 1."""
    repository = job.repository
    repository.git("checkout", "-q", "main")
    items = [{"testId": f"k{n}", "prompt": str(n), "expected_response": "yes"} for n in range(10)]
    repository.write("evals.json", {**SUITE, "items": items})
    repository.write("agent.py", "def answer(prompt):\n return 'yes'\n")
    repository.git("commit", "-qam", "ten")
    repository.base = repository.git("rev-parse", "main")
    push = {"before": "0" * 40, "ref": "refs/heads/main", "repository": {"default_branch": "main"}}
    assert job("push", push)[0] == 0
    text = (repository.path / ".evals/results/results.json").read_text(encoding="utf-8")
    shutil.rmtree(repository.path / ".evals")
    repository.git("checkout", "-qB", "change")
    hub.run(1, repository.base)
    hub.artifact(1, ARTIFACT, {NAME: text})
    return text


def one_commit_later(job, hub, document):
    """A commit of main that changes nothing, with this result of its run 2."""
    repository = job.repository
    repository.git("checkout", "-q", "main")
    repository.git("commit", "-q", "--allow-empty", "-m", "on main")
    repository.base = repository.git("rev-parse", "main")
    repository.git("checkout", "-qB", "change")
    hub.run(2, repository.base)
    hub.artifact(2, ARTIFACT, {NAME: document})


@pytest.mark.parametrize("errored", [1, 2, 3, 10])
def test_breaking_the_cases_that_the_bases_newest_run_could_not_measure_is_red(job, hub, ten, errored):
    """A result without errors, one commit before, goes before a newer one with some."""
    one_commit_later(job, hub, with_errors(ten, errored))
    broken = ", ".join(repr(str(n)) for n in range(errored))
    job.repository.write("agent.py", f"def answer(prompt):\n return 'no' if prompt in [{broken}] else 'yes'\n")
    code, outputs, printed = job()
    assert (code, outputs["baseline_run_id"], outputs["regressions"]) == (1, "1", str(errored)), printed


def test_a_result_with_errors_is_better_than_none(job, hub, ten):
    hub.artifacts.clear()
    hub.artifact(1, ARTIFACT, {NAME: with_errors(ten, 1)})
    code, outputs, printed = job()
    assert (code, outputs["baseline_run_id"]) == (0, "1"), printed
    assert "the stored run 1 could not measure 1 of 10 cases: target_failed: connection reset" in printed


def test_a_base_that_could_not_measure_a_fifth_of_its_cases_is_run_again(job, hub, ten):
    hub.artifacts.clear()
    hub.artifact(1, ARTIFACT, {NAME: with_errors(ten, 3)})
    code, outputs, printed = job()
    assert (code, outputs["baseline_run_id"]) == (0, ""), printed
    assert "it measured 7 of 10 cases: target_failed: connection reset" in printed


def test_a_limit_and_a_burst_of_502_are_waited_for(job, hub, stored):
    hub.faults += [
        Fault("/runs", 502, times=1),
        Fault("/artifacts", 403, {"Retry-After": "0"}, message="secondary rate limit", times=2),
    ]
    assert job()[1]["baseline_run_id"] == "1"


def test_a_result_that_is_not_complete_is_no_base(job, hub, stored):
    conclusion = parse(stored, "x")
    nothing = write(replace(conclusion, report=replace(conclusion.report, complete=False)))
    hub.artifacts.clear()
    hub.artifact(1, ARTIFACT, {NAME: nothing})
    assert "it is not complete" in job()[2]


def test_an_explicit_baseline_goes_first_and_none_means_none(job, hub, stored):
    job.repository.write("../base-of-mine.json", stored)
    _, outputs, printed = job(INPUT_BASELINE="../base-of-mine.json")
    assert outputs["baseline_run_id"] == ""
    assert "base: base-of-mine.json" in printed
    assert "no baseline" not in job(INPUT_BASELINE="none")[2]
    assert hub.paths("GET").count("/repos/o/r/actions/runs/1/artifacts") == 0


@pytest.mark.usefixtures("deployed")
def test_a_required_baseline_that_was_never_stored_is_unmeasured(job, hub, stored):
    hub.artifacts.clear()
    repository = job.repository
    settings = (repository.path / "runevals.yaml").read_text(encoding="utf-8")
    repository.write("runevals.yaml", settings + "baseline: {required: true}\n")
    repository.git("commit", "-qam", "require")
    repository.git("branch", "-f", "main")
    repository.base = repository.git("rev-parse", "main")
    code, outputs, _ = job()
    assert (code, outputs["verdict"]) == (3, "unmeasured")


def test_the_settings_name_artifact_and_branch(job, hub, stored):
    repository = job.repository
    repository.git("checkout", "-q", "main")
    settings = (repository.path / "runevals.yaml").read_text(encoding="utf-8")
    repository.write("runevals.yaml", settings + "baseline: {artifact: of-mine, branch: stable}\n")
    repository.git("commit", "-qam", "name")
    repository.base = repository.git("rev-parse", "main")
    hub.history = [repository.base, "5" * 40]
    hub.run(5, "5" * 40, branch="stable")
    hub.artifact(5, "of-mine", {NAME: measured_at(stored, "5" * 40)})
    repository.git("checkout", "-q", "-B", "change")
    repository.head = repository.git("rev-parse", "HEAD")
    _, outputs, printed = job()
    assert outputs["artifact_name"] == "of-mine"
    assert "the stored result is of 5555555, the newest of stable" in printed


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        pytest.param(
            Fault("POST", 403, message="Resource not accessible by integration"),
            "lacks `permissions: {pull-requests: write}`",
            id="read-only",
        ),
        pytest.param(Fault("POST", 422, message="Body is too long"), "422 (Body is too long)", id="too long"),
        pytest.param(Fault("POST", 404), "404", id="404"),
        pytest.param(Fault("GET .*/comments", 403), "pull-requests: read", id="cannot even read"),
        pytest.param(Fault("POST", 429, {"Retry-After": "7200"}), "rate limit", id="limit"),
        pytest.param(Fault("POST", 502), "GitHub answers with 502", id="502"),
    ],
)
def test_a_comment_that_is_refused_is_a_warning_and_a_file(job, hub, stored, trouble, told):
    hub.faults.append(trouble)
    job.repository.write("agent.py", WORSE)
    code, outputs, printed = job()
    assert (code, outputs["verdict"], outputs["comment_url"]) == (1, "failed", "")
    assert hub.bodies() == []
    [warning] = [line for line in printed.splitlines() if line.startswith("::warning ")]
    assert told in warning.replace("%25", "%")
    body = (job.repository.path / outputs["comment_body_path"]).read_text(encoding="utf-8")
    assert body.startswith(f"{MARKER}\n### ❌")


def test_an_answer_that_is_no_json_costs_no_verdict(job, hub, stored):
    hub.faults.append(Fault("GET .*/comments", 200))  # a message, no list
    code, outputs, printed = job()
    assert (code, outputs["verdict"]) == (0, "passed")
    assert "GitHub's answer is not what it describes" in printed
    hub.problems.clear()  # the answer was meant to be wrong


@pytest.mark.parametrize(
    ("when", "agent", "made"),
    [
        ("always", AGENT, 1),
        ("on-change", AGENT, 0),
        ("on-change", WORSE, 1),
        ("on-failure", AGENT, 0),
        ("on-failure", WORSE, 1),
        ("never", WORSE, 0),
    ],
)
def test_when_a_comment_is_made(job, hub, stored, when, agent, made):
    job.repository.write("agent.py", agent)
    job(INPUT_COMMENT=when)
    assert len(hub.bodies()) == made


def test_a_red_comment_is_corrected_once_it_is_green(job, hub, stored):
    job.repository.write("agent.py", WORSE)
    job(INPUT_COMMENT="on-failure")
    job.repository.write("agent.py", AGENT)
    job(INPUT_COMMENT="on-failure")
    [body] = hub.bodies()
    assert body.startswith(f"{MARKER}\n### ✅")


DEFAULT = {"default_branch": "main"}


def stored_elsewhere(job, hub, stored, file="main.yml", **more):
    """The base's result is that of another workflow file."""
    hub.runs.clear()
    hub.artifacts.clear()
    hub.run(1, job.repository.base, path=f".github/workflows/{file}", **more)
    hub.artifact(1, ARTIFACT, {NAME: measured_at(stored, job.repository.base)})


@pytest.mark.parametrize(("others", "base"), [(300, "1"), (1000, "")])
@pytest.mark.parametrize("elsewhere", [True, False], ids=["other workflow", "own workflow"])
def test_runs_of_pull_requests_cannot_hide_the_stored_base(job, hub, stored, others, base, elsewhere):
    """Anyone may add runs and artifacts of any name, from a branch of any name: behind many, the base is run."""
    if elsewhere:
        stored_elsewhere(job, hub, stored)
    for number in range(1000, 1000 + others):
        fork = {"branch": "main", "event": "pull_request", "repository_id": FORK_ID}
        hub.run(number, "f" * 40, **fork, **({"path": ".github/workflows/w.yml"} if elsewhere else {}))
        hub.artifact(number, ARTIFACT, {"a": "b"})
    job.repository.write("agent.py", WORSE)
    code, outputs, printed = job()
    assert code == 1, printed
    assert outputs["baseline_run_id"] == (base if elsewhere else "1")  # its own commit's runs are asked for first


def test_what_another_workflow_file_has_stored_is_the_base(job, hub, stored):
    stored_elsewhere(job, hub, stored)
    job.repository.write("agent.py", WORSE)
    code, outputs, printed = job()
    assert (code, outputs["baseline_run_id"]) == (1, "1"), printed
    assert "base: run 1 of main.yml on main" in printed


@pytest.mark.parametrize(
    "more", [{"event": "pull_request"}, {"repository_id": FORK_ID}, {"event": "workflow_run"}]
)
def test_what_another_workflow_file_has_stored_of_a_change_is_no_base(job, hub, stored, more):
    stored_elsewhere(job, hub, stored, **more)
    _, outputs, printed = job()
    assert outputs["baseline_run_id"] == "", printed
    assert hub.blob_asked == []


def test_the_settings_name_the_workflow_file_of_the_base(job, hub, stored):
    on_main(job, "runevals.yaml", SETTINGS + "baseline: {workflow: main.yml}\n")
    stored_elsewhere(job, hub, stored)
    hub.run(2, job.repository.base, path=".github/workflows/nightly.yml")
    hub.artifact(2, ARTIFACT, {NAME: stored})
    assert job()[1]["baseline_run_id"] == "1"
    hub.artifacts.clear()
    assert f"no run of main.yml of {job.repository.base[:7]}" in job()[2]


def test_a_required_workflow_of_another_repository_has_a_base(job, hub, stored):
    """Its file's name may be that of a workflow here, whose runs are none of its own."""
    required = {"GITHUB_WORKFLOW_REF": "o/policies/.github/workflows/evals.yml@refs/heads/main"}
    job.repository.write("agent.py", WORSE)
    stored_elsewhere(job, hub, stored, "evals.yml", event="merge_group")
    hub.asked.clear()
    assert job(**required)[1]["baseline_run_id"] == "1"
    hub.artifacts.clear()
    code, _, printed = job(**required)
    assert code == 1, printed
    assert f"base: a fresh run of {job.repository.base[:7]}" in printed
    assert not any("/workflows/" in path for path in hub.paths("GET"))


@pytest.mark.usefixtures("deployed")
def test_line_one_says_of_which_other_branch_the_base_is(job, hub, stored):
    """A change to release/2, for which nothing was ever stored; main has moved on since."""
    newest = "1" * 40
    stored_at(hub, stored, newest)
    hub.branches = {"main": newest}
    hub.history = [newest, job.repository.base]
    told = {**job.payload(), "repository": DEFAULT}
    told["pull_request"]["base"]["ref"] = "release/2"
    code, outputs, printed = job(told=told)
    assert (code, outputs["baseline_run_id"]) == (0, "1"), printed
    of_main = "compared with another branch: 1111111, the newest of main, as release/2 has none"
    assert of_main in printed
    assert of_main.replace(":", "&#58;").replace("/", "&#47;") in hub.bodies()[0].splitlines()[1]
    assert hub.bodies()[0].splitlines()[1].startswith("### ⚠️ ")
    hub.branches = {"main": "2" * 40}  # and no branch has that commit
    assert job(told=told)[1]["baseline_run_id"] == ""


def asked_another(stored, model="other"):
    """The stored document as if its run had asked another model."""
    conclusion = parse(stored, "x")
    run = conclusion.report.run
    cases = tuple(
        case(one.key, "f", suite=one.suite, file=one.file, fingerprint=one.fingerprint)
        for one in conclusion.report.cases
    )
    run = replace(run, target=replace(run.target, model=model))
    return write(replace(conclusion, report=run_report(run, cases)))


def test_a_run_by_hand_with_another_model_is_not_taken_for_the_base(job, hub, stored):
    hub.run(2, job.repository.base, event="workflow_dispatch")
    hub.artifact(2, ARTIFACT, {NAME: asked_another(stored)})
    job.repository.write("agent.py", WORSE)
    code, outputs, printed = job()
    assert (code, outputs["baseline_run_id"], outputs["regressions"]) == (1, "1", "1"), printed
    assert "another model" not in printed


@pytest.mark.parametrize(
    ("second", "taken"),
    [
        pytest.param(lambda text: text, "2", id="the newest of equals"),
        pytest.param(lambda text: with_errors(text, 1), "1", id="the one without errors"),
        pytest.param(lambda text: with_errors(asked_another(text), 1), "1", id="the one by the base's settings"),
        pytest.param(
            lambda text: text.replace('"format_version": 1', '"format_version": 99'), "1", id="the readable"
        ),
    ],
)
def test_of_two_bases_of_one_commit(job, hub, ten, second, taken):
    hub.run(2, job.repository.base)
    hub.artifact(2, ARTIFACT, {NAME: second(ten)})
    assert job()[1]["baseline_run_id"] == taken


def test_a_run_of_the_base_that_measured_another_commit_is_no_base(job, hub, stored):
    """A run by hand may check out whatever it likes."""
    hub.artifact(1, ARTIFACT, {NAME: stored.replace(job.repository.base, job.repository.head)})
    _, outputs, printed = job()
    assert outputs["baseline_run_id"] == "", printed
    assert f"it is of {job.repository.head[:7]}, which is not in the history of its run's commit" in printed


def test_a_run_of_the_base_that_measured_an_older_commit_is_of_that_commit(job, hub, stored):
    before = job.repository.base
    on_main(job, "agent.py", AGENT + "\n")
    hub.run(2, job.repository.base)
    hub.artifact(2, ARTIFACT, {NAME: stored})
    _, outputs, printed = job()
    assert outputs["baseline_run_id"] == "", printed
    older = f"{before[:7]}, measured by a run of {job.repository.base[:7]}"
    assert f"the base was run anew: the stored result is of {older}" in printed


def test_a_result_is_of_what_is_checked_out(job, hub, stored):
    """A step of a push to main may check out another commit than the one that was pushed."""
    push = {"before": "0" * 40, "ref": "refs/heads/main", "repository": {"default_branch": "main"}}
    job("push", push, GITHUB_SHA=job.repository.base)
    document = json.loads((job.repository.path / ".evals/results/results.json").read_text(encoding="utf-8"))
    assert document["run"]["commit"] == job.repository.head


def test_line_one_says_that_the_base_asked_another_model(job, hub, stored):
    hub.artifacts.clear()
    hub.artifact(1, ARTIFACT, {NAME: asked_another(stored)})
    _, outputs, printed = job()
    assert outputs["baseline_run_id"] == "1", printed
    assert "another model&#58; other on the base, none named here" in hub.bodies()[0].splitlines()[1]


def test_an_older_run_that_ends_later_leaves_the_verdict_of_the_newer_one(job, hub, stored):
    job.repository.write("agent.py", WORSE)
    job(GITHUB_RUN_ID="100")
    newer = hub.bodies()
    job.repository.write("agent.py", AGENT)
    code, outputs, printed = job(GITHUB_RUN_ID="99")
    assert (code, outputs["verdict"]) == (0, "passed")
    assert hub.bodies() == newer
    assert "The comment is of a later run and stays as it is: https://github.com/o/r/pull/7" in printed


def test_without_a_token_nothing_is_asked_and_the_base_is_run(job, hub, stored):
    hub.asked.clear()
    code, _, printed = job(INPUT_GITHUB_TOKEN="")
    assert code == 0, printed
    assert "there is no github_token to look for one with" in printed
    assert f"base: a fresh run of {job.repository.base[:7]}" in printed
    assert hub.asked == []


def test_annotations_can_be_turned_off_and_there_are_ten_at_most(job, hub, stored):
    job.repository.write("agent.py", WORSE)
    assert "::error" not in job(INPUT_ANNOTATIONS="false")[2]


def test_hostile_answers_command_no_runner(job, hub):
    repository = job.repository
    repository.git("checkout", "-q", "main")
    (repository.path / "evals.json").unlink()
    name = "x, ::error::y##[error]z @octocat.json"
    items = [{"testId": f"k{n}", "prompt": str(n), "expected_response": "x"} for n in range(len(TEXTS))]
    repository.write(name, {**SUITE, "items": items})
    repository.write("texts.json", [text.encode("utf-8", "replace").decode() for text in TEXTS])
    repository.write("agent.py", HOSTILE_AGENT)
    repository.write("runevals.yaml", "target: {type: python, function: 'agent.py:answer'}\nmin_pass_rate: 1\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "hostile")
    repository.base = repository.head = repository.git("rev-parse", "HEAD")
    hub.history = [repository.base]
    code, outputs, printed = job(INPUT_SUITES=f"{repository.path}/x*.json")
    assert code == 1, printed
    commands = {
        line.split("::")[1].split(" ")[0] for line in printed.splitlines() if line.lstrip().startswith("::")
    }
    assert commands == {"add-mask", "error", "group", "endgroup"}
    assert len(re.findall("^::error ", printed, re.MULTILINE)) == 10
    assert "##[" not in printed
    assert outputs["verdict"] == "failed"
    assert {*outputs, "shards", "durations"} == set(ACTION["outputs"])  # those are named by mode plan
    assert hub.bodies()[0].startswith(f"{MARKER}\n### ❌")


def test_shards_are_balanced_by_the_durations_that_the_plan_found(job, hub, stored):
    document = json.loads(stored)
    keys = [one["key"] for one in document["cases"]]
    for one, duration_s in zip(document["cases"], (1.0, 100.0), strict=True):
        one["attempts"][0]["turns"][0]["latency_s"] = duration_s
    hub.artifact(1, ARTIFACT, {NAME: json.dumps(document)})
    items = [*SUITE["items"], {"testId": "new", "prompt": "?", "expected_response": "!"}]
    job.repository.write("evals.json", {**SUITE, "items": items})
    _, plan, printed = job(INPUT_MODE="plan", INPUT_CASES_PER_SHARD="2")
    assert plan["durations"] == "1000,100000,"
    assert "split by the durations in run 1" in printed
    parts = []
    for shard in json.loads(plan["shards"]):
        code, _, printed = job(INPUT_SHARD=shard, INPUT_DURATIONS=plan["durations"])
        assert code == 0, printed
        parts.append([one.key for one in job.cases()])
    assert parts == [[keys[1]], [keys[0], "new"]]


@pytest.mark.parametrize("durations", ["1,2,3", "a,b", "1" * 99], ids=["of other cases", "no number", "too large"])
def test_durations_that_are_not_of_the_plan_measure_nothing(job, durations):
    code, _, printed = job(INPUT_SHARD="1/2", INPUT_DURATIONS=durations)
    assert code == 2
    assert "pass on the output `durations` of the job with mode: plan" in printed


def test_other_events_comment_on_nothing(job, hub, stored):
    group = {"base_sha": job.repository.base, "base_ref": "refs/heads/main", "head_sha": job.repository.head}
    _, outputs, _ = job("merge_group", {"merge_group": group})
    assert outputs["baseline_run_id"] == "1"
    push = {"before": job.repository.base, "ref": "refs/heads/main", "repository": {"default_branch": "main"}}
    assert job("push", push)[1]["baseline_run_id"] == "1"
    for event in ("schedule", "workflow_dispatch"):
        told = {"ref": "refs/heads/main", "repository": {"default_branch": "main"}}
        assert job(event, told)[1]["baseline_run_id"] == "1"
    assert job("release", {"release": {}})[1]["baseline_run_id"] == ""
    assert hub.comments == {}


def test_a_strangers_code_beside_secrets_is_refused_before_anything_runs(job, hub):
    code, outputs, printed = job("pull_request_target", GITHUB_SHA="f" * 40)
    assert (code, outputs) == (2, {"verdict": "unmeasured", "exit_code": "2"})
    assert "allow_untrusted: true" in printed
    assert hub.asked == []
    assert job("pull_request_target", GITHUB_SHA="f" * 40, INPUT_ALLOW_UNTRUSTED="true")[0] == 0


NEEDS_A_KEY = "import os\n" + AGENT.replace("return", "return os.environ['OPENAI_API_KEY'] or")


def test_a_fork_without_keys_is_skipped_in_words_of_its_own(job, hub, stored):
    job.repository.write("agent.py", NEEDS_A_KEY)
    hub.faults.append(Fault("POST", 403, message="Resource not accessible by integration"))
    code, outputs, printed = job(told=job.payload(FORK_ID), OPENAI_API_KEY="")
    assert (code, outputs["verdict"], outputs["pass_rate"]) == (0, "skipped", "")
    assert (
        "– Skipped, and the check passes: changes from forks and Dependabot have no access to OPENAI_API_KEY"
        in printed
    )
    body = (job.repository.path / outputs["comment_body_path"]).read_text(encoding="utf-8")
    assert body.startswith(f"{MARKER}\n### ⚪ Skipped, and the check passes&#58; changes from forks ")
    assert "Nothing of this change was measured; a maintainer can have it measured by pushing its branch" in body
    assert "makes the check fail instead" in body
    assert "Pass rate" not in printed
    assert "Pass rate" not in body


def test_dependabot_is_skipped_too_and_credentials_can_be_required(job, hub):
    job.repository.write("agent.py", NEEDS_A_KEY.replace("OPENAI_API_KEY", "MODEL_TOKEN"))
    assert job(GITHUB_ACTOR="dependabot[bot]", MODEL_TOKEN="")[1]["verdict"] == "skipped"
    code, outputs, _ = job(told=job.payload(FORK_ID), MODEL_TOKEN="", INPUT_REQUIRE_CREDENTIALS="true")
    assert (code, outputs["verdict"]) == (3, "unmeasured")


def test_a_fork_whose_program_needs_none_of_the_empty_secrets_is_measured(job, hub, stored):
    """Its step names a key, which is empty in a fork's job; the program of the base does without."""
    assert job(told=job.payload(FORK_ID), OPENAI_API_KEY="")[1]["verdict"] == "passed"
    job.repository.write("agent.py", WORSE)
    code, outputs, printed = job(told=job.payload(FORK_ID), OPENAI_API_KEY="")
    assert (code, outputs["verdict"]) == (1, "failed"), printed


def test_one_error_of_a_fork_does_not_excuse_what_it_measured(job, hub, stored):
    """Nothing but an error in every case is taken for a missing secret."""
    items = [{"testId": f"new {n}", "prompt": f"{n}?", "expected_response": "no"} for n in range(2)]
    job.repository.write("evals.json", {**SUITE, "items": items})
    job.repository.write("agent.py", "def answer(prompt):\n return {'0?': 'no'}[prompt]\n")
    code, outputs, printed = job(told=job.payload(FORK_ID), OPENAI_API_KEY="")
    assert (code, outputs["verdict"]) == (3, "unmeasured"), printed


def test_a_fork_that_needs_no_key_is_measured(job, hub, stored):
    job.repository.write("agent.py", WORSE)
    assert job(told=job.payload(FORK_ID))[0] == 1
    assert job(told=job.payload(FORK_ID), INPUT_GITHUB_TOKEN="")[0] == 1  # against the base, run anew
    assert job(MODEL_TOKEN="")[1]["verdict"] == "failed"  # and so is a change of the repository's own


FORK = {"event": "pull_request", "repository_id": FORK_ID, "branch": "main"}
OF_RUN = {"workflow_run": {"id": 31}}


@pytest.fixture
def from_fork(job, hub, stored):
    """A fork's run 31 with its results, and the open pull request 7 of its head."""
    head = "f" * 40
    hub.run(31, head, **FORK)
    hub.artifact(31, ARTIFACT, {NAME: stored})
    hub.pull(7, head, branch="main", owner="mallory", repository_id=FORK_ID)
    return head


def test_a_forks_results_are_shown_by_the_trusted_side(job, hub, from_fork):
    code, _, printed = job("workflow_run", OF_RUN, INPUT_COMMENT_ID="")
    assert code == 0, printed
    [body] = hub.bodies()
    assert body.startswith(
        "<!-- runevals-unverified -->\n### ⚠ Reported by the fork's own run, not verified: 1 of 2"
    )
    assert f"blob/{from_fork}/" in body
    assert "actions/runs/31" in body
    assert not (job.repository.path / ".evals").exists()
    job("workflow_run", OF_RUN, INPUT_COMMENT_ID="")
    assert len(hub.bodies()) == 1
    assert hub.paths("PATCH") == []


def moved_on(hub):
    hub.pulls[0]["head"]["sha"] = "e" * 40


def of_another(hub):
    hub.pulls[0]["head"]["repo"]["id"] = 3


def own(hub):
    hub.runs.clear()
    hub.run(31, "f" * 40, event="pull_request")


def pushed(hub):
    hub.runs[-1]["event"] = "push"


@pytest.mark.parametrize("change", [moved_on, of_another, own, pushed, lambda hub: hub.pulls.clear()])
def test_where_no_pull_request_is_at_that_commit_nothing_is_posted(job, hub, from_fork, change):
    change(hub)
    code, _, printed = job("workflow_run", OF_RUN, INPUT_COMMENT_ID="")
    assert code == 0
    assert "Nothing to do" in printed
    assert hub.comments == {}
    assert hub.blob_asked == []


@pytest.mark.parametrize(
    ("archive", "told"),
    [
        (packed((NAME, "{}")), "no 'format_version'"),
        (BOMB, "unpacks to far more"),
        (packed((NAME, "{}"), ("../x", "")), "leads out of it"),
        (b"x", "no zip archive"),
    ],
)
def test_a_forks_odd_results_are_not_shown(job, hub, from_fork, archive, told):
    hub.artifacts[-1:] = []
    hub.artifact(31, ARTIFACT, archive)
    code, _, printed = job("workflow_run", OF_RUN, INPUT_COMMENT_ID="")
    assert code == 0
    assert told in printed
    assert hub.comments == {}


def test_dependabots_results_are_shown_by_the_trusted_side(job, hub, from_fork):
    hub.runs.clear()
    hub.run(31, "f" * 40, event="pull_request", branch="dependabot/x", actor={"login": "dependabot[bot]"})
    hub.pulls.clear()
    hub.pull(8, "f" * 40, branch="dependabot/x")
    job("workflow_run", OF_RUN, INPUT_COMMENT_ID="")
    assert "### ⚠ Reported by Dependabot's own run, not verified: 1 of 2" in hub.bodies(8)[0]
    hub.comments.clear()
    hub.comment(8, f"{MARKER}\n### ✅ Fine\n\n<!-- run 31, attempt 1, of {'f' * 40} -->\n")
    assert "this run has commented by itself" in job("workflow_run", OF_RUN, INPUT_COMMENT_ID="")[2]
    assert len(hub.bodies(8)) == 1


def test_a_prepared_comment_is_posted_from_the_command_line(hub, job, stored, runevals, monkeypatch):
    path = job.repository.write("saved.json", stored)
    for name, value in {"GITHUB_TOKEN": TOKEN, "GITHUB_REPOSITORY": "o/r", "GITHUB_API_URL": hub.url}.items():
        monkeypatch.setenv(name, value)
    code, out, _ = runevals("comment", path, "--pull-request", 7, "--comment-id", "evals-test", "--trusted")
    assert (code, out) == (0, "https://github.com/o/r/pull/7#issuecomment-1\n")
    assert hub.bodies()[0].startswith(f"{MARKER}\n### ")
    hostile = json.loads(stored)
    hostile["run"]["commit"] = "x) [y](http://e.example"
    runevals("comment", job.repository.write("hostile.json", hostile), "--pull-request", 9, "--trusted")
    assert "e.example" not in hub.bodies(9)[0]
    hub.faults.append(Fault("POST", 403))
    code, _, err = runevals("comment", path, "--pull-request", 8)
    assert code == 3
    assert "pull-requests: write" in err
    monkeypatch.delenv("GITHUB_TOKEN")
    assert runevals("comment", path, "--pull-request", 7)[0] == 2


def test_a_merge_of_shards_asks_the_base_again_before_it_blocks(job, hub, tmp_path_factory):
    """The model behind both sides got worse, and a critical case with it."""
    repository, model = job.repository, tmp_path_factory.mktemp("model") / "says"
    model.write_text("Paris")
    critical = {"extensions": {"runevals": {"critical": True}}}
    suite = {**SUITE, "items": [{**SUITE["items"][0], **critical}, SUITE["items"][1]]}
    repository.git("checkout", "-q", "main")
    repository.write("evals.json", suite)
    repository.write("agent.py", f"def answer(prompt):\n return open({str(model)!r}).read()\n")
    repository.write(
        "runevals.yaml", "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer'}\n"
    )
    repository.git("commit", "-qam", "an agent behind a model")
    push = {"before": "0" * 40, "ref": "refs/heads/main", "repository": {"default_branch": "main"}}
    assert job("push", push)[0] == 0
    repository.base = repository.git("rev-parse", "main")
    hub.history = [repository.base]
    hub.run(1, repository.base)
    results = repository.path / ".evals/results/results.json"
    hub.artifact(1, ARTIFACT, {NAME: results.read_text(encoding="utf-8")})
    repository.git("checkout", "-qB", "change")
    repository.git("commit", "-q", "--allow-empty", "-m", "change")
    repository.head = repository.git("rev-parse", "HEAD")

    def merged():
        for part in ("1", "2"):
            code, _, printed = job(INPUT_SHARD=f"{part}/2", INPUT_OUTPUT_DIR=f"shards/{part}")
            assert code == 0, printed
        return job(INPUT_MODE="merge")

    model.write_text("Rome")
    code, _, printed = merged()
    assert code == 0, printed
    assert "No loss proven – a failed that passed on the base" in hub.bodies()[0]

    model.write_text("Paris")
    repository.write("agent.py", "def answer(prompt):\n return 'Rome'\n")
    code, _, printed = merged()
    assert code == 1, printed
    assert "a critical case is lost" in hub.bodies()[0]
    comparison = repository.document(".evals/results/results.json")["comparison"]
    [found] = [each for each in comparison["findings"] if each["name"] == "a"]
    rates = found["base"]["pass_rate"], found["head"]["pass_rate"]
    assert (found["reason"], rates) == ("proven", (1.0, 0.0))


def test_a_merge_of_shards_runs_a_base_that_cannot_be_read(job, hub, ten):
    expired(hub)
    job.repository.write("agent.py", "def answer(prompt):\n return 'no' if prompt == '3' else 'yes'\n")
    for part in ("1", "2"):
        assert job(INPUT_SHARD=f"{part}/2", INPUT_OUTPUT_DIR=f"shards/{part}")[0] == 0
    code, outputs, printed = job(INPUT_MODE="merge")
    assert (code, outputs["regressions"], outputs["baseline_run_id"]) == (1, "1", ""), printed
    assert f"base: a fresh run of {job.repository.base[:7]}" in printed


def test_a_merge_without_a_base_that_can_be_read_or_run_is_no_pass(job, hub, deployed, stored):
    expired(hub)
    assert job(INPUT_SHARD="1/1", INPUT_OUTPUT_DIR="shards/1")[0] == 0
    code, outputs, printed = job(INPUT_MODE="merge")
    assert (code, outputs["verdict"]) == (3, "unmeasured"), printed
    assert "there is no base to compare with: " in printed


LEG = {"RUNEVALS_MATRIX": '{"model": "a"}', "INPUT_COMMENT_ID": ""}


def test_legs_of_a_matrix_and_steps_share_neither_comment_nor_artifact(job, hub, stored):
    names = {
        job(**LEG, GITHUB_ACTION="__runevals_runevals")[1]["artifact_name"],
        job(**{**LEG, "RUNEVALS_MATRIX": '{"model": "b"}'})[1]["artifact_name"],
        job(**LEG, GITHUB_ACTION="__runevals_runevals_2")[1]["artifact_name"],
    }
    assert len(names) == len(hub.bodies()) == 3


def test_a_comment_id_in_the_settings_file_is_not_shared_by_legs(job, hub, stored):
    text = SETTINGS + "comment_id: nightly\n"
    on_main(job, "runevals.yaml", text)
    names = {job(**{**LEG, "RUNEVALS_MATRIX": matrix})[1]["artifact_name"] for matrix in ('{"m": 1}', '{"m": 2}')}
    assert len(names) == len(hub.bodies()) == 2
    assert all(name.startswith("runevals-nightly-m-") for name in names)


def test_a_job_of_a_called_workflow_without_an_id_is_refused(job, hub, stored):
    code, outputs, printed = job(INPUT_COMMENT_ID="", RUNEVALS_CALLED_WORKFLOW="o/r/.github/workflows/x.yml@main")
    assert (code, outputs["exit_code"]) == (2, "2")
    assert "comment_id is missing: this job is of o/r/.github/workflows/x.yml" in printed
    assert not hub.comments
