"""What a change may cost, how long it may take and how large become: beyond, it ends with 2 and a place."""

from __future__ import annotations

import json
import shutil
import time
import tracemalloc

import pytest

from runevals.lib.parsing.source import unique_keys
from runevals.lib.text.secrets import redactor
from runevals.models.chat.prices import Prices
from runevals.suites.urls.fetch import page_text
from tests.attacks.conftest import CASES, SUITE, commit, stock

SETTINGS = "suites: [evals.json]\nverify: 'off'\ntarget: {type: openai, model: %s}\n%s"
SECONDS = 10  # of our own time; without the bounds, some take hours


@pytest.fixture
def change(hostile):
    """A change of `runevals.yaml`: `change.of(base, head)` commits both, `change.calls` counts what was asked."""
    shutil.rmtree(hostile.path / ".git")
    stock(hostile.path, "init", "-q", "-b", "main")
    hostile.calls = 0

    def counted():
        hostile.calls += 1

    def of(base, head):
        for branch, settings in (("main", base), ("change", head)):
            stock(hostile.path, "checkout", "-q", "-b", branch)
            hostile.write("runevals.yaml", settings)
            hostile.commit = commit(hostile.path, branch)

    def run(*words, **environment):
        return hostile.run("run", "--base", "main", *words, CI="true", **environment)

    hostile.meanwhile, hostile.of, hostile.changed = counted, of, run
    return hostile


def test_a_change_of_few_calls_is_run(change):
    """The control."""
    change.of(SETTINGS % ("tiny", ""), SETTINGS % ("tiny", "repeat: 2\n"))
    change.changed().must(0)
    assert change.calls >= 2 * CASES


MANY = {
    "repeat": (SETTINGS % ("tiny", "repeat: 1000\n"), SUITE),
    "cases": (
        SETTINGS % ("tiny", ""),
        {**SUITE, "items": [{"prompt": str(n), "expected_response": "yes"} for n in range(1001)]},
    ),
    "votes of a judge": (SETTINGS % ("tiny", "repeat: 50\njudge: {model: big, votes: 9}\n"), "judged"),
    "parts of a composite": (SETTINGS % ("tiny", "repeat: 2\njudge: big\nevaluators:\n%s"), "composite"),
}


@pytest.mark.parametrize(("settings", "suite"), MANY.values(), ids=MANY)
def test_a_change_that_plans_many_calls_is_not_asked(change, settings, suite):
    parts = "".join(f"  - {{id: p{n}, type: llm, prompt: 'Good? {{{{output}}}} {n}'}}\n" for n in range(100))
    ids = ", ".join(f"p{n}" for n in range(100))
    whole = f"{parts}  - {{id: all, type: composite, evaluatorIds: [{ids}]}}\n"
    change.of(SETTINGS % ("tiny", ""), settings.replace("%s", whole))
    if suite == "judged":
        suite = {**SUITE, "default_evaluators": {"Relevance": {}}}
    if suite == "composite":
        change.write(
            "rows.json", {"rows": [{"input": "a", "id": str(n)} for n in range(6)], "evaluators": ["all"]}
        )
        text = (change.path / "runevals.yaml").read_text(encoding="utf-8")
        change.write("runevals.yaml", text.replace("evals.json", "rows.json"))
    else:
        change.write("evals.json", suite)
    commit(change.path, "many")
    change.changed().must(2, "calls of target and judge are planned", "at most 1000 may be")
    assert change.calls == 0


def test_the_base_says_how_many_calls_there_may_be(change):
    change.of(SETTINGS % ("tiny", "max_calls: 20\n"), SETTINGS % ("tiny", "max_calls: 9999\nrepeat: 2\n"))
    change.changed().must(2, "24 calls of target and judge are planned", "at most 20 may be")
    assert change.calls == 0


def test_three_times_the_calls_of_a_large_base_may_be_planned(change):
    change.of(SETTINGS % ("tiny", "repeat: 100\n"), SETTINGS % ("tiny", "repeat: 301\n"))
    change.changed().must(2, "3612 calls", "at most 3600 may be, 3 times the 1200 of the base")
    assert change.calls == 0


def test_prices_that_a_change_names_do_not_count(change):
    free = "repeat: 5\nprices: {mine: {input: 0, output: 0}}\n"
    change.of(SETTINGS % ("gpt-5-mini", "max_cost: 1\n"), SETTINGS % ("mine", free))
    change.changed("--concurrency", "1").must(3, "--max-cost cannot be kept")


def test_a_model_costs_the_same_in_capitals():
    assert Prices().cost_usd("GPT-5", 1000, 1000) == Prices().cost_usd("gpt-5", 1000, 1000)


