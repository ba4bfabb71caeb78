"""The cases that a comparison lost, and what it says without them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import (
    REMOVED,
    Acceptance,
    AcceptedLoss,
    Finding,
    GateRules,
    ModelIdentity,
    Reason,
    RegressionRule,
    State,
)
from runevals.records.report import OF_TOOL
from runevals.verdict.accepted import acceptance_headline, lost_cases, without_accepted
from runevals.verdict.compare import compare
from runevals.verdict.outcome import conclusion_of
from runevals.verdict.settle import settled
from tests.sample_reports import case, report
from tests.scripted_runner import ScriptedRunner, always

RULE = RegressionRule()
TARGET = ModelIdentity(type="openai", model="m", prompt_hash="1")


def lost(head, base, **more):
    """(the head's report, its comparison, what it lost), of a target that always answers alike."""
    runs = [report(cases, deterministic=True) for cases in (head, base)]
    comparison = compare(*runs, "base.json")
    run = replace(runs[0].run, target=more.get("target", runs[0].run.target))
    return runs[0], comparison, lost_cases(conclusion_of(replace(runs[0], run=run), comparison, GateRules()))


def test_a_case_that_regressed_is_lost_and_no_other():
    _, _, found = lost({"a": "f", "b": "p", "c": "f", "d": "p"}, {"a": "p", "b": "f", "c": "f", "d": "p"})
    assert [loss.case for loss in found] == ["a"]


def test_a_removed_critical_case_is_lost():
    others = [case(f"b{number}", "p") for number in range(9)]
    _, _, [found] = lost(others, [case("a", "p", critical=True), *others])
    assert (found.case, found.head) == ("a", REMOVED)


def test_the_fingerprints_are_of_content_and_target():
    base, edited = {"a": "p"}, [case("a", "f", fingerprint="x", critical=True)]
    [known] = lost({"a": "f"}, base)[2]
    [again] = lost({"a": "f"}, base)[2]
    assert again.identity == known.identity
    for target in (
        TARGET,
        replace(TARGET, prompt_hash="2"),
        replace(TARGET, model="n"),
        replace(TARGET, type="x"),
    ):
        [found] = lost({"a": "f"}, base, target=target)[2]
        assert (found.base, found.head == known.head) == (known.base, False)
    assert all(loss.head != known.head for loss in lost(edited, base)[2])


def test_the_rest_is_compared_without_the_accepted_cases():
    head, comparison, found = lost({"a": "f", "b": "f", "c": "p"}, {"a": "p", "b": "p", "c": "p"})
    _, rest = without_accepted(head, comparison, found[:1], RegressionRule())
    assert rest.state is State.WORSE
    left, rest = without_accepted(head, comparison, found, RegressionRule())
    assert rest.state is State.NOT_WORSE
    assert [one.key for one in left.cases] == ["c"]


def test_nothing_is_left_to_compare_if_all_cases_are_accepted():
    head, comparison, found = lost({"a": "f"}, {"a": "p"})
    assert without_accepted(head, comparison, found, RegressionRule())[1] is None


@pytest.mark.parametrize("edited", [True, False])
@pytest.mark.parametrize(
    ("state", "reason"), [(State.WORSE, Reason.PROVEN), (State.NOT_KNOWN, Reason.UNPROVEN)], ids=str
)
@pytest.mark.parametrize("others", [(), ("c", "d")])
def test_what_is_lost_or_not_known_of_another_case_stays_so(edited, state, reason, others):
    form = {"fingerprint": "another"} if edited else {}
    base = report(dict.fromkeys(("a", "b", *others), "p"))
    head = report([*(case(letter, "f", **form) for letter in "ab"), *(case(letter, "p") for letter in others)])
    both = {"family": "case", "suite": head.cases[0].suite, "state": state, "reason": reason, "edited": edited}
    findings = [Finding(name=letter, head=case(letter, "f"), **both) for letter in "ab"]
    comparison = replace(compare(head, base, "base.json"), findings=tuple(findings), state=state)
    losses = lost_cases(conclusion_of(head, comparison, GateRules()))
    accepted = [loss for loss in losses if loss.case == "a"] or [
        AcceptedLoss(suite=head.cases[0].suite, case="a", base="1", head="2")
    ]
    _, rest = without_accepted(head, comparison, accepted, RegressionRule())
    assert rest is not None
    assert [(each.name, each.state) for each in rest.cases(State.WORSE, State.NOT_KNOWN)] == [("b", state)]
    assert rest.state is state
    assert Reason.INCOMPARABLE not in {each.reason for each in rest.findings}  # their old forms were run


ONE_IN_FIVE = {f"a{number}": "fpppp" if number < 6 else "ppppp" for number in range(20)}


@pytest.mark.parametrize(
    ("rounds", "fresh", "state"),
    [
        pytest.param(ONE_IN_FIVE, "f", State.NOT_KNOWN, id="and look lost too"),
        pytest.param(dict.fromkeys(ONE_IN_FIVE, "ppppp"), "p", State.NOT_WORSE, id="and do not look lost"),
    ],
)
@pytest.mark.parametrize("gone", range(1, 4))
def test_what_fresh_rounds_prove_of_all_is_open_for_those_that_nobody_accepted(rounds, fresh, state, gone):
    """None of them enters by itself: each fell by less than a quarter."""
    dead = [f"dead{number}" for number in range(gone)]
    runner = ScriptedRunner(
        {**rounds, **dict.fromkeys(dead, "fffff")}, always("p"), always(fresh, **dict.fromkeys(dead, "f"))
    )
    base = report(dict.fromkeys(runner.rounds, "ppppp"))
    head, comparison = settled(
        runner, base, "stored", RULE, acceptable={(base.cases[0].suite, key) for key in dead}
    )
    losses = [loss for loss in lost_cases(conclusion_of(head, comparison, GateRules())) if loss.case in dead]
    assert (comparison.state, len(losses)) == (State.WORSE, gone)
    _, rest = without_accepted(head, comparison, losses, RULE)
    assert rest.state is state


def test_what_fresh_rounds_prove_of_a_part_stays_proven_beside_an_accepted_case_of_another():
    base = [*(case(f"a{n}", "ppp", category="a") for n in range(9)), *(case(f"b{n}", "ppp") for n in range(40))]
    head = report([*base[:-1], case("b39", "fff")])
    part = Finding(family="category", name="a", state=State.WORSE, reason=Reason.PROVEN, p_value=1e-5, cases=9)
    few = Finding(family="whole", state=State.NOT_KNOWN, reason=Reason.INCOMPARABLE)
    comparison = compare(head, report(base), "base.json")
    comparison = replace(comparison, findings=(*comparison.findings, part, few))
    loss = AcceptedLoss(suite=head.cases[0].suite, case="b39", base="1", head="2")
    _, rest = without_accepted(head, comparison, [loss], RULE)
    assert [each for each in rest.findings if each.state is not State.NOT_WORSE] == [part]


@pytest.mark.parametrize("others", [(), ("c", "d")])
@pytest.mark.parametrize("key", ["a", "b"], ids=["under the name of the removed case", "under its own"])
def test_an_accepted_case_does_not_accept_that_a_critical_one_was_removed(others, key):
    content = {letter: case(letter, "p").fingerprint for letter in "ab"}
    rest = [case(letter, "p") for letter in others]
    base = [case("a", "p", critical=True), case("b", "p"), *rest]
    head, comparison, found = lost([case(key, "f", fingerprint=content["b"]), *rest], base)
    accepted = [loss for loss in found if loss.head != REMOVED]
    assert len(accepted) == 1
    _, rest = without_accepted(head, comparison, accepted, RegressionRule())
    assert [(each.name, each.reason) for each in rest.findings if each.state is State.WORSE] == [
        ("a", Reason.REMOVED)
    ]
    assert rest.state is State.WORSE


@pytest.mark.parametrize(
    ("heads", "reasons", "headline"),
    [
        (["f", "f"], ["short"] * 2, "1 regressed, 1 failing, accepted by @ana: short"),
        (["f", REMOVED], ["one", "two"], "1 regressed, 1 removed, accepted by @ana: one; two"),
        ([REMOVED], ["a\nb"], "1 removed, accepted by @ana: a b"),
    ],
)
def test_the_headline_says_how_many_by_whom_and_why(heads, reasons, headline):
    losses = tuple(
        AcceptedLoss(suite=report({"0": "p"}).cases[0].suite, case=str(n), base="b", head=head, reason=reason)
        for n, (head, reason) in enumerate(zip(heads, reasons, strict=True))
    )
    comparison = compare(report({"0": "f", "3": "f"}), report({"0": "p", "3": "f"}), "base.json")
    assert acceptance_headline(Acceptance(by="ana", losses=losses), comparison) == headline


@pytest.mark.parametrize(
    ("edited", "why"), [(False, Reason.BUDGET), (True, Reason.BUDGET), (True, Reason.OLD_FORM)]
)
def test_what_is_not_known_of_a_case_that_failed_can_be_accepted_and_what_was_not_measured_cannot(edited, why):
    form = {"fingerprint": "another"} if edited else {}
    base = report(dict.fromkeys("abc", "p"))
    head = report([case("a", "f", **form), case("b", "e", **form), case("c", "p")])
    suite = head.cases[0].suite
    findings = [
        Finding(family="case", suite=suite, name=name, state=State.NOT_KNOWN, reason=reason, edited=edited)
        for name, reason in (("a", why), ("b", Reason.ERRORS))
    ]
    comparison = replace(compare(head, base, "base.json"), findings=tuple(findings), state=State.NOT_KNOWN)
    assert [loss.case for loss in lost_cases(conclusion_of(head, comparison, GateRules()))] == ["a"]


@pytest.mark.parametrize("same", [0, 1])
def test_an_edit_of_too_many_cases_can_be_accepted(same):
    """As an assertion that is added to all tests of another tool, whose old form nothing can run."""
    base = [case(f"k{n}", "p") for n in range(10)]
    edited = [case(f"k{n}", "p", fingerprint=f"edited {n}") for n in range(same, 10)]
    head, comparison, _ = lost([*base[:same], *edited], base)
    suite = replace(head.run.suites[0], dialect=f"{OF_TOOL}promptfoo")
    of_tool = replace(head, run=replace(head.run, suites=(suite,)))
    found = lost_cases(conclusion_of(of_tool, comparison, GateRules()))
    assert lost_cases(conclusion_of(head, comparison, GateRules())) == (), "ours are run in their old form"
    assert Reason.INCOMPARABLE in {each.reason for each in comparison.findings}
    assert [loss.case for loss in found] == [one.key for one in edited]
    _, rest = without_accepted(head, comparison, found, RegressionRule())
    assert rest is None if same == 0 else rest.state is State.NOT_WORSE
