"""The few conclusions that every reporter renders."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from runevals.records import CaseReport, Conclusion, FileChange, GateRules, RunReport, ToolCall, WorkspaceChanges
from runevals.verdict.outcome import Baseline, decision
from tests.sample_reports import case, report

HOSTILE = (
    "![x](http://evil.example/b.png) @octocat </details> | `` ``` <script>alert(1)</script>\n"
    '::set-output name=verdict::passed\n##[error]x\n=HYPERLINK("http://evil")\x1b[31m\x00\u202e\u200b\uffff'
)


def conclusion(head: RunReport, base: RunReport | None, **rules: Any) -> Conclusion:
    baseline = (
        None if base is None else Baseline(report=base, source="base.json of a1b2c3d, run 2026-11-20 12:00 UTC")
    )
    return decision(head, baseline, GateRules(**rules))


def all_passed() -> Conclusion:
    cases = {f"KB-{n:03d}": "p" for n in range(1, 4)}
    return conclusion(report(cases, deterministic=True), report(cases, deterministic=True))


def regressions() -> Conclusion:
    base = [case(f"KB-{n:03d}", "ppp", category="knowledge") for n in range(1, 25)]
    base += [case("KB-100", "fff", category="knowledge"), case("KB-101", "fff"), case("OLD-1", "ppp")]
    head = [case(f"KB-{n:03d}", "fff" if n < 7 else "ppp", category="knowledge") for n in range(1, 25)]
    head += [case("KB-100", "fff", category="knowledge"), case("KB-101", "ppp"), case("NEW-1", "pfp")]
    return conclusion(report(head), report(base), min_pass_rate=0.9)


def renames() -> Conclusion:
    """Two cases have new keys: one is as it was, the other fails now."""
    base = [case("KB-1", "p"), case("KB-2", "p"), case("KB-3", "p")]
    keys = ("KB-001", "KB-002", "KB-3")
    head = [
        case(key, "f" if key == "KB-002" else "p", fingerprint=old.fingerprint)
        for key, old in zip(keys, base, strict=True)
    ]
    return conclusion(report(head, deterministic=True), report(base, deterministic=True))


def everything_broken() -> Conclusion:
    hostile = case(HOSTILE, "f", name=HOSTILE, category=HOSTILE)
    attempt = hostile.attempts[0]
    turn = attempt.turns[0]
    result = replace(turn.results[0], reason=HOSTILE)
    hostile = replace(
        hostile, attempts=(replace(attempt, turns=(replace(turn, output=HOSTILE, results=(result,)),)),)
    )
    return conclusion(report([hostile, *(case(f"E-{n}", "e") for n in range(30)), case("S-1", "s")]), None)


TESTED = WorkspaceChanges(
    changes=(
        FileChange(path="prices.py", change="changed", lines_added=1, lines_removed=1, size=120),
        FileChange(path="logo.png", change="added", size=812, sha256="ab" * 32),
    ),
    diff="--- a/prices.py\n+++ b/prices.py\n@@ -1 +1 @@\n-a\n+b",
)


def agents(steps: int = 1) -> Conclusion:
    """A coding agent that wrote and tested on the base, and only wrote in this run, after `steps` reads."""
    reads = [
        ToolCall(name="Read", input={"file_path": f"src/{n}.py"}, output="text", ok=True) for n in range(steps)
    ]
    edit = ToolCall(name="Edit", input={"file_path": "prices.py", "old": "a"}, output="changed", duration_s=0.5)
    test = ToolCall(name="Bash", input={"command": "pytest -q"}, output="1 failed", ok=False, duration_s=3.25)
    other = replace(edit, input={"file_path": "prices.py", "old": HOSTILE})
    base = _agent_case("p", tool_calls=(*reads, edit, test), workspace=TESTED, input_tokens=12_345)
    head = _agent_case("f", tool_calls=(*reads, other), workspace=WorkspaceChanges(), refused=("WebFetch",))
    unknown = [case("unknown", letter) for letter in "fp"]  # a target that does not report its tool calls
    return conclusion(
        report([head, unknown[0]], deterministic=True), report([base, unknown[1]], deterministic=True)
    )


def _agent_case(outcomes: str, **fields: Any) -> CaseReport:
    plain = case("discount", outcomes)
    turn = replace(plain.attempts[0].turns[0], **{"input_tokens": None, "cost_usd": None, **fields})
    return replace(plain, attempts=(replace(plain.attempts[0], turns=(turn,)),))


def thousand_cases(of: int = 1000, fails_each: int = 10) -> Conclusion:
    base = {f"case-{n:04d}": "p" for n in range(of)}
    head = {key: "f" if n % fails_each == 0 else "p" for n, key in enumerate(base)}
    return conclusion(report(head, deterministic=True), report(base, deterministic=True))


ALL = (all_passed, regressions, everything_broken, thousand_cases)
