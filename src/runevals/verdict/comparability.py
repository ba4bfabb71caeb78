"""What prevents the comparison of two runs, and caveats if it is possible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from runevals.lib.nullable import if_known
from runevals.lib.text.numbers import phrase, plural
from runevals.records import CaseReport, ModelIdentity, Outcome, RegressionRule, RunReport
from runevals.records.agent import AGENTS
from runevals.verdict.matching import is_judged
from runevals.verdict.score import run_report, without_checks


def judges_differ(head: RunReport, base: RunReport) -> bool:
    """Whether the scores of their judges cannot be compared."""
    return if_known(_judge_key, head.run.judge) != if_known(_judge_key, base.run.judge)


def _judge_key(judge: ModelIdentity) -> tuple[object, ...]:
    """What two judges must share: a median of several votes varies less than one vote."""
    votes, each = judge.detail.get("votes", 1), judge.detail.get("judges", {})
    return judge.type, judge.model, judge.prompt_hash, votes, each


def _judge_name(judge: ModelIdentity | None) -> str:
    if judge is None:
        return "none"
    votes = judge.detail.get("votes", 1)
    return (judge.model or judge.type) + phrase(votes != 1, f" by {votes} votes")


def other_target(head: RunReport, base: RunReport) -> str:
    """How the target's type differs from the base's; empty if it does not. A recording replaces no target."""
    before, now = base.run.target.type, head.run.target.type
    return "" if before == now else f"the target is of another type, {now}, than the base's, {before}"


def both_deterministic(head: RunReport, base: RunReport) -> bool:
    """Whether the targets of both sides are called deterministic."""
    return head.run.target.deterministic and base.run.target.deterministic


def without_judge(report: RunReport) -> RunReport:
    """`report` without the results of judges."""
    return run_report(report.run, [without_checks(case, is_judged) for case in report.cases])


def too_old(head: RunReport, base: RunReport, rule: RegressionRule) -> int | None:
    """How many days old the base's run is, if that is more than the rule allows.

    What a deterministic target answers is the same on any day; what a judge says of it may not be.
    """
    age = head.run.started_at - base.run.started_at
    does_not_age = both_deterministic(head, base) and head.run.judge is None and base.run.judge is None
    return None if does_not_age or age <= timedelta(days=rule.max_base_age_days) else age.days


def models_between(head: RunReport, base: RunReport) -> Iterator[str]:
    """The differences in model and judge, in a few words each."""
    before, now = base.run.target, head.run.target
    if before.type == now.type and before.model != now.model:
        yield f"another model: {before.model or 'none named'} on the base, {now.model or 'none named'} here"
    names = [_judge_name(report.run.judge) for report in (base, head)]
    if names[0] != names[1]:
        yield f"another judge: {names[0]} on the base, {names[1]} here"


def stale(head: RunReport, base: RunReport, rule: RegressionRule) -> Iterator[str]:
    """Why the base's result may be outdated: its age, or another model that answers now."""
    days = too_old(head, base, rule)
    if days is not None:
        yield f"the base's run is {days} days old"
    yield from other_answers(head, base)


def other_answers(head: RunReport, base: RunReport) -> Iterator[str]:
    """That the provider of the target or of the judge answers with another model under the same name, or that a
    coding agent is of another version."""
    if head.run.target.model == base.run.target.model:
        yield from _other_model("the provider answers", head.run.target, base.run.target)
    versions = [agent_version(report.run.target) for report in (base, head)]
    if head.run.target.type == base.run.target.type and None not in versions and versions[0] != versions[1]:
        yield f"another version of {head.run.target.type}: {versions[0]} then, {versions[1]} now"
    before, now = base.run.judge, head.run.judge
    if before and now and not judges_differ(head, base):
        yield from _other_model("the judge's provider answers", now, before)


def agent_version(target: ModelIdentity) -> str | None:
    """The version of a coding agent, None if it is unknown and for any other target."""
    version = target.detail.get("version") if target.type in AGENTS else None
    return version if isinstance(version, str) else None


def _other_model(who: str, now: ModelIdentity, before: ModelIdentity) -> Iterator[str]:
    if () not in (before.reported, now.reported) and now.reported != before.reported:  # nothing may have answered
        models = f"{', '.join(before.reported)} then, {', '.join(now.reported)} now"
        yield f"{who} with another model than for the base: {models}"


def caveats_of(head: RunReport, base: RunReport, rule: RegressionRule) -> Iterator[str]:
    """What makes the comparison less sure than its numbers look, in words."""
    yield from stale(head, base, rule)
    if judges_differ(head, base):
        names = [_judge_name(run.judge) for run in (base.run, head.run)]
        difference = (
            f"{names[0]} on base, {names[1]} now" if names[0] != names[1] else f"{names[0]}, with another prompt"
        )
        yield f"judge scores are not comparable and were left out: the judge was {difference}"
    yield from _other_user(head, base)
    known = {(case.suite, case.key): case.fetched for case in base.cases if case.fetched}
    changed = {
        url
        for case in head.cases
        for url, digest in case.fetched.items()
        if known.get((case.suite, case.key), {}).get(url, digest) != digest
    }
    if changed:
        yield f"changed since the base was run: {', '.join(sorted(changed)[:5])}"
    repeated = [
        f"{plural(number, 'answer')} of {side}"
        for report, side in ((base, "the base"), (head, "this run"))
        if (number := sum([len(case.copies) for case in report.cases]))
    ]
    if repeated:
        yield f"a cache on the way gave {' and '.join(repeated)} again: repeats of one answer count as one run"
    empty = {(case.suite, case.key) for case in head.cases if case.status is Outcome.PASSED and _is_empty(case)}
    if emptied := sum((case.suite, case.key) in empty and not _is_empty(case) for case in base.cases):
        yield f"{plural(emptied, 'case')} passed with an empty answer, which was not empty on the base"
    if not base.complete:
        yield "the base's run is incomplete"


def _is_empty(case: CaseReport) -> bool:
    """Whether it was answered with nothing but blanks, and without tool calls."""
    turns = [turn for attempt in case.attempts for turn in attempt.turns]
    return bool(turns) and not any(
        turn.output is None or turn.output.strip() or turn.value is not None or turn.tool_calls for turn in turns
    )


def _other_user(head: RunReport, base: RunReport) -> Iterator[str]:
    """That simulated users were played by another model, or with other instructions."""
    users = [report.run.target.detail.get("simulated_user") for report in (base, head)]
    before, now = (user if isinstance(user, Mapping) else {} for user in users)
    if {} not in (before, now) and before != now:
        models = [user.get("model") or "none named" for user in (before, now)]
        how = f"by {models[0]} on base, {models[1]} now" if models[0] != models[1] else "with other instructions"
        yield f"simulated users were played {how}"
