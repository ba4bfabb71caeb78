"""The conclusion of a run that measured nothing: it says why, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from runevals.lib.text.numbers import phrase, plural
from runevals.lib.text.secrets import redactor
from runevals.records import Conclusion, FinalVerdict, ModelIdentity
from runevals.records.errors import INTERNAL_ERROR, InvalidSuite, RunevalsError, as_run_error
from runevals.run.provenance import provenance
from runevals.settings.resolve import Settings
from runevals.verdict.outcome import unmeasured
from runevals.verdict.score import nothing_run


def nothing_measured(settings: Settings, verdict: FinalVerdict, notices: Sequence[str] = ()) -> Conclusion:
    """The conclusion of a run without any calls."""
    target = ModelIdentity(type="none" if settings.target is None else settings.target.type)
    report = nothing_run(target, provenance(settings, tuple(notices)))
    return Conclusion(report=report, comparison=None, gates=(), verdict=verdict)


def ended_by(error: Exception, settings: Settings, exit_code: int | None = None) -> Conclusion:
    """The message of a run that an error ended: one line, then one for each further problem of a file.

    The exit code is the error's, unless another is given.
    """
    redact = redactor(settings.environment, settings.key_names)
    error = as_run_error(error)
    if not isinstance(error, RunevalsError):
        why = f"a bug in runevals ended the run ({type(error).__name__}); its log says where"
        return nothing_measured(settings, unmeasured(why, INTERNAL_ERROR))
    lines = [redact(line) for line in str(error).splitlines() if line.strip()] or ["nothing says why"]
    why, *more = lines
    others = phrase(isinstance(error, InvalidSuite) and more, f" (and {plural(len(more), 'more problem')})")
    return nothing_measured(settings, unmeasured(why + others, exit_code or error.exit_code), more)
