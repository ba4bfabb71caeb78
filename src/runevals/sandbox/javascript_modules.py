"""JavaScript modules → functions: `import` and `export` are rewritten, all line numbers stay the same.

QuickJS loads no modules here. The scanner skips strings, templates, comments and regular expressions, so that no
text inside of them is taken for a statement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<string>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)
    |(?P<word>[\w$\u0080-\U0010ffff]+)
    |(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_REGEX = re.compile(r"/(?![*/])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[A-Za-z]*")
_BEFORE_REGEX = "(,=:[!&|?{};+-*%^~<>"  # one of these characters, or nothing
_BEFORE_REGEX_WORDS = frozenset(
    {"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await", "yield"}
)
_BLANK = r"(?:\s|(?>/\*.*?\*/)|//[^\n]*\n)*"
_IMPORT = re.compile(
    rf"import\b{_BLANK}(?:(?P<names>(?:[\w$*{{}},\s]|(?>/\*.*?\*/)|//[^\n]*\n)+?)\bfrom\b|"
    rf"(?P<braces>[\w$*,\s]*\{{[^}}]*\}})\s*from\b)?{_BLANK}"
    r"""(?P<module>"[^"\n]*"|'[^'\n]*')(?:\s*(?:with|assert)\s*\{[^}]*\})?[^\S\n]*;?""",
    re.DOTALL,
)
_DEFAULT = re.compile(
    r"export\s+default\b(?P<rest>\s+(?P<head>(?:async\s+)?function\b\s*\*?|class\b)\s*(?P<name>[\w$]+)?)?",
    re.DOTALL,
)
_LIST = re.compile(r"export\s*\{(?P<names>[^}]*)\}[^\S\n]*;?", re.DOTALL)
_NAMED_EXPORT = re.compile(r"export\s+(?=(?:async\s+)?function\b|const\b|let\b|var\b|class\b)")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*(?:\n|$)", re.DOTALL)
_ANONYMOUS = "__default_export"


def as_function(code: str, prefix: str = "") -> str:
    """A module's text → an async function of (exports, require, module, __default, __import).

    CommonJS stays unchanged. Imports are evaluated first, as in a module; exports are read on access.
    `prefix` stands before everything, on the same line as the code's first.
    """
    if code.startswith("#!"):
        code = f"//{code[2:]}"
    edits = list(_edits(code))
    head = "".join(edit.first for edit in edits)
    strict = '"use strict";' if any(edit.is_module for edit in edits) else ""
    parts, at = [], 0
    for edit in edits:
        parts += [code[at : edit.start], edit.text]
        at = edit.end
    body = "".join([*parts, code[at:]])
    names = "exports, require, module, __default, __import"
    return f"{prefix}(async function ({names}) {{{strict}{head}{body}\n}})"


@dataclass(frozen=True, slots=True)
class _Edit:
    """The new text of one statement; `first` is inserted at the beginning of the module."""

    start: int
    end: int
    text: str
    first: str = ""
    is_module: bool = True


def _edits(code: str) -> Iterator[_Edit]:
    done = 0
    for start, word, at_statement in _keywords(code):
        edit = _edit(code, start, word, at_statement=at_statement) if start >= done else None
        if edit is not None:
            done = edit.end
            yield edit


def _edit(code: str, start: int, word: str, *, at_statement: bool) -> _Edit | None:
    if word == "import":
        rest = code[start + 6 : start + 200].lstrip()
        if rest.startswith("("):
            return _Edit(start, start + 6, "__import", is_module=False)
        match = _IMPORT.match(code, start) if at_statement else None
        return None if match is None else _Edit(start, match.end(), _lines(match[0]), first=_require_call(match))
    if not at_statement:
        return None
    if (match := _DEFAULT.match(code, start)) is not None:
        return _exported_default(match)
    if (match := _LIST.match(code, start)) is not None:
        return _Edit(start, match.end(), _lines(match[0]), first=_exported(match["names"]))
    if (match := _NAMED_EXPORT.match(code, start)) is not None:
        return _Edit(start, match.end(), _lines(match[0]))
    return None


