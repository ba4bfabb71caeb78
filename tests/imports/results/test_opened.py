"""A file of results, opened by its content: what is cut short or doubled is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from runevals.imports.results.opened import opened, read_opened
from runevals.lib.parsing.source import read_source
from runevals.records.errors import InvalidDocument, InvalidSuite

HERE = Path("x.json")


def test_the_content_tells_what_a_file_is():
    assert opened(b'\xef\xbb\xbf{"a": NaN}', HERE, "x").document.value == {"a": None}
    assert [row.file for row in opened(b'{"a": 1}\n\n{"a": 2}\n', HERE, "x").rows] == ["x:1", "x:3"]
    assert opened(b"\xef\xbb\xbf\n<a/>", HERE, "x").xml.name == "a"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b'{"tasks": [', r"x:1:12: is not JSON: .*the file ends too early", id="truncated"),
        pytest.param(b'{"a": 1}\n{"a": "b', r"x:2:7: is not JSON: .*the file ends too early", id="truncated line"),
        pytest.param(b" \n", "x is empty", id="empty"),
        pytest.param(b'{"a": 1, "a": 2}', "duplicate key 'a'", id="duplicate key"),
        pytest.param(b'{"a": 1}\n{"a": 1, "a": 2}', "x:2: .*duplicate key 'a'", id="duplicate key in a line"),
        pytest.param(b"plain text", "x is not JSON, JSON Lines or XML", id="text"),
        pytest.param(b"[" * 100_000, "x is not JSON that we read", id="deep"),
        pytest.param(
            b'{"a": ' + b"[" * 600 + b"]" * 600 + b"}", "x is not JSON .* deeper than 100", id="too deep to redact"
        ),
        pytest.param(
            lambda: b"[" + b"0," * 30_000_001 + b"0]",
            "x is not JSON that we read: .*30 million values",
            id="many",
        ),
        pytest.param(b"{}\n" * 200_001, "x has more than 200,000 lines", id="many lines"),
        pytest.param(b"PK\x03\x04broken", "x is not a whole zip archive", id="zip"),
    ],
)
def test_what_cannot_be_opened_is_refused(content, message):
    with pytest.raises(InvalidDocument, match=message):
        opened(content() if callable(content) else content, HERE, "x")


def test_what_is_not_text_or_not_a_file_is_refused(tmp_path):
    with pytest.raises(InvalidSuite, match=r"is not UTF-8 text \(byte \d+\); save it as UTF-8"):
        opened(b"\xff\x00", HERE, "x")
    with pytest.raises(InvalidDocument, match="there is no such file"):
        read_opened(tmp_path, "x")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_report_that_powershell_redirected_is_read(encoding):
    assert opened('  {"é": 1}'.encode(encoding), HERE, "x").has("é")
    assert opened("<testsuite/>".encode(encoding), HERE, "x").xml.name == "testsuite"


def test_a_file_that_git_lfs_did_not_fetch_is_named_as_such(tmp_path):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    with pytest.raises(InvalidSuite, match="x: is a pointer of Git LFS, not the file itself: run `git lfs pull`"):
        opened(pointer, HERE, "x")
    (tmp_path / "evals.json").write_bytes(pointer)
    with pytest.raises(InvalidSuite, match=r"evals\.json: is a pointer of Git LFS"):
        read_source(tmp_path / "evals.json", "evals.json")
