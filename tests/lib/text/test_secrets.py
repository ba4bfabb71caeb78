"""A secret that was told is written nowhere."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from runevals.lib.text.secrets import redacted, redactor, without_secrets
from runevals.records import Outcome, Problem
from tests.sample_reports import report
from tests.sample_suites import SUITE

CANARY = "canary-1234567890"
SHAPES = [
    "sk-" + "a1B2" * 6,
    "ghp_" + "a1B2" * 6,
    "github_pat_" + "a1B2" * 6,
    "AKIA" + "A1B2" * 4,
    "glpat-" + "a1B2_" * 4,
    "ASIA" + "A1B2" * 4,  # AWS, for a session
    "ABSK" + "a1B2" * 20 + "=",  # Bedrock
    "gsk_" + "a1B2" * 12,  # Groq
    "xai-" + "a1B2" * 20,
    "hf_" + "aBcD" * 8,
    "npm_" + "a1B2" * 9,
    "sk_live_" + "a1B2" * 6,
]


def test_secrets_are_replaced_by_their_names_longest_first():
    redact = redactor({"A_KEY": "first-secret", "B_TOKEN": "first-secret-and-more", "HOME": "/home/first"})
    assert redact("x first-secret-and-more, first-secret, /home/first") == (
        "x [redacted B_TOKEN], [redacted A_KEY], /home/first"
    )


def test_a_secret_is_redacted_without_the_blanks_and_line_ends_around_it():
    """As it is sent."""
    assert redactor({"A_KEY": " first-secret \r\n"})("x first-secret.") == "x [redacted A_KEY]."


def test_percent_encoded_secrets_are_redacted():
    told = redactor({"A_KEY": "first/secret=="})("https://x.example/first/secret%3D%3D?key=first%2Fsecret%3D%3D")
    assert told == "https://x.example/[redacted A_KEY]?key=[redacted A_KEY]"


def test_secrets_that_are_not_utf_8_are_redacted():
    bad = os.fsdecode(b"\xff\xfe-secret")
    assert redactor({"A_TOKEN": bad})(f"{bad} %FF%FE-secret") == "[redacted A_TOKEN] [redacted A_TOKEN]"


def test_short_values_and_values_of_other_names_are_not_redacted():
    assert redactor({"A_KEY": "short", "NAME": "long-enough-value"})("short long-enough-value") == (
        "short long-enough-value"
    )
    assert redactor({"SYSTEM_ACCESSTOKEN": "token-of-a-job"})("token-of-a-job") == "[redacted SYSTEM_ACCESSTOKEN]"
    assert redactor({"NAME": "long-enough-value"}, ["NAME"])("long-enough-value") == "[redacted NAME]"


@pytest.mark.parametrize("key", SHAPES)
def test_texts_with_the_shape_of_a_key_are_redacted(key):
    assert redactor({})(f"key={key};") == "key=[redacted key];"


@pytest.mark.parametrize("text", ["hf_model_with_a_rather_long_name_of_words", "ASIAPACIFIC", "gsk_short"])
def test_words_that_only_begin_like_a_key_stay(text):
    assert redactor({})(text) == text


def test_records_without_secrets_are_returned_unchanged():
    made = report({"a": "p"})
    assert redacted(made, redactor({"A_KEY": CANARY})) is made


@pytest.mark.parametrize("already", [(), int])
def test_texts_that_are_looked_at_together_are_redacted_as_each_of_them(already):
    forms = [
        *SHAPES,
        CANARY,
        CANARY.upper(),
        CANARY.encode().hex(),
        "-".join(CANARY),
        "\\n".join(CANARY),
        "ghp_short",
    ]
    redact = redactor({"A_KEY": CANARY})
    for text in [*forms, *(f"a {form} b" for form in forms), *(f"\\{form}\\" for form in forms)]:
        for value in (
            text,
            ("x", text),
            {"k": [text]},
            {text: 1},
            Outcome.PASSED,
            (Problem(code="a", message=text),),
        ):
            assert without_secrets(value, redact, already=already) == redacted(value, redact, already=already)
    case = report({"a": "p"}).cases[0]
    assert without_secrets(case, redact) is case
    for name in ("key", "name", "file", "category", "normalised_fingerprint"):
        changed = replace(case, **{name: f"is {CANARY}"})
        assert without_secrets(changed, redact) == redacted(changed, redact) != changed


def test_every_text_of_a_record_is_redacted_whatever_its_types():
    @dataclass(frozen=True)
    class Told:
        text: "NowhereToBeFound"  # noqa: F821, UP037
        count: int = 3

    @dataclass(frozen=True)
    class Outer:
        told: Told
        several: tuple[str | None, ...] = (None, CANARY)
        shares: Mapping[str, float] = field(default_factory=lambda: {CANARY: 0.5})

    redact = redactor({"A_KEY": CANARY})
    assert redacted(Outer(Told(CANARY)), redact) == Outer(
        Told("[redacted A_KEY]"), (None, "[redacted A_KEY]"), {"[redacted A_KEY]": 0.5}
    )


@pytest.mark.parametrize("where", ["answer", "error", "suite"])
def test_no_output_file_and_no_terminal_output_contains_a_secret(project, runevals, monkeypatch, where):
    monkeypatch.setenv("MY_API_KEY", CANARY)
    suite = SUITE
    body = "return 'x'"
    if where == "answer":
        body = "import os; return {'output': 'it is ' + os.environ['MY_API_KEY'], 'toolCalls': [{'name': 'f', "
        body += "'input': {'key': os.environ['MY_API_KEY']}}]}"
    elif where == "error":
        body = "import os; raise ValueError(os.environ['MY_API_KEY'])"
    else:
        suite = {**SUITE, "items": [{**SUITE["items"][0], "prompt": f"is {CANARY} fine?", "testId": CANARY}]}
    project.write("agent.py", f"def answer(prompt):\n {body}\n")
    names = ["out.json", "out.xml", "out.csv", "out.md"]
    project.write("suite.json", suite)
    outputs = [word for name in names for word in ("-o", name)]
    _, out, err = runevals("suite.json", "--target", "python:agent.py:answer", *outputs)
    assert CANARY not in out + err
    for name in names:
        text = (project.path / name).read_text(encoding="utf-8")
        assert CANARY not in text
    assert "[redacted MY_API_KEY]" in json.dumps(project.document()["cases"])
