"""How numbers, money, time and differences are written, once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from runevals.lib.nullable import grouped, if_known
from runevals.lib.text.numbers import (
    first_of,
    joined,
    money,
    p_value,
    percent,
    phrase,
    plural,
    points,
    score,
    seconds,
    short_list,
    signed,
)
from runevals.records import (
    NO_CHECKS,
    AgainstComparison,
    CaseReport,
    Change,
    CheckResult,
    Comparison,
    Conclusion,
    Finding,
    GateResult,
    MarkComparison,
    MetricChange,
    MetricUnit,
    Outcome,
    RunReport,
    State,
    TextChange,
    Totals,
    TurnReport,
)
from runevals.verdict.lost_together import CLEARED, lost_keys
from runevals.verdict.reasons import MEANINGS
from runevals.verdict.score import of_five, score_of

MOST_TIMES = 50  # as many runs: beyond, nobody makes them
MOST_NAMED = 10  # cases of which one sentence is said
NOTICEABLE_DROP = 0.05  # that a sentence on no loss must mention
NOTICEABLE_S, NOTICEABLE_RISE = 0.05, 0.05  # of latency: seconds, and the share of what it was

_ERROR_WORDS = {
    "target_timeout": "target timed out",
    "target_auth": "target lacks valid credentials",
    "target_rate_limited": "target rate-limited",
    "target_unparseable": "target answer unreadable",
    "target_no_json": "result is not JSON",
    "answer_cut": "answer cut by the provider",
    "judge_timeout": "judge timed out",
    "judge_auth": "judge refused the credentials",
    "judge_rate_limited": "judge rate-limited",
    "judge_unparseable": "judge reply unreadable",
    "evaluator_timeout": "check timed out",
    "evaluator_crashed": "check crashed",
    "evaluator_memory": "check out of memory",
    "evaluator_syntax": "check has a syntax error",
    "workspace_broken": "workspace broken by the attempt",
}


NAMES = {"pass_rate": "Pass rate", "share": "Score"}


def alone(report: RunReport) -> str:
    """The numbers of a run without a base; says why cases can pass although the pass rate is lower."""
    if report.totals.pass_rate is None:
        return "No case was measured."
    rates = f"Pass rate {percent(report.totals.pass_rate)}, score {score(score_of(report))} of 5."
    flaky = sum(case.flaky for case in report.cases)
    why_lower = (
        " The pass rate counts every run; a case passes if at least half of its runs do, and "
        f"{plural(flaky, 'case')} did not pass all."
    )
    return rates + phrase(flaky, why_lower)


def passing(totals: Totals, unmeasured: str = "") -> str:
    """ "18 of 20 cases pass, 1 skipped"."""
    of = totals.cases - totals.skipped
    verb = "passes" if of == 1 else "pass"
    return f"{totals.passed} of {plural(of, 'case')} {verb}{unmeasured}{phrase(totals.skipped, ', {} skipped')}"


def in_short(comparison: Comparison) -> str:
    """One sentence of numbers; if no loss is shown, with the smallest drop that would have been detected."""
    name = NAMES[comparison.metric]
    if comparison.drop is None:
        return f"{name} not comparable: no case was measured on both sides."
    line = f"{name} {percent(comparison.base_mean)} → {percent(comparison.head_mean)}"
    by = points(-comparison.drop)
    if comparison.metric == "share":
        line, by = _graded(comparison), f"{signed(-4 * comparison.drop, 2)}: {by} of its range"
    if comparison.deterministic:
        of_tool = comparison.base.run.of_tool
        why = "taken as deterministic, unless `--stochastic` is set" if of_tool else "deterministic target"
        return f"{line} ({why}: every difference is real)."
    detectable = _visible_drop(comparison)
    if comparison.fresh and comparison.state is not State.WORSE:
        return f"{line} ({by}); {comparison.fresh} does not confirm the difference."
    not_better = comparison.state is State.NOT_WORSE and not comparison.improved
    if not_better and detectable is not None:
        noise = phrase(comparison.drop >= NOTICEABLE_DROP, f", {by}, which may be noise")
        sentence = f"These runs would have shown a drop of {100 * detectable:.1f} points (at least 9 times in 10)."
        return f"{line}{noise}. {sentence}"
    return f"{line} ({by})."


def _graded(comparison: Comparison) -> str:
    """The scores of both sides, of 5 as everywhere, and the pass rates, on the shared cases."""
    base, head = (score(of_five(side)) for side in (comparison.base_mean, comparison.head_mean))
    rates = [percent(totals.pass_rate) for totals in (comparison.base_totals, comparison.head_totals)]
    return f"Pass rate {rates[0]} → {rates[1]}, score {base} → {head} of 5"


def difference(comparison: Comparison) -> str:
    """The difference of both sides with its interval and p; empty if the target is deterministic: no noise."""
    if comparison.drop is None or comparison.deterministic:
        return ""
    line = f"{NAMES[comparison.metric]}: {points(-comparison.drop)}"
    if comparison.interval is None or comparison.p_value is None:
        return f"{line}."
    low, high = -comparison.interval[1], -comparison.interval[0]
    rose = comparison.drop < 0 and comparison.gain_p_value is not None
    p = comparison.gain_p_value if rose and comparison.gain_p_value is not None else comparison.p_value
    interval = f"95 % interval {signed(100 * low, 1)} to {signed(100 * high, 1)}"
    return f"{line} ({interval}; {p_value(p)} for a {'gain' if rose else 'loss'})."


def since_mark(mark: MarkComparison) -> str:
    """ "−6.3 points since v1.4 (p = 0.001)"; a loss has its own p, and of a deterministic target there is none."""
    since = {"best": "against the best stored run"}.get(mark.mark, f"since {mark.mark}")
    if mark.mark.endswith("d") and mark.mark[:-1].isdecimal():
        since = f"since {mark.started_at:%Y-%m-%d}"
    sure = "" if mark.deterministic or mark.drop <= 0 else f" ({p_value(mark.p_value)})"
    return f"{points(-mark.drop)} {since}{sure}"


def about_mark(mark: MarkComparison) -> str:
    """The comparison with the mark, in one sentence."""
    name = NAMES[mark.metric]
    low, high = -mark.interval[1], -mark.interval[0]
    interval = "" if mark.deterministic else f"; 95 % interval {signed(100 * low, 1)} to {signed(100 * high, 1)}"
    judge = phrase(mark.judge_left_out, ", without the judge's scores, as another judge graded then")
    cases = f"{plural(mark.cases, 'case')} that {'is' if mark.cases == 1 else 'are'} unchanged since"
    return (
        f"{name} {percent(mark.base_mean)} → {percent(mark.head_mean)}, {since_mark(mark)}, in the {cases}{judge} "
        f"(mark {mark.mark}: {mark.source}{interval})."
    )


_STANDING: Mapping[State, tuple[tuple[str, str], str]] = {  # of one and of several, and in a cell
    State.WORSE: (("is worse than", "are worse than"), "worse"),
    State.NOT_KNOWN: (("may be worse than",) * 2, "not known yet"),
    State.NOT_WORSE: (("is not worse than", "are not worse than"), "not worse"),
}


def standing(against: AgainstComparison) -> str:
    """Whether a target is worse than another, in a cell; empty if it is no target."""
    return "" if against.state is None else _STANDING[against.state][1]


def about_standing(name: str, against: AgainstComparison) -> str:
    """ "nano is worse than mini: 34 of 200 cases lost, all of hours (−17.0 points); 0.2× the cost"."""
    return f"{stands([name], against)}: {_worth(against)}"


def stands(names: Sequence[str], against: AgainstComparison) -> str:
    """ "nano and pico are worse than mini"."""
    assert against.state is not None  # noqa: S101 - of a target
    one, several = _STANDING[against.state][0]
    return f"{joined(names)} {one if len(names) == 1 else several} {against.name}"


def _worth(against: AgainstComparison) -> str:
    """What is known of the difference, and its price; of deterministic targets there is no p."""
    sure = "" if against.deterministic else f", {p_value(against.p_value)}"
    digits = ".1f" if against.state is None else ".2g"
    cost = "" if against.cost_ratio is None else f"; {against.cost_ratio:{digits}}× the cost"
    if against.state is None or against.margin is None:
        return f"worth {points(against.gain)}{sure}{cost}"
    margin = f"{100 * against.margin:g} point{'' if against.margin == 0.01 else 's'}"
    if against.state is State.WORSE:
        in_all = phrase(against.lost_parts, "in all ")
        return f"{_lost(against)} ({in_all}{points(against.gain)}{sure}; margin {margin}){cost}"
    if against.state is State.NOT_WORSE:
        why = "every difference is real" if against.margin_p_value is None else p_value(against.margin_p_value)
        return f"by at most {margin} ({why}){cost}"
    return f"{points(against.gain)}, and a loss of more than {margin} is not excluded: {_settles(against)}{cost}"


def _lost(against: AgainstComparison) -> str:
    """ "category legal fell by 14.0 points, 19 of 900 cases lost"."""
    parts = [f"{each.family} {each.name[:60]} fell by {100 * each.drop:.1f} points" for each in against.lost_parts]
    return f"{phrase(first_of(parts, 3), '{}, ')}{against.lost_cases} of {plural(against.cases, 'case')} lost"


def _settles(against: AgainstComparison) -> str:
    if against.times_more is None:
        return "measure the cases that could not be measured"
    if against.times_more > MOST_TIMES:
        return "only a larger margin would settle it"
    return f"about {max(2.0, against.times_more):.0f} times as many cases or runs would settle it"


def about_drop_bound(against: AgainstComparison, *, holds: bool) -> str:
    """What the number of a gate on another target says, and what to do if the gate does not hold."""
    if against.state is State.WORSE:
        return _lost(against)
    if against.margin_p_value is None or against.drop_bound is None:
        return "deterministic targets: every difference is real"
    size = f"{100 * against.drop_bound:.1f} points"
    if holds:
        return f"these runs exclude a drop of more than {size}"
    return f"these runs cannot exclude a drop of {size}; more cases or repeats settle it"


def about_lift(against: AgainstComparison, *, holds: bool) -> str:
    """How the number of a gate on `lift` is to be read."""
    sure = "" if against.deterministic else "; the lower end of the 95 % interval counts"
    gain = f"{points(against.gain)} against {against.name}{sure}"
    return f"worth {gain}" if holds else f"seen: {gain}{phrase(sure, ', which more cases bring nearer to it')}"


def about_against(against: AgainstComparison) -> str:
    """What the other side showed, in a sentence."""
    low, high = (signed(100 * share, 1) for share in against.interval)
    interval = "" if against.deterministic else f" (95 % interval {low} to {high})"
    rates = f"{NAMES[against.metric].lower()} {percent(against.other_mean)} → {percent(against.head_mean)}"
    cases = plural(against.cases, "case")
    way = f"; {standing(against)}: " if against.state is not None else ", "
    return f"Against {against.name}: {rates} in {cases}{interval}{way}{_worth(against)}."


def same_on_both_sides(against: AgainstComparison) -> str:
    """The checks that say nothing of the difference; empty if there are none."""
    groups = (("passed", against.always_passed), ("failed", against.always_failed))
    same = [f"always {word}: {short_list(checks, 5)}" for word, checks in groups if checks]
    of_skill = against.state is None and against.gain <= 0
    why = phrase(of_skill, " Does the program read the skill itself, or no `system`? Then both sides are alike.")
    return phrase("; ".join(same), f"These checks show no difference on any run: {{}}.{why}")


def _visible_drop(comparison: Comparison) -> float | None:
    """The smallest drop that would have shown; None if the base's own mean is below it."""
    least, most = comparison.detectable_drop, comparison.base_mean
    return None if least is None or most is None or least > most else least


