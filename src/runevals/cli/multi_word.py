"""Options that take all words up to the next option: `--prompts one two`, which click has no option type for."""

from __future__ import annotations

from collections.abc import Sequence

MULTI_WORD_OPTIONS = ("--prompts", "--expected")


def split_multi_word_options(words: Sequence[str]) -> list[str]:
    """`--prompts one two` → `--prompts=one --prompts=two`."""
    out: list[str] = []
    option: str | None = None
    for position, word in enumerate(words):
        if word in MULTI_WORD_OPTIONS:
            option = word
            if position + 1 == len(words) or words[position + 1].startswith("--"):
                out.append(word)  # without a text: click reports it
        elif word.startswith("--") or (len(word) == 2 and word.startswith("-")):
            option = None
            out.append(word)
        elif option is not None:
            out.append(f"{option}={word}")
        else:
            out.append(word)
    return out
