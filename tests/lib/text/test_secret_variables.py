"""Which values of an environment are secrets, by name or by their looks."""

from __future__ import annotations

import json

import pytest

from runevals.lib.text.secret_variables import secrets_of
from runevals.lib.text.secrets import redactor, remember, remember_keys, secret_values

VALUE = "Qz7tR4mW9pLx2VbN"
NAMES = """
    API_KEY DEPLOY_KEY my_token Deploy_Key TOKEN PASSWORD SECRET APIKEY PGPASSWORD MYSQL_PWD DB_PASS PAT COOKIE
    AUTHORIZATION BASIC_AUTH PASSPHRASE CLIENT_SECRETS ACCESS_KEYS PRIVATE_KEY_PEM OPENAI_API_KEY_OLD OPENAI_KEY_1
    NPM_CONFIG__AUTHTOKEN DATABASE_URL MONGO_URI SENTRY_DSN SLACK_WEBHOOK GOOGLE_APPLICATION_CREDENTIALS_JSON
    AZURE_CREDENTIALS DOCKER_AUTH_CONFIG AWS_ACCESS_KEY_ID SESSION JWT CREDS SIGNING WEBHOOK_URL REDIS_URL
    OTEL_EXPORTER_OTLP_HEADERS
"""
VALUES = {
    "plain": (VALUE, VALUE),
    "in a header": (f"Bearer {VALUE}", VALUE),
    "of a user": (f"robot:{VALUE}", VALUE),
    "in an address": (f"postgres://robot:{VALUE}@db.example/main", VALUE),
    "escaped in an address": ("https://robot:a%2Fb%2Fc-1234@db.example", "a/b/c-1234"),
    "in JSON": (json.dumps({"auths": {"x": {"auth": VALUE}}}), VALUE),
    "in lines": (f"-----BEGIN-----\n{VALUE}\n-----END-----", VALUE),
    "of a connection": (f"Endpoint=sb://x/;SharedAccessKey={VALUE}=", VALUE),
    "with a slash in front": (f"/{VALUE}", VALUE),
}
HARMLESS = {
    "PATH": "/usr/local/bin1:/usr/bin/x86_64-linux",
    "PWD": "/srv/evals/project-2026",
    "GITHUB_SHA": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "HEAD_SHA": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "RELEASE_TAG": "v1.2.3-beta.4+linux",
    "TARGET_MODEL": "claude-sonnet-4-5-20250929",
    "OPENAI_BASE_URL": "https://api.example.com/v1",
    "AWS_REGION": "ap-southeast-2",
    "TITLE": "Fix the refunds of 2026",
    "ENVIRONMENT": "production-of-europe",
    "BUILD_NUMBER": "202611270001",
    "LS_COLORS": "rs=0:di=01;34:ln=01;36:mh=00:pi=40;33",
    "TOOLS": "/usr/lib/jvm/temurin-17-jdk-amd64",
}


@pytest.mark.parametrize("name", NAMES.split())
def test_what_looks_like_a_secret_is_one_whatever_its_name(name):
    assert redactor({name: VALUE})(f"it is {VALUE}.") == f"it is [redacted {name}]."


@pytest.mark.parametrize("value", VALUES, ids=VALUES)
def test_a_secret_within_a_value_is_found_without_the_rest(value):
    whole, secret = VALUES[value]
    assert secret not in redactor({"SETTING": whole})(f"it is {secret}!")


@pytest.mark.parametrize("name", HARMLESS)
def test_values_of_harmless_variables_and_ordinary_words_stay(name):
    assert [*secrets_of(name, HARMLESS[name])] == []


def test_a_password_in_an_address_is_a_secret_even_of_a_harmless_variable():
    redact = redactor({"HTTPS_PROXY": "http://me:hunter2000@proxy.example:8080"})
    assert (
        redact("http://me:hunter2000@proxy.example:8080") == "http://me:[redacted HTTPS_PROXY]@proxy.example:8080"
    )


def test_a_value_that_a_variable_of_the_ci_system_has_too_stays():
    branch = "feature/ABC-1234-refunds"
    assert secret_values({"SOURCE": branch, "GITHUB_HEAD_REF": branch}) == {}
    assert secret_values({"SOURCE": branch, "SOURCE_BRANCH": branch}) == {branch: "SOURCE"}
    assert secret_values({"SOURCE": branch}) == {branch: "SOURCE"}


def test_words_of_the_repository_stay_unless_they_are_secrets_by_name():
    environment = {"SUITE": "refunds-2026-a", "OTHER": "Qz7tR4mW9pLx", "A_TOKEN": "refunds-2026-b"}
    remember({})
    remember_keys(environment, (), lambda words: frozenset(word for word in words if word.startswith("refunds")))
    remember_keys(environment, (), frozenset)  # of what a program may have changed since
    assert set(secret_values(environment)) == {"Qz7tR4mW9pLx", "refunds-2026-b"}
    assert redactor(environment)("refunds-2026-a Qz7tR4mW9pLx refunds-2026-b") == (
        "refunds-2026-a [redacted OTHER] [redacted A_TOKEN]"
    )


ANSWERS = (
    "Die Rückerstattung für Bestellung 4711 dauert 30 Tage; siehe https://example.com/rückgabe?id=4711.",
    "Le remboursement de la commande n° 4711 est possible jusqu'au 2026-12-24 à 18h00.",
    "注文番号4711の返金は30日以内に可能です。詳細は https://example.com/返品 をご覧ください。",
    "Возврат по заказу 4711 возможен в течение 30 дней: пишите на shop@example.com.",
    "يمكن استرداد الطلب رقم 4711 خلال 30 يومًا.",
    "id,sum\n1,9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n2,00000000 61 62 63",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "[104, 101, 108, 108, 111, 32, 119, 111, 114, 108, 100] is \\150\\145\\154\\154\\157, or 0x68 0x65 0x6c 0x6c",
)


@pytest.mark.parametrize("text", ANSWERS)
def test_answers_in_several_languages_and_encodings_stay(text):
    environment = HARMLESS | {name: f"{VALUE}{number}" for number, name in enumerate(NAMES.split())}
    assert redactor(environment)(text) == text