def how_sure(comparison: Comparison) -> list[str]:
    """Sentences: the difference, the role of chance, the flips, and the smallest drop that this suite detects.

    Empty for a deterministic target.
    """
    least = comparison.detectable_drop
    if comparison.deterministic or least is None:
        return []
    fresh = phrase(comparison.fresh, "Fresh runs of both sides, made in turn, decided: {}.")
    sure = f"A drop of {100 * least:.1f} points or more would have shown (at least 9 times in 10)."
    detectable = sure if _visible_drop(comparison) is not None else "Too few passes to be sure of any drop."
    chance = _by_chance(comparison, least)
    sentences = (difference(comparison), fresh, chance, _flips(comparison), detectable, _needed(comparison))
    return [*filter(None, sentences)]


def _by_chance(comparison: Comparison, least: float) -> str:
    fell = any(each.family == "whole" for each in comparison.parts(State.WORSE))
    if not fell or comparison.p_value is None:
        return ""
    of_hundred = "fewer than 1" if comparison.p_value < 0.01 else f"about {100 * comparison.p_value:.0f}"
    smaller = " The true drop is probably smaller: one this size is at least partly luck."
    luck = phrase((comparison.drop or 0.0) < least, smaller)
    return f"An unchanged suite drops as much in {of_hundred} of 100 runs.{luck}"


