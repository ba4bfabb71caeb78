"""Escaping of untrusted text for terminals, Markdown, XML and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

# C0 and C1 controls but tab and line feed, bidi controls, zero-width characters, line separators, noncharacters,
# lone surrogates, tag characters; fillers, and variation selectors that can only carry a hidden text: in a row,
# behind letters of alphabets, and U+E0100 on behind anything but an ideograph. One alone makes an emoji, say.
_FILLERS = "\u17b4\u17b5\u3164\uffa0\U0001d173-\U0001d17a"
_SELECTORS = (
    "(?<![\u2f00-\u2fdf\u3005\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
    "[\U000e0100-\U000e01ef]"
    "|(?<![^\x00-\u0fff])[\ufe00-\ufe0d]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"
    "|(?<=[\u034f\u115f\u1160])[\u034f\u115f\u1160]"
)
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    f"\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f{_FILLERS}]|{_SELECTORS}"
)
_HIDING = f"[\u200b\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f{_FILLERS}]|{_SELECTORS}"
pattern_of = cache(re.compile)  # one is compiled when it is used: that may take longer than an import
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_LIVE = re.compile(r"[!\[\]<>&`*_~|@#\\:/]")
# Texts that Markdown and GitHub turn into links, after character references are resolved.
_TRIGGERS = re.compile(r"[@#$]|(?<=\bGH)-(?=\d)", re.IGNORECASE)
_LIST = re.compile(r"^(\d*)([-+.)])(?= |$)")
_WWW = re.compile(r"(?<=www)\.", re.IGNORECASE)
# how one begins, also of full width
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_FENCES = re.compile(r"`{3,}")
_ENDLESS_FENCES = re.compile(r"`{100,}")  # a parser may count a fence in one byte
_WORKFLOW_COMMAND = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
_LOG_COMMAND = re.compile(r"##(?=\w*\[)")  # also within a line: of GitHub, `##vso[` of Azure, `##teamcity[`


def visible(text: str) -> str:
    """`text` with invisible and cursor-moving characters as escapes; lines and tabs stay."""
    if text.isascii() and text.isprintable():  # far quicker than the pattern
        return text
    return _INVISIBLE.sub(_escape, text.replace("\r\n", "\n"))


def revealed(text: str) -> str:
    """`text` with invisible and reordering characters as escapes; joiners of scripts stay."""
    return pattern_of(_HIDING).sub(_escape, text)


def one_line(text: str, limit: int = 200) -> str:
    """`text` visible, on one line, cut with an ellipsis."""
    line = " ".join(visible(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def both_ends(text: str, limit: int = 220) -> str:
    """`text` visible, on one line; of why something failed, the end says as much as the beginning."""
    line, start = " ".join(visible(text).split()), limit // 3
    return line if len(line) <= limit else f"{line[:start]} … {line[start + 3 - limit :]}"


def code_cell(text: str, limit: int = 200) -> str:
    """`text` as a Markdown table cell without active markup."""
    # The empty comment prevents the detection of a mail address, also inside <code>.
    escaped_ = _PUNCTUATION.sub(_reference, one_line(text, limit)).replace("&#64;", "&#64;<!---->")
    return f"<code>{escaped_}</code>"


def inert_line(text: str, limit: int | None = None) -> str:
    """`text` as one line of Markdown without active markup; plain punctuation stays readable."""
    line = " ".join(visible(text).split()) if limit is None else one_line(text, limit)
    escaped_ = "".join(
        f"<code>{_reference(trigger)}</code>" if trigger else _WWW.sub("&#46;", _LIVE.sub(_reference, plain))
        for plain, trigger in _split(line)
    )
    return _LIST.sub(lambda match: f"{match[1]}&#{ord(match[2])};", escaped_)


def _split(line: str) -> Iterator[tuple[str, re.Match[str] | None]]:
    """(plain text, None) and ("", trigger), in order."""
    start = 0
    for trigger in _TRIGGERS.finditer(line):
        yield line[start : trigger.start()], None
        yield "", trigger
        start = trigger.end()
    yield line[start:], None


def _reference(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"


def fenced(text: str, language: str = "") -> str:
    """`text` as a fenced block, the fence longer than any inside."""
    return in_fence(_ENDLESS_FENCES.sub("`" * 99 + "…", visible(text)), language)


def in_fence(text: str, language: str = "") -> str:
    """`text`, to the letter, between fences longer than any inside."""
    fence = "`" * (max((len(fence) for fence in _FENCES.findall(text)), default=2) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def xml_text(text: str) -> str:
    """`text` with characters that XML 1.0 does not allow as escapes."""
    return _NOT_XML.sub(_escape, text)


def log_text(text: str) -> str:
    """`text` without what the agent of a CI system, which reads the log, would run as a command."""
    return _LOG_COMMAND.sub("## ", _WORKFLOW_COMMAND.sub(r"\1: ", text))


def log_json(text: str) -> str:
    """JSON of the same value without such commands."""
    return text.replace("##", "#\\u0023")


def spreadsheet_cell(text: str) -> str:
    """`text` that a spreadsheet does not evaluate as a formula."""
    escaped_ = xml_text(text)
    quote = "'" if escaped_.startswith(_FORMULA) else ""
    # A carriage return alone begins a row for a spreadsheet, and csv does not quote the cell because of it.
    return quote + escaped_.replace("\r\n", "\n").replace("\r", "\\x0d")


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
