"""Patterns that need no worker find what QuickJS finds, and are done soon."""

from __future__ import annotations

import random

import pytest

from runevals.evaluators.text.regex import regex_call
from runevals.sandbox import Sandbox
from runevals.sandbox.pattern_worker import javascript_test
from runevals.sandbox.safe_patterns import plain_pattern
from tests.evaluators.expectations import PATTERNS

CHARACTERS = [
    *'abkKsS019_-.,:/#="é ^$',
    r"\d",
    r"\w",
    r"\s",
    r"\D",
    r"\W",
    r"\S",
    r"\.",
    r"\-",
    r"\n",
    r"\\",
    r"\b",
]
CHARACTERS += [
    "[a-c]",
    "[^a-c]",
    r"[\w-]",
    r"[\s,]",
    r"[^\d]",
    "[A-Z]",
    "[a-]",
    "[.*+]",
    r"[^\n]",
    r"[\]\\]",
    "[é]",
]
TIMES = ["", "", "", "", "?", "*", "+", "{2}", "{1,3}", "{2,}", "*?", "+?", "??"]
MARKS = ["(", ")", "(?:", "|", "[", "]", "[]", "[^]", "{", "}", "{,2}", "**", "(?=a)", "\\1", "\\u0041", "[b-A]"]
TEXT = [*'abckKsS019_ -.,:/#="é\n\t\r\x0b\u2028\u00a0\ufeffſıK\u0085ß', "\U0001f600", "\ud800"]


def test_plain_patterns_match_exactly_what_javascript_matches():
    luck = random.Random(7)
    seen = 0
    for _ in range(6000):
        pattern, flags = _pattern(luck, depth=2), luck.choice(["", "i", "i", "s", "g", "gi"])
        plain = plain_pattern(pattern, flags)
        if plain is None:
            continue
        for _ in range(4):
            text = "".join(luck.choice(TEXT) for _ in range(luck.randint(0, 8)))
            if plain.fits(text):
                seen += 1
                assert plain.matches(text) is javascript_test(pattern, flags, text), (pattern, flags, text)
    assert seen > 5000


def _pattern(luck, depth):
    parts = []
    for _ in range(luck.randint(0, 4)):
        if depth and luck.random() < 0.25:
            inside = "|".join(_pattern(luck, depth - 1) for _ in range(luck.randint(1, 3)))
            parts.append(f"({luck.choice(['', '?:'])}{inside}){luck.choice(['', '', '?', '??'])}")
        elif luck.random() < 0.03:
            parts.append(luck.choice(MARKS))
        else:
            parts.append(luck.choice(CHARACTERS) + luck.choice(TIMES))
    return "".join(parts)


@pytest.mark.parametrize(("pattern", "flags", "text", "matches"), PATTERNS)
def test_node_and_plain_patterns_agree(pattern, flags, text, matches):
    plain = plain_pattern(pattern, flags)
    if plain is not None and plain.fits(text):
        assert plain.matches(text) is matches


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|a)*b",
        r"(a)\1",
        "(?=a)",
        "(?<!a)b",
        "a{1001}",
        "(",
        "[b-a]",
        "a**",
        r"\p{L}",
        "(ab){2}",
        "b" * 501,
    ],
)
def test_patterns_that_may_backtrack_or_are_unknown_go_to_the_worker(pattern):
    assert plain_pattern(pattern, "") is None


@pytest.mark.parametrize("times", [20, 24, 100])
@pytest.mark.parametrize("group", ["(a)?", "()?"])
def test_patterns_with_too_many_branches_go_to_the_worker(group, times):
    assert plain_pattern(group * times, "") is None


@pytest.mark.parametrize("pattern", ["^a{00012}$", "^a{0000012}$", "^a{٣}$", "^a{3,٤}$", "a{1,00002}", "a{12345}"])
def test_quantifiers_are_parsed_as_in_javascript(pattern):
    plain = plain_pattern(pattern, "")
    for text in ("", "aa", "aaa", "a" * 12, "a{٣}", "a{3,٤}"):
        assert plain is None or plain.matches(text) is javascript_test(pattern, "", text)


@pytest.mark.parametrize("flags", ["m", "u", "y", "x", "ii"])
def test_patterns_with_other_flags_go_to_the_worker(flags):
    assert plain_pattern("a", flags) is None


@pytest.mark.parametrize(
    ("pattern", "most"),
    [
        (r"\d{4}-\d{2}", 2**20),
        (r"answer \d+", 2**20),
        ("a.*b", 4000),
        (r"\w+@\w+\.\w+", 300),
        ("x?" * 12 + "y", 400),
    ],
)
def test_patterns_with_more_steps_are_only_used_for_shorter_texts(pattern, most):
    plain = plain_pattern(pattern, "")
    assert plain.fits("a" * (most // 4 + 1))
    assert not plain.fits("a" * (most + 1))


def test_the_sandbox_matches_plain_patterns_itself_and_sends_the_rest_to_a_worker():
    with Sandbox() as sandbox:
        plain = regex_call(r"\d{4}-\d{2}", "", "In 2026-11.")
        runaway = regex_call("(a+)+$", "", "a" * 40_000 + "b")
        assert sandbox.is_quick(plain)
        assert sandbox.run(plain).value is True
        assert not sandbox.is_quick(runaway)
        assert sandbox.run(runaway).error == "evaluator_timeout"
        assert not sandbox.is_quick(regex_call("^.$", "", "😀"))
        assert sandbox.run(regex_call("^.$", "", "😀")).value is False
        assert sandbox.run(regex_call("(", "", "")).error == "evaluator_syntax"
