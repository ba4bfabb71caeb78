"""What a report says of a conclusion, part by part, for every reporter: the most important first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from runevals.lib.nullable import whole_total
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import (
    UNKNOWN,
    capitalised,
    limited,
    money,
    percent,
    phrase,
    plural,
    points,
    relative,
    score,
    seconds,
    short_list,
    signed,
)
from runevals.records import (
    Arm,
    CauseKind,
    Causes,
    ChangeKind,
    Comparison,
    Conclusion,
    GateResult,
    GateState,
    Links,
    RunReport,
    TextChange,
)
from runevals.reports import blame, coverage
from runevals.reports.block import Block, block_of
from runevals.reports.identity import endings, suite_names, target_name
from runevals.reports.next_steps import Where, next_steps
from runevals.verdict.causes import IN_DOUBT
from runevals.verdict.score import of_five
from runevals.verdict.wording import (
    about_against,
    about_mark,
    alone,
    case_notes,
    doubtful,
    edited_and_failing,
    how_sure,
    in_short,
    judge_notes,
    lost_checks,
    next_step,
    other_metrics,
    other_paths,
    same_on_both_sides,
    title_of_change,
    weakened,
)

WARNS, PASSED, FAILED, NOTHING, PLAIN = "!", "✓", "✗", "–", ""  # what stands before a line
GATE_MARKS = {
    GateState.PASSED: PASSED,
    GateState.FAILED: FAILED,
    GateState.WARNED: WARNS,
    GateState.NOT_APPLICABLE: NOTHING,
}
MOST_LINES = 20
NO_LINKS = Links()
ARMS = "The cases that all three arms measured"
_RANKS: Mapping[CauseKind, int] = {
    "lost": 2,
    "not_known": 2,
    "unproven": 2,
    "unmeasured": 5,
    "new": 5,
    "failing": 8,
    "better": 7,
}
Line = tuple[str, str]  # its mark, and a text from anywhere
Table = tuple[tuple[str, ...], ...]  # the first row is its head


class Part(Struct, frozen=True, kw_only=True):
    """One part; a reporter escapes all of its texts. If a comment is too long, the highest ranks go first."""

    title: str = ""
    lines: tuple[Line, ...] = ()
    bold: bool = False  # the numbers of its first line
    sentences: bool = False  # its lines have no capital and no full stop of their own
    table: Table = ()
    change: TextChange | None = None  # shown to the letter
    causes: Causes | None = None
    commands: tuple[tuple[str, str], ...] = ()  # what for, and what to type
    name: str = ""  # for readers, if it is left out
    rank: int = 0
    folded: bool = False  # opens on a click
    on_screen: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing."""
        return not (self.lines or self.table or self.change or self.causes or self.commands)


class Report(Struct, frozen=True, kw_only=True):
    """The parts of a conclusion, and the groups that they name."""

    block: Block
    parts: tuple[Part, ...]

    @property
    def lost(self) -> Iterator[Causes]:
        """The groups whose answers a reader compares."""
        return (one for one in self.block.causes if one.kind in IN_DOUBT)


def report_of(conclusion: Conclusion, links: Links = NO_LINKS, where: Where | None = None) -> Report:
    """All parts in their order that say anything; `links` are those of a comment, `where` is the reader."""
    block = block_of(conclusion)
    parts = _parts(conclusion, block, links, where)
    return Report(block=block, parts=tuple(part for part in parts if not part.is_empty))


def look(conclusion: Conclusion) -> str:
    """How its headline is marked: as its outcome, as a doubt, or as one that passes without a base."""
    no_base = conclusion.comparison is None and conclusion.verdict.outcome == "passed"
    return "doubt" if doubtful(conclusion) else "no base" if no_base else conclusion.verdict.outcome


def _parts(conclusion: Conclusion, block: Block, links: Links, where: Where | None) -> Iterator[Part]:
    comparison = conclusion.comparison
    yield from _in_short(conclusion)
    yield from _cases(conclusion, block, where)
    if (matrix := conclusion.skill_matrix) is not None:
        from runevals.reports import skill_matrix  # few runs have one

        pairs, table = _marked(PLAIN, [*skill_matrix.lines(matrix)]), skill_matrix.table(matrix)
        yield Part(title=skill_matrix.TITLE, lines=pairs, table=table, name="the skills", rank=3)
    gates = tuple(map(_of_gate, sorted(conclusion.gates, key=lambda gate: gate.state is not GateState.FAILED)))
    if comparison is not None and conclusion.verdict.outcome != "unmeasured":
        yield from _certainty(comparison, links)
    yield Part(title="Gates", lines=gates, name="the gates", rank=4, folded=True, on_screen=False)
    if comparison is not None:
        yield Part(title="Also changed", lines=_also(comparison), name="what else changed", rank=5)
        flaky = [f"{each.key}: {100 * each.rate:.0f} %" for each in comparison.flaky]
        title = "Flaky (how often two runs differ)"
        yield Part(title=title, lines=_marked(PLAIN, flaky), name="flaky cases", rank=9, folded=True)
    if (mark := conclusion.mark) is not None:
        title = f"{'⚠ ' if mark.sure else ''}The long run: {points(-mark.drop)}"
        lines = _marked(PLAIN, [about_mark(mark)])
        yield Part(title=title, lines=lines, name="what changed since the mark", rank=5, folded=True)
    for title, texts in coverage.parts(conclusion.report):
        yield Part(title=title, lines=_marked(PLAIN, texts), name="what the cases cover", rank=9, folded=True)
    if comparison is not None:
        yield _notices(conclusion.report, "Notices")


