"""The words for how a test ended, as runners and tables write them."""

from __future__ import annotations

from runevals.records import Outcome

ENDS = {
    **dict.fromkeys(("notrun", "disabled", "skipped", "skip", "ignored", "pending", "untested"), Outcome.SKIPPED),
    **dict.fromkeys(("not_run", "not run", "inconclusive", "n/a"), Outcome.SKIPPED),
    **dict.fromkeys(("failed", "fail", "failure", "failing"), Outcome.FAILED),
    **dict.fromkeys(("error", "errored", "broken", "undefined", "interrupted", "aborted"), Outcome.ERRORED),
    **dict.fromkeys(("timedout", "timed_out", "timeout", "canceled", "cancelled", "lost"), Outcome.ERRORED),
    **dict.fromkeys(("crash", "crashed", "killed", "fatal", "abort", "blocked"), Outcome.ERRORED),
}
PASSED = {Outcome.PASSED: True, Outcome.FAILED: False}  # whether it passed; of other ends, nothing is known
PASSES = (
    *("run", "passed", "pass", "passing", "ok", "success", "successful", "succeeded"),
    *("completed", "complete", "finished", "executed", "done", "true", "0"),
)
