"""Redaction by the settings: secrets and patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from runevals.lib.text.secrets import redacted, redactor
from runevals.records import RunReport
from runevals.records.script import ScriptRunner
from runevals.settings.resolve import Settings
from runevals.settings.stages import RedactionSettings

if TYPE_CHECKING:
    from runevals.run.redaction.patterns import PatternRedactor

T = TypeVar("T")


def text_redactor(
    settings: Settings, sandbox: ScriptRunner, others: Sequence[Settings] = ()
) -> Callable[[str], str]:
    """Redacts both in a text. `others` are the settings of further targets of the run, which have keys too."""
    secrets = redactor(settings.environment, [name for each in (settings, *others) for name in each.key_names])
    if not settings.redaction.redact_patterns:
        return secrets
    from runevals.run.redaction.patterns import PatternRedactor  # most have none

    patterns = PatternRedactor(settings.redaction.redact_patterns, sandbox)
    return lambda text: patterns(secrets(text))


def without_either(value: T, settings: Settings) -> T:
    """`value` with both redacted in every text."""
    with _patterns(settings.redaction) as patterns:
        return patterns.within(redacted(value, redactor(settings.environment, settings.key_names)))


def report_without_either(report: RunReport, settings: Settings) -> RunReport:
    """A report of results that were made without us; its hashes, which comparisons need, stay as they are."""
    return without_patterns(redacted(report, redactor(settings.environment, settings.key_names)), settings)


def without_patterns(report: RunReport, settings: Settings) -> RunReport:
    """A report that may have been written with other patterns."""
    if not settings.redaction.redact_patterns:
        return report
    with _patterns(settings.redaction) as patterns:
        return patterns.within_report(report)


@contextmanager
def _patterns(settings: RedactionSettings) -> Iterator[PatternRedactor]:
    from runevals.run.redaction.patterns import PatternRedactor
    from runevals.sandbox import Sandbox

    with Sandbox(workers=1) as sandbox:  # starts nothing until it is used
        yield PatternRedactor(settings.redact_patterns, sandbox)
