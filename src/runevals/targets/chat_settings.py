"""How a chat model is called, as settings say it: its address, key and API; and the chat that this makes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from runevals.lib.ci import in_ci
from runevals.lib.record_from import record_from
from runevals.models.chat.providers import PROVIDERS, Api, address, azure_address
from runevals.models.http.exchanges import EXCHANGES
from runevals.models.http.origin import OPENAI_URL, origin_of
from runevals.records import Response
from runevals.records.diagnosis import Diagnosis, good, missing
from runevals.records.errors import COULD_NOT_MEASURE, USAGE_ERROR, InvalidSettings, KeyRefused, TargetRefused

if TYPE_CHECKING:
    from runevals.models.chat.chat import Chat
    from runevals.models.http.key import Key
    from runevals.models.http.throttle import CallFailed, Throttles

DEFAULT_TIMEOUT_S = 120.0


class ModelSettings(Struct, frozen=True, kw_only=True):
    """How a chat model is called, as a target or as a judge."""

    type: str
    model: str | None = None
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    azure_api_version: str | None = None
    auth: Literal["github"] | None = None  # the identity of the job, in place of a key
    api: Api | None = None  # None: the one of its provider
    parameters: Mapping[str, object] = {}
    timeout_s: float = DEFAULT_TIMEOUT_S

    @property
    def spoken_api(self) -> Api:
        """What it is asked by."""
        from runevals.models.chat.wire import api_of  # only what calls a model needs it

        return self.api or api_of(self.type, self.base_url, self.parameters)

    @property
    def is_model(self) -> bool:
        """Whether a chat model is called."""
        return self.type in PROVIDERS

    @property
    def is_recorded(self) -> bool:
        """Whether nothing is called: what was recorded is read."""
        return self.type == "recorded"

    @property
    def needs_key(self) -> bool:
        """Whether it refuses requests without a key; a self-hosted server may not."""
        provider = PROVIDERS.get(self.type)
        if self.auth is not None or provider is None:
            return False
        return provider.needs_key and (provider.url != OPENAI_URL or self.base_url is None)


def model_fields(section: Mapping[str, Any], environment: Mapping[str, str], *, what: str) -> dict[str, Any]:
    """The fields of ModelSettings that a section of the settings has. Raises InvalidSettings."""
    place = base_url(section, environment, what=what)
    own = PROVIDERS.get(section["type"], PROVIDERS["openai"]).key
    url, azure_version = azure_address(section["type"], place, environment)
    azure_model = environment.get("AZURE_AI_MODEL_NAME") if section["type"] == "azure" else None
    return {
        "model": section.get("model") or azure_model or None,
        "base_url": url,
        "api_key_env": str(section.get("api_key_env", own)),
        "azure_api_version": azure_version,
        "auth": _auth(section, what),
        "api": section.get("api"),
        "parameters": section.get("parameters", {}),
        "timeout_s": float(section.get("timeout_s", DEFAULT_TIMEOUT_S)),
    }


def base_url(section: Mapping[str, Any], environment: Mapping[str, str], *, what: str) -> str | None:
    """The endpoint's address, None for OpenAI's. Raises InvalidSettings for one that cannot be called."""
    name = section["type"] if section["type"] in PROVIDERS else "openai"
    written = section.get("base_url")
    place: str = written or address(name, environment, section.get("model"))
    if place == OPENAI_URL and not written:
        return None
    source = f"{what}.base_url" if written else PROVIDERS[name].located_by or what
    try:
        origin_of(place)
    except ValueError as error:
        raise InvalidSettings(f"{source}: the address of a model cannot be read: {error}") from None
    if not place.lower().startswith(("http://", "https://")):
        raise InvalidSettings(f"{source}: '{place}' must begin with http:// or https://")
    return place


def _auth(section: Mapping[str, Any], what: str) -> Literal["github"] | None:
    """Whether the identity of the job is sent. Raises InvalidSettings if it cannot be."""
    if "auth" not in section:
        return None
    if section["type"] not in EXCHANGES:
        raise InvalidSettings(
            f"{what}.auth: {section['type']} takes no identity of a job; leave it out ({', '.join(EXCHANGES)} do)"
        )
    if "api_key_env" in section:
        raise InvalidSettings(f"{what}.auth: with it, no key is sent; leave out api_key_env")
    return "github"


def chat_of(
    settings: ModelSettings,
    environment: Mapping[str, str],
    throttles: Throttles,
    *,
    what: str,
    at_once: int | None = None,
) -> Chat:
    """A chat model. Raises InvalidSettings without a key that it needs, or the SDK that speaks its API."""
    from runevals.models.chat.chat import Chat, Endpoint

    api = settings.spoken_api
    if (lacking := _lacking_package(settings)) is not None:
        raise InvalidSettings(f"{what}: {': '.join(lacking)}")
    endpoint = record_from(
        Endpoint,
        settings,
        model=settings.model or "",
        api_key=_api_key(settings, environment, what),
        identity=None if settings.auth is None else _identity(settings, environment, what),
        provider=PROVIDERS[settings.type],
        api=api,
        api_is_set=settings.api is not None,
        model_source=f"`{what}:` in runevals.yaml, or "
        f"{'--judge-model' if what == 'judge' else '--target or --model'}",
        key_source=_key_source(settings, environment),
    )
    return Chat(endpoint, throttles[host_of(settings.base_url)], at_once=at_once)


def _lacking_package(settings: ModelSettings) -> tuple[str, str] | None:
    """What is not installed of what speaks its API, and the fix; None if nothing is missing."""
    from runevals.models.chat.wire import WIRES

    wire = WIRES[settings.spoken_api]
    if find_spec(wire.sdk) is not None:
        return None
    return (
        f"{settings.type} speaks the {wire.title} by the package {wire.sdk}, which is not installed",
        f"pip install 'runevals[{wire.sdk}]' (or set `api: chat`, if it speaks chat completions too)",
    )


def diagnosis_of(name: str, settings: ModelSettings, environment: Mapping[str, str]) -> Diagnosis:
    """Its key and host; no key is sent."""
    key, place = settings.api_key_env, settings.base_url or OPENAI_URL
    display = f"{settings.model or 'the model of each suite'} at {place}"
    if (lacking := _lacking_package(settings)) is not None:
        return missing(name, *lacking, USAGE_ERROR)
    has_key = bool(environment.get(key))
    if not has_key and settings.needs_key:
        fix = f"export {key}=…, or write it into .env.local.user (which must not be committed)"
        if in_ci(environment):
            fix = f"pass it in the workflow: env: {key}: ${{{{ secrets.{key} }}}}"
        return missing(name, f"{display}: the variable {key} is not set", fix, USAGE_ERROR)
    from runevals.models.http.network import unreachable  # for doctor

    problem = unreachable(place)
    if problem is not None:
        address_by = filter(None, (PROVIDERS[settings.type].located_by, "base_url"))
        fix = f"check the address ({', '.join(address_by)}), the network and the proxy"
        return missing(name, f"{display}: {problem}", fix, COULD_NOT_MEASURE)
    key_state = "by the identity of the job" if settings.auth else "a key is set" if has_key else "no key is set"
    return good(name, f"{display} answers; {key_state}")


def host_of(url: str | None) -> str:
    """Name and port of the host that is called. Raises InvalidSettings for an invalid address."""
    url = OPENAI_URL if url is None else url
    try:
        return origin_of(url).partition("://")[2] or url
    except ValueError as error:
        reason = f"the address of a model cannot be read: {error}"
        raise InvalidSettings(f"{reason}; fix base_url in the settings, or OPENAI_BASE_URL") from None


def _api_key(settings: ModelSettings, environment: Mapping[str, str], what: str) -> str:
    """The key to send. Raises InvalidSettings if it needs one and there is none, and for one that cannot be sent.

    A line break at its end is common: it comes with the file that the variable was set from.
    """
    key, name = environment.get(settings.api_key_env, "").strip(), settings.api_key_env
    if not (key.isascii() and key.isprintable()):
        raise InvalidSettings(f"{what}: {name} holds a line break or another character that no API key has")
    if not key and settings.needs_key:
        raise InvalidSettings(f"{what}: the environment variable {name} is not set; it must hold the API key")
    return key or "none"


def _identity(settings: ModelSettings, environment: Mapping[str, str], what: str) -> Key:
    if settings.azure_api_version is not None:
        raise InvalidSettings(
            f"{what}.auth: AZURE_AI_API_VERSION asks for the older API, which takes a key; unset it"
        )
    from runevals.models.http.identity import job_identity  # most have a key

    return job_identity(settings.type, settings.base_url or OPENAI_URL, environment, what=what)


def _key_source(settings: ModelSettings, environment: Mapping[str, str]) -> str:
    if settings.auth is not None:
        return "the identity of this job"
    name = settings.api_key_env
    return f"the key in {name}" if environment.get(name) else f"no key: {name} is not set"


def unanswered(error: CallFailed) -> Response:
    """The response to a failed call. Raises TargetRefused if every other call would fail, too."""
    from runevals.targets.program_report import failed

    if error.refused:
        refusal = KeyRefused if error.kind == "auth" else TargetRefused
        raise refusal(f"the target refuses every call: {error}") from error
    return failed(f"target_{error.kind}", str(error))
