"""Why a check passes whatever it is shown."""

from __future__ import annotations

import pytest

from runevals.evaluators.catalogue import build
from runevals.records import EvaluatorSpec
from runevals.run.strength.idle import NeverFails
from runevals.sandbox import Sandbox


def spec(name, *children, threshold=None, **options):
    return EvaluatorSpec(name=name, options=options, threshold=threshold, children=children)


ANY = spec("regex", pattern="a*")
SOME = spec("contains", value="x")


@pytest.mark.parametrize(
    ("check", "expected", "reason"),
    [
        (SOME, None, None),
        (ANY, None, "the pattern is found in every text"),
        (spec("regex", pattern=".+"), None, None),
        (spec("regex", pattern="^(?!.*x)"), None, None),
        (spec("PartialMatch", threshold=0.0), "a", "its threshold, 0, is the least score there is"),
        (spec("preset-regex"), "a*", "the pattern is found in every text"),
        (spec("assert-set", SOME, ANY, mode="any"), None, "regex in it always passes"),
        (spec("assert-set", SOME, ANY, mode="all"), None, None),
        (spec("assert-set", ANY, mode="all"), None, "regex in it always passes"),
    ],
)
def test_the_reason_is_named(check, expected, reason):
    built = build(check)
    with Sandbox(workers=1) as sandbox:
        found = NeverFails(sandbox).reason(built.evaluator, built.threshold, expected)
    assert (found or "").startswith(reason or "")
    assert (found is None) == (reason is None)