def _flips(comparison: Comparison) -> str:
    flips = comparison.flips
    if flips is None or not (flips.down or flips.up):
        return ""
    text = f"{plural(flips.down, 'case')} flipped from pass to fail and {flips.up} the other way"
    if flips.expected_down is None or flips.expected_up is None:
        return f"{text}."
    down, up = (f"{round(number, 1):g}" for number in (flips.expected_down, flips.expected_up))
    return f"{text}; in an unchanged suite, about {down} and {up} would."


def _needed(comparison: Comparison) -> str:
    cases, repeats = comparison.cases_needed, comparison.repeats_needed
    ways = {f"{cases} cases like these": cases, f"{repeats} runs of each on both sides": repeats}
    known = (way for way, number in ways.items() if number is not None)
    return phrase(", or ".join(known), "To detect a drop of 5 points, you need up to {}.")


def halved(comparison: Comparison) -> str:
    """The runs needed to detect half of the smallest detectable drop; empty if that is unknown."""
    detectable, repeats = _visible_drop(comparison), comparison.repeats_for_half
    if detectable is None or repeats is None:
        return ""
    return (
        f"{repeats} runs of each case on both sides would detect half of that, {100 * detectable / 2:.1f} points."
    )


def compared_cases(comparison: Comparison) -> str:
    """How many cases were compared."""
    cases = plural(comparison.base_cases, "case")
    planned, quarantined = comparison.rounds_planned, comparison.quarantined
    rounds = phrase(planned > 1, f", in {comparison.rounds_done} of {plural(planned, 'round')}")
    left_out = phrase(quarantined, f"; {plural(quarantined, 'quarantined case')} left out")
    return f"{comparison.compared} of the base's {cases}, unedited and measured on both sides{rounds}{left_out}"


