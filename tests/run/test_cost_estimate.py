"""The cost that `plan` expects: from an earlier run's tokens, else a minimum, else unknown."""

from __future__ import annotations

import json
import re

from tests.chat_server import Reply, chat_server
from tests.sample_suites import SUITE

PRICES = "prices: {tiny: {input: 1000, output: 10000}}\n"


def cost(out):
    return re.search(r"^cost +(.*)$", out, re.MULTILINE)[1]


def test_the_cost_is_that_of_as_many_calls_with_the_tokens_of_the_last_run(project, runevals, monkeypatch):
    project.write("evals.json", SUITE)
    project.write("runevals.yaml", f"target: 'openai:tiny'\n{PRICES}")
    # 37 characters of prompts, 9 tokens for three attempts each: 27 tokens
    assert cost(runevals("plan", "--repeat", "3")[1]).startswith("at least $0.02")
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    with chat_server(lambda _body, _: Reply("Paris", usage=usage)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert runevals()[0] == 0
    # 6 calls of 10 and 5 tokens: 60 at $0.001 and 30 at $0.01
    assert re.fullmatch(
        r"about \$0\.36 \(from the tokens in .*\.json\)", cost(runevals("plan", "--repeat", "3")[1])
    )
    assert json.loads(runevals("plan", "--repeat", "3", "--format", "json")[1])["cost_usd"] == 0.36
    assert cost(runevals("plan", "--model", "other")[1]) == "unknown: no price, or no tokens of an earlier run"


def test_each_of_several_targets_has_the_tokens_of_its_own_results(project, runevals, monkeypatch):
    project.write("evals.json", SUITE)
    project.write("runevals.yaml", f"targets: {{small: 'openai:tiny', large: 'openai:tiny'}}\n{PRICES}")
    for name, tokens in (("small", 10), ("large", 20)):
        usage = {"prompt_tokens": tokens, "completion_tokens": tokens, "total_tokens": 2 * tokens}
        with chat_server(lambda _body, _, usage=usage: Reply("Paris", usage=usage)) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            assert runevals("--target", name)[0] == 0
    costs = [cost(runevals("plan", "--target", name)[1])[:11] for name in ("small", "large")]
    assert costs == ["about $0.22", "about $0.44"]
