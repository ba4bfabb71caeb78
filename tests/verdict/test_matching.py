"""Which case of the base a case of the head is compared with."""

from __future__ import annotations

from runevals.verdict.matching import match
from tests.sample_reports import case


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