def title_of_change(change: TextChange) -> str:
    """The title of a changed text: a prompt, or the settings."""
    is_settings = change.path.rpartition("/")[2] in ("runevals.yaml", "runevals.yml", "pyproject.toml")
    return f"What changed in the {'settings' if is_settings else 'prompt'}"


def fresh_runs(comparison: Comparison, change: Change) -> str:
    """ "8/8 → 0/8 on fresh runs"; empty if the case was not run again."""
    finding = comparison.finding(change.suite, change.key)
    if finding is None or finding.head is None or not finding.head.values:
        return ""
    base = f"{runs_passed(finding.base)} → " if finding.base is not None and finding.base.values else ""
    return f"{base}{runs_passed(finding.head)} on fresh runs"


def case_notes(comparison: Comparison) -> list[str]:
    """The cases that looked lost and are not proven lost, by name, with what cleared them or is not known."""
    lost, cases = lost_keys(comparison), comparison.cases(State.NOT_KNOWN, State.NOT_WORSE)
    notes = grouped(_note(each) for each in cases if each.key not in lost)
    return [f"{short_list(names, MOST_NAMED)}{text}" for text, names in notes.items()]


def _note(finding: Finding) -> tuple[str, str]:
    """What is said of a case, and what it is called there."""
    sentence = MEANINGS[finding.reason].sentence
    if finding.reason in CLEARED:
        return f" looked lost: {sentence}", finding.called
    return f": {finding.detail or sentence}", f"{finding.called}{_of_checks(finding)}"


def lost_checks(comparison: Comparison) -> list[str]:
    """The lost cases whose outcome is as it was, or that were edited: with the checks that are lost."""
    known = {(change.suite, change.key) for change in comparison.of_kind("regressed")}
    form = "in the form that the base has, "
    notes = grouped(
        (phrase(each.edited, form) + MEANINGS[each.reason].sentence, f"{each.called}{_of_checks(each)}")
        for each in comparison.cases(State.WORSE)
        if each.key not in known
    )
    return [f"{short_list(names, MOST_NAMED)}: {sentence}" for sentence, names in notes.items()]


def _of_checks(finding: Finding) -> str:
    return phrase(short_list(list(finding.checks), 3), " ({})")


def edited_and_failing(comparison: Comparison) -> list[str]:
    """A sentence for each case that was edited, passed on the base and fails now; they are not compared."""
    stricter = {each.key for each in comparison.cases(State.NOT_WORSE) if each.edited}
    return [
        f"{change.called} was edited, passed on the base and fails now"
        + phrase((change.suite, change.key) in stricter, "; its old form still passes")
        for change in comparison.of_kind("edited")
        if change.base is not None
        and change.head is not None
        and change.base.status is Outcome.PASSED
        and change.head.status is Outcome.FAILED
    ]


