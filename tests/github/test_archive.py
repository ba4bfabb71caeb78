"""What a stranger can pack into a zip archive, and what becomes of it."""

from __future__ import annotations

import hashlib
import io
import stat
import struct
import zipfile

import pytest

from runevals.github.archive import MOST_BYTES, MOST_ENTRIES, UnsafeArchive, check_digest, members
from tests.github.exchanged_files import BOMB, NAME, packed


def link(name):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


def encrypted():
    made = bytearray(packed((NAME, "{}")))
    for start, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        made[made.index(start) + offset] |= 1
    return bytes(made)


def understated():
    """50 MB of zeros that the header calls two bytes."""
    made = bytearray(BOMB)
    for start, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", made, made.index(start) + offset, 2)
    return bytes(made)


def compressed(kind):
    """In a way whose unpacking Python's `zipfile` does not bound: 300 MB of blanks are less than 50 kB."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", kind) as made, made.open(NAME, "w") as file:
        file.write(b" " * 1000)
    return content.getvalue()


def test_the_file_is_read_beside_others():
    archive = packed(("junit.xml", "<x/>"), (NAME, '{"a": 1}'), ("folder/", ""), ("folder/page.html", "x"))
    assert members(archive, NAME.__eq__, 1) == [b'{"a": 1}']
    assert members(packed((f"sub/{NAME}", "{}")), NAME.__eq__, 1) == []


@pytest.mark.parametrize(
    ("archive", "told"),
    [
        pytest.param(BOMB, "unpacks to far more", id="zip bomb"),
        pytest.param(understated(), "unpacks to far more|can be read", id="zip bomb that lies"),
        pytest.param(packed((NAME, "{}"), ("../evil", "x")), "leads out of it", id="up"),
        pytest.param(packed((NAME, "{}"), ("a/../../evil", "x")), "leads out of it", id="up within"),
        pytest.param(packed((NAME, "{}"), ("/etc/passwd", "x")), "leads out of it", id="absolute"),
        pytest.param(packed((NAME, "{}"), ("C:evil", "x")), "leads out of it", id="drive"),
        pytest.param(packed((NAME, "{}"), ("a\\..\\evil", "x")), "leads out of it", id="backslash"),
        pytest.param(packed((NAME, "{}"), (NAME, "[]")), "two entries have one name", id="twice"),
        pytest.param(packed((link(NAME), "/etc/passwd")), "an entry is a link", id="link"),
        pytest.param(packed(*((str(n), "") for n in range(MOST_ENTRIES + 1))), "more than 200 entries", id="many"),
        pytest.param(encrypted(), "encrypted", id="encrypted"),
        pytest.param(compressed(zipfile.ZIP_BZIP2), "is packed in a way", id="bzip2"),
        pytest.param(compressed(zipfile.ZIP_LZMA), "is packed in a way", id="lzma"),
        pytest.param(b"", "no zip archive", id="empty"),
        pytest.param(b"{}", "no zip archive", id="no zip"),
        pytest.param(packed((NAME, "{}"))[:-30], "no zip archive", id="cut off"),
        pytest.param(packed((NAME, b"x" * 5000))[:60] + bytes(100), "no zip archive", id="damaged"),
    ],
)
def test_an_odd_archive_is_refused_whole(archive, told):
    with pytest.raises(UnsafeArchive, match=told):
        members(archive, NAME.__eq__, 1)


def test_files_of_several_projects_have_the_limits_of_one_together():
    archive = packed(("a.results.json", "{}"), ("b.results.json", "[]"), ("b.junit.xml", "<x/>"))
    assert members(archive, lambda name: name.endswith(NAME), 40) == [b"{}", b"[]"]
    assert members(archive, lambda name: name.endswith(NAME), 1) == [b"{}"]
    large = bytes(MOST_BYTES // 3 + 1)
    stored = packed(*((f"{n}.results.json", large) for n in range(3)), method=zipfile.ZIP_STORED)
    with pytest.raises(UnsafeArchive, match="unpacks to far more"):
        members(stored, lambda name: name.endswith(NAME), 40)


def test_damage_inside_is_noticed():
    made = bytearray(packed((NAME, "x" * 100), method=zipfile.ZIP_STORED))
    made[60] ^= 1
    with pytest.raises(UnsafeArchive, match="can be read"):
        members(bytes(made), NAME.__eq__, 1)


@pytest.mark.parametrize("digest", ["sha256:" + "0" * 64, "md5:x", "", "sha256"])
def test_other_bytes_than_were_uploaded_are_refused(digest):
    with pytest.raises(UnsafeArchive, match="not what was uploaded"):
        check_digest(b"x", digest)


def test_the_right_digest_and_none_are_taken():
    check_digest(b"x", f"sha256:{hashlib.sha256(b'x').hexdigest()}")
    check_digest(b"x", None)
