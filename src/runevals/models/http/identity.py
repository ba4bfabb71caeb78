"""A job of GitHub that has no key: its identity token, exchanged for a token of a model's provider."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any
from urllib.parse import quote, urlsplit

from runevals.lib.parsing.shapes import object_in
from runevals.lib.text.secrets import beginning, remember_token
from runevals.models.http import network
from runevals.models.http.exchanges import EXCHANGES, REQUEST_TOKEN, REQUEST_URL, Exchange
from runevals.models.http.origin import origin_of
from runevals.models.http.throttle import CallFailed, TryAgain, failure_of_status
from runevals.records.errors import InvalidSettings

TIMEOUT_S = 30.0
_MOST_WORDS = 300  # of a refusal
_RENEWED_AFTER = 0.8  # of a token's lifetime
_DEFAULT_LIFETIME_S = 600


def job_identity(provider: str, base_url: str, environment: Mapping[str, str], *, what: str) -> JobIdentity:
    """The identity of this job at a provider. Raises InvalidSettings if it has none, and for what is not set."""
    exchange = EXCHANGES.get(provider)
    if exchange is None:
        raise InvalidSettings(f"{what}.auth: {provider} takes no identity of a job; {', '.join(EXCHANGES)} do")
    if not environment.get(REQUEST_URL) or not environment.get(REQUEST_TOKEN):
        raise InvalidSettings(
            f"{what}.auth: this job has no identity token; give it `permissions: {{id-token: write}}` on GitHub "
            "(changes from forks and events such as pull_request_target get none)"
        )
    lacking = [name for name, value in exchange.variables.items() if value is None and not environment.get(name)]
    if lacking:
        raise InvalidSettings(f"{what}.auth: {', '.join(lacking)} not set; pass the ids of your provider's setup")
    if exchange.package is not None and find_spec(exchange.package[0]) is None:
        raise InvalidSettings(
            f"{what}.auth: {provider} needs a package: pip install 'runevals[{exchange.package[1]}]'"
        )
    filled = {"base_url": origin_of(base_url)}
    for name, default in exchange.variables.items():
        filled[name] = environment.get(name) or str(default).format_map(filled)
    url = exchange.url.format_map(filled)
    if urlsplit(url).scheme != "https" and urlsplit(url).hostname not in ("localhost", "127.0.0.1", "::1"):
        raise InvalidSettings(f"{what}.auth: {url} must begin with https://, for it is sent the job's identity")
    return JobIdentity(provider, exchange, url, filled, (environment[REQUEST_URL], environment[REQUEST_TOKEN]))


@dataclass(eq=False, repr=False)
class JobIdentity:
    """A token of the provider, renewed before it expires, or if it is refused. Used by several threads."""

    _provider: str
    _exchange: Exchange
    _url: str
    _values: Mapping[str, str]
    _request: tuple[str, str]  # address and token by which the job asks GitHub for its identity
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _token: str = ""
    _renewed_at: float = 0.0  # of the monotonic clock: from then on, another one is used

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of calls with the token."""
        return self._exchange.call_headers

    def value(self) -> str:
        """The token. Raises CallFailed if the provider refuses the job, and TryAgain."""
        with self._lock:
            if not self._token or time.monotonic() >= self._renewed_at:
                self._token = self._exchanged()
            return self._token

    def renew(self, refused: str) -> bool:
        """Another token in place of one that was refused, once for all calls that were sent with it."""
        with self._lock:
            if self._token == refused:
                self._renewed_at = 0.0
        return True

    def _exchanged(self) -> str:
        audience = self._exchange.audience.format_map(self._values)
        url, request_token = self._request
        address = f"{url}{'&' if urlsplit(url).query else '?'}audience={quote(audience, safe='')}"
        answer = _call("GET", address, headers={"Authorization": f"bearer {request_token}"})
        own = _text(answer, "value", "GitHub's answer to the request for an identity token")
        remember_token("JOB_TOKEN", own)
        values = {**self._values, "token": own}
        filled = {name: form.format_map(values) for name, form in self._exchange.fields.items()}
        fields = {name: value for name, value in filled.items() if value}
        exchanged = _by_aws if self._exchange.form == "aws" else _by_oauth
        try:
            token, lifetime_s = exchanged(self._exchange, self._url, fields, self._values)
        except CallFailed as error:
            raise CallFailed("auth", f"{error} (for a job with {_claims(own)})", refused=True) from None
        self._renewed_at = time.monotonic() + _RENEWED_AFTER * lifetime_s
        remember_token(f"{self._provider.upper()}_TOKEN", token)
        return token


