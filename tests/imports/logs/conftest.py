"""Logs as files that were opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from runevals.imports.results.opened import opened


@pytest.fixture
def log_file():
    """Text → the file that a format reads."""
    return lambda text: opened(text.encode(), Path("log.json"), "log.json")


def turns(log):
    """The prompts and answers of each conversation."""
    return [[(turn.prompt, turn.answer) for turn in one.turns] for one in log.conversations]
