"""`redact: {patterns}`: what they match is written nowhere, and no pattern can do harm."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import yaml

from runevals.lib.parsing.limits import Limits
from runevals.run.redaction.patterns import PatternRedactor
from runevals.sandbox import Sandbox
from tests.ending import ended

CARD = "4111 1111 1111 1111"
PATTERN = r"\b(?:\d{4} ){3}\d{4}\b"
REPORTS = ("out.json", "out.html", "out.xml", "out.csv", "out.md")
SUITE = {
    "schemaVersion": "1.2.0",
    "default_evaluators": {"ExactMatch": {}},
    "items": [
        {"testId": "a", "prompt": f"Is {CARD} mine?", "expected_response": f"Yes, {CARD}", "name": f"of {CARD}"},
        {"testId": "b", "prompt": "Which\ncard?", "expected_response": "none"},
    ],
}
AGENT = f"""
def answer(prompt):
    if "Which" in prompt:
        raise ValueError("no {CARD} here")
    return {{"output": "It is {CARD}.", "toolCalls": [{{"name": "f", "input": {{"{CARD}": ["{CARD}"]}}}}]}}
"""


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(workers=1) as opened:
        yield opened


@pytest.mark.parametrize(
    ("patterns", "text", "told"),
    [
        ([PATTERN], f"a {CARD}, {CARD}", "a [redacted], [redacted]"),
        (["é+", r"\p{Lu}{3}"], "caféé ABCD", "caf[redacted] [redacted]D"),
        (["x", "y"], "xay", "[redacted]a[redacted]"),
        ([r"\w+"], "one [redacted] [redacted A_KEY]", "[redacted] [redacted] [redacted A_KEY]"),
        ([r"\b\d{16}\b"], "[redacted 4111111111111111]", "[redacted [redacted]]"),
        ([r"(.)\1"], "aabc", "[redacted]bc"),
        (["."], "\ud800😀", "[redacted][redacted]"),
        (["x"], "nothing", "nothing"),
    ],
)
def test_what_a_pattern_matches_is_replaced_once(sandbox, patterns, text, told):
    redact = PatternRedactor(patterns, sandbox)
    assert redact(text) == told
    assert redact(told) == told


def test_texts_are_replaced_however_many_and_deep(sandbox):
    texts = {f"k{n}": [f"card{n}: {CARD}", {"x": "y" * 100}] for n in range(5000)}
    made = PatternRedactor([PATTERN], sandbox).within(texts)
    assert made["k4999"] == ["card4999: [redacted]", {"x": "y" * 100}]
    assert CARD not in str(made)


@pytest.fixture
def told(project):
    def tell(*patterns):
        project.write("evals.json", SUITE)
        project.write("agent.py", AGENT)
        settings = {"suites": ["evals.json"], "target": "python:agent.py:answer", "errors": {"limit": 1}}
        project.write("runevals.yaml", json.dumps({**settings, "redact": {"patterns": patterns}}))
        return [word for name in REPORTS for word in ("-o", name)]

    return tell


def test_no_file_and_no_screen_holds_what_a_pattern_matches(told, project, runevals):
    outputs = told()
    runevals("-o", "base.json")  # from before there were patterns
    assert CARD in (project.path / "base.json").read_text()
    told(PATTERN)
    code, out, err = runevals(*outputs, "--baseline", "base.json", "--verify", "off", "--verbose")
    assert code == 0, err  # of two cases, one has no answer on either side, and `errors.limit` allows that
    assert CARD not in out + err
    assert [name for name in REPORTS if CARD in (project.path / name).read_text()] == []
    assert "Is [redacted] mine?" in (project.path / "out.json").read_text()
    assert {case["status"] for case in project.document()["cases"]} == {"failed", "errored"}
    assert runevals("report", "out.json", "-o", "scored.json", "--format", "eval-document")[0] == 0
    assert CARD not in (project.path / "scored.json").read_text()


def test_results_from_before_the_patterns_are_shown_without_what_they_match(told, project, runevals):
    told()
    runevals("-o", "old.json")
    runevals("--shard", "1/1", "-o", "shard.json")
    told(PATTERN)
    for words in (["compare", "old.json", "old.json"], ["merge", "shard.json", "--baseline", "old.json"]):
        written = [f"{words[0]}.json", f"{words[0]}.html"]
        _, out, err = runevals(*words, "-o", written[0], "-o", written[1])
        assert CARD not in out + err
        assert all(CARD not in (project.path / name).read_text() for name in written), words


def test_patterns_leave_the_hashes_by_which_results_of_another_tool_are_compared(repository, runevals):
    """An edit of a check showed as none, and the commit of the result was lost."""
    repository.write("runevals.yaml", {"redact": {"patterns": ["[0-9a-f]{20,}", CARD]}})
    repository.git("add", "-A")
    repository.git("commit", "-qm", "settings")
    tests = "".join(f'<testcase name="t{n}"/>' for n in range(9)) + f'<testcase name="{CARD}"/>'
    repository.write("base.xml", f"<testsuite name='s'>{tests}</testsuite>")
    lost = tests.replace('"t1"/>', f'"t1"><failure message="{CARD}"/></testcase>')
    repository.write("head.xml", f"<testsuite name='s'>{lost}</testsuite>")
    assert runevals("gate", "base.xml", "-o", "base.json")[0] == 0
    stored = repository.document("base.json")
    assert stored["run"]["commit"] == repository.git("rev-parse", "HEAD")
    assert len({case["fingerprint"] for case in stored["cases"]}) == 10
    for base in ("base.json", "base.xml"):
        code, out, err = runevals("gate", "head.xml", "--deterministic", "--baseline", base, "-o", "out.json")
        assert (code, "1 of 10 cases regressed" in out, CARD in out + err) == (1, True, False), err
    assert CARD not in (repository.path / "out.json").read_text()


def test_keys_of_another_tool_that_patterns_make_the_same_are_refused(repository, runevals):
    repository.write("runevals.yaml", {"redact": {"patterns": [r"KB-\d+"]}})
    repository.write("base.xml", "<testsuite name='s'><testcase name='KB-1'/><testcase name='KB-2'/></testsuite>")
    code, _, err = runevals("gate", "base.xml", "-o", "base.json")
    assert (code, "make the keys of several cases the same" in err) == (2, True), err


def test_what_another_tool_calls_its_checks_is_without_what_a_pattern_matches(repository, runevals):
    repository.write("runevals.yaml", {"redact": {"patterns": [PATTERN]}})
    statement = {"text": f"The card {CARD} is named", "passed": False, "evidence": CARD}
    run = {"eval_id": 1, "configuration": "with_skill", "result": {}, "expectations": [statement]}
    repository.write("benchmark.json", {"metadata": {}, "runs": [run], "run_summary": {}})
    _, out, err = runevals("gate", "benchmark.json", "-o", "out.json", "-o", "out.html")
    assert CARD not in out + err
    assert "The card [redacted] is named" in (repository.path / "out.json").read_text()
    assert [name for name in ("out.json", "out.html") if CARD in (repository.path / name).read_text()] == []


FAILS = [sys.executable, "-c", f"import sys; sys.exit('no card {CARD}')"]


def test_what_base_setup_prints_is_without_what_a_pattern_matches(repository, runevals):
    repository.write("runevals.yaml", {"base_setup": FAILS, "redact": {"patterns": [PATTERN]}})
    repository.write("evals.json", SUITE)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "settings")
    code, out, err = runevals("--base", "HEAD", "--target", "command:true")
    assert (code, "no card [redacted]" in err, CARD in out + err) == (3, True, False), err


def test_what_rerun_prints_is_without_what_a_pattern_matches(repository, runevals):
    repository.write("runevals.yaml", {"rerun": FAILS, "redact": {"patterns": [PATTERN]}})
    repository.git("add", "-A")
    repository.git("commit", "-qm", "settings")
    for name, end in {"base.xml": "", "head.xml": "<failure/>"}.items():
        tests = f"<testcase name='t'>{end}</testcase><testcase name='u'/>"
        repository.write(name, f"<testsuite name='s'>{tests}</testsuite>")
    assert runevals("gate", "base.xml", "-o", "base.json")[0] == 0
    code, out, err = runevals("gate", "head.xml", "--baseline", "base.json", "-o", "out.json")
    assert (code, "no card [redacted]" in out, CARD in out + err) == (3, True, False), out + err
    assert CARD not in (repository.path / "out.json").read_text()


def test_an_answer_that_a_pattern_matches_is_not_kept_for_later(told, project, runevals):
    told(PATTERN)
    runevals("-o", "out.json")
    kept = [path for path in (project.path / ".evals").rglob("*") if path.is_file()]
    assert [path.name for path in kept if CARD.encode() in path.read_bytes()] == []


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "SyntaxError"),
        ("a)|(b", "SyntaxError"),
        ("x*", "matches the empty text"),
    ],
)
def test_a_pattern_that_cannot_be_used_stops_the_run_and_nothing_is_written(told, project, runevals, pattern, why):
    outputs = told(pattern)
    code, _, err = runevals(*outputs)
    ended(code, 2, err, "redact.patterns: ", why)
    assert not set(REPORTS) & set(project.files())


@pytest.mark.parametrize(
    ("pattern", "text"),
    [(r"[\w.+-]+@[\w-]+\.[\w.]+", "x" * 200_000), (r"(?:\w+\s?)+=", "word " * 60 + "!")],
    ids=["long", "nested"],
)
def test_a_text_on_which_a_pattern_comes_to_no_end_is_taken_away_whole(
    told, project, runevals, monkeypatch, pattern, text
):
    monkeypatch.setattr("runevals.run.redaction.patterns.LIMIT_S", 0.5)
    outputs = told(pattern)
    project.write("agent.py", f"def answer(prompt): return {text!r} if 'mine' in prompt else 'none'\n")
    code, _, err = runevals(*outputs)
    assert code == 0, err
    document = project.document()
    answers = [case["attempts"][0]["turns"][0]["output"] for case in document["cases"]]
    assert answers == ["[redacted]", "none"]
    assert [case["status"] for case in document["cases"]] == ["failed", "passed"]
    [notice] = [notice for notice in document["run"]["notices"] if "redact.patterns" in notice]
    assert "do not come to an end on 1 of this run's texts" in notice
    for name in REPORTS:
        assert text[:100] not in (project.path / name).read_text(), name


def test_patterns_that_come_to_no_end_again_and_again_are_given_up_and_no_text_stays(monkeypatch):
    monkeypatch.setattr("runevals.run.redaction.patterns.LIMITS", Limits(patterns_s=1.25))
    monkeypatch.setattr("runevals.run.redaction.patterns.LIMIT_S", 0.5)

    class Calls:
        """The sandbox, and how often it was called."""

        count = 0

        def run(self, call):
            self.count += 1
            return opened.run(call)

    with Sandbox(workers=1) as opened:
        calls = Calls()
        redact = PatternRedactor([r"(b+)+$", r"\d{6}"], calls)
        redact.require_apart([("suite", "a-123456"), ("suite", "xy")])
        assert redact("b" * 2000 + "c") == "[redacted]"
        calls.count = 0
        assert redact("b" * 2000 + "c") == "[redacted]"  # it is not tried again
        assert calls.count == 0
        for number in range(2):
            assert redact("b" * 2000 + f"c{number}") == "[redacted]"
        calls.count = 0
        assert [redact("d"), redact("a-123456"), redact("xy")] == ["[redacted]", "a-[redacted]", "xy"]
        assert calls.count == 0


def test_the_patterns_of_the_documentation_come_to_an_end(sandbox):
    page = (Path(__file__).parents[3] / "docs" / "running.md").read_text(encoding="utf-8")
    [patterns] = re.findall(r"^  patterns:.*\n((?:    - .*\n)+)", page, re.MULTILINE)
    redact = PatternRedactor(yaml.safe_load(patterns), sandbox)
    assert redact(f"{CARD} ana@example.com") == "[redacted] [redacted]"
    long = "x" * 200_000
    assert redact(long) == long


def test_a_name_made_of_a_prompt_holds_no_half_of_a_match(told, project, runevals):
    told(PATTERN)
    prompt = f"{'word ' * 14} {CARD} and more"
    project.write("evals.json", {**SUITE, "items": [{"prompt": prompt, "expected_response": "x"}]})
    assert runevals("-o", "out.json")[0] == 0
    name = project.document()["cases"][0]["name"]
    assert name.startswith("word word")
    assert "4111" not in name
    assert len(name) <= 80


@pytest.mark.parametrize("before", ["You are kind. ", "word "])
def test_nor_does_one_of_a_prompt_that_is_sent_inside_a_longer_one(told, project, runevals, before):
    told(PATTERN)
    project.write("prompt.txt", f"{before}{{{{prompt}}}} Thank you.")
    target = {"type": "python", "function": "agent.py:answer", "prompt_file": "prompt.txt"}
    project.write("runevals.yaml", json.dumps({"target": target, "redact": {"patterns": [PATTERN]}}))
    prompt = f"{'word ' * 14} {CARD} and more"
    project.write("evals.json", {**SUITE, "items": [{"prompt": prompt, "expected_response": "x"}]})
    assert runevals("-o", "out.json")[0] == 0
    name = project.document()["cases"][0]["name"]
    assert "4111" not in name
    assert len(name) <= 80


def test_cases_stay_apart(told, project, runevals):
    told("^[ab]$")
    project.write("agent.py", "import pathlib\ndef answer(prompt): return str(pathlib.Path('asked').touch())\n")
    code, _, err = runevals("-o", "out.json")
    ended(code, 2, err, "keys of several cases the same")
    assert "asked" not in project.files()  # nothing was paid for


def test_statuses_and_fingerprints_stay(told, project, runevals):
    told()
    runevals("-o", "plain.json")
    told("passed|failed|errored|[0-9a-f]{6}|ExactMatch|target_failed")
    assert runevals("-o", "out.json")[0] == 0
    plain, made = project.document("plain.json"), project.document()
    for name in ("status", "fingerprint", "normalised_fingerprint"):
        assert [case.get(name) for case in made["cases"]] == [case.get(name) for case in plain["cases"]]