def weakened(comparison: Comparison) -> list[tuple[str, str]]:
    """(which cases, what is weaker), one entry for all cases of a suite that are weaker in the same way."""
    groups = grouped(((one.suite, one.message), one.key) for one in comparison.weakenings)
    return [
        (keys[0] if len(keys) == 1 else f"{short_list(keys, MOST_NAMED)} of {suite}", message)
        for (suite, message), keys in groups.items()
    ]


def other_metrics(comparison: Comparison) -> list[str]:
    """The metrics beside the one that gates that got worse by more than chance explains, one sentence each.

    Latency only where somebody notices it: two machines differ by some milliseconds.
    """
    metrics = len(comparison.metrics)
    correction = phrase(metrics > 1, f", corrected for {metrics} metrics")
    return [
        f"{_title(metric)} is worse: {in_unit(metric, metric.base_mean)} → {in_unit(metric, metric.head_mean)} "
        f"({p_value(metric.holm_p)}{correction})"
        for metric in comparison.metrics
        if metric.holm_p <= 0.01 and metric.loss > _unnoticed(metric)
    ]


def _title(metric: MetricChange) -> str:
    """What its numbers are, of which more of a share is always better."""
    kind, _, evaluator = metric.name.partition(":")
    return (
        f"the score of {evaluator}" if evaluator else {"share": "the mean score"}.get(kind, kind.replace("_", " "))
    )


def _unnoticed(metric: MetricChange) -> float:
    """The largest loss that is not worth a sentence, in the metric's unit."""
    return max(NOTICEABLE_S, NOTICEABLE_RISE * metric.base_mean) if metric.unit == "seconds" else 0


_IN_UNIT: Mapping[MetricUnit, Callable[[float], str]] = {
    "share": percent,
    "seconds": lambda value: f"{seconds(value)} a run",
    "usd": lambda value: f"{money(value)} a run",
}


def in_unit(metric: MetricChange, value: float) -> str:
    """A mean of this metric; seconds and dollars are those of a run of one case."""
    return _IN_UNIT[metric.unit](value)


def other_paths(comparison: Comparison) -> str:
    """How the tools called differ from those of the base's runs; empty if they do not, or are not known."""
    paths = comparison.tool_paths
    if paths is None or not paths.changed:
        return ""
    changed = f"{len(paths.changed)} of {plural(paths.cases, 'case')}"
    return f"tool calls differ from the base's in {changed} ({short_list(paths.changed)}): F1 {paths.f1:.2f}"


def judge_notes(report: RunReport) -> list[str]:
    """Notes on the numbers: cached answers, and how far judges' votes agree."""
    counts = {"answer": report.totals.cached, "judgement": report.totals.judge_cached}
    notes = [f"{plural(count, what)} from the cache" for what, count in counts.items() if count]
    for agreement in report.agreement:
        alpha = "no two votes differ" if agreement.alpha is None else f"votes agree with α {agreement.alpha:.2f}"
        contested = phrase(agreement.contested, f", {{}} of {agreement.checks} contested")
        notes.append(f"{agreement.evaluator}: {alpha}{contested}")
    return notes


def doubtful(conclusion: Conclusion) -> bool:
    """Whether its headline is a warning: nothing blocks and not all is clean, or something is not known."""
    not_known = conclusion.verdict.headline.startswith("Not known")
    return conclusion.acceptance is not None or conclusion.verdict.warns or not_known


_PLACE = re.compile(r"\(([\w./-]+:\d+)\)$")  # the line of the repository that raised an error
_LIMIT = re.compile(r"--max-\w+")
_RESUMED = "; `runevals run --resume{}` goes on where it ended."  # what has an answer is kept
_NEXT_STEPS = {
    "auth": "Check the key that is passed on, and what it may use: the first error below says more.",
    "rate_limited": "The provider limits the rate: lower `concurrency`, or run the job again later.",
    "timeout": "Run the job again; if it stays slow, raise `timeout_s`.",
    "budget_exhausted": f"Raise the limit{_RESUMED}",
    "limit_unknown": "Let each call say what it took, or remove the limit; for the base's run, push that to it.",
    "evidence_missing": "A second run changes nothing: see below what the first check lacks.",
}


