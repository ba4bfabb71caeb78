"""Every module with logic has a test file at the mirrored path, and no test module imports from another."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.sources import nodes

TESTS = Path(__file__).parent
SRC = TESTS.parent / "src" / "runevals"
FEWEST_LINES = 30  # of code; shorter modules are tested with those that use them

# Modules that have no test file of their own. An entry leaves this set with its test; none is added.
WITHOUT: frozenset[str] = frozenset(
    {
        "cli/comment",
        "cli/doctor/checks",
        "cli/doctor/connectivity",
        "cli/doctor/environment",
        "cli/evaluators",
        "cli/init/command",
        "cli/evaluators_page",
        "cli/import_",
        "cli/init/scaffold",
        "cli/init/templates",
        "cli/interactive",
        "cli/options",
        "cli/plan",
        "cli/report",
        "cli/settings",
        "cli/validate",
        "cli/view",
        "cli/watch",
        "evaluators/describe",
        "evaluators/judged/template",
        "evaluators/kinds",
        "evaluators/limits/bound",
        "evaluators/skill/skill_regex",
        "evaluators/tools/calls",
        "github/collect_shards",
        "github/post_comment",
        "github/stored_baseline",
        "judge/calibration",
        "models/chat/chat",
        "repository/git",
        "programs/line_process",
        "lib/parsing/json_path",
        "lib/parsing/json_template",
        "lib/parsing/source",
        "lib/parsing/yaml12",
        "lib/plugins",
        "sandbox/javascript_engine",
        "sandbox/javascript_modules",
        "sandbox/lock",
        "sandbox/pattern_worker",
        "sandbox/pool",
        "sandbox/python_engine",
        "sandbox/results",
        "sandbox/zygote",
        "lib/storage/files",
        "records/comparison",
        "records/errors",
        "records/script",
        "cli/terminal",
        "records/outcome",
        "records/report",
        "records/suite",
        "records/trace",
        "reports/__init__",
        "reports/page_cases",
        "reports/page_overview",
        "reports/sections",
        "run/baseline/reuse",
        "run/check_result",
        "run/cluster/connect",
        "run/cluster/node_pool",
        "run/cluster/target",
        "run/converse",
        "run/judge_trials/attack",
        "run/judge_trials/calibrate",
        "run/measurement",
        "run/pipeline",
        "run/quarantine",
        "run/redaction/redactors",
        "run/rejudge",
        "run/resume/code_fingerprint",
        "run/resume/journal",
        "run/resume/unfinished",
        "run/shards/verdict",
        "run/url_sources",
        "run/world/limited",
        "settings/evaluators",
        "settings/gates",
        "settings/values",
        "suites/append_case",
        "suites/dialects/__init__",
        "suites/dialects/assertions",
        "suites/dialects/checking",
        "suites/dialects/eval_document_results",
        "suites/dialects/gold",
        "suites/dialects/prompt_evaluators",
        "suites/discover",
        "suites/editor_schema",
        "suites/health/duplicates",
        "imports/assertions",
        "imports/cases",
        "imports/files",
        "imports/prompts",
        "imports/providers",
        "suites/load",
        "suites/plan",
        "targets/a2a_client",
        "targets/event_loop",
        "targets/json_endpoint",
        "targets/program_report",
        "targets/python_worker",
        "targets/skill",
        "verdict/comparability",
        "verdict/gate_metrics",
        "verdict/totals",
        "verdict/wording",
    }
)


def has_logic(path: Path) -> bool:
    """Whether a module has a function, and enough lines that are neither empty, comment nor docstring."""
    has_function = any(isinstance(node, ast.FunctionDef) for node in nodes(path))
    prose = {line for node in nodes(path) for line in docstring_lines(node)}
    code = [
        number
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#") and number not in prose
    ]
    return has_function and len(code) >= FEWEST_LINES


def docstring_lines(node: ast.AST) -> range:
    match node:
        case ast.Expr(value=ast.Constant(value=str()), lineno=first, end_lineno=int(last)):
            return range(first, last + 1)
    return range(0)


def mirrored(place: Path) -> Iterator[Path]:
    """Where a module's test may be: `test_NAME.py`, or a folder NAME with files that are tests."""
    name = place.parent.name or "public_api" if place.name == "__init__" else place.name
    yield TESTS / place.parent / f"test_{name}.py"
    yield TESTS / place.parent / name.replace("_", "-") / "valid"


@cache
def without() -> frozenset[str]:
    places = [path.relative_to(SRC).with_suffix("") for path in SRC.rglob("*.py") if has_logic(path)]
    return frozenset(place.as_posix() for place in places if not any(path.exists() for path in mirrored(place)))


def test_every_module_with_logic_has_a_test_of_its_own():
    assert sorted(without() - WITHOUT) == []


def test_modules_without_a_test_only_become_fewer():
    assert sorted(WITHOUT - without()) == [], "remove these entries from WITHOUT: they have a test, or are gone"


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports, at its top or within a function, with the names taken from it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names):
                yield from (f"{module or ''}.{alias.name}" for alias in names)


def test_no_file_imports_from_a_test_module():
    found = [
        f"{path.relative_to(TESTS)} imports {name}"
        for path in sorted(TESTS.rglob("*.py"))
        for name in imported(path)
        if any(part.startswith("test_") for part in name.split("."))
    ]
    assert found == [], "move what tests share to a helper; tests/README.md lists the helpers"
