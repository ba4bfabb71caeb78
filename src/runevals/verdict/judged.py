"""Which checks a model has a part in."""

from __future__ import annotations

from runevals.records import CheckResult, Layer


def is_judged(result: CheckResult) -> bool:
    """Whether a model had a part in it, which varies whatever the target does."""
    return result.layer is Layer.JUDGE or result.judge_model is not None
