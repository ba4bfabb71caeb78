"""One spelling for equal content: canonical JSON, fingerprints and case keys."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypedDict

from msgspec import to_builtins
from msgspec.structs import replace

from runevals.lib.nullable import if_known
from runevals.lib.parsing.canonical import as_written, canonical, digest, fingerprint, in_ascii
from runevals.records import EvaluatorSpec, Turn, one_line


class Fingerprints(TypedDict):
    """The two fingerprints of a case, as its record has them."""

    fingerprint: str
    normalised_fingerprint: str | None


def case_fingerprints(
    turns: Sequence[Turn], extra: Mapping[str, object] = {}, ignored: Collection[str] = ()
) -> Fingerprints:
    """The fingerprint of the content, and that of the normalised content if it differs.

    In prompts, context and `extra`, white space counts as one space. What checks compare, expected texts and
    options, is as it is written. The names in `ignored` describe the case and are left out of the normalised
    `extra`.
    """
    exact = case_fingerprint(turns, extra)
    content = {name: extra[name] for name in extra if name not in ignored}
    normalised_turns, spaced = list(map(_normalised_turn, turns)), _single_spaced(content)
    if spaced == extra and all(turn is own for turn, own in zip(normalised_turns, turns, strict=True)):
        return Fingerprints(fingerprint=exact, normalised_fingerprint=None)
    normalised = case_fingerprint(normalised_turns, spaced)
    return Fingerprints(fingerprint=exact, normalised_fingerprint=None if normalised == exact else normalised)


def with_notes(turns: Sequence[Turn], extra: Mapping[str, object], notes: object) -> Fingerprints:
    """As `case_fingerprints`; notes of the author, which a check may read, are part of the exact one alone."""
    plain = case_fingerprints(turns, extra)
    if not notes:
        return plain
    exact = case_fingerprint(turns, {**extra, "notes": notes})
    return Fingerprints(
        fingerprint=exact, normalised_fingerprint=plain["normalised_fingerprint"] or plain["fingerprint"]
    )


def _normalised_turn(turn: Turn) -> Turn:
    context, prompt = if_known(one_line, turn.context), one_line(turn.prompt)
    same = (prompt, context) == (turn.prompt, turn.context)
    return turn if same else replace(turn, prompt=prompt, context=context)


def _single_spaced(value: object) -> object:
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, Mapping):
        return {name: _single_spaced(item) for name, item in value.items()}
    return [_single_spaced(item) for item in value] if isinstance(value, list | tuple) else value


def case_fingerprint(turns: Iterable[Turn], extra: object) -> str:
    """sha256 over the content of a case: prompts, expectations, context and checks.

    Text is in NFC. What checks compare is there as it is written too, if that is another: checks see this form.
    """
    contents, extra = [_turn(turn) for turn in turns], extra or None  # nothing is the same in every format
    text = in_ascii({"extra": extra, "turns": contents})
    if "\\u" in text:  # else all of it is ASCII, which has one form
        for content in contents:
            written = as_written({"checks": content["checks"], "expected": content["expected"]})
            if written is not None:
                content["written"] = written
        text = canonical({"extra": extra, "turns": contents})
    return digest(text)


def _turn(turn: Turn) -> dict[str, object]:
    content: dict[str, object] = {
        "checks": [_spec(spec) for spec in turn.checks],
        "context": turn.context,
        "expected": turn.expected,
        "prompt": turn.prompt,
    }
    return content if turn.user is None else {**content, "user": to_builtins(turn.user)}


def key_of_prompts(prompts: Iterable[str]) -> str:
    """A short, stable key for a case that has no id and no name."""
    return "p-" + fingerprint([" ".join(unicodedata.normalize("NFC", prompt).split()) for prompt in prompts])[:10]


def _spec(spec: EvaluatorSpec) -> object:
    content: dict[str, object] = {
        "name": spec.name,
        "options": spec.options,
        "threshold": spec.threshold,
        "weight": spec.weight,
    }
    if spec.negated:
        content["negated"] = True
    if spec.children:
        content["children"] = [_spec(child) for child in spec.children]
    return content
