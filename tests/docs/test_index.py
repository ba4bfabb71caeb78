"""Every page is of one kind, and as long as its kind allows."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import PAGES, ROOT

MOST = {"First hour": 1500, "How-to": 600, "Background": 1500}  # words; a reference is as long as what it lists
LONGER = {  # not yet as short as their kind, or with tables of measurements
    "statistics.md": 1800,
    **dict.fromkeys(("agents.md", "blame.md", "gate.md", "promptfoo.md"), 1300),
    **dict.fromkeys(("graders.md", "microsoft.md", "omk.md", "strength.md"), 1000),
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
    pages = [page.removeprefix("docs/") for page in PAGES if page.startswith("docs/") and page != "docs/README.md"]
    assert sorted(page for _, page in kinds()) == sorted([*pages, "seeds.md"])


@pytest.mark.parametrize(("kind", "page"), [each for each in kinds() if each[0] in MOST], ids=lambda word: word)
def test_a_page_is_no_longer_than_its_kind_allows(kind, page):
    words = (ROOT / "docs" / page).read_text(encoding="utf-8").split()
    assert len(words) <= LONGER.get(page, MOST[kind])
