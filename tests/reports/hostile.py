"""Texts that want to be more than text, wherever a suite, a model or a branch can put them."""

from __future__ import annotations

from msgspec.structs import replace

from tests.reports.conclusions import conclusion
from tests.sample_reports import case, report

MARKER = "<!-- runevals evals/test -->"

TEXTS = (
    "@octocat",
    "hello @octocat/team, please",
    "a@b.example.com",
    "mailto:a@b.example.com",
    "xmpp:a@b.example.com/x",
    "#1",
    "fixes #12",
    "o/r#12",
    "GH-12",
    "closes GH-12.",
    "http://evil.example",
    "https://evil.example/?q=a#b",
    "HTTPS://EVIL.EXAMPLE",
    "ftp://evil.example/x",
    "www.evil.example",
    "WWW.evil.example/path",
    "<http://evil.example>",
    "<a@b.example.com>",
    "[click](http://evil.example)",
    "[click]: http://evil.example",
    "[click][1]\n\n[1]: http://evil.example",
    "![beacon](http://evil.example/b.png)",
    "![beacon][1]\n[1]: http://evil.example/b.png",
    '<img src="http://evil.example/b.png">',
    "<img src=x onerror=alert(1)>",
    '<a href="javascript:alert(1)">x</a>',
    "<script>alert(1)</script>",
    "<style>*{display:none}</style>",
    "<iframe src=//evil.example></iframe>",
    "<svg/onload=alert(1)>",
    "</code><b>x</b>",
    "</details>",
    "</summary></details></td></tr></table>",
    "<details open><summary>x",
    "<sub>x",
    "<!-- runevals evals/test -->",
    "<!--",
    "-->",
    "<?php ?>",
    "<![CDATA[x]]>",
    "<!DOCTYPE html>",
    "| a | b |",
    "a|b\\|c",
    "\\|",
    "`code`",
    "``` \nfence",
    "```\n</details>\n@octocat\n```",
    "~~~\nfence\n~~~",
    "`````````````` long",
    "# heading",
    "x\n===",
    "x\n---",
    "- list\n  - list",
    "1. list",
    "> quote",
    "    indented",
    "**bold** __bold__ *i* _i_ ~~s~~",
    "&lt;b&gt; &amp; &#60;b&#62; &copy;",
    "\\<b>\\",
    "line\\\nbreak  \nbreak",
    "\u202eevil\u202c \u2066x\u2069",
    "z\u200be\u200dr\ufeffo\u2060",
    "\x1b[31mred\x1b[0m\x07\x08\x7f\x9b",
    "NUL \x00 here",
    "lone \ud800 surrogate \uffff",
    "\U000e0041\U000e0042 tags",
    "\u2028line\u2029paragraph\x85next",
    "\r\n\rCR",
    "::set-output name=verdict::passed",
    "  ::error::x",
    "::add-mask::a",
    "::stop-commands::x",
    "##[error]x",
    "x ##[set-env name=PATH]y",
    "EOF\nverdict<<EOF\npassed\nEOF",
    "verdict=passed\nregressions<<x",
    "ghadelimiter_00000000",
    "$(touch /tmp/x) `id` ; rm -rf / && ${{ secrets.TOKEN }}",
    "${{ github.token }}",
    '=HYPERLINK("http://evil.example")',
    "../../../etc/passwd",
    "refs/heads/main\n::error::x",
    ":tada: :+1:",
    "$x^2$ $$\\href{http://evil.example}{x}$$",
    "```mermaid\ngraph TD; A-->B\n```",
    "[x](<javascript:alert(1)>)",
    "x" * 1_000_000,
    "@" * 5_000,
    "`" * 3_000,
    "<" * 2_000,
)

# For a page, where the other texts are as harmless as these.
NASTY = (
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    "]]>\u2028\u2029",
    "\ud800 lone",
    "nul \x00",
    "\u202eevil\u2066",
    "<img src=x onerror=alert(1)>",
    "$policy ${script} {style}",
)


def hostile_case(text):
    plain = case(text, "f", name=text, category=text, tags=(text,), file=text)
    attempt = plain.attempts[0]
    turn = attempt.turns[0]
    result = replace(turn.results[0], id=text, reason=text, details={text: text})
    turn = replace(turn, prompt=text, output=text, expected=text, context=text, results=(result,))
    return replace(plain, attempts=(replace(attempt, turns=(turn,)),))


def broken_by(text):
    head = report([hostile_case(text), case("b", "p")])
    head = replace(head, run=replace(head.run, ref=text, notices=(text,), settings={text: text}))
    made = conclusion(head, report([hostile_case(text), case("b", "f")]))
    return replace(made, verdict=replace(made.verdict, headline=text))
