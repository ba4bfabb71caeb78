"""Hostile text in comment and summary, rendered by GitHub's own Markdown: nothing of it is more than text."""

from __future__ import annotations

import copy
import json
import re
import subprocess
from functools import cache

import pytest
from bs4 import BeautifulSoup, Comment
from msgspec.structs import replace

from runevals.records import GateResult, GateState, Links, ModelIdentity, Outcome, Weakening
from runevals.records.errors import InvalidDocument
from runevals.reports import SUMMARY, comment
from runevals.reports.results_document import parse, write
from tests.reports.conclusions import conclusion
from tests.reports.hostile import MARKER, TEXTS
from tests.sample_reports import attempt, case, report

pytestmark = pytest.mark.needs("cmark-gfm")

LINKS = Links(
    files=f"https://github.com/o/r/blob/{'d' * 40}/", run="https://github.com/o/r/actions/runs/9", head="d"
)
OURS = {
    *(
        "br",
        "h3",
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "code",
        "pre",
        "details",
        "summary",
        "strong",
        "sub",
        "ul",
        "li",
    ),
    "a",
}
# Outside code GitHub makes mentions, references and mathematics of these in the finished page.
LIVE = re.compile(r"@\w|#\d|\bGH-\d|\$\S[^$]*\S\$", re.IGNORECASE)
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)


def full_of(text: str, letter: str = "f"):
    """A conclusion that has this text wherever one from outside can be."""

    def one(key: str, letter: str, output: str):
        status = {"p": Outcome.PASSED, "f": Outcome.FAILED, "e": Outcome.ERRORED}[letter]
        made = attempt(1, status, output=output or " ")
        turn = made.turns[0]
        result = replace(turn.results[0], id=text, reason=text)
        made = replace(made, turns=(replace(turn, output=output or " ", results=(result,)),))
        return case(key, letter, name=f"name {text}", file=text, category=text, attempts=(made,))

    base = report([one(f"k {text}", "p", f"before {text}"), one(f"gone {text}", "p", text)], deterministic=True)
    head = report(
        [one(f"k {text}", "f", text), one(f"new {text}", "f", text), one("e", "e", text)], deterministic=True
    )
    made = conclusion(head, base)
    run = replace(head.run, notices=(text, f"notice {text}"), target=ModelIdentity(type="openai", model=text))
    gate = GateResult(name=text, state=GateState.FAILED, reason=f"{text} failed")
    comparison = replace(
        made.comparison,
        source=text,
        caveats=(text,),
        weakenings=(Weakening(suite=text, key=text, message=text),),
    )
    return replace(
        made,
        report=replace(head, run=run, tool_version=text),
        comparison=comparison,
        gates=(*made.gates, gate),
        verdict=replace(made.verdict, headline=f"The gate {text} failed"),
    )


def page(markdown: str) -> BeautifulSoup:
    extensions = ("table", "strikethrough", "autolink", "tasklist")
    command = ["cmark-gfm", "--unsafe", *(word for name in extensions for word in ("-e", name))]
    done = subprocess.run(
        command, input=markdown.encode("utf-8", "backslashreplace"), capture_output=True, check=True
    )
    return BeautifulSoup(done.stdout.decode(), "html.parser")


@cache  # a text of a document that a comment does not show leaves it as it is
def live_in(markdown: str) -> list[str]:
    """What in this Markdown is more than text of ours and code."""
    found = page(markdown)
    problems = [str(tag)[:200] for tag in found.find_all() if tag.name not in OURS]
    problems += [
        str(link)[:200]
        for link in found.find_all("a")
        if not link["href"].startswith((LINKS.files, LINKS.run)) or set(link.attrs) != {"href"}
    ]
    problems += [
        str(tag)[:200] for tag in found.find_all() if tag.name != "a" and set(tag.attrs) - {"align", "class"}
    ]
    comments = [str(text).strip() for text in found.find_all(string=lambda text: isinstance(text, Comment))]
    problems += [text for text in comments if text and f"<!-- {text} -->" != MARKER]
    for code in found.find_all(["code", "pre"]):
        code.extract()
    return [*problems, *(match[0] for text in found.find_all(string=True) for match in LIVE.finditer(text))]


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_nothing_is_live(number):
    for made in (full_of(TEXTS[number]), replace(full_of(TEXTS[number]), comparison=None)):
        for markdown in (comment.render(made, LINKS, MARKER), SUMMARY.render(made)):
            assert live_in(markdown) == []
            assert HIDDEN.search(markdown) is None
        text = comment.render(made, LINKS, MARKER)
        assert text.startswith(f"{MARKER}\n### ")
        assert page(text).find_all("sub")[-1].find_parent("details") is None
        assert len(text) <= comment.MOST_CHARACTERS


def test_what_is_live_is_noticed():
    for text in ("@octocat", "a@b.example.com", "<b>x</b>", "http://evil.example", "![x](y.png)", "GH-1", "$x^2$"):
        assert live_in(f"before {text} after") != [], text


def leaves(value, place=()):
    """Where in a document its texts stand, keys too."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*place, key), True
            yield from leaves(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*place, index))
    elif isinstance(value, str):
        yield place, False


def changed(document, place, text, *, key):
    """The document with this text there, or as the key there; all that is elsewhere is shared with it."""
    first, *further = place
    made = copy.copy(document)
    if further:
        made[first] = changed(document[first], further, text, key=key)
    elif key:
        made[text] = made.pop(first)
    else:
        made[first] = text
    return made


def test_a_strangers_document_is_refused_or_shows_nothing_live():
    """Each text of a results document in turn, as somebody may have written it by hand."""
    text = "- @octocat a@b.example.com <img src=x> | ``` ![x](http://e.example) \x1b[31m\u202e </details> $x$ #1"
    base = report([case("a", "ppp"), case("b", "ppp"), case("gone", "p")])
    head = report([case("a", "fff"), case("b", "pep"), case("new", "f")])
    document = json.loads(write(conclusion(head, base, min_pass_rate=0.9)))
    shown = 0
    for place, key in leaves(document):
        try:
            made = parse(json.dumps(changed(document, place, text, key=key)), "x")
        except InvalidDocument:
            continue
        assert live_in(comment.render(made, LINKS, MARKER)) == [], place
        shown += 1
    assert shown > 100
