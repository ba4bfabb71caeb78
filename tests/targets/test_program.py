"""Programs of the user: their variables, and whether they are started here."""

from __future__ import annotations

from pathlib import Path

import pytest

from runevals.targets.command import CommandSettings
from runevals.targets.python import PythonSettings

HERE = Path()


@pytest.mark.parametrize("trace", [None, "otlp"])
def test_a_program_that_exports_its_trace_stays_here(trace):
    settings = CommandSettings(type="command", base=HERE, command=("a",), trace=trace)
    assert (settings.stays_here_for() is None) == (trace is None)


def test_its_variables_hold_keys_too():
    settings = PythonSettings(type="python", base=HERE, function="a.py:f", variables=("DATABASE_URL",))
    assert settings.key_names == ("OPENAI_API_KEY", "DATABASE_URL")


def test_the_files_of_a_module_and_its_packages_are_named():
    settings = PythonSettings(type="python", base=HERE, function="pack.mod:f")
    names = {path.as_posix() for path in settings.named_files()}
    assert {"pack/__init__.py", "pack.py", "pack/mod.py", "pack/mod/__init__.py"} <= names
