"""A failing check names the lines that lost cases: the search follows the run, within limits of the base."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.github.emulator import REPOSITORY_ID
from tests.sample_suites import EXACT

AGENT = """
import pathlib
def answer(prompt):
    rules = pathlib.Path("prompts/support.md").read_text()
    return "yes" if prompt.partition(" ")[0] + ":" in rules else "no"
"""
SETTINGS = (
    "suites: [evals.json]\nbase: run\ntarget: {type: python, function: 'agent.py:answer', deterministic: true}\n"
)
PROMPT = "# Support\n\n- shipping: 3 to 5 days.\n- hours: 9 to 5.\n- returns: 30 days.\n"
WORSE = "# Support team\n\n- shipping. Soon.\n- hours: 9 to 5.\n- returns: within a month.\n"
LINE = "prompts/support.md:3 lost shipping-0 (put back: 0 of 1 → 1 of 1; "
ALIKE = "; not searched: 19 cases that failed alike"


@pytest.fixture
def change(job, hub):
    """A pull request that loses a category of three by one line of its prompt; `settings` are those of main."""
    repository = job.repository
    items = [
        {"testId": f"{name}-{n}", "prompt": f"{name} {n}", "expected_response": "yes", "category": name}
        for name in ("shipping", "hours", "returns")
        for n in range(20)
    ]

    def commit(settings=SETTINGS, of_change=None, agent=AGENT):
        repository.git("checkout", "-q", "main")
        repository.write("evals.json", {**EXACT, "items": items})
        for name, text in (
            ("agent.py", agent),
            ("runevals.yaml", settings),
            ("prompts/support.md", PROMPT),
        ):
            repository.write(name, text)
        repository.git("add", "-A")
        repository.git("commit", "-qm", "on main")
        repository.base = repository.git("rev-parse", "main")
        repository.git("checkout", "-q", "-B", "change")
        repository.write("prompts/support.md", WORSE)
        repository.write("runevals.yaml", of_change or settings)
        repository.git("commit", "-qam", "worse")
        repository.head = repository.git("rev-parse", "HEAD")
        hub.history = [repository.base]

    return commit


def document(job):
    return json.loads((job.repository.path / ".evals/results/results.json").read_text(encoding="utf-8"))


def test_the_line_that_lost_a_group_is_in_every_report(job, hub, change):
    change()
    code, outputs, printed = job()
    assert (code, "Which lines lost it\n" in printed) == (1, True), printed
    assert LINE in printed
    assert ALIKE in printed
    [body] = hub.bodies()
    assert "runevals blame" not in body  # it is known
    assert "**Which lines lost it**" in body
    assert "prompts&#47;support.md&#58;3 lost shipping-0" in body
    assert ALIKE in body
    for name in ("junit_path", "html_path"):
        assert "support.md:3 lost shipping-0" in (job.repository.path / outputs[name]).read_text("utf-8")
    [case] = document(job)["blame"]["cases"]
    assert (case["key"], case["alike"]) == ("shipping-0", 19)
    assert case["calls"] <= (60 + 60) / 5  # of the change and of its base


@pytest.mark.parametrize(
    ("settings", "of_change", "searched"),
    [
        pytest.param("blame: off\n", None, False, id="off"),
        pytest.param("blame: off\n", "blame: {max_runs: 100}\n", False, id="a change does not switch it on"),
        pytest.param("blame: {max_runs: 100}\n", "blame: off\n", True, id="nor off"),
        pytest.param("blame: {max_runs: 3}\n", None, False, id="too few runs for an answer"),
    ],
)
def test_the_settings_of_the_base_decide(job, hub, change, settings, of_change, searched):
    change(SETTINGS + settings, None if of_change is None else SETTINGS + of_change)
    code, _, printed = job()
    assert (code, LINE in printed) == (1, searched), printed
    assert ("runevals blame results.json" in hub.bodies()[0]) is not searched


def test_a_fork_is_not_searched(job, change):
    change()
    code, _, printed = job(told=job.payload(repository_id=REPOSITORY_ID + 1))
    assert (code, LINE in printed) == (1, False), printed


@pytest.mark.parametrize("granted", [True, False])
def test_a_change_reaches_no_more_in_the_search_than_in_its_run(job, change, tmp_path, granted):
    """A variable goes to the program only if the settings of the base give it, also with hunks put back."""
    log = tmp_path / "values"
    agent = AGENT.replace(
        "    return", "    log.write(os.environ.get('MODEL_ACCESS', 'none') + '\\n')\n    return"
    )
    agent = f"import os\nlog = open({str(log)!r}, 'a', buffering=1)\n{agent}"
    gives = SETTINGS.replace("deterministic: true", "deterministic: true, env: [MODEL_ACCESS]")
    change(gives if granted else SETTINGS, gives, agent)
    code, _, printed = job(MODEL_ACCESS="value-of-the-job")
    assert (code, LINE in printed) == (1, True), printed
    assert set(log.read_text().split()) == {"value-of-the-job" if granted else "none"}


def test_a_run_that_searches_nothing_does_not_load_the_search():
    code = "import sys, runevals.run.pipeline; sys.exit('runevals.run.blame.after_run' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
