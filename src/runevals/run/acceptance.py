"""A conclusion whose losses a reviewer agreed to: they do not block, and everything else is judged as before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from runevals.lib.nullable import if_known
from runevals.lib.storage.files import relative_name
from runevals.lib.text.numbers import plural, short_list
from runevals.records import Acceptance, AcceptedLoss, Conclusion, GateResult, GateRules, GateState
from runevals.records.errors import COULD_NOT_MEASURE, GATE_FAILED, RunevalsError
from runevals.records.rules import LIFTED
from runevals.repository import git
from runevals.run.load import accepted_file
from runevals.settings.resolve import Settings
from runevals.suites.accepted import content_of, read_entries
from runevals.verdict.accepted import acceptance_headline, lost_cases, without_accepted, without_weakenings
from runevals.verdict.gates import apply_gates
from runevals.verdict.outcome import accepted

ACCEPTABLE = (GATE_FAILED, COULD_NOT_MEASURE)  # what is not known can be accepted as a loss is
STILL_BLOCKS = "and this still blocks"


def entries_of_change(settings: Settings, commit: str | None = None) -> tuple[AcceptedLoss, ...]:
    """The entries that this commit, or else the file here, has and the base has not.

    Those of an earlier change ended with its merge.
    Raises InvalidSuite for a file that cannot be read as one, ExternalError if git cannot say what it holds.
    """
    path, root, side = accepted_file(settings), settings.repository, settings.base_side
    display_path = relative_name(path, root)
    if commit is None:
        here = content_of(path) if path.is_file() else None
    else:
        here = git.file_at(root, commit, display_path) if path.is_relative_to(root) else None
    if here is None:
        return ()
    before = if_known(lambda known: git.file_at(root, known.commit, display_path), side)
    if here == before:
        return ()
    of_base = () if before is None else read_entries(before, f"{display_path} of the base")
    return tuple(entry for entry in read_entries(here, display_path) if entry not in of_base)


def with_waiting(conclusion: Conclusion, settings: Settings) -> Conclusion:
    """The conclusion of a run outside of a pull request; it says which entries here would need a reviewer."""
    if conclusion.verdict.exit_code not in ACCEPTABLE or conclusion.comparison is None:
        return conclusion
    try:
        losses = matching(conclusion, entries_of_change(settings))
    except RunevalsError as error:
        return with_caveat(conclusion, error.first_line)
    cases = f"{plural(len(losses), 'case')} will be accepted once a reviewer approves this commit"
    names = short_list([loss.case for loss in losses])
    return with_caveat(conclusion, f"{cases}: {names}", losses) if losses else conclusion


def matching(conclusion: Conclusion, entries: Sequence[AcceptedLoss]) -> tuple[AcceptedLoss, ...]:
    """The entries that are about a loss of this conclusion."""
    if conclusion.verdict.exit_code not in ACCEPTABLE:
        return ()
    lost = {loss.identity for loss in lost_cases(conclusion)}
    return tuple({entry.identity: entry for entry in entries if entry.identity in lost}.values())


def with_acceptance(conclusion: Conclusion, acceptance: Acceptance, rules: GateRules) -> Conclusion:
    """The conclusion with these losses accepted. What else is lost still blocks, and what is open stays open.

    Report and comparison stay as they are.
    """
    assert conclusion.comparison is not None  # noqa: S101 - it found the losses
    comparison = without_weakenings(conclusion.comparison, acceptance.losses)
    of_all = apply_gates(rules, conclusion.report, comparison, conclusion.mark, conclusion.against)
    head, rest = without_accepted(conclusion.report, comparison, acceptance.losses, rules.regression)
    left = {gate.name: gate for gate in apply_gates(rules, head, rest)}
    gates = [_left_gate(gate, left, rules) for gate in of_all]
    again = accepted(conclusion, rest, gates, rules, acceptance_headline(acceptance, comparison))
    if again.verdict.exit_code == GATE_FAILED:
        cases = short_list([loss.case for loss in acceptance.losses])
        caveat = f"@{acceptance.by} accepted {cases}, {STILL_BLOCKS}: {again.verdict.headline}"
        return with_caveat(conclusion, caveat, acceptance.losses)
    if again.verdict.exit_code:
        return again
    results = tuple(_accepted_gate(*both, acceptance) for both in zip(conclusion.gates, gates, strict=True))
    return replace(again, gates=results, acceptance=acceptance)


def with_caveat(conclusion: Conclusion, caveat: str, waiting: Sequence[AcceptedLoss] = ()) -> Conclusion:
    """The conclusion with one more caveat, such as why a loss is not accepted, and the entries that wait."""
    assert conclusion.comparison is not None  # noqa: S101 - it found the losses
    caveats = (*conclusion.comparison.caveats, caveat)
    return replace(conclusion, comparison=replace(conclusion.comparison, caveats=caveats), waiting=tuple(waiting))


def _left_gate(gate: GateResult, left: Mapping[str, GateResult], rules: GateRules) -> GateResult:
    """The gate without the accepted losses, if it is a preset one: gates of the settings look at all cases."""
    if gate.name not in LIFTED or gate.name in {own.name for own in rules.gates}:
        return gate
    nothing_left = replace(gate, state=GateState.PASSED, undecided=False, reason="no other case is left")
    return left.get(gate.name, nothing_left)


def _accepted_gate(before: GateResult, after: GateResult, acceptance: Acceptance) -> GateResult:
    """A failed gate that only failed for what is accepted, as a warning with its own reason."""
    if before.state is not GateState.FAILED or after.state is GateState.FAILED:
        return before
    return replace(before, state=GateState.WARNED, reason=f"{before.reason}; accepted by @{acceptance.by}")
