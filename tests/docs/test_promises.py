"""SECURITY.md promises what a test proves: each promise has its guard, and a test that exists."""

from __future__ import annotations

import ast
import re

import pytest

from tests.attacks.mutations import PROMISES
from tests.docs.pages import ROOT
from tests.sources import nodes


def test_the_page_and_the_mutations_have_the_same_promises():
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+) \| `([\w/.]+::\w+)` \|$", page, re.M)
    assert rows == [(promise.says, promise.test) for promise in PROMISES]


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.says)
def test_a_promise_has_one_guard_and_a_test(promise):
    """`benchmarks/mutate_promises.py` takes the guard out, and runs the test."""
    text = (ROOT / promise.module).read_text(encoding="utf-8")
    assert text.count(promise.guard) == 1
    if promise.module.endswith(".py"):
        ast.parse(text.replace(promise.guard, promise.without))
    file, _, name = promise.test.partition("::")
    functions = [node for node in nodes(ROOT / "tests" / file) if isinstance(node, ast.FunctionDef)]
    assert name in {function.name for function in functions}


def test_the_page_is_short():
    assert len((ROOT / "SECURITY.md").read_text(encoding="utf-8").split()) <= 1200
