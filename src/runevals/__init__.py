"""CI for prompts, agents and skills: did this change make it worse, really?"""

from __future__ import annotations

TYPE_CHECKING = False  # for type checkers it is true; `typing` would take a third of `--version` to import
if TYPE_CHECKING:
    from runevals.lib.statistics.permutation_test import case_blocked_test
    from runevals.records.errors import ExternalError, InvalidSettings, InvalidSuite, RunevalsError, UsageError
    from runevals.reports.results_document import read as read_results
    from runevals.run.from_python import Case, Evaluation, evaluate
    from runevals.run.pipeline import run as run_suites
    from runevals.run.request import RunRequest, load_suites
    from runevals.verdict.outcome import decide
    from runevals.version import __version__ as __version__

__all__ = ["Case", "Evaluation", "ExternalError", "InvalidSettings", "InvalidSuite", "RunRequest", "RunevalsError"]
__all__ += ["UsageError", "case_blocked_test", "decide", "evaluate", "load_suites", "read_results", "run_suites"]

_ATTRIBUTES = {"read_results": "read", "run_suites": "run"}  # with another name in their module
_MODULES = {  # of what is no error
    **dict.fromkeys(("Case", "Evaluation", "evaluate"), "run.from_python"),
    **dict.fromkeys(("RunRequest", "load_suites"), "run.request"),
    "case_blocked_test": "lib.statistics.permutation_test",
    "decide": "verdict.outcome",
    "__version__": "version",
    "read_results": "reports.results_document",
    "run_suites": "run.pipeline",
}


def __getattr__(name: str) -> object:
    """A public name, loaded when it is used: `runevals --version` must not pay for it."""
    if name not in __dir__():
        raise AttributeError(f"module 'runevals' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"runevals.{_MODULES.get(name, 'records.errors')}"), _ATTRIBUTES.get(name, name))


def __dir__() -> list[str]:
    """The public names, for completion."""
    return [*__all__, "__version__"]
