"""`--format eval-document`: a suite written back with the answers and scores of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runevals.lib.terminal import notice
from runevals.records import RunReport, Suite, SuiteInfo
from runevals.records.errors import InvalidSettings
from runevals.records.suite import AGENTSKILLS
from runevals.run.redaction.redactors import without_either
from runevals.settings.resolve import Settings
from runevals.suites import dialects
from runevals.suites.dialects import eval_document, skill_cases
from runevals.suites.dialects import eval_document_results as scored

SKILL_FILES = ("benchmark.json", "grading.json")


def separated(outputs: Sequence[Path], form: str) -> tuple[list[Path], list[Path]]:
    """(outputs of reporters, those that are eval documents). Raises InvalidSettings if there is none."""
    if form == AGENTSKILLS and not any(path.name.lower() in SKILL_FILES for path in outputs):
        raise InvalidSettings(
            f"--format {form} writes {' and '.join(SKILL_FILES)}; name one of them with --output"
        )
    if form != eval_document.NAME:
        return list(outputs), []
    documents = [path for path in outputs if path.suffix.lower() == ".json"]
    if not documents:
        raise InvalidSettings(f"--format {form} writes a JSON file; name it with --output FILE.json")
    return [path for path in outputs if path not in documents], documents


def exportable(suites: Sequence[Suite | SuiteInfo], path: str | None = None) -> Suite | SuiteInfo:
    """The only suite to write as an eval document. Raises InvalidSettings if there is not exactly one."""
    matches = [suite for suite in suites if path in (None, suite.path)]
    paths = ", ".join(suite.path for suite in suites)
    if not matches:
        raise InvalidSettings(f"--suite {path}: the run had no such suite (it had {paths})")
    if len(matches) > 1:
        raise InvalidSettings(
            f"an eval document holds one suite, and the run has {len(matches)} ({paths}); write its results, then "
            "each suite's document by `runevals report RESULTS --suite PATH --format eval-document --output FILE`"
        )
    if matches[0].dialect == skill_cases.NAME:
        raise InvalidSettings(
            f"{matches[0].path} holds cases for skills: calls and their values, for which an eval document has no "
            "fields; write --format results"
        )
    return matches[0]


def exported(report: RunReport, suite: Suite | SuiteInfo, settings: Settings) -> str:
    """The text of the document: the suite's own file with its output fields filled in, if it has that format."""
    path = settings.repository / suite.path
    is_document = suite.dialect == eval_document.NAME
    if is_document and path.is_file():
        source = eval_document.upgraded(dialects.read(path, suite.path).value)
        document = scored.fill_results(without_either(source, settings), report, suite.path)
    else:
        document = scored.results_document(report, suite.path, suite.dialect)
    if document.get("default_evaluators") == {} and not is_document:
        notice(f"The checks of {suite.path} are not in the document: to score its answers again, add them there")
    return eval_document.as_text(document)


def require_unchanged(report: RunReport, suite: Suite | SuiteInfo, settings: Settings) -> None:
    """Raises InvalidSettings if the suite's file has changed since the run."""
    path = settings.repository / suite.path
    if suite.dialect != eval_document.NAME:
        return
    if not path.is_file():
        raise InvalidSettings(f"{suite.path}, which the run was of, is not here; go to the commit of the run")
    now = dialects.load(
        path, suite.path, dialects.LoadOptions(definitions=settings.load.definitions, root=settings.repository)
    )
    fingerprints = {case.key: case.fingerprint for case in now.cases}
    for case in report.cases:
        if case.suite == suite.path and fingerprints.get(case.key) != case.fingerprint:
            raise InvalidSettings(
                f"{suite.path}: {case.key} is no longer what the run was of; go to the commit of the run "
                f"({report.run.commit or 'unknown'}), or run it again"
            )
