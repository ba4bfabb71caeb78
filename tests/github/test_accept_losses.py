"""A loss that a pull request lists does not block once a reviewer agreed at that commit; any other still does."""

from __future__ import annotations

import json
import shutil

import pytest

from runevals.suites.accepted import FILENAME, MAX_BYTES, read_entries, written
from tests.github.emulator import Change, Fault, person
from tests.sample_suites import AGENT, SETTINGS, SUITE, WORSE

REASON = "shorter answers are wanted"
CRITICAL = {**SUITE, "items": [{**SUITE["items"][0], "category": "replay"}, SUITE["items"][1]]}
RIGHT = AGENT.replace("'Paris'}", "'Paris', 'Capital of Peru?': 'Lima'}")


@pytest.fixture
def accept(job, hub, stored, runevals):
    """Loses case a in the change, accepts that, and opens a pull request, which nobody has approved."""

    def change(agent=WORSE, keys=("a",), suite=None):
        job.repository.write("agent.py", agent)
        if suite is not None:
            job.repository.write("evals.json", suite)
        assert runevals("--base", "main")[0] in (1, 3)  # 3: a suite was removed, too little is left to compare
        if keys:
            assert runevals("accept", *keys, "--reason", REASON)[0] == 0
        shutil.rmtree(job.repository.path / ".evals")
        return commit(job, hub)

    return change


def commit(job, hub):
    """The pull request at a new commit of its branch."""
    repository = job.repository
    repository.git("add", "-A")
    repository.git("commit", "-qm", "lose it", "--allow-empty")
    repository.head = repository.git("rev-parse", "HEAD")
    hub.changes = [Change(7, repository.head)]
    hub.permissions = {"ana": "write", "ben": "admin"}
    return hub.changes[0]


def on_main(job, hub, name, content):
    """A commit of main after the stored result, with the change on top of it; the base is run anew."""
    repository = job.repository
    repository.git("checkout", "-q", "main")
    repository.write(name, content)
    repository.git("add", name)
    repository.git("commit", "-qm", "on main")
    repository.git("checkout", "-q", "change")
    repository.git("rebase", "-q", "main")
    repository.base = repository.git("rev-parse", "main")
    hub.history.insert(0, repository.base)


def document(job):
    return json.loads((job.repository.path / ".evals/results/results.json").read_text(encoding="utf-8"))


def test_an_approved_loss_does_not_block_and_stays_a_loss_in_the_results(job, hub, accept):
    accept().review("ana")
    code, outputs, printed = job("pull_request_review")
    assert (code, outputs["verdict"], outputs["regressions"]) == (0, "passed", "1"), printed
    assert f"⚠ 1 regressed, accepted by @ana: {REASON}\n" in printed
    assert hub.bodies()[0].splitlines()[1] == f"### ⚠️ 1 regressed, accepted by <code>&#64;</code>ana&#58; {REASON}"
    assert "::error" not in printed
    found = document(job)
    assert found["comparison"]["state"] == "worse"
    assert [change["change"] for change in found["comparison"]["changes"]] == ["regressed"]
    assert (found["acceptance"]["by"], found["acceptance"]["losses"][0]["case"]) == ("ana", "a")
    [gate] = [gate for gate in found["gates"] if gate["name"] == "no_regression"]
    assert (gate["state"], gate["reason"]) == ("warned", "1 of 2 cases regressed: a; accepted by @ana")


def test_the_merge_commit_of_the_approved_head_counts_too(job, hub, accept):
    accept().review("ana")
    head = job.repository.head
    job.repository.git("checkout", "-q", "main")
    job.repository.git("merge", "-q", "--no-ff", "-m", "merge", "change")
    assert job()[0] == 0
    job.repository.git("commit", "-q", "--amend", "-m", "another")  # the control: not what GitHub merged
    code, _, printed = job(GITHUB_SHA=head)
    assert code == 1
    assert "what is checked out is not the pull request's head" in printed


def queued(job, how="merge", more=None, **environment):
    """Makes the commit of a merge group for #7 as GitHub does, and runs its job."""
    repository = job.repository
    repository.git("checkout", "-q", "--detach", "main")
    if how == "rebase":
        repository.git("cherry-pick", "--allow-empty", "main..change")
    else:
        repository.git(
            "merge", "-q", *(("--squash",) if how == "squash" else ("--no-ff", "--no-commit")), "change"
        )
        if more is not None:
            repository.write(*more)
            repository.git("add", "-A")
        repository.git("commit", "-qm", "Lose it (#7)")
    base, head = repository.git("rev-parse", "main"), repository.git("rev-parse", "HEAD")
    ref = f"refs/heads/gh-readonly-queue/main/pr-7-{base}"
    group = {"head_sha": head, "head_ref": ref, "base_sha": base, "base_ref": "refs/heads/main"}
    return job("merge_group", {"merge_group": group}, **environment)


