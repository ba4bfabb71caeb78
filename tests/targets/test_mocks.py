"""Mocks: which one answers a tool call, and with what."""

from __future__ import annotations

from pathlib import Path

import pytest

from runevals.targets.mocks import DENIED, NO_TOOL, Mocks


def answer(match, given, tool="Read"):
    found = Mocks([{"tool": tool, "match": match, "return": "hit"}], strict=False).answer_call("Read", given)
    return found.output == "hit"


@pytest.mark.parametrize(
    ("match", "given", "hit"),
    [
        ({}, {}, True),
        ({"file_path": "a/b.md"}, {"file_path": "a/b.md"}, True),
        ({"file_path": "a/b.md"}, {"file_path": "b.md"}, False),
        ({"file_path": "~/b.md"}, {"file_path": str(Path("~/b.md").expanduser())}, True),
        ({"file_path_endswith": "b.md"}, {"file_path": "a/b.md"}, True),
        ({"file_path_endswith": "b.md"}, {"file_path": "a/ab.md"}, False),  # at a path boundary
        ({"file_path_endswith": "b.md"}, {"path": "b.md"}, True),
        ({"url": "https://x/y"}, {"url": "https://x/y"}, True),
        ({"url_glob": "https://x/*"}, {"url": "https://x/y/z"}, True),
        ({"url_glob": "https://x/?"}, {"url": "https://x/y"}, False),  # only * is special
        ({"command_glob": "git log*"}, {"command": "git log -1\n"}, True),
        ({"command_glob": "git log"}, {"command": "git log -1"}, False),  # the whole command
        ({"command_glob": "git*log"}, {"command": "gitlog"}, True),
        ({"command_glob": "ab*ba"}, {"command": "aba"}, False),
        ({"command_glob": "a*b*c"}, {"command": "axbxbxc"}, True),
        ({"command_glob": "a*c*c"}, {"command": "ac"}, False),
        ({"command_glob": "*a" * 40 + "*b"}, {"command": "a" * 5000}, False),  # in no time
        ({"input": {"a": {"b": 1}}}, {"a": {"b": 1, "c": 2}, "d": 3}, True),
        ({"input": {"a": {"b": 2}}}, {"a": {"b": 1}}, False),
        ({"input_contains": "REFUND"}, {"a": [{"b": "a refund"}]}, True),
        ({"input_contains": "refund"}, {"a": "x"}, False),
        ({"input_contains": 'say "hi"\nnow'}, {"a": 'please say "hi"\nnow'}, True),
        ({"input_contains": "file_path"}, {"file_path": "x"}, False),  # a name is no text of the input
        ({"input_contains": "42"}, {"a": 42}, True),
        ({"input": {"a": 1}}, {"a": True}, False),
        ({"input": {"a": [{"b": 1}]}}, {"a": [{"b": 1, "c": 2}]}, True),
        ({"input": {"a": [1]}}, {"a": [1, 2]}, False),
        ({"file_path": "a", "input_contains": "x"}, {"file_path": "a"}, False),  # all of them must hold
        ({"url": "x"}, "not an object", False),
    ],
)
def test_a_mock_matches_only_if_every_field_of_its_match_does(match, given, hit):
    assert answer(match, given) is hit
    assert answer(match, given, tool="*") is hit
    assert answer(match, given, tool="Write") is False


def test_the_first_matching_mock_answers_and_is_named():
    mocks = Mocks(
        [
            {"tool": "Read", "match": {"file_path": "a"}, "return": {"k": "退"}},
            {"tool": "Bash", "return": "b"},
            {"tool": "Read", "return": "rest"},
        ],
        strict=True,
    )
    assert (mocks.answer_call("Read", {"file_path": "a"}).output, mocks.tools) == ('{"k": "退"}', ("Read", "Bash"))
    assert mocks.answer_call("Read", {"file_path": "b"}).mock == "Read:2"
    denied = mocks.answer_call("Write", {})
    assert (denied.output, denied.ok, denied.mock) == (DENIED, False, None)
    assert Mocks([], strict=False).answer_call("Write", {}).output == NO_TOOL


def test_a_return_sequence_answers_in_order_and_then_repeats_its_last_or_the_constant():
    mocks = Mocks([{"tool": "R", "return_seq": ["1", "2"]}], strict=False)
    assert [mocks.answer_call("R", {}).output for _ in range(4)] == ["1", "2", "2", "2"]
    mocks = Mocks([{"tool": "R", "return_seq": ["1"], "return": "then"}], strict=False)
    assert [mocks.answer_call("R", {}).output for _ in range(3)] == ["1", "then", "then"]
