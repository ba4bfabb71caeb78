"""GitHub's issuer of identity tokens and the endpoints that exchange them, as far as a job sees them, on loopback.

An exchange checks signature, subject, audience and expiry of the job's token, and the fields that the provider
documents; what it makes is checked by the API beside it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.wires import WIRES, Turn, wire_server

STS = "https://sts.amazonaws.com/doc/2011-06-15/"
REQUEST_TOKEN = "request-token-of-the-runner"
JWT = "urn:ietf:params:oauth:token-type:jwt"
EXCHANGED = {"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token_type": JWT}
# provider → the API it speaks, the path of its exchange, the field with the job's token, the others, its variables
PROVIDERS: dict[str, tuple[str, str, str, dict[str, str], dict[str, str]]] = {
    "openai": (
        *("responses", "/oauth/token", "subject_token"),
        {**EXCHANGED, "identity_provider_id": "idp-1", "service_account_id": "sa-1"},
        {"OPENAI_IDENTITY_PROVIDER_ID": "idp-1", "OPENAI_SERVICE_ACCOUNT_ID": "sa-1"},
    ),
    "anthropic": (
        *("messages", "/v1/oauth/token", "assertion"),
        {
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "federation_rule_id": "fdrl_1",
            "organization_id": "org-1",
            "service_account_id": "svac_1",
        },
        {
            "ANTHROPIC_FEDERATION_RULE_ID": "fdrl_1",
            "ANTHROPIC_ORGANIZATION_ID": "org-1",
            "ANTHROPIC_SERVICE_ACCOUNT_ID": "svac_1",
        },
    ),
    "openrouter": (
        *("chat", "/api/v1/oauth/token", "subject_token"),
        {**EXCHANGED, "federation_policy_id": "policy-1"},
        {"OPENROUTER_FEDERATION_POLICY_ID": "policy-1"},
    ),
    "azure": (
        *("chat", "/tenant-1/oauth2/v2.0/token", "client_assertion"),
        {
            "grant_type": "client_credentials",
            "client_id": "client-1",
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "scope": "https://cognitiveservices.azure.com/.default",
        },
        {"AZURE_TENANT_ID": "tenant-1", "AZURE_CLIENT_ID": "client-1"},
    ),
    "bedrock": (
        *("chat", "/", "WebIdentityToken"),
        {
            "Action": "AssumeRoleWithWebIdentity",
            "Version": "2011-06-15",
            "RoleArn": "arn:aws:iam::123456789012:role/evals",
            "RoleSessionName": "runevals",
        },
        {"AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/evals", "AWS_REGION": "us-east-1"},
    ),
}


@dataclass
class Issuer:
    """`subject` is that of the job; `subjects` and `audience` are those of the provider's rule.

    `made` are the provider's tokens, in order, of which those in `expired` are not accepted any more.
    """

    provider: str
    subject: str = "repo:o/r:pull_request"
    subjects: tuple[str, ...] = ("repo:o/r:pull_request", "repo:o/r:ref:refs/heads/main")
    audience: str | None = None  # None: the one that was asked for
    token_age_s: float = 0.0
    expires_in: float = 600.0
    made: list[str] = field(default_factory=list)
    expired: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)  # audiences
    sent: list[str] = field(default_factory=list)  # the job's tokens

    def answer(self, path: str, headers: Any, content: bytes) -> tuple[int, dict[str, Any]]:
        """GitHub's issuer, or the provider's exchange."""
        if urlsplit(path).path == "/issuer":
            return self._issue(dict(parse_qsl(urlsplit(path).query)), headers)
        return self._exchange(path, headers, content) if content else (404, {})

    def _issue(self, query: dict[str, str], headers: Any) -> tuple[int, dict[str, Any]]:
        if headers["Authorization"] != f"bearer {REQUEST_TOKEN}" or query.get("api-version") != "2.0":
            return 401, {"message": "Unauthorized"}
        self.asked.append(query["audience"])
        claims = {"sub": self.subject, "aud": query["audience"], "exp": time.time() + 300 - self.token_age_s}
        return 200, {"value": signed(claims)}

    def _exchange(self, path: str, headers: Any, content: bytes) -> tuple[int, dict[str, Any]]:
        _, place, name, fields, _ = PROVIDERS[self.provider]
        is_form = headers["Content-Type"].startswith("application/x-www-form-urlencoded")
        sent = dict(parse_qsl(content.decode())) if is_form else json.loads(content)
        token = sent.pop(name, "")
        self.sent.append(token)
        if (path, is_form, sent) != (place, self.provider not in ("openai", "anthropic"), fields):
            return 400, {"error": "invalid_request", "error_description": f"{path} {sent}"}
        why = self._refusal(token)
        if why is not None:
            refusal = {"error": "invalid_grant", "error_description": f"{why} ({token})"}
            return (400, as_aws(why, token)) if self.provider == "bedrock" else (401, refusal)
        self.made.append(f"made-for-{self.provider}-{len(self.made) + 1}")
        if self.provider == "bedrock":
            return 200, as_role(self.made[-1], self.expires_in)
        return 200, {"access_token": self.made[-1], "expires_in": self.expires_in, "token_type": "Bearer"}

    def _refusal(self, token: str) -> str | None:
        head, _, signature = token.rpartition(".")
        if signature != _signature(head):
            return "wrong signature"
        claims = json.loads(base64.urlsafe_b64decode(head.partition(".")[2] + "=="))
        wanted = self.audience or self.asked[-1]
        checks = {
            "wrong subject": claims["sub"] in self.subjects,
            "wrong audience": claims["aud"] == wanted,
            "expired": claims["exp"] > time.time(),
        }
        return next((why for why, holds in checks.items() if not holds), None)

    def accepts(self, key: str | None) -> bool:
        """Whether the provider's API takes a request with this header."""
        token = self.name_of(key)
        return token in self.made and token not in self.expired

    def name_of(self, key: str | None) -> str:
        """The token in a header; of a key that was signed, the credentials that signed it."""
        token = (key or "").removeprefix("Bearer ")
        if not token.startswith("bedrock-api-key-"):
            return token
        signed_url = base64.b64decode(token.removeprefix("bedrock-api-key-")).decode()
        return dict(parse_qsl(urlsplit(f"https://{signed_url}").query))["X-Amz-Credential"].partition("/")[0]


