"""Every page is of one kind, and as long as its kind allows."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT

MOST = {"First hour": 1500, "How-to": 600, "Background": 1500}  # words; a reference is as long as what it lists
LONGER = {  # how-tos with long tables
    **dict.fromkeys(("agents.md", "blame.md", "promptfoo.md", "omk.md"), 900),
    "gate.md": 1000,
}


def kinds() -> list[tuple[str, str]]:
    """(kind, page) for each page that the index lists."""
    text = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.M)[1:]
    return [
        (kind, page)
        for kind, part in zip(parts[::2], parts[1::2], strict=True)
        for page in re.findall(r"\]\(([\w-]+\.md)\)", part)
    ]


def test_the_index_lists_each_page_once_under_a_kind():
    assert {kind for kind, _ in kinds()} == {"First hour", "How-to", "Reference", "Background"}
    pages = [path.name for path in (ROOT / "docs").glob("*.md") if path.name != "README.md"]
    assert sorted(page for _, page in kinds()) == sorted(pages)


@pytest.mark.parametrize(("kind", "page"), [each for each in kinds() if each[0] in MOST], ids=lambda word: word)
def test_a_page_is_no_longer_than_its_kind_allows(kind, page):
    words = (ROOT / "docs" / page).read_text(encoding="utf-8").split()
    assert len(words) <= LONGER.get(page, MOST[kind])
