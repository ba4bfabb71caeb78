"""The site of the documentation: every link leads somewhere, versions stand side by side, a phone can show it."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import chromium
from tests.docs.pages import PAGES, ROOT


def built(version: str, folder: Path) -> None:
    command = [sys.executable, "docs/website.py", version, str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site of two versions, the newer one built first."""
    folder = tmp_path_factory.mktemp("site")
    built("0.10.3", folder)
    built("0.9.0", folder)
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """Each file of a version → its HTML."""
    return {path: path.read_text("utf-8") for path in site.glob("0.10/**/index.html")}


def links(page: str) -> list[str]:
    return [html.unescape(link) for link in re.findall(r'<a [^>]*?href="([^"]*)"', page)]


def test_every_page_is_there_and_can_be_searched(site, pages):
    names = {Path(page).stem for page in PAGES if page.startswith("docs/")} - {"README"}
    assert names <= {path.parent.name for path in pages}
    found = {
        entry["location"].partition("/")[0]
        for entry in json.loads((site / "0.10/search.json").read_text("utf-8"))["items"]
    }
    assert names <= found


def test_links_and_anchors_lead_somewhere(pages):
    seen = 0
    for path, page in pages.items():
        for link in links(page):
            name, _, anchor = link.partition("#")
            if ":" in name or name.startswith("/"):
                continue
            target = (path.parent / name).resolve() if name else path
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), (path, name)
            assert not anchor or target not in pages or f'id="{html.escape(anchor)}"' in pages[target], (
                path,
                link,
            )
            seen += 1
    assert seen > 1000


def test_what_is_not_on_the_site_is_linked_at_the_version(pages):
    outside = {
        link
        for page in pages.values()
        for link in links(page)
        if link.startswith("https://github.com/runevals/runevals/")
    }
    assert outside
    for address in outside:
        kind, version, path = address.removeprefix("https://github.com/runevals/runevals/").split("/", 2)
        there = ROOT / path
        assert (kind, version) == ("tree" if there.is_dir() else "blob", "v0.10.3")
        assert there.exists(), address


def test_versions_are_listed_newest_first(site):
    assert [one["version"] for one in json.loads((site / "versions.json").read_text("utf-8"))] == ["0.10", "0.9"]
    assert "url=0.10/" in (site / "index.html").read_text("utf-8")


def test_a_link_that_leads_nowhere_ends_the_build(tmp_path):
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for name in ("SECURITY.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "docs" / "gates.md").write_text("# Gates\n\n[A page](gone.md).\n", encoding="utf-8")
    command = [sys.executable, "docs/website.py", "1.0.0", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert "gone.md" in re.sub(r"\x1b\[[\d;]*m", "", done.stderr)  # each letter has its colour
    assert not (tmp_path / "site").exists()


@pytest.mark.needs("chromium")
def test_no_page_is_wider_than_a_phone(pages):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.route("**/*.js", lambda route: route.abort())
        widths = {path.parent.name: _width(page, path) for path in pages}
        browser.close()
    assert {name: width for name, width in widths.items() if width > 390} == {}


def _width(page, path: Path) -> int:
    page.goto(path.as_uri())
    return page.evaluate("document.documentElement.scrollWidth")
