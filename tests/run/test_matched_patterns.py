"""Many patterns matched in one call say what each says alone."""

from __future__ import annotations

from runevals.evaluators.text.regex import regex_call
from runevals.records.script import Call
from runevals.run.matched_patterns import FEWEST, with_matches
from runevals.sandbox import Sandbox

PLAIN = [regex_call(rf"answer\s+{number}\b", "i", "It is Answer  7.") for number in range(FEWEST)]
OTHERS = [
    regex_call("(?<=is )answer", "i", "It is Answer 7."),
    regex_call("^.$", "u", "😀"),
    regex_call("^.$", "", "\ud83d"),
    regex_call("(", "", "a"),
    regex_call("a", "zz", "a"),
]


def test_many_patterns_in_one_call_say_what_each_says_alone():
    with Sandbox(workers=1) as sandbox:
        matched = with_matches(sandbox, [*PLAIN, *OTHERS])
        assert matched is not sandbox
        for call in (*PLAIN, *OTHERS):
            alone, found = sandbox.run(call), matched.run(call)
            assert (found.value, found.error, found.reason) == (alone.value, alone.error, alone.reason)
        assert matched.is_quick(OTHERS[0])
        assert not matched.is_quick(OTHERS[3])
        assert matched.run(regex_call("other", "", "another")).value is True


def test_few_patterns_and_other_calls_are_left_to_the_sandbox():
    with Sandbox(workers=1) as sandbox:
        groups = Call(kind="regex_groups", code="(a)", arguments={"text": "a"})
        assert with_matches(sandbox, [*PLAIN[1:], *PLAIN[1:], groups]) is sandbox
        assert with_matches(sandbox, [*PLAIN, regex_call("b", "", "b" * 1_000_001)]) is sandbox


def test_a_runaway_pattern_costs_only_its_own_answer():
    with Sandbox(workers=1) as sandbox:
        runaway = regex_call("(a+)+$", "", "a" * 40_000 + "b")
        matched = with_matches(sandbox, [*PLAIN, runaway])
        assert matched.run(runaway).error == "evaluator_timeout"
        assert [matched.run(call).value for call in PLAIN] == [number == 7 for number in range(FEWEST)]
