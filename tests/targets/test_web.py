"""What the settings of a target behind an address may say, and where its keys may go."""

from __future__ import annotations

import pytest
import yaml

from runevals.records.errors import InvalidSettings, InvalidSuite
from runevals.settings.file import BaseSide, SettingsFile
from runevals.settings.resolve import RawSettings, resolve
from tests.ending import ended
from tests.json_server import Answer, json_server

URL = "https://agent.example/chat"
SUITE = {
    "schemaVersion": "1.2.0",
    "default_evaluators": {"ExactMatch": {}},
    "items": [{"testId": "a", "prompt": "Say Hi", "expected_response": "Hi"}],
}
KEY = "canary-1234567890"


def settled(tmp_path, written, *, environment=(), base=None, **flags):
    """The target that settings with this target come to; `base` is the base branch's."""
    if written is not None:
        (tmp_path / "runevals.yaml").write_text(f"target: {written}\n", encoding="utf-8")
    side = None
    if base is not None:
        file = SettingsFile(exists=True, display_name="runevals.yaml", base=tmp_path, values={"target": base})
        side = BaseSide(commit="0123456789", file=file, on_pull_request=True)
    return resolve(RawSettings(flags=flags, cwd=tmp_path, environment=dict(environment), base_side=side))


@pytest.mark.parametrize(
    ("flag", "url"),
    [(f"http:{URL}", URL), (URL, URL), ("http://localhost:8000/chat", "http://localhost:8000/chat")],
)
def test_a_flag_names_the_address(tmp_path, flag, url):
    target = settled(tmp_path, None, target=flag).target
    assert (target.type, target.web.url, target.web.method) == ("http", url, "POST")
    assert target.key_names == ()
    assert target.reads_other_files


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("{type: http}", "the http target has no address; give target.url, http:URL or RUNEVALS_TARGET_URL"),
        ("{type: http, url: agent.example}", "'agent.example' is not an http or https address"),
        ("{type: http, url: 'ftp://x/y'}", "is not an http or https address"),
        ("{type: http, url: 'http://x:y/'}", "is not an http or https address"),
        ("{type: http, url: 'https://me:pw@x/'}", "target.url holds a user name or password"),
        (
            "{type: http, url: 'https://{{model}}.x/'}",
            "a placeholder may stand in an http target's path and query",
        ),
        ("{type: a2a}", "the a2a target has no address; give target.url, a2a:URL or RUNEVALS_TARGET_URL"),
        ("{type: a2a, url: 'https://x/?a=1'}", "an a2a target's address has no query"),
        ("{type: a2a, url: 'https://x/{{prompt}}'}", "a placeholder may stand in an http target's path and query"),
        ("{type: http, url: 'https://x/{{promt}}'}", "no placeholder 'promt'; did you mean 'prompt'?"),
        ("{type: http, url: 'https://x/', method: PSOT}", "'PSOT' must be one of POST, PUT, PATCH, GET, DELETE"),
        ("{type: http, url: 'https://x/', body: {a: ['{{messges}}']}}", "did you mean 'messages'?"),
        ("{type: http, url: 'https://x/', body: '{{case.sute}}'}", "did you mean 'suite'?"),
        ("{type: http, url: 'https://x/', body: '{{prompt.x}}'}", "there is nothing behind 'prompt.x'"),
        ("{type: http, url: 'https://x/', pick: {answer: a.b}}", r"target.pick.answer: 'a.b' is not a JSONPath"),
        ("{type: http, url: 'https://x/', headers: {Authorization: Bearer abc}}", "Authorization holds a secret"),
        ("{type: http, url: 'https://x/', headers: {x-api-key: abc}}", "name its variable instead: {env: NAME}"),
        ("{type: http, url: 'https://x/', headers: {'a b': c}}", "'a b' is not a valid header name"),
        (
            "{type: http, url: 'https://x/', api_key_env: K, headers: {authorization: {env: K}}}",
            "leave one of them out",
        ),
    ],
)
def test_what_cannot_be_meant_is_told(tmp_path, written, told):
    with pytest.raises(InvalidSettings) as refused:
        settled(tmp_path, written)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("{type: http, url: 'https://x/', pick: {anser: $.a}}", "unknown key 'anser'; did you mean 'answer'?"),
        ("{type: http, url: 'https://x/', pick: {turns: $.a}}", "'answer' is missing"),
        ("{type: http, url: 'https://x/', pick: {answer: 1}}", "must be text or a list"),
        ("{type: http, url: 'https://x/', headers: {a: {evn: X}}}", "did you mean 'env'?"),
        ("{type: http, ulr: 'https://x/'}", "did you mean 'url'?"),
    ],
)
def test_what_has_not_the_shape_is_told_with_its_line(tmp_path, written, told):
    with pytest.raises(InvalidSuite) as refused:
        settled(tmp_path, written)
    assert told in str(refused.value)


