"""Completes a request before the run: target, quarantine list, and the run of its mark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from runevals.lib.nullable import known
from runevals.lib.storage.files import relative_name
from runevals.lib.text.numbers import phrase, short_list
from runevals.records import RunReport, Suite
from runevals.records.errors import InvalidSettings
from runevals.run.baseline.marks import run_of_mark
from runevals.run.default_target import with_target
from runevals.run.head import alike_earlier
from runevals.run.load import load_request
from runevals.run.provenance import edits_not_in_workspaces
from runevals.run.quarantine import quarantine_of
from runevals.run.redaction.omit_content import without_content
from runevals.run.redaction.redactors import report_without_either, without_either, without_patterns
from runevals.run.request import RunRequest
from runevals.run.shards.split import SPLIT, split_by, with_split
from runevals.run.target_runner import with_earlier
from runevals.settings.resolve import Settings, ignored_changes
from runevals.suites.load import require_evaluators
from runevals.suites.selection import is_selected
from runevals.suites.skill_suites import SKILL
from runevals.verdict.score import run_report


def require_comparable(settings: Settings, base: str | None = None, *, merges: bool = False) -> None:
    """Raises InvalidSettings if a shard was to be compared, or a merge to be of one shard."""
    against, leave_out = settings.compare.against, "leave out --against, or write --against none"
    if settings.selection.shard is None:
        return
    if merges:
        raise InvalidSettings("a merge is of all shards, but `shard` was given; leave it out")
    if against is not None:
        raise InvalidSettings(f"--against {against}: a shard has only a part of the cases; {leave_out}")
    if base is not None:
        raise InvalidSettings(
            "a shard is compared with nothing, but --base was given; "
            "`runevals merge --baseline FILE` compares all shards together"
        )


def prepared(request: RunRequest) -> RunRequest:
    """With the target that the suites imply, a balanced shard, the cases in quarantine, and the run of the mark.

    Raises InvalidSuite for a broken quarantine list, UnknownEvaluator, and as `with_split`.
    """
    require_evaluators(load_request(request.settings))
    settings = with_split(with_target(request.settings, request.suites.suites), request.suites.suites)
    cases = request.suites.cases
    quarantine = quarantine_of(settings, cases)
    mark = run_of_mark(settings, cases, request.find_mark)
    remarks = (*split_by(settings), *edits_not_in_workspaces(settings, request.suites))
    remarks += tuple(_skills_not_sent(settings, request.suites.suites))
    return replace(
        request,
        settings=settings,
        suites=replace(request.suites, quarantined=quarantine.cases),
        weakenings=without_either((*ignored_changes(request.raw), *quarantine.weakenings), settings),
        mark=mark.run,
        notices=(*settings.notices, *request.notices, *remarks, *quarantine.notices, *mark.notices),
    )


def _skills_not_sent(settings: Settings, suites: Sequence[Suite]) -> Iterator[str]:
    """A notice of skills that a model is not sent, and whose cases it is asked."""
    if settings.target is not None and settings.target.is_model:
        sent = {path.resolve() for path in settings.target.prompts}
        skills = dict.fromkeys(path / SKILL for path in known(suite.skill for suite in suites))
        names = [relative_name(path, settings.cwd) for path in skills if path.resolve() not in sent]
        text = "the model is not sent {}: its cases tell a worse one once `target.system_prompt_file` names it"
        yield from filter(None, [phrase(short_list(names), text)])


def prepared_merge(report: RunReport, request: RunRequest) -> tuple[RunReport, RunRequest]:
    """Prepares merged shards, whose reports say which cases were in quarantine and which ones ran;
    with the runs of an earlier attempt of this job."""
    settings = request.settings
    report = without_patterns(report, settings)
    added = quarantine_of(settings, request.suites.cases).weakenings
    mark = run_of_mark(settings, report.cases, request.find_mark)
    notices = dict.fromkeys((*settings.notices, *report.run.notices, *mark.notices))
    if settings.compare.baseline is not None:
        notices.pop(SPLIT, None)
    report = replace(report, run=replace(report.run, notices=tuple(notices)))
    report = with_earlier(report, alike_earlier(request, report))
    weakenings = without_either((*ignored_changes(request.raw), *added), settings)
    return report, replace(request, weakenings=weakenings, mark=mark.run)


def prepared_results(report: RunReport, request: RunRequest) -> tuple[RunReport, RunRequest]:
    """Prepares the results of another tool: without secrets, and with the cases that the filters leave in.

    Raises UsageError if that is none, InvalidSuite for a broken quarantine list.
    """
    settings = request.settings
    report = without_content(report_without_either(report, settings), settings.redaction.redact)
    cases = [case for case in report.cases if is_selected(case, settings.selection)]
    if not cases:
        raise InvalidSettings("no case of the results is left by --category, --tag and --filter")
    quarantine = quarantine_of(settings, cases)
    mark = run_of_mark(settings, cases, request.find_mark)
    cases = [replace(case, quarantined=(case.suite, case.key) in quarantine.cases) for case in cases]
    notices = (*settings.notices, *report.run.notices, *request.notices, *quarantine.notices, *mark.notices)
    report = run_report(replace(report.run, notices=notices), cases, complete=report.complete)
    report = with_earlier(report, alike_earlier(request, report))
    weakenings = without_either((*ignored_changes(request.raw), *quarantine.weakenings), settings)
    return report, replace(request, weakenings=weakenings, mark=mark.run)
