"""`--cache-target`, as a user meets it."""

from __future__ import annotations

import pytest

from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.sample_suites import SUITE

FLAGS = ["--target", "openai:tiny", "--cache-target", "-q"]
PRICES = "prices: {tiny-2026-09: {input: 1, output: 2}}\n"


@pytest.fixture
def asked(project, monkeypatch):
    """A project whose target is a server that answers rightly at first, and never again."""
    project.write("evals.json", SUITE)
    project.write("runevals.yaml", PRICES)
    with chat_server(lambda body, n: Reply("Paris and Lima" if n < 4 else "no idea")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-ours")
        project.server = server
        yield project


def test_a_second_run_calls_nobody_and_every_report_says_so(asked, runevals):
    outputs = ["-o", "out.json", "-o", "out.csv", "-o", "out.xml", "-o", "out.md"]
    runevals(*FLAGS, "--repeat", "2", *outputs)
    first = asked.document()
    assert "cached" not in (asked.path / "out.xml").read_text()
    code, out, err = runevals(*FLAGS, "--repeat", "2", *outputs)
    assert (code, len(asked.server.requests)) == (0, 4), err
    second = asked.document()
    assert (first["totals"]["cached"], second["totals"]["cached"]) == (0, 4)
    turns = [turn for case in second["cases"] for attempt in case["attempts"] for turn in attempt["turns"]]
    assert [turn["cached"] for turn in turns] == [True] * 4
    assert second["totals"]["cost_usd"] == first["totals"]["cost_usd"] > 0
    assert "4 answers from the cache" in out
    assert "4 answers from the cache" in (asked.path / "out.md").read_text()
    assert (asked.path / "out.csv").read_text().count(",cached\n") == 5  # the header and each row
    assert 'name="cached.a" value="2 of 2 runs"' in (asked.path / "out.xml").read_text()


def test_more_attempts_are_made_not_copied(asked, runevals):
    runevals(*FLAGS, "-o", "out.json")
    runevals(*FLAGS, "--repeat", "3", "-o", "out.json")
    assert len(asked.server.requests) == 6
    attempts = [
        attempt["turns"][0]["cached"] for case in asked.document()["cases"] for attempt in case["attempts"]
    ]
    assert attempts == [True, False, False] * 2


def test_nothing_is_kept_unless_asked(asked, runevals):
    for _ in range(2):
        runevals("--target", "openai:tiny", "-q", "-o", "out.json")
    assert len(asked.server.requests) == 4


@pytest.mark.parametrize("way", ["CI", "none"])
def test_where_nothing_is_cached_it_says_so(asked, runevals, monkeypatch, way):
    if way == "CI":
        monkeypatch.setenv("CI", "true")
    code, _, err = runevals(*FLAGS, *(["--cache", "none"] if way == "none" else []))
    ended(code, 2, err, "name a folder with --cache")
    assert not asked.server.requests


@pytest.mark.parametrize("target", ["command:cat", "python:agent.py:answer", "recorded:answers.jsonl"])
def test_answers_that_may_be_out_of_date_are_not_kept(asked, runevals, target):
    asked.write("agent.py", "def answer(prompt): return 'Paris'")
    asked.write("answers.jsonl", '{"case": "a", "output": "Paris"}\n')
    code, _, err = runevals("--target", target, "--cache-target")
    ended(code, 2, err, "keeps answers of openai targets only")


def test_copies_are_not_counted_twice_in_a_pooled_base(asked, runevals):
    for name in ("runs/1.json", "runs/2.json", "runs/3.json"):
        runevals(*FLAGS, "-o", name)
    for _ in range(2):  # the second one is answered wrongly
        runevals("--target", "openai:tiny", "--baseline", "runs", "-o", "head.json")
    changes = asked.document("head.json")["comparison"]["changes"]
    assert [len(change["before"]["attempts"]) for change in changes if change["before"]] == [1, 1]


def test_a_base_that_is_run_beside_is_asked_anew(repository, runevals, monkeypatch):
    with chat_server(lambda body, n: Reply("Paris")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-ours")
        runevals(*FLAGS, "--base", "main", "--repeat", "1", "-o", "out.json")
        both = len(server.requests)
        runevals(*FLAGS, "--base", "main", "--repeat", "1", "-o", "out.json")
        of_head = repository.document()["totals"]["cases"]
        assert len(server.requests) == both + both - of_head > both  # all of the base again, none of the head
    assert repository.document()["totals"]["cached"] == of_head
