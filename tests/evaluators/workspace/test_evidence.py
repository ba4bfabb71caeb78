"""Which paths a pattern means."""

from __future__ import annotations

import pytest

from runevals.evaluators.workspace.evidence import fits


@pytest.mark.parametrize(
    ("path", "pattern", "means"),
    [
        ("a/b.py", "a", True),
        ("a/b.py", "a/", True),
        ("a/b.py", "*.py", True),
        ("a/b.py", "a/b.py", True),
        ("ab/c.py", "a", False),
        ("A/b.py", "a", False),
        ("a/b.py", "./a", True),
        ("a/b.py", "a//b.py", True),
        ("a/b.py", "a/./b.py", True),
        ("a/b.py", ".", True),
        ("a/b.py", "./", True),
        ("a/b.py", "b.py", False),
        ("a/b.py", ".*", False),
        (".github/b.yml", ".*", True),
        ("app/[id]/page.tsx", "app/[id]/page.tsx", True),
        ("app/[id]/page.tsx", "app/[id]", True),
        ("app/[id]/page.tsx", "app/[id]/*.tsx", True),
        ("app/i/page.tsx", "app/[id]", False),
        ("what?.md", "what?.md", True),
        ("whats.md", "what?.md", False),
    ],
)
def test_a_pattern_means_a_path_or_a_folder_above_it(path, pattern, means):
    assert fits(path, [pattern]) == means
