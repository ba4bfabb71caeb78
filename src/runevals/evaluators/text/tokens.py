"""How texts are cut into tokens; CJK characters stand for themselves."""

from __future__ import annotations

from runevals.lib.text.escape import pattern_of

_CJK = (
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U000323af"
)
_TOKEN = f"[{_CJK}]|[^\\W_{_CJK}]+"
_RUN = f"[{_CJK}]+|[^\\W_{_CJK}]+"
_CJK_FIRST = f"[{_CJK}]"
_ARTICLES = frozenset({"a", "an", "the"})


def tokens(text: str) -> list[str]:
    """Lower-cased runs of letters and digits; each CJK character by itself."""
    return pattern_of(_TOKEN).findall(text.lower())


def words_in(chunk: str) -> int:
    """How many words are in a text without white space: one, or those between and of its CJK characters."""
    has_some = not chunk.isascii() and pattern_of(_CJK_FIRST).search(chunk)
    return len(pattern_of(_TOKEN).findall(chunk)) if has_some else 1


def bigram_tokens(text: str) -> list[str]:
    """Lower-cased runs of letters and digits; CJK characters in pairs of neighbours, a lone one by itself."""
    result: list[str] = []
    for run in pattern_of(_RUN).findall(text.lower()):
        if len(run) > 1 and pattern_of(_CJK_FIRST).match(run):
            result += [run[start : start + 2] for start in range(len(run) - 1)]
        else:
            result.append(run)
    return result


def answer_tokens(text: str, *, case_sensitive: bool) -> list[str]:
    """Tokens for PartialMatch: runs of letters and digits without a/an/the, each CJK character by itself."""
    words = pattern_of(_TOKEN).findall(text if case_sensitive else text.casefold())
    return [word for word in words if word.casefold() not in _ARTICLES]
