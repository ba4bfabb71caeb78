"""Everything that stops a run, each with its exit code."""

from __future__ import annotations

import errno
from collections.abc import Sequence

from runevals.records.problem import FileProblem, problem_lines

PASSED = 0
GATE_FAILED = 1
USAGE_ERROR = 2
COULD_NOT_MEASURE = 3
INTERNAL_ERROR = 4
INTERRUPTED = 130


class RunevalsError(Exception):
    """Stops the run. The message says where, what, and what to do next."""

    exit_code = INTERNAL_ERROR

    @property
    def first_line(self) -> str:
        """As much of the message as fits into another sentence."""
        return str(self).partition("\n")[0]


class UsageError(RunevalsError):
    """A flag, a setting or a suite is not valid."""

    exit_code = USAGE_ERROR


class InvalidSettings(UsageError):
    """The settings do not fit together."""


class InvalidSuite(UsageError):
    """One or more files have problems; `problems` has all of them, the message one line for many of a kind."""

    def __init__(self, problems: Sequence[FileProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problem_lines(self.problems)))


class UnrecognisedSuite(InvalidSuite):
    """A file that has the shape of no format we read."""


class OtherFormat(UnrecognisedSuite):
    """A file that is known to be something else than a suite, such as another tool's configuration."""


class NoSuiteFound(UsageError):
    """No suite was found."""


class UnknownEvaluator(UsageError):
    """A name that no evaluator has."""


class UnusablePlugin(UsageError):
    """An installed package has a plugin that cannot be loaded, or does not keep its contract."""


class InvalidOptions(UsageError):
    """An evaluator has invalid options; `problems` has one sentence for each."""

    def __init__(self, problems: Sequence[tuple[str | None, str]]) -> None:
        self.problems = tuple(problems)  # (option, sentence)
        super().__init__("; ".join(sentence for _, sentence in problems))


class InvalidDocument(UsageError):
    """A results document that cannot be read."""


class EmptyResults(InvalidDocument):
    """Results of a tool without any test."""

    why = ": did a filter select no test (`pytest -k`, `--filter-pattern`), or did the tool run none?"


class ExternalError(RunevalsError):
    """Something outside would not do what the run needs."""

    exit_code = COULD_NOT_MEASURE


class TargetRefused(ExternalError):
    """The target rejects us altogether; more calls would only burn the suite."""


class KeyRefused(TargetRefused):
    """It refuses or lacks a key, as that of any other commit would in this environment."""


class JudgeRefused(ExternalError):
    """The judge rejects us altogether."""


class SandboxUnavailable(ExternalError):
    """A worker could not be started."""


class CannotWrite(ExternalError):
    """A report could not be written."""


def as_run_error(error: Exception) -> Exception:
    """An `OSError` as a usage error (a path that cannot exist) or an external error; others unchanged."""
    if not isinstance(error, OSError):
        return error
    kind = UsageError if error.errno in (errno.ENAMETOOLONG, errno.EINVAL, errno.ELOOP) else ExternalError
    if not error.filename:
        return kind(str(error) or type(error).__name__)
    name = " ".join(str(error.filename).split())
    return kind(f"{name if len(name) <= 200 else name[:200] + '…'}: {error.strerror}")
