"""Files packed by gzip."""

import gzip

import pytest

from runevals.lib.storage.packed import is_packed, pack, unpacked, unpacked_lines

MOST = 4 * 1024**2
TEXT = ["first\n", "", "zweite “Zeile”\n" * 100_000, "no line end"]


def test_packed_text_is_read_back_line_by_line_and_equal_texts_give_equal_bytes(tmp_path):
    file = tmp_path / "x.json.gz"
    content = b"".join(pack(TEXT))
    file.write_bytes(content)
    assert content == b"".join(pack(["".join(TEXT)]))
    assert is_packed(file)
    assert list(unpacked_lines(file, MOST)) == "".join(TEXT).splitlines(keepends=True)
    assert unpacked(content, MOST).decode() == "".join(TEXT)
    assert unpacked(b"plain", 1) == b"plain"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(gzip.compress(b"a\n" * 10_000)[:-9], "ended before the end", id="cut short"),
        pytest.param(gzip.compress(b"a\n" * 10_000)[:-8] + b"\0" * 8, "CRC", id="another checksum"),
        pytest.param(gzip.compress(b"a")[:10] + b"no deflate data", "broken", id="no deflate data"),
        pytest.param(gzip.compress(b"a") + b"more", "broken", id="more behind it"),
        pytest.param(gzip.compress(b"\0" * (MOST + 1)), "more than 4 MiB", id="too large, without a line"),
        pytest.param(gzip.compress(b"a\n" * MOST), "more than 4 MiB", id="too large"),
    ],
)
def test_a_broken_or_endless_file_is_refused(tmp_path, content, reason):
    file = tmp_path / "x.json.gz"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=reason):
        unpacked(content, MOST)
    with pytest.raises(ValueError, match=reason):
        list(unpacked_lines(file, MOST))
