"""A conclusion whose losses a reviewer agreed to: they do not block, and everything else is judged as before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from runevals.lib import git
from runevals.lib.text.numbers import short_list
from runevals.records import (
    Acceptance,
    AcceptedLoss,
    Comparison,
    ComparisonVerdict,
    Conclusion,
    FinalVerdict,
    GateResult,
    GateRules,
    GateState,
)
from runevals.records.errors import COULD_NOT_MEASURE, GATE_FAILED, RunevalsError
from runevals.records.rules import CATEGORY_GATES
from runevals.run.load import accepted_file
from runevals.settings.resolve import Settings
from runevals.suites.accepted import content_of, read_entries
from runevals.verdict.accepted import (
    acceptance_headline,
    lost_cases,
    unsettled,
    without_accepted,
    without_cases,
)
from runevals.verdict.conclude import conclude
from runevals.verdict.gates import apply_gates
from runevals.verdict.headlines import loss

PRESET_GATES = frozenset({"no_regression", *(category for category, _ in CATEGORY_GATES)})


def entries_of_change(settings: Settings, commit: str) -> tuple[AcceptedLoss, ...]:
    """The entries that this commit has and its base has not: those of an earlier change ended with its merge.

    Raises InvalidSuite for a file that cannot be read as one, ExternalError if git cannot say what it holds.
    """
    path, root = accepted_file(settings), settings.repository
    if not path.is_relative_to(root):
        return ()
    display_path = path.relative_to(root).as_posix()
    here = git.file_at(root, commit, display_path)
    return () if here is None else _new_entries(here, display_path, settings)


def _new_entries(content: bytes, display_path: str, settings: Settings) -> tuple[AcceptedLoss, ...]:
    """The entries that the base does not have."""
    side = settings.base_side
    before = None if side is None else git.file_at(settings.repository, side.commit, display_path)
    if content == before:
        return ()
    of_base = () if before is None else read_entries(before, f"{display_path} of the base")
    merged = {entry.identity for entry in of_base}
    return tuple(entry for entry in read_entries(content, display_path) if entry.identity not in merged)


def with_waiting(conclusion: Conclusion, settings: Settings) -> Conclusion:
    """The conclusion of a run outside of a pull request; it says which entries here would need a reviewer."""
    path = accepted_file(settings)
    if conclusion.verdict.exit_code != GATE_FAILED or conclusion.comparison is None or not path.is_file():
        return conclusion
    inside = path.is_relative_to(settings.repository)
    display_path = path.relative_to(settings.repository).as_posix() if inside else str(path)
    try:
        losses = matching(conclusion, _new_entries(content_of(path), display_path, settings))
    except RunevalsError as error:
        return with_caveat(conclusion, error.first_line)
    for entry in losses:
        text = f"{entry.case} would be accepted if a reviewer approved the pull request: {entry.reason}"
        conclusion = with_caveat(conclusion, text)
    return conclusion


def matching(conclusion: Conclusion, entries: Sequence[AcceptedLoss]) -> tuple[AcceptedLoss, ...]:
    """Those of the entries that are about a loss of this conclusion."""
    comparison = conclusion.comparison
    if conclusion.verdict.exit_code != GATE_FAILED or comparison is None:
        return ()
    if (
        comparison.on_base_suite and conclusion.head_on_base_suite is None
    ):  # it was read: what is left cannot be judged
        return ()
    lost = {loss.identity for loss in lost_cases(comparison, conclusion.report.run.target)}
    known = {entry.identity: entry for entry in entries if entry.identity in lost}
    return tuple(known.values())


def with_acceptance(conclusion: Conclusion, acceptance: Acceptance, rules: GateRules) -> Conclusion:
    """The conclusion with these losses accepted. What else is lost still blocks, and what is open stays open.

    Report and comparison stay as they are.
    """
    comparison = conclusion.comparison
    assert comparison is not None  # noqa: S101 - it found the losses
    measured = conclusion.head_on_base_suite or conclusion.report
    head, rest = without_accepted(measured, comparison, acceptance.losses, rules.regression)
    own = head if conclusion.head_on_base_suite is None else without_cases(conclusion.report, acceptance.losses)
    left = {gate.name: gate for gate in apply_gates(rules, own, rest)}
    gates = [_left_gate(gate, left, rules) for gate in conclusion.gates]
    again = conclude(
        conclusion.report,
        rest,
        gates,
        on_incomparable=rules.on_incomparable,
        on_inconclusive=rules.on_inconclusive,
    )
    verdict, waiting = again.verdict, "" if rest is None else unsettled(head, rest, rules.regression)
    if verdict.exit_code == GATE_FAILED:
        cases = short_list([loss.case for loss in acceptance.losses])
        return with_caveat(conclusion, f"@{acceptance.by} accepted {cases}; what else is lost still blocks")
    text = acceptance_headline(acceptance) + _suffix(conclusion, comparison)
    if verdict.exit_code or waiting:
        headline = f"{waiting or verdict.headline} – {text}"
        verdict = FinalVerdict(outcome="unmeasured", headline=headline, exit_code=COULD_NOT_MEASURE)
        return replace(conclusion, verdict=verdict)
    if rest is not None and rest.verdict in (ComparisonVerdict.INCONCLUSIVE, ComparisonVerdict.SMALL):
        text = f"{text}. Beside it: {verdict.headline}"
    results = tuple(_accepted_gate(*both, acceptance) for both in zip(conclusion.gates, gates, strict=True))
    return replace(conclusion, gates=results, verdict=replace(verdict, headline=text), acceptance=acceptance)


def with_caveat(conclusion: Conclusion, caveat: str) -> Conclusion:
    """The same conclusion, which says why a loss is not accepted."""
    assert conclusion.comparison is not None  # noqa: S101 - it found the losses
    caveats = (*conclusion.comparison.caveats, caveat)
    return replace(conclusion, comparison=replace(conclusion.comparison, caveats=caveats))


def _left_gate(gate: GateResult, left: Mapping[str, GateResult], rules: GateRules) -> GateResult:
    """The gate without the accepted losses, if it is a preset one: gates of the settings look at all cases."""
    if gate.name not in PRESET_GATES or gate.name in {own.name for own in rules.gates}:
        return gate
    nothing_left = replace(gate, state=GateState.PASSED, undecided=False, reason="no other case is left")
    return left.get(gate.name, nothing_left)


def _accepted_gate(before: GateResult, after: GateResult, acceptance: Acceptance) -> GateResult:
    """A failed gate that only failed for what is accepted, as a warning with its own reason."""
    if before.state is not GateState.FAILED or after.state is GateState.FAILED:
        return before
    return replace(before, state=GateState.WARNED, reason=f"{before.reason}; accepted by @{acceptance.by}")


def _suffix(conclusion: Conclusion, comparison: Comparison) -> str:
    """The end of the headline, after the loss."""
    headline, of_loss = conclusion.verdict.headline, loss(comparison)
    return headline.removeprefix(of_loss) if headline.startswith(of_loss) else ""
