"""What can be imported from outside: the exact names, their signatures, and what importing them costs."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

from runevals.settings.arguments import SettingsArguments
from runevals.settings.table import SETTINGS
from tests.docs.pages import ROOT, blocks
from tests.sample_suites import SUITE

PUBLIC = {
    "runevals": [
        *("Case", "Evaluation", "ExternalError", "InvalidSettings", "InvalidSuite", "RunRequest", "RunevalsError"),
        *("UsageError", "case_blocked_test", "decide", "evaluate", "load_suites", "read_results", "run_suites"),
    ],
    "runevals.evaluators": ["Check", "Composite", "Judged", "Scripted", "Subject", "Verdict", "evaluator"],
    "runevals.sandbox": ["Answer", "Sandbox"],
}
PROTOCOLS = {
    "runevals.targets": ("Target", ["answer", "close", "identity"]),
    "runevals.reports": ("Reporter", ["render"]),
    "runevals.suites.dialects": ("Dialect", ["load", "recognises"]),
}
SIGNATURES = {
    "decide": "(base: 'RunReport | None', head: 'RunReport', rules: 'GateRules | None' = None) -> 'Conclusion'",
    "load_suites": "(*paths: 'str | Path', cwd: 'Path | None' = None, "
    "**settings: 'Unpack[SettingsArguments]') -> 'LoadedSuites'",
    "read_results": "(path: 'str | Path') -> 'RunReport'",
    "run_suites": "(request: 'RunRequest') -> 'Conclusion'",
}


@pytest.mark.parametrize("module", PUBLIC)
def test_a_module_lists_exactly_its_public_names_and_has_each(module):
    loaded = import_module(module)
    assert sorted(loaded.__all__) == PUBLIC[module]
    assert all(getattr(loaded, name) is not None for name in PUBLIC[module])
    with pytest.raises(AttributeError, match="no_such_name"):
        loaded.no_such_name  # noqa: B018


def test_an_editor_completes_the_public_names_and_the_settings():
    runevals = import_module("runevals")
    assert set(runevals.__all__) <= set(dir(runevals))
    assert list(SettingsArguments.__annotations__) == [setting.name for setting in SETTINGS]


@pytest.mark.parametrize("module", PROTOCOLS)
def test_a_protocol_of_plugins_has_exactly_these_methods(module):
    name, methods = PROTOCOLS[module]
    protocol = getattr(import_module(module), name)
    functions = [name for name, value in vars(protocol).items() if inspect.isfunction(value)]
    assert sorted(name for name in functions if not name.startswith("_")) == methods


@pytest.mark.parametrize("name", SIGNATURES)
def test_the_signature_of_a_public_function_stays(name):
    assert str(inspect.signature(getattr(import_module("runevals"), name))) == SIGNATURES[name]


def test_importing_the_package_loads_none_of_its_modules():
    told = (
        "import sys, runevals, runevals.evaluators; print(*(m for m in sys.modules if m.startswith('runevals.')))"
    )
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["runevals.evaluators"]


@pytest.mark.parametrize("page", ["docs/python.md", "docs/plugins.md"])
def test_the_python_of_a_page_runs_and_imports_public_names_only(page, project):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", '{"case": "a", "output": "Paris"}\n{"case": "b", "output": "Lima"}\n')
    stored = ROOT / "examples" / "support-agent" / "base.json"
    project.write("base.json", stored.read_text(encoding="utf-8"))
    for number, block in enumerate(blocks(page, "python")):
        module = ModuleType(f"block_{number}")
        sys.modules[module.__name__] = module  # where dataclasses look for it
        exec(compile(block.text, page, "exec"), vars(module))
        for node in ast.walk(ast.parse(block.text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runevals"):
                assert node.module in {*PUBLIC, *PROTOCOLS, "runevals.records"}, node.module
