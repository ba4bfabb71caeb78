"""Which case of the base a case of the head is compared with."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import State
from runevals.verdict.compare import compare
from runevals.verdict.matching import match
from tests.sample_reports import case, report


def one(key, content, outcomes="p", **fields):
    return case(key, outcomes, fingerprint=content, **fields)


def shown(base, head):
    """Pairs as (key on the base, key on the head, whether the content is the same), then the other keys."""
    found = match(base, head)
    pairs = [(pair.base.key, pair.head.key, pair.same_content) for pair in found.both]
    return pairs, [case.key for case in found.added], [case.key for case in found.removed]


def test_a_case_is_edited_unless_its_exact_or_its_normalised_content_is_the_same():
    plain, blank = one("a", "plain"), one("a", "blank", normalised_fingerprint="plain")
    other_blank = one("a", "other", normalised_fingerprint="plain")
    stored_by_an_earlier_version = one("a", "blank")
    for base, head in [
        (plain, blank),
        (blank, plain),
        (blank, other_blank),
        (stored_by_an_earlier_version, blank),
    ]:
        assert shown([base], [head]) == ([("a", "a", True)], [], [])
    assert shown([plain], [one("a", "x")]) == ([("a", "a", False)], [], [])


def test_a_key_that_vanished_while_the_same_content_appeared_is_a_rename():
    base = [one("a", "A"), one("b", "B"), one("c", "C")]
    head = [one("b2", "B"), one("a", "A"), one("d", "D")]
    assert shown(base, head) == ([("b", "b2", True), ("a", "a", True)], ["d"], ["c"])


def test_a_renamed_case_may_differ_in_white_space():
    assert shown([one("a", "A")], [one("b", "A ", normalised_fingerprint="A")]) == ([("a", "b", True)], [], [])


def test_keys_that_were_exchanged_or_shifted_follow_the_content():
    base = [one("1", "A"), one("2", "B")]
    assert shown(base, [one("1", "B"), one("2", "A")]) == ([("2", "1", True), ("1", "2", True)], [], [])
    shifted = [one("1", "new"), one("2", "A"), one("3", "B")]
    assert shown(base, shifted) == ([("1", "2", True), ("2", "3", True)], ["1"], [])


def prompted(key, prompt, expected=None, name=None):
    """A case with this prompt."""
    it = one(key, prompt, name=name or prompt)
    (attempt,) = it.attempts
    turn = replace(attempt.turns[0], prompt=prompt, expected=expected)
    return replace(it, attempts=(replace(attempt, turns=(turn,)),))


def test_a_case_without_a_name_whose_prompt_was_edited_is_an_edited_case():
    """Its key is made of the prompt, so that an edit changes it."""
    old, new = "p-0123456789", "p-abcdefabcd"
    first, other = prompted(old, "How long can I return it?"), prompted("p-1111111111", "Who are you?")
    edited = prompted(new, "How long can I return it, please?")
    assert shown([first, other], [other, edited]) == (
        [("p-1111111111", "p-1111111111", True), (old, new, False)],
        [],
        [],
    )
    similar = prompted("p-2222222222", "How long, please?")
    assert shown([first], [similar, edited]) == ([(old, new, False)], ["p-2222222222"], [])
    assert shown([prompted(old + "-2", "How long?")], [prompted("b", "How long??")])[0] == [
        (old + "-2", "b", False)
    ]


def test_a_prompt_that_was_edited_in_front_is_an_edited_case_though_its_name_is_that_beginning():
    """A case without a name is named by the beginning of its prompt."""
    question, name = "Label this text, which a customer wrote to us: where is my parcel?", "Label this…"
    base = prompted("p-0123456789", question, name=name)
    head = prompted("p-abcdefabcd", f"You are polite. {question}", name="You are pol…")
    assert shown([base], [head]) == ([("p-0123456789", "p-abcdefabcd", False)], [], [])


def test_a_case_that_was_not_run_is_no_edited_case():
    base, head = (replace(one(key, key), attempts=()) for key in ("p-0123456789", "p-abcdefabcd"))
    assert shown([base], [head]) == ([], [head.key], [base.key])


@pytest.mark.parametrize(
    ("base", "head"),
    [
        pytest.param(("p-0123456789", "How long?"), ("p-abcdefabcd", "Who is it?"), id="another prompt"),
        pytest.param(("a", "How long?"), ("b", "How long??"), id="a key of its own"),
        pytest.param(("p-0123456789", "2 + 3?", "5"), ("p-abcdefabcd", "2 + 4?", "6"), id="another expected text"),
        pytest.param(
            ("p-0123456789", "Label it: 1", None, "print()"),
            ("p-abcdefabcd", "Label it: 2", None, "hello"),
            id="other variables in the same prompt",
        ),
        pytest.param(("p-0123456789", ""), ("p-abcdefabcd", ""), id="no prompts in the report"),
    ],
)
def test_otherwise_a_case_with_another_key_and_another_prompt_is_another_case(base, head):
    base, head = prompted(*base), replace(prompted(*head), fingerprint="changed")
    assert shown([base], [head]) == ([], [head.key], [base.key])


def test_of_several_of_the_same_content_as_many_are_renames_as_appeared_and_vanished():
    base = [one("a", "A"), one("b", "A")]
    assert shown(base, [one("c", "A"), one("d", "A")]) == ([("a", "c", True), ("b", "d", True)], [], [])
    assert shown(base, [one("c", "A")]) == ([("a", "c", True)], [], ["b"])
    assert shown([one("a", "A")], [one("c", "A"), one("d", "A")]) == ([("a", "c", True)], ["d"], [])


def test_a_lost_case_that_was_copied_under_two_new_keys_still_fails():
    rest = [one(f"k{n}", f"K{n}", "ppp") for n in range(11)]
    base = report([one("old", "A", "p" * 8, critical=True), *rest])
    for outcomes, verdict in (("f" * 8, State.WORSE), ("p" * 8, State.NOT_WORSE)):
        copies = [one(key, "A", outcomes, critical=True) for key in ("one", "two")]
        assert compare(report([*copies, *rest]), base, "b").state is verdict


def test_a_rename_within_a_suite_goes_before_one_across_suites():
    base = [one("a", "A", suite="x.json"), one("b", "A", suite="y.json"), one("k", "K", suite="y.json")]
    head = [one("d", "A", suite="y.json"), one("c", "A", suite="x.json"), one("k", "K", suite="y.json")]
    assert shown(base, head)[0] == [("b", "d", True), ("a", "c", True), ("k", "k", True)]
    moved = [one("a", "A", suite="new/x.json"), *head[:1], *head[2:]]
    assert shown(base, moved)[0] == [("a", "a", True), ("b", "d", True), ("k", "k", True)]


@pytest.mark.parametrize(("before", "now"), [("ppp", "fff"), ("fff", "ppp"), ("ppp", "ppp")])
def test_a_renamed_case_is_compared_as_any_other(before, now):
    rest = [one(f"k{n}", f"K{n}") for n in range(5)]
    base, head = report([one("old", "A", before), *rest]), report([one("new", "A", now), *rest])
    found = compare(head, base, "b")
    kind = {"fp": "fixed", "pf": "regressed", "pp": "renamed"}[before[0] + now[0]]
    assert [(c.key, c.former_key, c.change) for c in found.changes] == [("new", "old", kind)]
    assert found.weakenings == ()
    assert [c.key for c in found.renamed] == ["new"]


def test_lost_cases_with_new_keys_or_a_trailing_blank_still_fail():
    base = report([one(f"k{n}", f"K{n}", "ppp") for n in range(100)])
    kept = [one(f"k{n}", f"K{n}", "ppp") for n in range(80)]
    renamed = [one(f"x{n}", f"K{n}", "fff") for n in range(80, 100)]
    blank = [one(f"k{n}", f"K{n} ", "fff", normalised_fingerprint=f"K{n}") for n in range(80, 100)]
    for lost in (renamed, blank):
        found = compare(report([*kept, *lost]), base, "b")
        assert (found.state, found.shared) == (State.WORSE, 100)


def test_a_case_that_was_edited_is_found_where_the_other_cases_of_its_suite_went():
    """A file was split in two, and one case of each part edited."""
    base = [one(f"k{n}", f"K{n}", suite="all.json") for n in range(6)]
    parts = ["first.json"] * 3 + ["second.json"] * 3
    head = [one(f"k{n}", f"K{n}", suite=part) for n, part in enumerate(parts)]
    head[1], head[4] = one("k1", "x", suite="first.json"), one("k4", "y", suite="second.json")
    pairs, added, removed = shown(base, head)
    assert (added, removed) == ([], [])
    assert {was for was, now, same in pairs if was == now and not same} == {"k1", "k4"}
    another = [*head[:4], one("k4", "y", suite="other.json"), head[5]]  # where no case of it went
    assert shown(base, another)[1:] == (["k4"], ["k4"])


def test_a_case_moved_to_a_suite_where_its_key_is_quarantined_counts():
    rest = [case("b", "p", suite="b.json"), *(one(f"k{n}", f"K{n}") for n in range(9))]
    base = report([one("a", "A", critical=True), *rest], deterministic=True)
    moved = one("a", "A", "f", critical=True, suite="b.json", quarantined=True)
    head = report([moved, *rest], deterministic=True)
    assert compare(head, base, "b").state is State.WORSE


def test_a_case_renamed_to_a_quarantined_key_is_quarantined_only_if_it_was():
    rest = [one(f"k{n}", f"K{n}") for n in range(5)]
    for before, quarantined in ((True, 1), (False, 0)):
        base = report([one("a", "A", quarantined=before), *rest])
        for now in (True, False):
            head = report([one("b", "A", quarantined=now), *rest])
            assert compare(head, base, "b").quarantined == quarantined
