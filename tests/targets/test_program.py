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


@pytest.mark.parametrize(
    ("variables", "end"), [(None, ""), (("BOT_KEY",), "; withheld from it: OTHER_KEY")], ids=["all", "one"]
)
def test_doctor_names_the_keys_that_it_is_not_given(variables, end):
    settings = CommandSettings(type="command", base=HERE, command=("sh",), variables=variables)
    environment = {"PATH": "/bin", "BOT_KEY": "a", "OTHER_KEY": "b", "PLAIN": "c", "GITHUB_TOKEN": "d"}
    assert settings.diagnosis(environment).text == f"command sh{end}"