@pytest.mark.parametrize("how", ["merge", "squash", "rebase"])
def test_what_was_approved_holds_in_the_merge_group(job, hub, accept, how):
    accept().review("ana")
    code, outputs, printed = queued(job, how)
    assert (code, outputs["verdict"], outputs["regressions"]) == (0, "passed", "1"), printed
    assert f"⚠ 1 regressed, accepted by @ana: {REASON}\n" in printed


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("nobody", "nobody approved {head}; a label counts only in the run that it starts"),
        ("an earlier head", "nobody approved {head}"),
        ("the author", "@ben had a part in the change"),
        ("pushed since", "is #7 at {head} and nothing else"),
        ("more in the group", "is #7 at {head} and nothing else"),
        ("a 403", "GitHub answers with 403"),
    ],
)
def test_a_merge_group_takes_no_forged_acceptance(job, hub, accept, case, told):
    change, more = accept(), None
    if case == "an earlier head":
        change.review("ana", commit=job.repository.base)
    elif case == "the author":
        change.review("ben")
    elif case != "nobody":
        change.review("ana")
    if case == "pushed since":
        change.head = "5" * 40
    elif case == "more in the group":
        more = ("other.txt", "of #8")
    elif case == "a 403":
        hub.faults.append(Fault("/pulls/7", 403))
    change.labels = ["accepted"]
    code, outputs, printed = queued(job, "squash", more, RUNEVALS_ACCEPT_LABEL="accepted")
    assert (code, outputs["verdict"]) == (1, "failed"), printed
    assert f"{FILENAME} is not accepted: " in printed
    assert told.format(head=change.head[:7]) in " ".join(printed.split())


@pytest.mark.parametrize("by", ["nobody", "the author", "an earlier approval", "a bot", "a 403"])
def test_without_an_approval_that_counts_it_blocks_and_says_why(job, hub, accept, by):
    change = accept()
    told = "nobody approved"
    if by == "the author":
        change.review("ben")
        told = "@ben had a part in the change"
    elif by == "an earlier approval":
        change.review("ana", commit=job.repository.base)
    elif by == "a bot":
        change.review("ana", user={**person("ana"), "type": "Bot"})
        told = "@ana is not a person"
    elif by == "a 403":
        change.review("ana")
        hub.faults.append(Fault("/pulls/7/reviews", 403))
        told = "GitHub answers with 403"
    code, outputs, printed = job()
    assert (code, outputs["verdict"]) == (1, "failed")
    assert "1 of 2 cases regressed" in printed
    assert f"{FILENAME} is not accepted: " in printed
    assert told in " ".join(printed.split())


def test_a_label_of_the_settings_of_the_base_counts_at_its_event(job, hub, accept):
    change = accept()
    change.labels = ["accepted"]
    event = {**job.payload(), "action": "labeled", "label": {"name": "accepted"}, "sender": person("ana")}
    assert job(told=event)[0] == 1, "the base names no label"
    with_label = {"RUNEVALS_ACCEPT_LABEL": "accepted"}  # as the base's settings would
    assert job(told=event, **with_label)[0] == 0
    assert job(**with_label)[0] == 1, "another event of the same commit"
    event["pull_request"]["head"]["sha"] = job.repository.base
    assert job(told=event, **with_label)[0] == 1, "the label of an earlier commit"


def test_a_change_cannot_name_the_label_itself(job, hub, accept):
    accept()
    with (job.repository.path / "runevals.yaml").open("a", encoding="utf-8") as file:
        file.write("accept_label: accepted\n")
    commit(job, hub).labels = ["accepted"]
    event = {**job.payload(), "action": "labeled", "label": {"name": "accepted"}, "sender": person("ana")}
    code, _, printed = job(told=event)
    assert code == 1
    assert "accept_label: the setting was changed" in printed


def test_another_loss_still_blocks(job, hub, accept):
    on_main(job, hub, "agent.py", RIGHT)
    accept(agent=WORSE).review("ana")
    code, _, printed = job()
    assert code == 1
    assert "2 of 2 cases regressed" in printed
    assert "@ana accepted a, and this still blocks: 1 of 1 case regressed: b" in printed


def test_an_entry_with_other_fingerprints_means_nothing(job, hub, accept):
    accept()
    path = job.repository.path / FILENAME
    [entry] = read_entries(path.read_bytes(), FILENAME)
    path.write_text(path.read_text(encoding="utf-8").replace(entry.base, "0" * 64), encoding="utf-8")
    commit(job, hub).review("ana")
    code, _, printed = job()
    assert code == 1
    assert "no entry has the fingerprints of a case that was lost" in printed


def test_an_entry_ends_with_the_merge(job, hub, accept):
    """It is the base's own by now, and the reviewers of the next change saw nothing of it."""
    accept()
    on_main(job, hub, FILENAME, (job.repository.path / FILENAME).read_text(encoding="utf-8"))
    commit(job, hub).review("ana")
    code, _, printed = job()
    assert code == 1, printed
    assert "accepted by" not in printed


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param("[{case: a}]\n", "1:2", id="malformed"),
        pytest.param("- [\n", FILENAME, id="no YAML"),
        pytest.param("#" * (MAX_BYTES + 1), "larger than 1024 KiB", id="oversized"),
    ],
)
def test_a_file_that_cannot_be_read_is_not_accepted(job, hub, accept, content, told):
    accept()
    job.repository.write(FILENAME, content)
    commit(job, hub).review("ana")
    code, _, printed = job()
    assert code == 1
    assert f"{FILENAME} is not accepted" in printed
    assert told in printed


