"""Cases in groups: the narrowest label that explains them, then the way they failed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from runevals.records import Finding, Layer, Outcome, Reason, State
from runevals.verdict.causes import MOST_GROUPS, MOST_NAMED, MOST_ROWS, causes
from runevals.verdict.compare import compare
from tests.sample_reports import attempt, case, report


def failed(key, reason="not found: 30 days", *, output="no", layer=Layer.FACT, **fields):
    """A case that fails for this reason, with this answer."""
    made = attempt(1, Outcome.FAILED, output=output)
    (turn,) = made.turns
    (result,) = turn.results
    turn = replace(turn, results=(replace(result, reason=reason, layer=layer),))
    return case(key, "f", attempts=(replace(made, turns=(turn,)),), **fields)


def lost(*cases, passing=()):
    """The groups of these cases, which all passed on the base, and of as many others that pass still."""
    base = [
        case(each.key, "p", suite=each.suite, category=each.category, tags=each.tags, group=each.group)
        for each in cases
    ]
    head = report([*cases, *passing], deterministic=True)
    found = compare(head, report([*base, *passing], deterministic=True), "base")
    [one] = [one for one in causes(head, found) if one.kind == "lost"]
    return one


@pytest.mark.parametrize(("before", "kind"), [("ppp", "new"), ("fpp", "failing"), ("ppf", "failing")])
def test_a_leak_in_one_of_several_runs_is_shown_with_its_answer(before, kind):
    """It fails its gate, whatever its fresh runs say; of another category it is no failure."""
    for category, kinds in (("redteam", [kind]), ("shipping", [])):
        head, base = (report([case("a", runs, category=category), case("b", "p")]) for runs in ("ppf", before))
        found = [one for one in causes(head, compare(head, base, "base")) if one.kind in ("new", "failing")]
        assert [one.kind for one in found] == kinds
    assert causes(report([case("a", "ppf", category="redteam", quarantined=True)]), None) == ()


def shown(one):
    return [(group.label, group.name, group.cases, group.measured) for group in one.groups]


def of(category, number, **fields):
    return [failed(f"{category}{n}", category=category, **fields) for n in range(number)]


@pytest.mark.parametrize(
    ("cases", "groups"),
    [
        pytest.param(
            [*of("ship", 3), *of("hours", 4)], [("category", "hours", 4, 4), ("category", "ship", 3, 3)], id="two"
        ),
        pytest.param(of("ship", 2), [("", "", 2, 2)], id="fewer than three share nothing"),
        pytest.param(
            [*of("ship", 3), failed("x", category="b")],
            [("category", "ship", 3, 3), ("", "", 1, 4)],
            id="the others come last",
        ),
        pytest.param(
            [failed(f"k{n}", category="a", tags=("slow",)) for n in range(3)],
            [("category", "a", 3, 3)],
            id="a category before a tag with the same cases",
        ),
        pytest.param(
            [failed(f"k{n}", category=f"c{n % 2}", tags=("slow",)) for n in range(6)],
            [("tag", "slow", 6, 6)],
            id="what explains more",
        ),
    ],
)
def test_a_label_explains_what_is_lost(cases, groups):
    assert shown(lost(*cases, passing=[])) == groups


def test_a_label_explains_only_if_most_of_its_cases_are_lost():
    some = of("ship", 4)
    assert shown(lost(*some, passing=[case("p", "p", category="ship")])) == [("category", "ship", 4, 5)]
    two = [case(f"p{n}", "p", category="ship") for n in range(2)]
    assert shown(lost(*some, passing=two)) == [("", "", 4, 6)]


def test_the_only_suite_explains_nothing_and_one_of_two_does():
    assert shown(lost(*[failed(f"k{n}") for n in range(3)])) == [("", "", 3, 3)]
    other = [case("p", "p", suite="b.json")]
    assert shown(lost(*[failed(f"k{n}") for n in range(3)], passing=other)) == [
        ("suite", "evals/evals.json", 3, 3)
    ]


@pytest.mark.parametrize(
    ("number", "groups"), [(9, [("", 9)]), (3, [("category", 3)])], ids=["all", "one category"]
)
def test_an_error_of_nearly_the_whole_run_is_one_group(number, groups):
    cases = [case(f"k{n}", "e" if n < number else "p", category=f"c{n // 3}") for n in range(10)]
    [one] = causes(report(cases), None)
    assert [(group.label, group.cases) for group in one.groups] == groups
    assert len(one.groups[0].rows) == 1


@pytest.mark.parametrize(
    ("one", "other", "rows"),
    [
        ("not found: 3 to 5", "not found: Monday", 1),
        ('it has no "total"', 'it has no "tax"', 1),
        ("12 edits, at most 3 wanted", "7 edits, at most 3 wanted", 1),
        ("not found: 3", "the result is not text", 2),
    ],
)
def test_reasons_differ_by_more_than_the_values_of_their_case(one, other, rows):
    [group] = lost(failed("a", one), failed("b", other)).groups
    assert len(group.rows) == rows
    assert group.rows[0].reason == (f"{one}, …" if rows == 1 else one)


def test_what_a_judge_says_is_about_one_answer_so_the_check_alone_is_the_kind():
    two = [failed("a", "It is rude.", layer=Layer.JUDGE), failed("b", "Too long", layer=Layer.JUDGE)]
    [one] = causes(report(two), None)
    assert [row.cases for group in one.groups for row in group.rows] == [2]


@pytest.mark.parametrize(
    ("before", "now", "ends"),
    [
        ({"accuracy": 9.0, "clarity": 8.0}, {"accuracy": 3.0, "clarity": 7.0}, "; accuracy 9 → 3"),
        ({"accuracy": 3.0}, {"accuracy": 9.0, "clarity": 1.0}, ""),
        (None, {"accuracy": 3.0}, ""),
        ("of another tool", {"accuracy": "low"}, ""),
    ],
)
def test_the_dimension_that_fell_most_is_named_with_both_scores(before, now, ends):
    """Judgements without dimensions are compared as before."""

    def judged(one, dimensions):
        details = {} if dimensions is None else {"dimensions": dimensions}
        runs = [
            replace(
                run, turns=tuple(replace(t, results=(replace(t.results[0], details=details),)) for t in run.turns)
            )
            for run in one.attempts
        ]
        return replace(one, attempts=tuple(runs))

    base, head = (
        report([judged(case("a", letter), scores)], deterministic=True)
        for letter, scores in (("p", before), ("f", now))
    )
    [group] = next(each for each in causes(head, compare(head, base, "base")) if each.kind == "lost").groups
    assert group.rows[0].reason == f"not found: 30 days{ends}"


def test_the_example_is_the_clearest_short_answers_first():
    some = [failed(f"k{n}", output="x" * (40 - n)) for n in range(8)]
    [group] = lost(*some).groups
    assert [name.key for name in group.rows[0].examples] == ["k7", "k6", "k5", "k4", "k3"]


def test_what_is_left_out_is_counted_and_the_first_of_it_named():
    [group] = lost(*[failed(f"k{n}", f"way {chr(97 + n)}") for n in range(9)]).groups
    assert ([row.cases for row in group.rows], group.left_out) == ([1, 1, 1], 6)
    assert [name.key for name in group.more] == ["k3", "k4", "k5", "k6", "k7"]


def test_errors_failures_without_a_base_and_improvements_are_grouped_alike():
    head = report([*(case(f"e{n}", "e", category="down") for n in range(3)), failed("f"), case("p", "p")])
    assert [(one.kind, shown(one)) for one in causes(head, None)] == [
        ("unmeasured", [("category", "down", 3, 3)]),
        ("failing", [("", "", 1, 5)]),
    ]
    now = report({"a": "p", "b": "p", "old": "f", "new": "f"}, deterministic=True)
    found = compare(now, report({"a": "f", "b": "p", "old": "f"}, deterministic=True), "base")
    kinds = {one.kind: [name.key for name in one.groups[0].rows[0].examples] for one in causes(now, found)}
    assert kinds == {"better": ["a"], "failing": ["old"], "new": ["new"]}


@pytest.mark.parametrize(
    ("family", "name", "kinds"),
    [
        ("whole", "", {"lost": 2}),
        ("category", "ship", {"lost": 1, "not_known": 1}),
        ("category", "other", {"not_known": 2}),
        (None, "", {"not_known": 2}),
    ],
)
def test_what_fails_in_a_part_that_is_proven_worse_is_lost_with_it(family, name, kinds):
    """Too many cases for the fresh runs: together they are proven lost, each alone is not known."""
    head = report([failed("a", category="ship"), failed("b", category="hours"), case("p", "p")])
    base = report([case("a", "p", category="ship"), case("b", "p", category="hours"), case("p", "p")])
    found = compare(head, base, "base")
    reason = {"state": State.NOT_KNOWN, "reason": Reason.BUDGET, "suite": "evals/evals.json", "dead": True}
    findings = [Finding(family="case", name=key, **reason) for key in "ab"]
    if family is not None:
        findings.append(Finding(family=family, name=name, state=State.WORSE, reason=Reason.EXACT))
    found = replace(found, findings=tuple(findings))
    assert {one.kind: one.cases for one in causes(head, found)} == kinds


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("uvwxyz")), min_size=1, max_size=60))
def test_every_lost_case_is_in_one_group_and_no_group_shows_more_than_it_may(drawn):
    some = [failed(f"k{n}", f"way {way}", category=category) for n, (category, way) in enumerate(drawn)]
    one = lost(*some)
    assert sum(group.cases for group in one.groups) == one.cases == len(some)
    assert len(one.groups) <= MOST_GROUPS
    for group in one.groups:
        assert len(group.rows) <= MOST_ROWS
        assert group.left_out >= 0
        assert all(len(row.examples) <= MOST_NAMED for row in group.rows)
    assert one == lost(*some)


def test_a_case_that_passes_with_a_lower_score_is_among_the_lost_if_line_one_says_so():
    both = report([case("a", "p"), case("b", "p")], deterministic=True)
    finding = Finding(family="case", suite=both.cases[0].suite, name="a", state=State.WORSE, reason=Reason.EXACT)
    compared = replace(compare(both, both, "base"), findings=(finding,))
    [one] = causes(both, compared)
    assert (one.kind, [row.reason for group in one.groups for row in group.rows]) == (
        "lost",
        ["passes, with a lower score"],
    )
    assert [name.key for name in one.groups[0].rows[0].examples] == ["a"]
