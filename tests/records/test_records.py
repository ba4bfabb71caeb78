from __future__ import annotations

import ast
from pathlib import Path

import pytest

from runevals import records


def imported_for_type_checkers() -> set[str]:
    tree = ast.parse(Path(records.__file__).read_text(encoding="utf-8"))
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    return {alias.name for node in checked.body if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_every_name_is_loaded_when_it_is_used():
    assert {name for name in records.__all__ if getattr(records, name) is not None} == imported_for_type_checkers()


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Sample'"):
        _ = records.Sample