def next_step(report: RunReport) -> str:
    """What to do about the most frequent error of a run; empty if there is none."""
    most = next((code for code in report.errors if code != "turn_skipped"), "")  # they are in this order
    if not most:
        return ""
    for ending, step in _NEXT_STEPS.items():
        if most.endswith(ending):
            by_flag = "".join(f" {flag} …" for flag in _LIMIT.findall(str(report.run.stopped)))
            measured = report.totals.passed + report.totals.failed
            anew = phrase(by_flag, " by its flag,{} or RUNEVALS_MAX_… in a job, which counts at once,")
            return step.replace(_RESUMED, _RESUMED.format(by_flag) if measured else f"{anew} and run it anew.")
    errors = (first_error(case) or "" for case in report.cases if case.unmeasured)
    places = (match[1] for error in errors if error.startswith(most) and (match := _PLACE.search(error)))
    place = next(places, "that" if most == "refused" else "")
    return (
        f"Fix {place}, or run it again if a service that it calls failed; install a module that is missing."
        if place
        else "Run it again; if it stays, see the first error below."
    )


def is_ungated(report: RunReport, comparison: Comparison | None, gates: Sequence[GateResult]) -> bool:
    """Whether nothing passes and no gate applies: then a passing verdict says nothing about the answers."""
    failed_all = report.totals.passed == 0 and report.totals.failed > 0
    return comparison is None and failed_all and all(gate.name == "measured" for gate in gates)


def error_kinds(report: RunReport) -> str:
    """ "judge timed out ×31, target failed ×2"; skipped turns are a consequence and left out."""
    counts = {code: count for code, count in report.errors.items() if code != "turn_skipped"}
    words = {code: code.replace("_", " ") for code in counts} | _ERROR_WORDS
    return ", ".join(f"{words[code]} ×{count}" for code, count in counts.items())


def runs_passed(case: CaseReport) -> str:
    """ "2/3": attempts passed of those measured."""
    return f"{sum(a.status is Outcome.PASSED for a in case.runs)}/{len(case.values)}"


def because(result: CheckResult) -> str:
    """A check's reason, with score and threshold if it has a scale."""
    scale = (
        "" if result.threshold is None or result.value is None else f"{result.value:g}, needs {result.threshold:g}"
    )
    return ": ".join(filter(None, (scale, result.reason)))


def first_failure(case: CaseReport) -> tuple[TurnReport, CheckResult] | None:
    """The first failed check of the first failed attempt, with its turn."""
    return next(((turn, result) for _, turn, result in _failures(case)), None)


def _failures(case: CaseReport) -> Iterator[tuple[int, TurnReport, CheckResult]]:
    """Every failed check of a failed attempt, with the place of its turn in the conversation, and the turn."""
    for attempt in case.attempts:
        if attempt.status is Outcome.FAILED:
            for place, turn in enumerate(attempt.turns):
                for result in turn.results:
                    if result.outcome is Outcome.FAILED:
                        yield place, turn, result


def failed_checks(case: CaseReport) -> list[str]:
    """Every check that failed in a failed attempt, with the reason of its first, in the order of the case."""
    failures = grouped(((place, result.id), result) for place, _, result in _failures(case))
    results = [failures[key][0] for key in sorted(failures, key=lambda key: key[0])]
    return [": ".join(filter(None, (result.id, because(result)))) for result in results]


def first_error(case: CaseReport) -> str | None:
    """Why a case could not be measured."""
    for attempt in case.attempts:
        if attempt.unchecked:
            return f"{NO_CHECKS.code}: {NO_CHECKS.message}"
        for turn in attempt.turns:
            if turn.error is not None:
                return f"{turn.error.code}: {turn.error.message}"
            for result in turn.results:
                if result.error is not None:
                    return f"{result.id}: {result.error.code}: {result.error.message}"
    return None


def answer_pair(change: Change) -> tuple[str, str] | None:
    """(base's answer, head's answer) at the turn whose check fails now; None if a side has none."""
    return if_known(lambda turns: (turns[0].output or "", turns[1].output or ""), turn_pair(change))


def turn_pair(change: Change) -> tuple[TurnReport, TurnReport] | None:
    """(base's turn, head's turn) whose check fails now; None if the base has no answer to it."""
    if change.base is None or change.head is None:
        return None
    failure = next(_failures(change.head), None)
    if failure is None:
        return None
    failed_place, turn, _ = failure
    same_case = change.base.fingerprint == change.head.fingerprint  # then only the target's own prompt can differ
    for base_attempt in change.base.attempts:
        for place, base_turn in enumerate(base_attempt.turns):
            same_turn = base_turn.prompt == turn.prompt or (same_case and place == failed_place)
            if same_turn and base_turn.output is not None:
                return base_turn, turn
    return None
