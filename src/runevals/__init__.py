"""CI for prompts, agents and skills: did this change make it worse, really?"""

from __future__ import annotations

TYPE_CHECKING = False  # for type checkers it is true; `typing` would take a third of `--version` to import
if TYPE_CHECKING:
    from runevals.lib.statistics.permutation_test import case_blocked_test as case_blocked_test
    from runevals.reports.results_document import read as read_results
    from runevals.run.pipeline import run as run_suites
    from runevals.run.request import RunRequest as RunRequest
    from runevals.run.request import load_suites as load_suites
    from runevals.verdict.outcome import decide as decide
    from runevals.version import __version__ as __version__

__all__ = ["RunRequest", "case_blocked_test", "decide", "load_suites", "read_results", "run_suites"]

_PLACES = {
    "__version__": ("runevals.version", "__version__"),
    "RunRequest": ("runevals.run.request", "RunRequest"),
    "case_blocked_test": ("runevals.lib.statistics.permutation_test", "case_blocked_test"),
    "decide": ("runevals.verdict.outcome", "decide"),
    "load_suites": ("runevals.run.request", "load_suites"),
    "read_results": ("runevals.reports.results_document", "read"),
    "run_suites": ("runevals.run.pipeline", "run"),
}


def __getattr__(name: str) -> object:
    """A public name, loaded when it is used: `runevals --version` must not pay for it."""
    if name not in _PLACES:
        raise AttributeError(f"module 'runevals' has no attribute '{name}'")
    from importlib import import_module

    module, attribute = _PLACES[name]
    return getattr(import_module(module), attribute)
