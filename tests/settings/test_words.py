"""Targets and judges that are written as one text."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings
from runevals.settings.words import judge_words, target_words
from runevals.targets.kinds import KINDS


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("openai:a/model:8b", {"type": "openai", "model": "a/model:8b"}),
        ("http:https://a.example/", {"type": "http", "url": "https://a.example/"}),
        ("https://a.example/", {"type": "http", "url": "https://a.example/"}),
        ("a2a:http://a.example", {"type": "a2a", "url": "http://a.example"}),
        ("command:python a.py", {"type": "command", "command": "python a.py"}),
        ("python:a.py:answer", {"type": "python", "function": "a.py:answer"}),
        ("recorded:a.jsonl", {"type": "recorded", "path": "a.jsonl"}),
        ("skill:tools", {"type": "skill", "skills_dir": "tools"}),
        ("claude-code:opus", {"type": "claude-code", "model": "opus"}),
        ("plugin:mine", {"type": "plugin", "plugin": "mine"}),
        ("codex", {"type": "codex"}),
    ],
)
def test_a_text_names_the_type_and_what_stands_behind_it(text, section):
    assert target_words(text) == section


def test_every_kind_is_listed_if_the_word_is_unknown():
    with pytest.raises(InvalidSettings, match=r"there is no target 'comand:a'; .*did you mean 'command'") as error:
        target_words("comand:a")
    assert [name for name in KINDS if name not in str(error.value)] == []


def test_a_model_alone_is_a_judge():
    assert judge_words("gpt-5") == {"model": "gpt-5"}
    assert judge_words("recorded:j.json") == {"type": "recorded", "path": "j.json"}
