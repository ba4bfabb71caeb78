"""How providers of models exchange the identity token of a job for one of theirs, as they document it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

# By which a job of GitHub asks for its identity token.
REQUEST_URL, REQUEST_TOKEN = "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
_TOKEN_EXCHANGE = {
    "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
    "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
    "subject_token": "{token}",
}


class Exchange(Struct, frozen=True, kw_only=True):
    """What a provider's endpoint of tokens is sent.

    `{NAME}` is the variable of this name, `{token}` the job's token, `{base_url}` the origin of the API.

    `variables` have a default, or None if the job must set them; a field that is empty is left out. `package` is
    what has to be installed, with the extra that brings it.
    """

    url: str
    audience: str  # of the job's token
    fields: Mapping[str, str]
    variables: Mapping[str, str | None]
    form: Literal["json", "form", "aws"] = "json"
    package: tuple[str, str] | None = None
    headers: Mapping[str, str] = {}
    call_headers: Mapping[str, str] = {}  # of calls with the new token


EXCHANGES: Mapping[str, Exchange] = {
    "openai": Exchange(
        url="{OPENAI_TOKEN_URL}",
        audience="{OPENAI_AUDIENCE}",
        fields={
            **_TOKEN_EXCHANGE,
            "identity_provider_id": "{OPENAI_IDENTITY_PROVIDER_ID}",
            "service_account_id": "{OPENAI_SERVICE_ACCOUNT_ID}",
        },
        variables={
            "OPENAI_IDENTITY_PROVIDER_ID": None,
            "OPENAI_SERVICE_ACCOUNT_ID": None,
            "OPENAI_AUDIENCE": "https://api.openai.com/v1",
            "OPENAI_TOKEN_URL": "https://auth.openai.com/oauth/token",
        },
    ),
    "anthropic": Exchange(
        url="{base_url}/v1/oauth/token",
        audience="{ANTHROPIC_AUDIENCE}",
        fields={
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": "{token}",
            "federation_rule_id": "{ANTHROPIC_FEDERATION_RULE_ID}",
            "organization_id": "{ANTHROPIC_ORGANIZATION_ID}",
            "service_account_id": "{ANTHROPIC_SERVICE_ACCOUNT_ID}",
            "workspace_id": "{ANTHROPIC_WORKSPACE_ID}",
        },
        variables={
            "ANTHROPIC_FEDERATION_RULE_ID": None,
            "ANTHROPIC_ORGANIZATION_ID": None,
            "ANTHROPIC_SERVICE_ACCOUNT_ID": "",
            "ANTHROPIC_WORKSPACE_ID": "",
            "ANTHROPIC_AUDIENCE": "https://api.anthropic.com",
        },
        headers={"anthropic-beta": "oauth-2025-04-20,oidc-federation-2026-04-01"},
        call_headers={"anthropic-beta": "oauth-2025-04-20"},
    ),
    "openrouter": Exchange(
        url="{base_url}/api/v1/oauth/token",
        audience="{OPENROUTER_AUDIENCE}",
        fields={**_TOKEN_EXCHANGE, "federation_policy_id": "{OPENROUTER_FEDERATION_POLICY_ID}"},
        variables={"OPENROUTER_FEDERATION_POLICY_ID": None, "OPENROUTER_AUDIENCE": "https://openrouter.ai"},
        form="form",
    ),
    "azure": Exchange(
        url="{AZURE_AUTHORITY_HOST}/{AZURE_TENANT_ID}/oauth2/v2.0/token",
        audience="api://AzureADTokenExchange",
        fields={
            "grant_type": "client_credentials",
            "client_id": "{AZURE_CLIENT_ID}",
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "client_assertion": "{token}",
            "scope": "{AZURE_SCOPE}",
        },
        variables={
            "AZURE_TENANT_ID": None,
            "AZURE_CLIENT_ID": None,
            "AZURE_SCOPE": "https://cognitiveservices.azure.com/.default",
            "AZURE_AUTHORITY_HOST": "https://login.microsoftonline.com",
        },
        form="form",
    ),
    # A role of AWS by its token service; with the role's credentials, a short-term key of Bedrock is signed.
    "bedrock": Exchange(
        url="{AWS_ENDPOINT_URL_STS}",
        audience="sts.amazonaws.com",
        fields={"RoleArn": "{AWS_ROLE_ARN}", "RoleSessionName": "runevals", "WebIdentityToken": "{token}"},
        variables={
            "AWS_ROLE_ARN": None,
            "AWS_REGION": None,
            "AWS_ENDPOINT_URL_STS": "https://sts.{AWS_REGION}.amazonaws.com",
        },
        form="aws",
        package=("aws_bedrock_token_generator", "bedrock"),
    ),
}
