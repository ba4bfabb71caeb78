"""Secrets, taken out of everything that is written or printed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from functools import cache, lru_cache
from operator import attrgetter, is_
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.text.encoded_secrets import EncodedSecrets
from runevals.lib.text.secret_variables import OF_CI, secrets_of

T = TypeVar("T")
_Pairs = tuple[tuple[str, str], ...]
_Secrets = tuple[_Pairs, frozenset[str]]  # (value, name) of every secret, and the values that only look like one

NAME = 64  # characters, at most
KEY_SHAPES = (
    r"\b(?:sk-[A-Za-z0-9_-]{16,}|gh[opusr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}"
    r"|xox[abprs]-[\w-]{10,}|A[KS]IA[0-9A-Z]{16}|AIza[\w-]{30,}|ABSK[A-Za-z0-9+/]{60,}={0,2}"
    r"|gsk_[A-Za-z0-9]{32,}|xai-[A-Za-z0-9]{32,}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|[sr]k_live_[A-Za-z0-9]{16,})"
)


KEY_BEGINNINGS = (
    *("sk-", "gho_", "ghp_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "AKIA", "ASIA", "AIza"),
    *("ABSK", "gsk_", "xai-", "hf_", "npm_", "k_live_"),
)
# As `html.escape` does, whose module is slow to load.
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
_MARGIN = 10_000  # characters beside an excerpt in which secrets are looked for
_extra_secrets: dict[str, str] = {}  # secrets that are not, or no longer, in the environment: name → value
_key_names: set[str] = set()  # variables that hold keys, whatever their names
_public: list[Callable[[Iterable[str]], frozenset[str]]] = []  # which of these texts the repository contains


def remember(variables: Mapping[str, str]) -> None:
    """Registers secrets that are redacted even if the environment lacks them, in place of those before."""
    _extra_secrets.clear()
    _extra_secrets.update(variables)
    _key_names.clear()
    _public.clear()
    _in_repository.cache_clear()
    _redactor.cache_clear()


def remember_token(name: str, value: str) -> None:
    """Registers a token that was made for this run; its name must be that of a secret."""
    _extra_secrets[name] = value


def remembered() -> Mapping[str, str]:
    """The registered secrets: name → value."""
    return _extra_secrets


def remember_keys(
    environment: Mapping[str, str], key_names: Iterable[str], public: Callable[[Iterable[str]], frozenset[str]]
) -> None:
    """Registers the variables that hold keys by the settings, and the secrets of their environment, too.

    `public`: which of these texts the repository contains. The first counts: it is made before programs run.
    """
    _key_names.update(key_names)
    for name, value in environment.items():
        if any(secrets_of(name, value, is_key=name in _key_names)):
            _extra_secrets[name] = value
    if not _public:
        _public.append(public)


def secret_values(environment: Mapping[str, str], more_names: Iterable[str] = ()) -> dict[str, str]:
    """Value → name of each secret in the variables, and in those registered; none that the repository contains."""
    values, guesses = _secrets(environment, more_names)
    public = _in_repository(guesses)
    return {value: name for value, name in values if value not in public}


def _secrets(environment: Mapping[str, str], more_names: Iterable[str]) -> _Secrets:
    variables = {**_extra_secrets, **environment}
    return _secret_texts(frozenset(variables.items()), frozenset({*more_names, *_key_names}))


@lru_cache(16)
def _secret_texts(variables: frozenset[tuple[str, str]], key_names: frozenset[str]) -> _Secrets:
    names, certain = dict[str, str](), set[str]()
    for name, value in sorted(variables):
        for text, sure in secrets_of(name, value, is_key=name in key_names):
            if sure or text not in certain:
                names[text] = name
            if sure:
                certain.add(text)
    of_ci = [value for name, value in variables if name.startswith(OF_CI) and not any(secrets_of(name, value))]
    guesses = {text for text in names.keys() - certain if not any(text in value for value in of_ci)}
    return tuple(pair for pair in names.items() if pair[0] in certain or pair[0] in guesses), frozenset(guesses)


@cache
def _in_repository(guesses: frozenset[str]) -> frozenset[str]:
    return _public[0](guesses) if guesses and _public else frozenset()


def beginning(text: str, most: int) -> str:
    """The first `most` characters of a text of others, redacted before: a secret cut in half is not found."""
    return redactor(os.environ)(text[: most + _MARGIN])[:most]


def ending(text: str, most: int) -> str:
    """The last `most` characters, with the same care."""
    return redactor(os.environ)(text[-most - _MARGIN :])[-most:]


def redactor(environment: Mapping[str, str], more_names: Iterable[str] = ()) -> Callable[[str], str]:
    """A function that replaces secrets in a text: the values above by their names, other keys by their shape."""
    return _redactor(*_secrets(environment, more_names))


@lru_cache(16)
def _redactor(secrets: _Pairs, guesses: frozenset[str]) -> Callable[[str], str]:
    values = {form: name for value, name in sorted(secrets) for form in _escaped_forms(value)}
    pattern = re.compile("|".join([*map(re.escape, sorted(values, key=len, reverse=True)), KEY_SHAPES]))
    beginnings = (*values, *KEY_BEGINNINGS)
    encoded = EncodedSecrets(sorted(secrets))

    def replacement(text: str) -> str:
        plain = text
        if any(map(text.__contains__, beginnings)):  # far quicker than the pattern
            plain = pattern.sub(lambda match: f"[redacted {values.get(match[0], 'key')}]", text)
        plain = encoded.removed_from(plain)
        if plain == text or not (public := _in_repository(guesses)):  # asked only once something is found
            return plain
        rest = tuple((value, name) for value, name in secrets if value not in public)
        return _redactor(rest, frozenset())(text)

    often = lru_cache(1024)(replacement)  # names and reasons, most of them
    return lambda text: often(text) if len(text) <= NAME else replacement(text)


def _escaped_forms(value: str) -> Iterator[str]:
    """As it is, and as URLs, JSON and HTML have it: of one without letters or digits, no more is looked for."""
    yield value
    for safe in ("/", ""):  # of variables that are not UTF-8, the bytes that they are
        yield quote(value, safe=safe, errors="surrogateescape")
    yield from (json.dumps(value, ensure_ascii=only_ascii)[1:-1] for only_ascii in (True, False))
    yield value.translate(_HTML)


def redacted(value: T, redact: Callable[[str], str], *, already: type | tuple[()] = ()) -> T:
    """`value` with every text in it redacted, however deep; what has none stays the very same object.

    Whatever in it is an `already` was redacted before.
    """

    def of(value: Any) -> Any:
        if value is None:
            return value
        if isinstance(value, str):
            text = redact(value)
            return text if text != value else value
        if isinstance(value, (int, float, bytes, already)):
            return value
        if isinstance(value, Sequence):
            before = value if isinstance(value, list) else tuple(value)
            items = [of(item) for item in before]
            return value if all(map(is_, items, before)) else type(before)(items)
        if names := _fields_of(cast("Any", type(value))):
            changes = {name: copy for name in names if (copy := of(old := getattr(value, name))) is not old}
            return _replaced(value, changes) if changes else value
        if isinstance(value, Mapping):
            pairs = {of(key): of(item) for key, item in value.items()}
            return value if all(key in value and item is value[key] for key, item in pairs.items()) else pairs
        return value

    copy: T = of(value)
    return copy


def without_secrets(value: T, redact: Callable[[str], str], *, already: type | tuple[()] = ()) -> T:
    """`redacted`, for a function of `redactor`: all texts of a record are looked at together first."""
    texts: list[str] = []
    _collect_texts(value, texts, already)
    joined = "\0".join(texts)  # within which no key begins or ends, and no escape
    return value if redact(joined) == joined else redacted(value, redact, already=already)


def _collect_texts(value: Any, texts: list[str], already: type | tuple[()]) -> None:
    """Adds every text that `redacted` looks at."""
    if isinstance(value, str):
        texts.append(value)
        return
    kind: Any = type(value)
    for item in _members(kind, already)(value):
        if type(item) is str:
            texts.append(item)
        elif item:
            _collect_texts(item, texts, already)


@cache
def _members(kind: Any, already: type | tuple[()]) -> Callable[[Any], Iterable[Any]]:
    """What reads from a value of this type the values that `redacted` looks at."""
    if issubclass(kind, (int, float, bytes, already)):
        return lambda _: ()
    if issubclass(kind, Mapping):
        return lambda mapping: (*mapping.keys(), *mapping.values())
    if issubclass(kind, Sequence):
        return iter
    names = _fields_of(kind)
    return attrgetter(*names) if len(names) > 1 else lambda record: [getattr(record, name) for name in names]


@cache
def _fields_of(kind: Any) -> tuple[str, ...]:
    """The fields of a record, ours or of a plugin, that may contain text."""
    types = _types(kind)
    return tuple(name for name in _every_field(kind) if _may_be_text(types.get(name)))


def _every_field(kind: Any) -> tuple[str, ...]:
    ours: tuple[str, ...] = getattr(kind, "__struct_fields__", ())
    return ours or tuple(getattr(kind, "__dataclass_fields__", ()))


def _replaced(record: Any, changes: Mapping[str, Any]) -> Any:
    if isinstance(record, Struct):
        return replace(record, **changes)
    import dataclasses  # of a plugin

    return dataclasses.replace(record, **changes)


def _types(record: Any) -> Mapping[str, Any]:
    """The resolvable types of a record's fields: a plugin's annotation may name an unknown type."""
    with suppress(NameError, TypeError, AttributeError):
        return get_type_hints(record)
    return {}


def _may_be_text(kind: Any, *, within: bool = True) -> bool:
    """Whether a text could be in a value of this type; of records within records, it is not asked twice."""
    if kind in (int, float, bool, NoneType, ...):
        return False
    if isinstance(kind, type) and issubclass(kind, Enum):
        return False
    if (names := _every_field(kind)) and within:
        return any(_may_be_text(_types(kind).get(name), within=False) for name in names)
    if get_origin(kind) in (tuple, Union, UnionType):
        return any(_may_be_text(inner, within=within) for inner in get_args(kind))
    return True
