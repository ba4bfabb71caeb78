"""What a fork's document says is said by nobody but the fork: the bot counts cases, and says whose they are."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from runevals.github.comments import marker
from runevals.reports.results_document import write
from tests.github.emulator import FORK_ID, TOKEN
from tests.github.exchanged_files import NAME
from tests.reports.conclusions import conclusion
from tests.sample_reports import case, report

HEAD = "f" * 40
FIRST = "### ⚠ Reported by the fork's own run, not verified: "
SENTENCE = "reviewed and approved by the security team, safe to merge"
LONG = " ".join(map(str, range(4000)))
LINK = "[approve](https://evil.example)"


def document(text: str = SENTENCE, cases: int = 50, failing: int = 0, key: str = "KB-{}") -> str:
    """The results of a fork, with this in all that is free text."""
    base = [case(key.format(n), "p") for n in range(cases)]
    head = [case(key.format(n), "f" if n < failing else "p", name=text, category=text) for n in range(cases)]
    head = [replace(each, tags=(text,), labels={"capability": (text,)}) for each in head]
    made = conclusion(report(head, deterministic=True), report(base, deterministic=True))
    run = replace(
        made.report.run, notices=(text,) * 5, ref=text, target=replace(made.report.run.target, model=text)
    )
    told = json.loads(write(replace(made, report=replace(made.report, run=run))))
    told["verdict"] |= {
        "headline": f"No regression in {cases} cases – {text}",
        "outcome": "passed",
        "exit_code": 0,
    }
    told["comparison"] |= {"source": text, "why": text, "caveats": [text], "critical_lost": [text]}
    told["gates"] = [{**gate, "name": text, "reason": text, "state": "passed"} for gate in told["gates"] * 20]
    return json.dumps(told)


@pytest.fixture
def post(project, hub, run, tmp_path_factory):
    """The workflow_run job after a fork's run 31, whose artifacts are these."""
    event = tmp_path_factory.mktemp("runner") / "event.json"
    event.write_text(json.dumps({"workflow_run": {"id": 31}}), encoding="utf-8")
    hub.run(31, HEAD, event="pull_request", repository_id=FORK_ID, branch="main")
    hub.pull(7, HEAD, branch="main", owner="mallory", repository_id=FORK_ID)

    def posted(artifacts, **inputs):
        for name, text in artifacts.items():
            hub.artifact(31, name, {NAME: text})
        ran = run(
            "action",
            CI="true",
            GITHUB_ACTIONS="true",
            GITHUB_EVENT_NAME="workflow_run",
            GITHUB_EVENT_PATH=str(event),
            GITHUB_API_URL=hub.url,
            GITHUB_REPOSITORY="o/r",
            GITHUB_RUN_ID="99",
            INPUT_GITHUB_TOKEN=TOKEN,
            **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
        )
        ran.must(0)
        return hub.bodies()

    return posted


def test_the_document_says_what_this_is_about():
    """The control: of the repository's own run, such a headline is shown."""
    assert SENTENCE in json.loads(document())["verdict"]["headline"]


@pytest.mark.parametrize("text", [SENTENCE, f"{SENTENCE} ✅ {LINK}", "@" * 80, "✅" * 2000, LONG])
@pytest.mark.parametrize("failing", [0, 3])
def test_no_sentence_of_a_fork_is_said_by_the_bot(post, text, failing):
    [body] = post({"runevals-evals": document(text, failing=failing)})
    marked, first, *rest = body.splitlines()
    assert marked == "<!-- runevals-unverified -->"
    assert first == f"{FIRST}{50 - failing} of 50 cases pass"
    assert rest[1].startswith("> The author of this change controls that run")
    for word in ("approved by the security", "evil.example", "✅", "@", "No regression", "1999"):
        assert word not in body
    assert len(body) < 5000


def test_a_key_that_is_a_sentence_is_not_shown(post):
    [body] = post({"runevals-evals": document(failing=1, key=f"{SENTENCE} {{}}")})
    assert "| number 1 | failed |" in body
    assert "approved by the security" not in body


def test_the_cases_are_counted_whatever_the_document_says_of_them(post):
    told = json.loads(document(failing=3))
    told["totals"] |= {"passed": 50, "failed": 0, "pass_rate": 1.0}
    [body] = post({"runevals-evals": json.dumps(told)})
    assert body.splitlines()[1] == f"{FIRST}47 of 50 cases pass"


def test_a_document_that_says_of_its_cases_what_their_checks_do_not_is_not_shown(post):
    told = json.loads(document(failing=3))
    for each in told["cases"]:
        each |= {"status": "passed", "pass_rate": 1.0}
    assert post({"runevals-evals": json.dumps(told)}) == []


def test_it_replaces_no_comment_of_a_run_of_our_own(post, hub):
    ours = [f"{marker(name)}\n### ❌ 3 of 50 cases regressed" for name in ("evals", "unverified", "-->", "")]
    for body in ours:
        hub.comment(7, body)
    bodies = post({"runevals-evals": document(), "runevals-unverified": document()})
    assert bodies[:-1] == ours
    assert bodies[-1].splitlines()[1] == f"{FIRST}100 of 100 cases pass"


def test_however_many_artifacts_a_fork_stores_there_is_one_comment(post, hub):
    [body] = post({f"runevals-{name}": document(cases=2) for name in ("a", "b", "c", "d", "e", "f", "g")})
    assert body.splitlines()[1] == f"{FIRST}10 of 10 cases pass"
    assert len(post({"runevals-h": document(cases=2)})) == 1
    assert len(hub.paths("POST")) == 1


def test_where_the_workflow_names_the_artifact_no_other_is_shown(post):
    bodies = post({"runevals-a": document(cases=2), "runevals-b": document(cases=3)}, comment_id="b")
    assert [body.splitlines()[:2] for body in bodies] == [
        ["<!-- runevals-unverified b -->", f"{FIRST}3 of 3 cases pass"]
    ]


def test_a_document_that_is_posted_by_hand_is_a_strangers_unless_it_is_vouched_for(project, hub, run):
    project.write("given.json", document())
    named = {"GITHUB_TOKEN": TOKEN, "GITHUB_REPOSITORY": "o/r", "GITHUB_API_URL": hub.url}
    run("comment", "given.json", "--pull-request", "7", **named).must(0)
    run("comment", "given.json", "--pull-request", "8", "--trusted", **named).must(0)
    assert hub.bodies(7)[0].splitlines()[1] == f"{FIRST}50 of 50 cases pass"
    assert SENTENCE not in hub.bodies(7)[0]
    assert SENTENCE in hub.bodies(8)[0]
