"""The few conclusions that every reporter renders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from runevals.records import Conclusion, GateRules, RunReport
from runevals.verdict.decide import Baseline, decision
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


def thousand_cases() -> Conclusion:
    base = {f"case-{n:04d}": "p" for n in range(1000)}
    head = {key: "f" if n % 10 == 0 else "p" for n, key in enumerate(base)}
    return conclusion(report(head, deterministic=True), report(base, deterministic=True))


ALL = (all_passed, regressions, everything_broken, thousand_cases)