def as_aws(why: str, token: str) -> bytes:
    """A refusal of AWS's token service."""
    error = (
        f"<Error><Type>Sender</Type><Code>InvalidIdentityToken</Code><Message>{why} ({token})</Message></Error>"
    )
    return f'<ErrorResponse xmlns="{STS}">{error}<RequestId>1</RequestId></ErrorResponse>'.encode()


def as_role(name: str, expires_in: float) -> bytes:
    """Credentials of a role."""
    expiration = datetime.fromtimestamp(time.time() + expires_in, UTC).isoformat()
    secrets = f"<SecretAccessKey>secret-{name}</SecretAccessKey><SessionToken>session-{name}</SessionToken>"
    made = f"<AccessKeyId>{name}</AccessKeyId>{secrets}<Expiration>{expiration}</Expiration>"
    result = (
        f"<AssumeRoleWithWebIdentityResult><Credentials>{made}</Credentials></AssumeRoleWithWebIdentityResult>"
    )
    return (
        f'<AssumeRoleWithWebIdentityResponse xmlns="{STS}">{result}</AssumeRoleWithWebIdentityResponse>'.encode()
    )


def signed(claims: dict[str, Any]) -> str:
    """A token as GitHub's, signed with a key of the test."""
    head = ".".join(_encoded(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
    return f"{head}.{_signature(head)}"


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _signature(head: str) -> str:
    return _encoded(hmac.digest(b"of the test", head.encode(), hashlib.sha256))


def of_job(server, provider: str) -> dict[str, str]:
    """The environment of a job that may ask for its identity at this server, with its provider there."""
    origin = server.base_url.removesuffix("/v1")
    return {
        "ACTIONS_ID_TOKEN_REQUEST_URL": f"{origin}/issuer?api-version=2.0",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": REQUEST_TOKEN,
        "OPENAI_TOKEN_URL": f"{origin}/oauth/token",
        "AZURE_AUTHORITY_HOST": origin,
        "AWS_ENDPOINT_URL_STS": origin,
        **PROVIDERS[provider][4],
    }


@contextmanager
def identity_server(issuer: Issuer, answer=lambda body, n: Turn(text="Hi")):
    """The API of a provider, which takes only tokens of its exchange, with that and GitHub's issuer beside it."""
    api = PROVIDERS[issuer.provider][0]

    def guarded(body, number):
        if not issuer.accepts(server.keys[number]):
            return 401, WIRES[api].error("the token expired")
        return answer(body, number)

    with wire_server(api, guarded, issuer.answer) as server:
        yield server
