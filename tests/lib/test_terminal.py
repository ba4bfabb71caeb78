"""What may be shown at a terminal and in a job's log."""

from __future__ import annotations

import pytest

from runevals.lib.terminal import notice


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("nothing is kept: /tmp/a", "nothing is kept: /tmp/a"),
        ("nothing is kept: a\x1b[2Jb\r", r"nothing is kept: a\x1b[2Jb\x0d"),
        ("the key is a-key-of-ours", "the key is [redacted OPENAI_API_KEY]"),
        ("the folder a\n::error::forged", "the folder a\n: :error::forged"),
    ],
)
def test_a_notice_is_escaped_and_written_to_stderr(text, seen, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-ours")
    notice(text)
    assert capsys.readouterr() == ("", f"{seen}\n")