def _in_short(conclusion: Conclusion) -> Iterator[Part]:
    """The sentences below the verdict."""
    yield Part(lines=_marked(WARNS, endings(conclusion.report.run)))
    yield from numbers_in_short(conclusion)
    if conclusion.comparison is None:  # they say why there is none
        yield _notices(conclusion.report, "")
    if conclusion.against is not None:
        same = same_on_both_sides(conclusion.against)
        yield Part(lines=_marked(PLAIN, [about_against(conclusion.against)]), bold=True)
        yield Part(lines=_marked(PLAIN, [same]), name="checks that show no difference", rank=6)
        if conclusion.against.arms:
            yield Part(title=ARMS, table=arms(conclusion.against.arms), name="the three arms", rank=4)
    yield from _failed_gates(conclusion)


def _cases(conclusion: Conclusion, block: Block, where: Where | None) -> Iterator[Part]:
    """What was lost, what may have done it, and what to do."""
    comparison = conclusion.comparison
    groups = {one.kind: _of_causes(block, one) for one in block.causes}
    in_doubt = [groups.pop(kind) for kind in IN_DOUBT if kind in groups]
    yield from in_doubt
    if comparison is not None:
        notes = (*lost_checks(comparison), *case_notes(comparison))[:MOST_LINES]
        yield Part(lines=_marked(WARNS, notes), name="the fresh runs of single cases", rank=3)
        yield from _causing(conclusion, is_lost=bool(in_doubt) or conclusion.verdict.outcome == "failed")
    yield from (part for part in groups.values() if not part.folded)
    yield Part(title="Next", commands=next_steps(conclusion, block.causes, where), name="what to do next", rank=1)
    yield from (part for part in groups.values() if part.folded)


def _causing(conclusion: Conclusion, *, is_lost: bool) -> Iterator[Part]:
    """The lines that lost cases, as far as they are known, and what changed in texts that the target reads."""
    of_blame, of_coverage = blame.lines(conclusion.blame), blame.coverage_lines(conclusion.blame)
    yield Part(title="Which lines lost it", lines=_marked(PLAIN, of_blame), name="which lines lost it", rank=3)
    title = "Coverage of the change"
    yield Part(title=title, lines=_marked(PLAIN, of_coverage), name="what no case notices", rank=3)
    for change in conclusion.prompt_changes if is_lost else ():
        yield Part(title=title_of_change(change), change=change, name="what changed in the prompt", rank=3)


def _certainty(comparison: Comparison, links: Links) -> Iterator[Part]:
    """The numbers of both sides, and how sure the verdict is."""
    table = () if comparison.drop is None else _numbers(comparison, links)
    yield Part(title="Numbers", table=table, name="the numbers", rank=4, folded=True, on_screen=False)
    lines = _marked(PLAIN, how_sure(comparison))
    yield Part(title="How sure is this?", lines=lines, name="how sure this is", rank=4, folded=True)


def _notices(report: RunReport, title: str) -> Part:
    lines = _marked(PLAIN, report.run.notices)
    return Part(title=title, lines=lines, sentences=True, name="notices", rank=3, folded=bool(title))


def _marked(mark: str, texts: Sequence[str]) -> tuple[Line, ...]:
    return tuple((mark, text) for text in texts if text)


def numbers_in_short(conclusion: Conclusion) -> Iterator[Part]:
    """One sentence: the numbers, or what to do if there are none."""
    report, comparison = conclusion.report, conclusion.comparison
    if conclusion.verdict.outcome == "unmeasured" and (step := next_step(report)):
        yield Part(lines=_marked(PLAIN, [f"Nothing was judged as failed because of this. {step}"]))
    elif comparison is not None:
        yield Part(lines=_marked(PLAIN, [in_short(comparison)]), bold=True)
    elif report.totals.cases:
        cost = "" if report.totals.cost_usd is None else f" Cost {money(report.totals.cost_usd)}."
        yield Part(lines=_marked(PLAIN, [alone(report) + cost]))


def _failed_gates(conclusion: Conclusion) -> Iterator[Part]:
    """The failed and warning gates, but for what the headline says already."""
    others = [
        gate
        for gate in conclusion.gates
        if gate.state in (GateState.FAILED, GateState.WARNED) and gate.name not in ("no_regression", "measured")
    ]
    if [gate for gate in others if gate.reason not in conclusion.verdict.headline]:
        yield Part(lines=tuple(map(_of_gate, others)), name="gates that failed", rank=1)


