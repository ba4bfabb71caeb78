"""Options that take all words up to the next option: `--prompts one two`, which click has no option type for."""

from __future__ import annotations

from collections.abc import Sequence

MULTI_WORD_OPTIONS = ("--prompts", "--expected")


def split_multi_word_options(words: Sequence[str]) -> list[str]:
    """`--prompts one two` → `--prompts=one --prompts=two`."""
    out: list[str] = []
    option: str | None = None
    for position, word in enumerate(words):
        if word.startswith("--") or (len(word) == 2 and word.startswith("-")):
            option = word if word in MULTI_WORD_OPTIONS else None
            has_text = position + 1 < len(words) and not words[position + 1].startswith("--")
            if option is None or not has_text:  # click reports a missing text
                out.append(word)
        else:
            out.append(word if option is None else f"{option}={word}")
    return out