def test_the_environment_names_the_address_before_the_file(tmp_path):
    written = f"{{type: http, url: '{URL}', api_key_env: K}}"
    preview = {"RUNEVALS_TARGET_URL": "https://preview.example/", "CI": "1"}
    assert settled(tmp_path, written, environment=preview).target.web.url == "https://preview.example/"


@pytest.mark.parametrize("key", ["api_key_env: K", "headers: {X-Api-Key: {env: K}}"])
def test_in_ci_a_change_may_not_send_a_key_elsewhere(tmp_path, key):
    written = f"{{type: http, url: '{URL}', {key}}}"
    in_ci = {"CI": "true", "K": KEY}
    assert settled(tmp_path, written).target.key_names == ("K",)
    with pytest.raises(InvalidSettings, match=r"sends K to .* workflow: RUNEVALS_TARGET_URL=https://agent"):
        settled(tmp_path, written, environment=in_ci)
    same = {"type": "http", "url": URL, **yaml.safe_load(f"{{{key}}}")}
    assert settled(tmp_path, written, environment=in_ci, base=same).target.web.url == URL
    others = [
        {**same, "url": "https://agent.example.evil/chat"},
        {**same, "url": "http://agent.example/chat"},
        {**same, "url": "https://agent.example:8443/chat"},
        {**same, "url": "https://agent.example/other"},
        {**same, "url": "https://agent.example/"},
        {"type": "http", "url": URL, "headers": {"X-Echo": {"env": "K"}}},
        {"type": "http", "url": URL, "api_key_env": "ANOTHER"},
        f"http:{URL}",
        {"type": "openai", "model": "m", "api_key_env": "K"},
    ]
    for other in others:
        with pytest.raises(InvalidSettings, match="sends K to "):
            settled(tmp_path, written, environment=in_ci, base=other)


@pytest.mark.parametrize("event", ["push", "schedule", "workflow_dispatch"])
def test_what_is_merged_is_sent_where_it_says(tmp_path, event):
    """There, whoever wrote the settings could write the workflow too."""
    written = f"{{type: http, url: '{URL}', api_key_env: K}}"
    environment = {"CI": "true", "K": KEY, "GITHUB_EVENT_NAME": event}
    assert settled(tmp_path, written, environment=environment).target.web.url == URL
    with pytest.raises(InvalidSettings, match="sends K to "):
        settled(tmp_path, written, environment=environment, base={"type": "openai", "model": "m"})


def test_without_a_key_any_address_may_be_asked_in_ci(tmp_path):
    assert settled(tmp_path, f"{{type: http, url: '{URL}'}}", environment={"CI": "true"}).target.web.url == URL


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({}, "the environment variable K is not set; the header Authorization needs it"),
        ({"K": f"{KEY}\n"}, "the environment variable K: Authorization contains a line break"),
    ],
)
def test_a_key_that_cannot_be_sent_is_told_without_it(project, runevals, monkeypatch, environment, told):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    project.write("runevals.yaml", f"target: {{type: http, url: '{URL}', api_key_env: K}}\n")
    project.write("evals.json", SUITE)
    code, out, err = runevals()
    ended(code, 2, err, told)
    assert KEY not in out + err


def test_a_run_against_an_endpoint(project, runevals, monkeypatch):
    monkeypatch.setenv("MY_AGENT", KEY)
    project.write("evals.json", SUITE)
    with json_server(lambda asked, n: {"output": f"Hi {asked.headers['x-auth']}"}) as server:
        web = {"type": "http", "url": f"{server.url}/chat?x=1", "headers": {"X-Auth": {"env": "MY_AGENT"}}}
        project.write("runevals.yaml", {"target": web})
        _, shown, _ = runevals("settings")
        code, out, err = runevals("-o", "out.json")
    assert code == 0, err
    assert f"http method=POST url={server.url}/chat keys=MY_AGENT  (runevals.yaml)" in shown
    assert KEY not in shown + out + err + (project.path / "out.json").read_text(encoding="utf-8")
    document = project.document()
    assert document["cases"][0]["attempts"][0]["turns"][0]["output"] == "Hi [redacted MY_AGENT]"
    assert document["run"]["target"]["type"] == "http"
    assert document["run"]["target"]["detail"]["url"] == f"{server.url}/chat"


def test_a_run_stops_where_the_endpoint_refuses(project, runevals):
    project.write("evals.json", SUITE)
    with json_server(lambda asked, n: Answer({"detail": "no"}, 401)) as server:
        code, _, err = runevals("--target", f"http:{server.url}")
    ended(code, 3, err, "the target refuses every call: 401")


def test_a_target_that_is_none_lists_those_there_are(project, runevals):
    project.write("evals.json", SUITE)
    code, _, err = runevals("--target", "htp:x")
    ended(code, 2, err, "http:URL")
