"""One spelling for equal content: canonical JSON, fingerprints and case keys."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping

from runevals.records import EvaluatorSpec, Turn


def canonical(value: object) -> str:
    """JSON with sorted keys, no spaces and all text in NFC."""
    return json.dumps(_normal(value), sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def fingerprint(value: object) -> str:
    """sha256 over the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def case_fingerprint(turns: Iterable[Turn], extra: object = None) -> str:
    """The content that must be equal for two runs of a case to be comparable."""
    return fingerprint(
        {
            "turns": [
                {
                    "prompt": turn.prompt,
                    "expected": turn.expected,
                    "context": turn.context,
                    "checks": [_spec(spec) for spec in turn.checks],
                }
                for turn in turns
            ],
            "extra": extra,
        }
    )


def key_of_prompts(prompts: Iterable[str]) -> str:
    """A short, stable key for a case that has no id and no name."""
    normal = [" ".join(unicodedata.normalize("NFC", prompt).split()) for prompt in prompts]
    return "p-" + fingerprint(normal)[:10]


def _spec(spec: EvaluatorSpec) -> object:
    return {
        "name": spec.name,
        "options": dict(spec.options),
        "threshold": spec.threshold,
        "weight": spec.weight,
        **({"negated": True} if spec.negated else {}),
        **({"children": [_spec(child) for child in spec.children]} if spec.children else {}),
    }


def _normal(value: object) -> object:
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, Mapping):
        return {unicodedata.normalize("NFC", str(key)): _normal(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_normal(item) for item in value]
    return value
