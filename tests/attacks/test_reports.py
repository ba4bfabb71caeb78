"""What a suite, a model or a branch says is text in every report: no formula, element, command or script."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET

import pytest

from runevals.lib.terminal import terminal_text
from runevals.reports import JUNIT, TABLE, console, html
from tests.conftest import chromium
from tests.reports.hostile import NASTY, TEXTS, broken_by
from tests.reports.parsed_page import Page

FORMULAS = (
    *('=cmd|"/c calc"!A0', "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\n=1+1", '"=1+1"', '","=1+1'),
    *("a\n=1+1", 'a"\n=1+1', "=HYPERLINK(A1)", "-2+3+cmd|' /C calc'!A0", ";=1+1", "%0A-1", "\x00=1+1"),
)
XML = (
    *("]]><x/>", "<!ENTITY a 'b'>&a;", '"/><testcase name="x"/>', "&#0;", "&#xFFFE;", "&undefined;", "<?xml?>"),
    *("</failure></testcase></testsuite>", "' onload='x", "\x1b]0;title\x07", "\ud83d", "\x85", "&lt;x/&gt;"),
)
PAGE = (
    *("</script><script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "<svg/onload=window.hit=1>"),
    *("<iframe srcdoc='<script>parent.hit=1</script>'>", "<a href=javascript:window.hit=1>x</a>", "{{hit=1}}"),
    *("</template><script>window.hit=1</script>", "</style><script>window.hit=1</script>", "\\u003cscript>"),
    *("<!--<script>", "--><script>window.hit=1</script>", "<base href=//evil.example>", "${window.hit=1}"),
    *("<form action=//evil.example><input autofocus onfocus=window.hit=1>", "<math><mi xlink:href=javascript:1>"),
    *("<link rel=stylesheet href=//evil.example>", "<meta http-equiv=refresh content='0;//evil.example'>"),
    *("<object data=//evil.example>", "<style>@import '//evil.example'</style>", "javascript:window.hit=1"),
    *("data:text/html,<script>window.hit=1</script>", "__proto__", "constructor", "#case=<img src=x>", "\u2028"),
)
PAYLOADS = [text for text in (*TEXTS, *NASTY, *FORMULAS, *XML, *PAGE) if len(text) <= 5000]
EACH = pytest.mark.parametrize("text", PAYLOADS, ids=range(len(PAYLOADS)))


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def is_formula(cell: str) -> bool:
    return cell.startswith(("=", "+", "@", "\t", "\r")) or (cell.startswith("-") and not is_number(cell))


def is_number(cell: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", cell) is not None


@EACH
def test_the_table_has_the_same_cells_and_no_formula(text):
    found, harmless = rows(TABLE.render(broken_by(text))), rows(TABLE.render(broken_by("x")))
    assert [len(row) for row in found] == [len(row) for row in harmless]
    assert [cell for row in found for cell in row if is_formula(cell)] == []
    assert not re.search(
        "[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]", "".join(cell for row in found for cell in row)
    )


def elements(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.tag, tuple(sorted(one.attrib))) for one in ET.fromstring(text.encode("utf-8")).iter()]


@EACH
def test_junit_has_the_same_elements(text):
    assert elements(JUNIT.render(broken_by(text))) == elements(JUNIT.render(broken_by("x")))


@EACH
def test_the_screen_shows_no_control_and_a_job_takes_no_command(text, monkeypatch):
    printed = terminal_text(console.render(broken_by(text)))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", printed)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for line in re.split("[\r\n\u2028\u2029\x85]", terminal_text(console.render(broken_by(text)))):
        assert not re.match(r"\s*::", line)
        assert "##[" not in line


@EACH
def test_the_page_has_the_same_elements(text):
    page, harmless = Page(html.render(broken_by(text))), Page(html.render(broken_by("x")))
    assert page.names == harmless.names
    assert page.attributes == harmless.attributes
    assert page.raw["script"] == harmless.raw["script"]
    assert all(page.raw[f"{name}-data"].isascii() for name in ("overview", "row", "body"))


def test_the_tables_of_others_are_seen_to_hold_formulas():
    """The control: the same cells, written as they come."""
    plain = io.StringIO()
    csv.writer(plain).writerows([[text] for text in FORMULAS])
    assert sum(is_formula(cell) for row in rows(plain.getvalue()) for cell in row) >= 7


@pytest.mark.needs("chromium")
def test_no_page_runs_or_asks_for_anything(tmp_path):
    """One page after the other in one browser; the last is the control, which its payload does run in."""
    from playwright.sync_api import sync_playwright

    def hit(page, text) -> bool:
        path = tmp_path / "page.html"
        path.write_bytes(text.encode("utf-8", errors="backslashreplace"))
        page.goto(path.as_uri())
        page.wait_for_selector("h1:visible")
        if page.locator("#rows a").count():
            page.locator("#rows a").first.click()
            page.wait_for_selector("#attempt .text")
        return page.evaluate("'hit' in window")

    wrong = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page()
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith("file:") or wrong.append(request.url))
        page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        for first in range(0, len(PAGE), 4):  # a page takes half a second
            assert not hit(page, html.render(broken_by(" ".join(PAGE[first : first + 4])))), first
        assert wrong == []
        assert hit(page, f"<h1>x</h1>{PAGE[0]}")
        browser.close()
