"""One spelling for equal content: canonical JSON, fingerprints and case keys."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from runevals.lib.parsing.canonical import canonical, digest, fingerprint
from runevals.records import EvaluatorSpec, Turn

MOST_KNOWN = 1000  # specs


def case_fingerprint(turns: Iterable[Turn], extra: object = None) -> str:
    """The content that must be equal for two runs of a case to be comparable."""
    told = ",".join(_turn_text(turn) for turn in turns)
    return digest(f'{{"extra":{canonical(extra)},"turns":[{told}]}}')


def _turn_text(turn: Turn) -> str:
    """Its canonical form, put together from those of its parts, which it shares with others."""
    checks = ",".join([_spec_text(spec) for spec in turn.checks])
    context, expected, prompt = (canonical(text) for text in (turn.context, turn.expected, turn.prompt))
    return f'{{"checks":[{checks}],"context":{context},"expected":{expected},"prompt":{prompt}}}'


def key_of_prompts(prompts: Iterable[str]) -> str:
    """A short, stable key for a case that has no id and no name."""
    normal = [" ".join(unicodedata.normalize("NFC", prompt).split()) for prompt in prompts]
    return "p-" + fingerprint(normal)[:10]


_known_specs: dict[int, tuple[EvaluatorSpec, str]] = {}


def _spec_text(spec: EvaluatorSpec) -> str:
    """Most cases of a suite have the very same few."""
    known = _known_specs.get(id(spec))
    if known is None or known[0] is not spec:
        if len(_known_specs) >= MOST_KNOWN:
            _known_specs.clear()
        known = _known_specs[id(spec)] = (spec, canonical(_spec(spec)))
    return known[1]


def _spec(spec: EvaluatorSpec) -> object:
    return {
        "name": spec.name,
        "options": dict(spec.options),
        "threshold": spec.threshold,
        "weight": spec.weight,
        **({"negated": True} if spec.negated else {}),
        **({"children": [_spec(child) for child in spec.children]} if spec.children else {}),
    }
