"""A step of the action with several targets."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from tests.chat_server import Reply, chat_server
from tests.github.conftest import job as github_job  # noqa: F401 - a fixture
from tests.github.emulator import FORK_ID
from tests.github.job_names import ARTIFACT, MARKER
from tests.reports.parsed_page import Page
from tests.sample_suites import EXACT

PUSH = {"before": "0" * 40, "ref": "refs/heads/main", "repository": {"default_branch": "main"}}
ITEMS = [{"testId": f"k{number}", "prompt": f"{number}?", "expected_response": "yes"} for number in range(4)]
SURE = {"type": "python", "deterministic": True}
TARGETS = {name: {**SURE, "function": f"agent.py:{name}"} for name in ("mini", "nano")}
AGENT = "def mini(prompt):\n return 'yes'\ndef nano(prompt):\n return 'yes'\n"


def commit(job, message="change"):
    repository = job.repository
    repository.git("add", "-A")
    repository.git("commit", "-qm", message)
    repository.head = repository.git("rev-parse", "HEAD")


def stored(job, hub, outputs):
    """The files of a step, as its artifact of run 1."""
    files = [Path(line) for name in ("results_path", "pages_path") for line in outputs[name].splitlines()]
    contents = {path.name: (job.repository.path / path).read_text(encoding="utf-8") for path in files}
    hub.run(1, job.repository.base)
    hub.artifact(1, ARTIFACT, contents)
    return contents


@pytest.fixture
def main(github_job, hub):  # noqa: F811
    """Main, before anything was stored; `main.begin` commits these settings there and begins a change."""
    repository = github_job.repository
    repository.git("checkout", "-q", "main")
    repository.write(".gitignore", ".evals/\n")
    repository.write("evals.json", {**EXACT, "items": ITEMS})
    repository.write("agent.py", AGENT)

    def begin(settings):
        repository.write("runevals.yaml", settings)
        commit(github_job, "base")
        repository.base = repository.head
        hub.history = [repository.base]
        code, outputs, printed = github_job("push", PUSH)
        assert code == 0, printed
        contents = stored(github_job, hub, outputs)
        repository.git("checkout", "-q", "-B", "change")
        return contents

    github_job.begin = begin
    return github_job


@pytest.fixture
def job(main):
    contents = main.begin({"targets": TARGETS, "against": "mini", "depends_on": ["agent.py"]})
    assert sorted(contents) == [
        "mini.report.html",
        "mini.results.json",
        "nano.report.html",
        "nano.results.json",
    ]
    return main


def test_one_comment_has_the_table_and_a_section_for_each_target(job, hub):
    """Each is compared with its own stored result."""
    job.repository.write("agent.py", AGENT.replace("nano(prompt):\n return 'yes'", "nano(prompt):\n return 'no'"))
    commit(job)
    code, outputs, printed = job()
    assert code == 1, printed
    assert (outputs["verdict"], outputs["regressions"], outputs["baseline_run_id"]) == ("failed", "4", "1")
    assert (outputs["pass_rate"], outputs["artifact_name"]) == ("0.5000", ARTIFACT)
    assert [Path(line).name for line in outputs["junit_path"].splitlines()] == ["mini.junit.xml", "nano.junit.xml"]
    page = Page((job.repository.path / outputs["html_path"]).read_text(encoding="utf-8"))
    assert page.raw["title"].startswith("nano is worse than mini; 1 of 2 targets failed: nano")
    assert page.data("overview")["targets"]["pages"] == [None, None]  # it is an artifact of its own
    [body] = map(html.unescape, hub.bodies())
    assert body.startswith(
        f"{MARKER}\n### ❌ 1 of 2 targets failed: nano; 1 passed\n\n**✗ nano is worse than mini: "
    )
    assert "\n\n| | mini | nano |\n" in body
    assert "| Pass rate | 100.0 % | 0.0 % |" in body
    assert body.count("nano is ") == 1
    assert "#### ❌ nano: " in body
    assert "<details><summary>✅ mini: " in body
    assert (job.runner / "summary").read_text(encoding="utf-8").count("| Pass rate |") == 1


def test_nothing_is_run_if_nothing_changed(job, hub):
    job.repository.write("README.md", "words")
    commit(job)
    code, _, printed = job()
    assert (code, printed.count("No relevant changes since")) == (0, 2), printed


def test_the_single_target_of_the_base_is_run_for_each(main, hub):
    """A change from `target` to `targets` is not without a base."""
    main.begin({"target": TARGETS["mini"]})
    main.repository.write("runevals.yaml", {"targets": TARGETS})
    main.repository.write("agent.py", AGENT.replace("nano(prompt):\n return 'yes'", "nano(prompt):\n return 'no'"))
    commit(main)
    code, outputs, printed = main()
    assert (code, outputs["regressions"]) == (1, "4"), printed


def test_a_later_attempt_asks_only_for_what_is_missing(main, hub):
    """Of each target: one cannot be measured at first."""
    down = {"is": True}

    def answer(body, _number):
        return Reply(status=404) if down["is"] and body["messages"][-1]["content"] == "3?" else Reply("yes")

    main.repository.write("runevals.yaml", {"targets": {name: f"openai:{name}" for name in TARGETS}, "repeat": 1})
    commit(main, "models")
    with chat_server(answer) as server:
        given = {"INPUT_RESUME": "true", "OPENAI_API_KEY": "a-key-of-the-job", "OPENAI_BASE_URL": server.base_url}
        assert main("push", PUSH, **given)[0] == 3
        down["is"] = False
        server.requests.clear()
        code, _, printed = main("push", PUSH, **given)
    assert (code, [body["model"] for body in server.requests]) == (0, ["mini", "nano"]), printed


@pytest.mark.parametrize(
    ("variables", "code", "verdict", "excused"),
    [
        pytest.param(["TOKEN", "TOKEN"], 0, "skipped", 2, id="both lack it"),
        pytest.param(["HOME", "TOKEN"], 0, "passed", 1, id="one lacks it"),
        pytest.param(["TOKEN", "WORSE"], 1, "failed", 1, id="a loss is a loss"),
    ],
)
def test_a_program_of_a_fork_that_lacks_a_secret_is_excused(job, hub, variables, code, verdict, excused):
    """Each target on its own; the other is measured and compared."""
    body = "import os\n" + "".join(
        f"def {name}(prompt):\n return os.environ['{variable}'] and 'yes'\n"
        for name, variable in zip(TARGETS, variables, strict=True)
    )
    job.repository.write("agent.py", body.replace("os.environ['WORSE'] and 'yes'", "'no'"))
    commit(job)
    found, outputs, printed = job(told=job.payload(FORK_ID), TOKEN="", HOME="/")
    assert (found, outputs["verdict"]) == (code, verdict), printed
    assert printed.count("changes from forks and Dependabot have no access to TOKEN") >= excused


@pytest.mark.parametrize(
    ("settings", "inputs", "code", "reason"),
    [
        pytest.param({"targets": {"mini": TARGETS["mini"]}}, {}, 3, "the change removes nano", id="removed"),
        pytest.param({"target": TARGETS["mini"]}, {}, 3, "the change removes mini, nano", id="one again"),
        pytest.param({"targets": TARGETS}, {"SHARD": "1/2"}, 2, "shards are of one target", id="shard"),
        pytest.param({"targets": TARGETS}, {"BASELINE": "."}, 2, "base.json means base.mini.json", id="baseline"),
    ],
)
def test_what_does_not_pass(job, hub, settings, inputs, code, reason):
    job.repository.write("runevals.yaml", settings)
    commit(job)
    found, outputs, printed = job(**{f"INPUT_{name}": value for name, value in inputs.items()})
    assert (found, reason in printed) == (code, True), printed
    assert outputs["verdict"] == "unmeasured"
