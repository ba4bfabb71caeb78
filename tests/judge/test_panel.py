"""Several votes on one question, from a real HTTP server."""

from __future__ import annotations

import pytest

from runevals.judge.model import ModelJudge
from runevals.judge.panel import Panel
from runevals.models.chat.chat import Chat, Endpoint
from runevals.models.chat.prices import Price, Prices
from runevals.models.http.throttle import Throttle
from tests.chat_server import Reply, chat_server
from tests.judge.replies import QUESTION, verdict

PRICES = Prices({"big": Price(input=1.0, output=2.0)})


def ask(answer, votes):
    with chat_server(answer) as server:
        chat = Chat(Endpoint(model="big", api_key="k", base_url=server.base_url), Throttle(first_delay_s=0.01))
        panel = Panel([ModelJudge(chat, {"seed": seed}, prices=PRICES) for seed in range(1, votes + 1)])
        return panel.ask(QUESTION, case="c", turn=1, attempt=1), server.requests, panel.identity()


def test_the_median_of_the_votes_counts_and_every_vote_is_recorded():
    found, requests, identity = ask(lambda body, n: Reply(verdict(body, [5, 1, 4][n])), 3)
    assert found.score == 4.0
    assert [vote.score for vote in found.votes] == [5.0, 1.0, 4.0]
    assert [body["seed"] for body in requests] == [1, 2, 3]
    assert identity.model == "big"
    assert identity.detail["votes"] == 3


def test_the_median_of_an_even_number_of_votes_may_be_between_two_scores():
    found, *_ = ask(lambda body, n: Reply(verdict(body, [5, 2][n])), 2)
    assert found.score == 3.5


def test_tokens_and_cost_are_those_of_all_votes():
    found, *_ = ask(lambda body, n: Reply(verdict(body, 4)), 3)
    assert (found.input_tokens, found.output_tokens) == (30, 15)
    one, *_ = ask(lambda body, n: Reply(verdict(body, 4)), 1)
    assert found.cost_usd == 3 * one.cost_usd > 0


def test_if_one_vote_of_three_fails_the_median_of_the_other_two_counts():
    found, *_ = ask(lambda body, n: Reply(status=404) if n == 1 else Reply(verdict(body, 2)), 3)
    assert found.problem is None
    assert found.score == 2.0
    assert [vote.score for vote in found.votes] == [2.0, None, 2.0]
    assert found.input_tokens == 20


def test_if_half_of_the_votes_fail_there_is_no_score():
    found, *_ = ask(lambda body, n: Reply(verdict(body, 5)) if n == 0 else Reply(status=404), 2)
    assert found.score is None
    assert found.problem.code == "judge_failed"
    assert found.votes == ()


@pytest.mark.parametrize(
    ("scores", "score"),
    [
        pytest.param((3, 4, None), None, id="the failed judge may be the milder one: 4 with it, 3.5 without"),
        pytest.param((None, 3, 5), None, id="the failed judge may be the stricter one"),
        pytest.param((4, None, 4), 4.0, id="the others agree, so that it does not matter"),
        pytest.param((2, 4, 4, 5, None), 4.0, id="the median is 4 whatever the failed judge says"),
        pytest.param((3, 3, 4, 5, None), None, id="the median is 3 or 4"),
        pytest.param((4, 4, 5, None), None, id="the median of four is 4 or 4.5"),
    ],
)
def test_a_judge_of_several_that_fails_is_no_other_panel(scores, score):
    def answer(body, _):
        vote = scores[int(body["model"])]
        return Reply(status=400) if vote is None else Reply(verdict(body, vote))

    with chat_server(answer) as server:
        throttle = Throttle(first_delay_s=0.01)
        endpoints = [Endpoint(model=str(n), api_key="k", base_url=server.base_url) for n in range(len(scores))]
        panel = Panel([ModelJudge(Chat(each, throttle), {}, prices=PRICES) for each in endpoints])
        found = panel.ask(QUESTION, case="c", turn=1, attempt=1)
    assert found.score == score
    assert (found.problem is None) is (score is not None)
