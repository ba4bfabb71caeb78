"""The pages lead to what is there, and every one is found."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import PAGES, ROOT, anchors, links


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for link in links(page):
        path, _, anchor = link.partition("#")
        if ":" in path:
            continue
        target = (ROOT / page).parent.joinpath(path).resolve() if path else ROOT / page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.relative_to(ROOT).as_posix()), link


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/")])
def test_a_page_is_found_from_the_first_ones(page):
    first = ("README.md", "docs/README.md")
    found = {(ROOT / start).parent.joinpath(link).resolve() for start in first for link in links(start)}
    assert page in first or (ROOT / page).resolve() in found


@pytest.mark.parametrize("page", ["action", "suites", "evaluators", "verdict", "report", "plugins"])
def test_each_of_the_main_pages_has_a_picture_that_can_be_made_again(page):
    maker = (ROOT / "docs" / "pictures.py").read_text(encoding="utf-8")
    pictures = [link for link in links(f"docs/{page}.md") if link.endswith(".png")]
    assert pictures
    for picture in pictures:
        assert (ROOT / "docs" / picture).stat().st_size < 120_000
        assert f'"{picture.removesuffix(".png")}": of_' in maker


def test_the_first_command_works_in_the_checkout_one_stands_in():
    first, _, _ = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n```sh\n")
    assert first.endswith("<!-- ci: setup, exit 0 -->")  # which CI executes


@pytest.mark.parametrize("page", PAGES)
def test_no_command_fetches_the_repository_from_an_address(page):
    """It is not published yet, so that there is none."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert not re.search(r"git clone \S*://|git\+\w+://", text)
