from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from runevals import records

MODULES = records._MODULES


def test_a_record_is_the_one_of_the_module_that_defines_it():
    for module in map(import_module, (f"runevals.records.{name}" for name in MODULES)):
        defined = {
            name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__
        }
        assert all(getattr(records, name) is getattr(module, name) for name in defined if not name.startswith("_"))


def test_type_checkers_see_the_same_modules():
    tree = ast.parse(Path(records.__file__).read_text(encoding="utf-8"))
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    assert {node.module for node in checked.body} == {f"runevals.records.{name}" for name in MODULES}


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Sample'"):
        _ = records.Sample
