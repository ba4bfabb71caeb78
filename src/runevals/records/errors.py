"""Everything that stops a run, each with its exit code."""

from __future__ import annotations

from collections.abc import Sequence

from runevals.records import SuiteProblem

MEASURED_GREEN = 0
GATE_FAILED = 1
TOLD_WRONG = 2
WORLD_REFUSED = 3
OUR_BUG = 4
INTERRUPTED = 130


class RunevalsError(Exception):
    """Stops the run. The message says where, what and what to do next."""

    exit_code = OUR_BUG

    @property
    def first_line(self) -> str:
        """As much of the message as fits into another sentence."""
        return str(self).partition("\n")[0]


class ToldWrong(RunevalsError):
    """A flag, a setting or a suite cannot be used as it stands."""

    exit_code = TOLD_WRONG


class InvalidSettings(ToldWrong):
    """The settings do not fit together."""


class InvalidSuite(ToldWrong):
    """One or more files have problems; all of them are listed."""

    def __init__(self, problems: Sequence[SuiteProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in problems))


class UnrecognisedSuite(InvalidSuite):
    """A file that has the shape of no format we read."""


class NoSuiteFound(ToldWrong):
    """Nothing to run where we looked."""


class UnknownEvaluator(ToldWrong):
    """A name that no evaluator has."""


class UnusablePlugin(ToldWrong):
    """An installed package has a plugin that cannot be loaded, or does not keep its contract."""


class InvalidOptions(ToldWrong):
    """An evaluator was given options it cannot work with; `problems` has one sentence each."""

    def __init__(self, problems: Sequence[tuple[str | None, str]]) -> None:
        self.problems = tuple(problems)  # (option, sentence)
        super().__init__("; ".join(sentence for _, sentence in problems))


class InvalidDocument(ToldWrong):
    """A results document that cannot be read."""


class WorldRefused(RunevalsError):
    """Something outside would not do what the run needs."""

    exit_code = WORLD_REFUSED


class TargetRefused(WorldRefused):
    """The target rejects us altogether; more calls would only burn the suite."""


class JudgeRefused(WorldRefused):
    """The judge rejects us altogether."""


class SandboxUnavailable(WorldRefused):
    """A worker could not be started."""


class CannotWrite(WorldRefused):
    """A report could not be written."""
