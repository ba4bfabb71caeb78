"""The reference pages are what the source says: settings, inputs, commands, files."""

from __future__ import annotations

import importlib.util

import pytest

from tests.docs.pages import ROOT

SPEC = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
reference = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(reference)


@pytest.mark.parametrize("name", reference.PAGES)
def test_a_reference_page_is_in_step_with_the_source(name, golden):
    golden(ROOT / "docs" / name, reference.PAGES[name]())


@pytest.mark.parametrize("table", ["target", "judge", "gates", "evaluators", "baseline", "redact"])
def test_every_key_of_a_table_of_the_settings_file_is_listed(table):
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    node = reference.FILE["properties"][table]
    node = reference._resolved(node.get("items", node), reference.FILE)
    keys = (node if "properties" in node else node["then"])["properties"]
    place = f"{table}[]" if table in ("gates", "evaluators") else table
    assert [key for key in keys if f"`{place}.{key}`" not in page] == []
