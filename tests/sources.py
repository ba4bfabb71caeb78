"""The syntax of our own files, read once for all tests of a process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a Python file, the module first."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