def _keywords(code: str) -> Iterator[tuple[int, str, bool]]:
    """`import` and `export` outside of strings: (offset, word, whether a statement may begin there)."""
    depth, previous, new_line = 0, "", True
    templates: list[int] = []  # the depths at which a template's ${ was opened
    at = 0
    while at < len(code):
        ends_insertion = code[at] == "}" and templates[-1:] == [depth]
        if ends_insertion:
            depth = templates.pop() - 1
        if ends_insertion or code[at] == "`":
            at, is_open = _over_template(code, at + 1)
            if is_open:
                depth += 1
                templates.append(depth)
            previous, new_line = "`", False
            continue
        match = _TOKEN.match(code, at)
        if match is None:
            return
        kind, text = match.lastgroup, match[0]
        if kind in ("space", "comment"):
            new_line = new_line or "\n" in text
            at = match.end()
            continue
        may_begin = previous in _BEFORE_REGEX or previous in _BEFORE_REGEX_WORDS
        if text == "/" and may_begin and (pattern := _REGEX.match(code, at)) is not None:
            at, previous, new_line = pattern.end(), "/", False
            continue
        if text in ("import", "export") and previous != ".":
            starts = depth == 0 and (new_line or previous in ("", ";", "}"))
            yield at, text, starts
        if kind == "other":
            depth += (text in "({[") - (text in ")}]")
        at, previous, new_line = match.end(), text, False


def _over_template(code: str, at: int) -> tuple[int, bool]:
    """(the end of a template's text, whether it is at a `${`)."""
    while at < len(code):
        if code[at] == "\\":
            at += 2
        elif code[at] == "`":
            return at + 1, False
        elif code.startswith("${", at):
            return at + 2, True
        else:
            at += 1
    return at, False


def _lines(text: str) -> str:
    """Only the line breaks of a statement, to keep the line numbers after it."""
    return "\n" * text.count("\n")


def _require_call(match: re.Match[str]) -> str:
    module = json.dumps(match["module"][1:-1])
    names = _COMMENT.sub(" ", match["names"] or match["braces"] or "").strip()
    if not names:
        return f"require({module});"
    lines = []
    brace = re.search(r"\{([^}]*)\}", names)
    namespace = re.search(r"\*\s*as\s+([\w$]+)", names)
    default = re.match(r"[\w$]+", names)
    if default is not None:
        lines.append(f"const {default[0]} = __default(require({module}));")
    if namespace is not None:
        lines.append(f"const {namespace[1]} = require({module});")
    for entry in brace[1].split(",") if brace is not None else ():
        name, local = _export_names(entry)
        if name == "default":
            lines.append(f"const {local} = __default(require({module}));")
        elif name:
            lines.append(f"const {local} = require({module}).{name};")
    return "".join(lines)


def _exported_default(match: re.Match[str]) -> _Edit:
    start = match.start()
    if match["rest"] is None:
        return _Edit(start, match.end(), f"module.exports.default ={_lines(match[0])}", first=_MARK)
    name = match["name"] or _ANONYMOUS
    # A declaration, so that it is hoisted and no following text becomes its arguments.
    return _Edit(
        start, match.end(), f"{_lines(match[0])}{match['head']} {name}", first=_MARK + _later("default", name)
    )


def _exported(names: str) -> str:
    pairs = map(_export_names, _COMMENT.sub(" ", names).split(","))
    return "".join([_MARK, *(_later(name, local) for local, name in pairs if local)])


def _export_names(entry: str) -> tuple[str, str]:
    """`a as b` → (a, b); `a` → (a, a)."""
    words = entry.split()
    return ("", "") if not words else (words[0], words[-1])


def _later(name: str, local: str) -> str:
    """An export that is read on access: a class has no value before its declaration."""
    return (
        f"Object.defineProperty(module.exports, {json.dumps(name)}, {{get: () => {local}, configurable: true}});"
    )


_MARK = "module.exports.__esModule = true;"