def test_entries_that_are_not_committed_do_not_count(job, hub, accept):
    """A program under test could have written them."""
    change = accept(keys=())
    change.review("ana")
    losing = job.repository.path / FILENAME
    losing.write_text(written([]), encoding="utf-8")
    code, _, printed = job()
    assert code == 1
    assert "accepted" not in printed


def test_a_program_under_test_cannot_set_the_label(job, hub, accept):
    """The event of the job is read before it runs."""
    event = {"action": "labeled", "label": {"name": "accepted"}, "sender": person("ana")}
    path = job.runner / "event.json"
    write = f"import json\np = {str(path)!r}\nt = json.load(open(p)) | {event!r}\njson.dump(t, open(p, 'w'))\n"
    path.write_text("{}", encoding="utf-8")
    accept(agent=write + WORSE).labels = ["accepted"]
    code, _, printed = job(RUNEVALS_ACCEPT_LABEL="accepted")
    assert code == 1, printed
    assert json.loads(path.read_text(encoding="utf-8"))["action"] == "labeled", "the attack was made"


def test_a_critical_case_can_be_lost_on_purpose(job, hub, critical, accept):
    accept().review("ana")
    code, _, printed = job()
    assert code == 0, printed
    assert f"1 regressed, accepted by @ana: {REASON}" in printed


def test_a_critical_case_can_be_removed_on_purpose(job, hub, critical, accept):
    accept(agent=AGENT, suite={**CRITICAL, "items": CRITICAL["items"][1:]}).review("ana")
    code, _, printed = job()
    assert code == 0, printed
    assert f"1 removed, accepted by @ana: {REASON}" in printed


@pytest.fixture
def critical(job, hub, stored):
    """Case a is critical on the base."""
    on_main(job, hub, "evals.json", json.dumps(CRITICAL))


def test_a_change_that_lost_nothing_asks_nobody(job, hub, accept):
    accept()
    job.repository.write("agent.py", AGENT)
    commit(job, hub)
    assert job()[0] == 0
    assert not any("/reviews" in path for path in hub.paths("GET"))


def telling(numbers):
    """A program that has these answers."""
    answers = {f"in {n}": f"out {n}" for n in numbers}
    return f"TOLD = {answers!r}\n\n\ndef answer(prompt):\n    return TOLD.get(prompt, 'nothing')\n"


@pytest.fixture
def two_suites(job, hub, stored):
    """Two suites on the base, of six and of four cases."""
    for name, numbers in (("evals.json", range(6)), ("more/evals.json", range(6, 10))):
        items = [{"testId": f"k{n}", "prompt": f"in {n}", "expected_response": f"out {n}"} for n in numbers]
        on_main(job, hub, name, json.dumps({**SUITE, "items": items}))
    on_main(job, hub, "runevals.yaml", SETTINGS.replace("evals.json", "'**/evals.json'"))
    on_main(job, hub, "agent.py", telling(range(10)))


@pytest.mark.usefixtures("two_suites")
@pytest.mark.parametrize(
    ("keys", "code", "told"),
    [
        (("k6", "k7", "k8", "k9"), 0, f"4 removed, accepted by @ana: {REASON}"),
        (("k6", "k7", "k8"), 3, "1 case removed: k9 – 3 removed, accepted by @ana"),
        ((), 3, "only 0 of the base's 4 cases in more/evals.json can be compared"),
    ],
    ids=["all of it", "but one", "none"],
)
def test_a_suite_can_be_removed_on_purpose(job, accept, keys, code, told):
    (job.repository.path / "more" / "evals.json").unlink()
    accept(agent=telling(range(6)), keys=keys).review("ana")
    got, _, printed = job()
    assert (got, told in printed) == (code, True), printed


def merged(job, before, branch="main"):
    """The run of main after the pull request was merged."""
    repository = job.repository
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--no-ff", "-m", "Merge #7", "change")
    ref = {"ref": f"refs/heads/{branch}", "repository": {"default_branch": "main"}}
    return job("push", {"before": before, "sender": {"login": "ana"}, **ref})


def test_what_was_merged_with_its_acceptance_does_not_block_the_default_branch(job, hub, accept):
    accept()
    base = job.repository.base
    code, _, printed = merged(job, base)
    assert (code, f"⚠ 1 regressed, accepted by @ana: {REASON}\n" in printed) == (0, True), printed


def test_a_push_to_another_branch_accepts_nothing(job, hub, accept):
    accept()
    assert merged(job, job.repository.base, branch="release")[0] == 1


def test_an_entry_that_was_merged_before_accepts_no_later_loss(job, hub, accept):
    accept()
    on_main(job, hub, FILENAME, (job.repository.path / FILENAME).read_text(encoding="utf-8"))
    code, _, printed = merged(job, job.repository.base)
    assert (code, "accepted by" in printed) == (1, False), printed
