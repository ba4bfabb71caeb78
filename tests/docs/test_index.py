"""Every page is of one kind, and as long as its kind allows."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT

MOST = {"First hour": 850, "How-to": 600, "Reference": 1500, "Background": 1450}  # words
LONGER = {  # how-tos with long tables
    **dict.fromkeys(("agents.md", "blame.md", "promptfoo.md", "omk.md"), 760),
    "gate.md": 980,
}
GENERATED = (
    "commands.md",
    "evaluators.md",
    "formats.md",
    "reasons.md",
    "seeds.md",
    "settings.md",
)  # as long as what they list


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


def words(page: str) -> int:
    return len((ROOT / "docs" / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize(("kind", "page"), kinds(), ids=lambda word: word)
def test_a_page_is_no_longer_than_its_kind_allows(kind, page):
    assert page in GENERATED or words(page) <= LONGER.get(page, MOST[kind])


def test_all_pages_together_are_short():
    pages = [path.name for path in (ROOT / "docs").glob("*.md")]
    assert sum(words(page) for page in pages if page not in GENERATED) <= 24_000