def _by_oauth(exchange: Exchange, url: str, fields: Mapping[str, str], _: Mapping[str, str]) -> tuple[str, float]:
    """(token, seconds that it lasts). Raises CallFailed, TryAgain."""
    sent = {"data" if exchange.form == "form" else "json": fields}
    answer = _call("POST", url, headers=exchange.headers, **sent)
    lifetime = answer.get("expires_in")
    lifetime_s = float(lifetime) if isinstance(lifetime, int | float) else _DEFAULT_LIFETIME_S
    return _text(answer, "access_token", f"the answer of {url}"), lifetime_s


def _by_aws(_: Exchange, url: str, fields: Mapping[str, str], values: Mapping[str, str]) -> tuple[str, float]:
    """The credentials of a role, and a short-term key of Bedrock that is signed with them."""
    from aws_bedrock_token_generator import BedrockTokenGenerator
    from botocore import UNSIGNED
    from botocore.config import Config
    from botocore.credentials import Credentials
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.session import Session

    region, variable = values["AWS_REGION"], network.authorities()
    config = Config(signature_version=UNSIGNED, retries={"max_attempts": 0})
    try:
        client = Session().create_client(
            "sts", region, endpoint_url=url, config=config, verify=None if variable is None else variable[1]
        )
        role = client.assume_role_with_web_identity(**fields)["Credentials"]
    except ClientError as error:
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        message = beginning(str(error.response["Error"].get("Message")), _MOST_WORDS)
        raise failure_of_status(status, f"{url} says: {message}", {}) from None
    except BotoCoreError as error:
        raise TryAgain("failed", f"no answer from {url}{network.route(url)} ({type(error).__name__})") from None
    credentials = Credentials(role["AccessKeyId"], role["SecretAccessKey"], role["SessionToken"])
    return BedrockTokenGenerator().get_token(credentials, region), role["Expiration"].timestamp() - time.time()


def _call(method: str, url: str, *, headers: Mapping[str, str], **sent: Any) -> Mapping[str, Any]:
    """The JSON of an answer. Raises CallFailed, TryAgain."""
    import requests

    place = url.partition("?")[0]
    try:
        with network.session() as session:
            reply = session.request(
                method, url, headers=dict(headers), timeout=TIMEOUT_S, allow_redirects=False, **sent
            )
    except requests.RequestException as error:
        if (fault := network.certificate_fault(error)) is not None:
            raise CallFailed("failed", f"{place}: {fault}", refused=True) from None
        raise TryAgain("failed", f"no answer from {place}{network.route(url)}") from None
    if reply.status_code >= 300:
        raise failure_of_status(reply.status_code, f"{place} says: {_reason(reply)}", reply.headers)
    return _fields(reply)


def _fields(reply: Any) -> Mapping[str, Any]:
    """The JSON object of a reply; an empty one for anything else."""
    with suppress(ValueError):
        return object_in(reply.json())
    return {}


def _reason(reply: Any) -> str:
    """Why a request was refused, in the provider's words, without what may echo a token."""
    fields = _fields(reply)
    error = fields.get("error")
    parts = [error, fields.get("error_description")] if not isinstance(error, dict) else [error.get("message")]
    return beginning(": ".join(part for part in parts if isinstance(part, str)) or str(reply.reason), _MOST_WORDS)


def _text(answer: Mapping[str, Any], name: str, what: str) -> str:
    value = answer.get(name)
    if not isinstance(value, str) or not value:
        raise CallFailed("auth", f"{what} has no {name}", refused=True)
    return value


def _claims(token: str) -> str:
    """Subject and audience of a token: what the provider compares with its rule."""
    with suppress(ValueError, LookupError, TypeError):
        part = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        return f"subject {claims['sub']} and audience {claims['aud']}"
    return "a token that cannot be read"
