"""The identity of a job in place of a key: asked of GitHub, exchanged at the provider, renewed once."""

from __future__ import annotations

import threading

import pytest

from runevals.models.chat.chat import Chat, ChatFailed, Endpoint
from runevals.models.http.exchanges import EXCHANGES
from runevals.models.http.identity import job_identity
from runevals.models.http.throttle import Throttle
from runevals.records.errors import InvalidSettings
from tests.identity_server import PROVIDERS, REQUEST_TOKEN, Issuer, identity_server, of_job

ASKED = [{"role": "user", "content": "?"}]
EVERY = pytest.mark.parametrize("provider", PROVIDERS)


def chat(server, issuer, **environment):
    name = issuer.provider
    identity = job_identity(name, server.base_url, {**of_job(server, name), **environment}, what="target")
    endpoint = Endpoint(
        model="m", api_key="none", identity=identity, base_url=server.base_url, api=PROVIDERS[name][0]
    )
    return Chat(endpoint, Throttle(max_attempts=2, first_delay_s=0.01))


def test_every_provider_with_an_exchange_is_tested():
    assert {*PROVIDERS} == {*EXCHANGES}


@EVERY
def test_the_token_of_the_job_is_exchanged_once_for_all_calls(provider):
    issuer = Issuer(provider)
    with identity_server(issuer) as server:
        asked = chat(server, issuer)
        threads = [threading.Thread(target=asked.ask, args=(ASKED, {})) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [issuer.name_of(key) for key in server.keys] == [f"made-for-{provider}-1"] * 8
    assert {key.partition(" ")[0] for key in server.keys} == {"Bearer"}
    assert len(issuer.asked) == 1


@EVERY
def test_a_token_that_expired_is_renewed_once_for_all_calls(provider):
    issuer = Issuer(provider)
    with identity_server(issuer) as server:
        asked = chat(server, issuer)
        asked.ask(ASKED, {})
        issuer.expired.add(issuer.made[0])
        replies = [asked.ask(ASKED, {}).text for _ in range(3)]
    assert replies == ["Hi"] * 3
    assert [issuer.name_of(key).rpartition("-")[2] for key in server.keys] == ["1", "1", "2", "2", "2"]


def test_a_token_is_renewed_before_it_expires():
    issuer = Issuer("anthropic", expires_in=0.0)
    with identity_server(issuer) as server:
        asked = chat(server, issuer)
        assert [asked.ask(ASKED, {}).text for _ in range(2)] == ["Hi", "Hi"]
    assert len(issuer.made) == 2


def test_a_new_token_that_is_refused_as_well_ends_the_calls():
    issuer = Issuer("openai", expired={f"made-for-openai-{n}" for n in range(1, 9)})
    with identity_server(issuer) as server, pytest.raises(ChatFailed) as failed:
        chat(server, issuer).ask(ASKED, {})
    assert (failed.value.refused, len(server.requests) <= 3) == (True, True)


@EVERY
@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ({"audience": "https://elsewhere.example"}, "wrong audience"),
        ({"subject": "repo:evil/r:pull_request"}, "wrong subject"),
        ({"token_age_s": 1000}, "expired"),
    ],
)
def test_what_the_rule_of_the_provider_refuses_is_said_with_subject_and_audience(provider, rule, why):
    issuer = Issuer(provider, **rule)
    with identity_server(issuer) as server, pytest.raises(ChatFailed, match=why) as failed:
        chat(server, issuer).ask(ASKED, {})
    message = str(failed.value)
    assert f"subject {issuer.subject} and audience {issuer.asked[0]}" in message
    assert (failed.value.refused, failed.value.kind, len(issuer.asked)) == (True, "auth", 1)
    assert not any(secret in message for secret in (*issuer.sent, REQUEST_TOKEN))
    assert "\n" not in message


def test_an_audience_of_ones_own_is_asked_for():
    issuer = Issuer("openai", audience="my-audience")
    with identity_server(issuer) as server:
        assert chat(server, issuer, OPENAI_AUDIENCE="my-audience").ask(ASKED, {}).text == "Hi"
    assert issuer.asked == ["my-audience"]


def test_an_issuer_that_is_down_is_asked_again():
    issuer = Issuer("openai")
    down = {"ACTIONS_ID_TOKEN_REQUEST_URL": "http://127.0.0.1:1/issuer?api-version=2.0"}
    with identity_server(issuer) as server, pytest.raises(ChatFailed, match=r"no answer from http.*2 attempts"):
        chat(server, issuer, **down).ask(ASKED, {})


@pytest.mark.parametrize(
    ("provider", "environment", "message"),
    [
        (
            "groq",
            {},
            "target.auth: groq takes no identity of a job; openai, anthropic, openrouter, azure, bedrock do",
        ),
        ("openai", {"ACTIONS_ID_TOKEN_REQUEST_URL": ""}, "permissions: {id-token: write}"),
        ("openai", {"OPENAI_SERVICE_ACCOUNT_ID": ""}, "target.auth: OPENAI_SERVICE_ACCOUNT_ID not set"),
        ("openai", {"OPENAI_TOKEN_URL": "http://auth.example/token"}, "must begin with https://"),
    ],
)
def test_what_is_missing_is_named(provider, environment, message):
    of_runner = {"ACTIONS_ID_TOKEN_REQUEST_URL": "https://i.example", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "t"}
    ids = {"OPENAI_IDENTITY_PROVIDER_ID": "i", "OPENAI_SERVICE_ACCOUNT_ID": "s"}
    with pytest.raises(InvalidSettings) as failed:
        job_identity(provider, "https://api.example/v1", {**of_runner, **ids, **environment}, what="target")
    assert message in str(failed.value)