def test_prices_of_the_base_count(change):
    """The control."""
    free = "repeat: 2\nmax_cost: 0.0001\nprices: {mine: {input: 0, output: 0}}\n"
    change.of(SETTINGS % ("mine", free), SETTINGS % ("mine", free + "depends_on: [x]\n"))
    change.changed("--concurrency", "1").must(0)


def rows(columns, lines=1):
    return f"input,expected,{','.join(columns)}\n" + "x,y\n" * lines


def sets(depth):
    assertion = {"type": "contains", "value": "x"}
    for _ in range(depth):
        assertion = {"type": "assert-set", "children": [assertion, assertion]}
    return json.dumps([{"sample_id": "s", "prompt": "q", "assertions": [assertion]}])


# What is in runevals.yaml, in another file, its name, and what the error says; more are in test_named_files.py.
REFUSED = {
    "assert-sets": (
        "suites: [s.json]",
        sets(15),
        "s.json",
        "s.json:1:51: /0/assertions/0 combines more than 1000",
    ),
    "stars between": (f"suites: ['{'**/*/' * 10}y.json']", "", "x", "y.json: there is no such file"),
    "a huge prompt": (
        "target: {type: openai, system_prompt_file: p}",
        lambda: b"x" * 2**27,
        "p",
        "p: is larger than 64 MiB",
    ),
}


@pytest.mark.parametrize(("settings", "content", "name", "told"), REFUSED.values(), ids=REFUSED)
def test_what_would_take_hours_or_crash_ends_with_its_place(hostile, settings, content, name, told):
    deep = hostile.path.joinpath(*["deep"] * 25)
    deep.mkdir(parents=True)
    path = hostile.path / name
    path.write_bytes(content() if callable(content) else content.encode())
    more = "" if settings.startswith("suites") else "suites: [evals.json]\n"
    hostile.write("runevals.yaml", f"{settings}\n{more}")
    started = time.process_time()
    hostile.run("run", "--evaluators", "preset-exact-match").must(2, told)
    assert time.process_time() - started < SECONDS


def test_a_template_does_not_multiply_a_prompt_without_end(hostile):
    item = {"prompt": "x" * 1_000_000, "expected_response": "y"}
    hostile.write("evals.json", json.dumps({"schemaVersion": "1.2.0", "items": [item]}))
    hostile.write("p.md", "{{prompt}}" * 600)
    hostile.write("runevals.yaml", "suites: [evals.json]\ntarget: {type: openai, model: m, prompt_file: p.md}\n")
    hostile.run("validate").must(2, "evals.json:1", "the prompts that p.md makes exceed 512 MiB")


@pytest.mark.parametrize("names", [("a", "."), ("d{}/x", "../d{}")], ids=["circles", "doubled"])
def test_links_to_folders_multiply_no_pattern(hostile, names):
    if names[0] == "a":
        for name in ("a", "b", "c"):
            (hostile.path / name).symlink_to(".")
    else:
        for number in range(12):
            (hostile.path / f"d{number}").mkdir()
            for name in ("x", "y"):
                (hostile.path / f"d{number}" / name).symlink_to(f"../d{number + 1}")
    hostile.write("runevals.yaml", "suites: ['**/no.json']\n")
    started = time.process_time()
    hostile.run("run").must(2, "no file matches it")
    assert time.process_time() - started < SECONDS


def test_a_key_that_is_there_twice_is_found_at_once():
    pairs = [(str(number), None) for number in range(300_000)]
    started = time.process_time()
    with pytest.raises(ValueError, match="duplicate key '299999'"):
        unique_keys([*pairs, pairs[-1]])
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("part", ["\\", "%25", "&amp;", "%", "&", "\\u00", "&#0"])
def test_an_answer_full_of_escapes_is_searched_for_secrets_at_once(part):
    redact = redactor({"AGENT_KEY": "agent-key-123456"})
    started = time.process_time()
    assert redact(part * (2_000_000 // len(part)) + "z").endswith("z")
    assert time.process_time() - started < SECONDS


def test_the_text_of_a_page_takes_little_more_than_the_page():
    page = "<b>x" * 20_000
    tracemalloc.start()
    try:
        assert page_text(page).count("x") == 20_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 * len(page)  # a tree of it took 400 times as much


def test_the_first_change_with_suites_is_measured_and_told_what_to_do_where_it_is_large(change):
    stock(change.path, "checkout", "-q", "-b", "main")
    stock(change.path, "commit", "-q", "--allow-empty", "-m", "nothing to run")
    change.write("runevals.yaml", SETTINGS % ("tiny", "repeat: 100\n"))
    change.changed(RUNEVALS_REPEAT="2").must(0, "has nothing to run: no suite found in it (looked")
    change.changed().must(
        2, "1200 calls", "3 times the 0 of the base", "lower `repeat`, set RUNEVALS_MAX_CALLS=1200 in the workflow"
    )
    change.changed(RUNEVALS_MAX_CALLS="1200").must(0)