def _of_gate(gate: GateResult) -> Line:
    return GATE_MARKS[gate.state], f"{one_line(gate.name, 80)}: {one_line(gate.reason, 300)}"


def _of_causes(block: Block, one: Causes) -> Part:
    title, folded = block.title(one), block.is_folded(one)
    return Part(
        title=f"{title}: {plural(one.cases, 'case')}" if folded else title,
        causes=one,
        name=f"the cases under {title}",
        rank=_RANKS[one.kind],
        folded=folded,
    )


def arms(of_each: Sequence[Arm]) -> Table:
    """A row for each arm, of the cases that all of them measured."""
    rows = ((arm.name, percent(arm.pass_rate), percent(arm.share), money(arm.cost_usd)) for arm in of_each)
    return (("", "pass rate", "score", "cost a run"), *rows)


def _numbers(comparison: Comparison, links: Links) -> Table:
    """The shared cases on both sides; the compared pass rate is the one of the headline."""
    sides = base, head = comparison.base_totals, comparison.head_totals
    means, shares = (comparison.base_mean, comparison.head_mean), (base.share, head.share)
    rates, (before, now) = pass_rates(comparison), map(of_five, means if comparison.metric == "share" else shares)
    costs, latency = (base.cost_usd, head.cost_usd), (base.latency_p95_s, head.latency_p95_s)
    tokens = [whole_total((side.input_tokens, side.output_tokens)) for side in sides]
    rows = [
        ("pass rate", *map(percent, rates), _change(*rates, points)),
        ("score (1–5)", score(before), score(now), _change(before, now, lambda gain: signed(gain, 2))),
        ("cost", *map(money, costs), relative(*costs)),
        ("latency p95", *map(seconds, latency), relative(*latency)),
        ("tokens", *(UNKNOWN if number is None else f"{number:,}" for number in tokens), relative(*tokens)),
    ]
    commit = comparison.base.run.commit
    of_base = "base" if links.head is None or commit is None else f"base {commit[:7]}"
    of_head = "now" if links.head is None else f"this change {links.head[:7]}"
    return (("", of_base, of_head, "change"), *(row for row in rows if row[1:3] != (UNKNOWN, UNKNOWN)))


def pass_rates(comparison: Comparison) -> tuple[float | None, float | None]:
    """Both sides: of the compared runs, as in the headline, or of the shared cases if their scores decide."""
    if comparison.metric == "pass_rate" and comparison.drop is not None:
        return comparison.base_mean, comparison.head_mean
    return comparison.base_totals.pass_rate, comparison.head_totals.pass_rate


def _change(base: float | None, head: float | None, wording: Callable[[float], str]) -> str:
    return UNKNOWN if base is None or head is None else wording(head - base)


def _also(comparison: Comparison) -> tuple[Line, ...]:
    """What changed beside the answers: cases, checks, other metrics."""
    kinds: tuple[ChangeKind, ...] = ("added", "removed", "edited")
    counts = [f"{len(changes)} {kind}" for kind in kinds if (changes := comparison.of_kind(kind))]
    renamed = [f"Renamed: {change.former_key} → {change.key}" for change in comparison.renamed]
    weaker = [f"{which}: {message}" for which, message in weakened(comparison)]
    in_quarantine = short_list([change.called for change in comparison.of_kind("quarantined")])
    return (
        *_marked(PLAIN, [phrase(", ".join(counts), "Not compared: {}")]),
        *_marked(PLAIN, [phrase(in_quarantine, "In quarantine, and failing now: {}")]),
        *_marked(PLAIN, limited(renamed, MOST_LINES)),
        *_marked(WARNS, limited(edited_and_failing(comparison), MOST_LINES)),
        *_marked(WARNS, limited(weaker, MOST_LINES)),
        *_marked(WARNS, other_metrics(comparison)),
        *_marked(PLAIN, [capitalised(other_paths(comparison))]),
        *_marked(WARNS, comparison.caveats),
    )


def footer(conclusion: Conclusion) -> list[str]:
    """What was measured, and how: the last line, in pieces."""
    report, run = conclusion.report, conclusion.report.run
    costs = report.totals.cost_usd, report.totals.judge_cost_usd
    pieces: dict[str, Sequence[str | None]] = {
        "": [suite_names(run.suites), target_name(run.target), plural(report.totals.cases, "case")],
        "judge ": [None if run.judge is None else run.judge.model or run.judge.type],
        "cost ": [money(costs[0])],
        "judge's cost ": [money(costs[1])],
        "prices as of ": [run.prices if any(costs) else None],
        "base: ": [None if conclusion.comparison is None else conclusion.comparison.source],
        "runs a case: ": [str(run.repeat) if run.repeat > 1 else None],
        "sandbox: ": ["reduced" if run.sandbox == "reduced" else None],
        "took ": [seconds(run.duration_s)],
    }
    texts = [f"{word}{piece}" for word, some in pieces.items() for piece in some if piece and piece != UNKNOWN]
    return [*texts, *judge_notes(report)]
