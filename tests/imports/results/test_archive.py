"""Archives that any program may have written: read file by file, within limits."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path

import pytest

from runevals.imports.results import archive, read_results
from runevals.records.errors import InvalidDocument

LOG = Path(__file__).parent / "inspect-log" / "valid" / "epochs.json"


def packed(files: dict[str, str], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", kind) as made:
        for name, text in files.items():
            made.writestr(name, text)
    return content.getvalue()


@pytest.fixture
def log():
    """The files of a log of Inspect's."""
    whole = json.loads(LOG.read_text(encoding="utf-8"))
    samples = whole.pop("samples")
    named = {f"samples/{s['id']}_epoch_{s['epoch']}.json": json.dumps(s) for s in samples}
    return {"_journal/start.json": json.dumps(whole), **named, "header.json": json.dumps(whole)}


def test_a_log_is_read_as_its_json_form(log, tmp_path):
    (tmp_path / "log.eval").write_bytes(packed(log))
    read, of_json = read_results([tmp_path / "log.eval"]), read_results([LOG])
    assert [(case.key, case.content, case.attempts) for case in read.cases] == [
        (case.key, case.content, case.attempts) for case in of_json.cases
    ]
    assert read.stopped == ""


def test_a_log_without_its_header_was_not_finished(log, tmp_path):
    del log["header.json"]
    (tmp_path / "log.eval").write_bytes(packed(log))
    assert read_results([tmp_path / "log.eval"]).stopped == "Inspect had not finished"


@pytest.mark.parametrize(("planned", "notices"), [(6, ()), (30, ("Inspect's log has 6 of 30 samples",))])
def test_a_finished_log_without_some_of_its_samples_is_told(log, tmp_path, planned, notices):
    header = {**json.loads(log["header.json"]), "results": {"total_samples": planned, "completed_samples": 6}}
    (tmp_path / "log.eval").write_bytes(packed({**log, "header.json": json.dumps(header)}))
    read = read_results([tmp_path / "log.eval"])
    assert (read.stopped, read.notices) == ("", notices)


def test_what_unpacks_to_too_much_is_refused(log, tmp_path):
    """The ratio is beyond that of any text, whatever the headers say of the size."""
    name = next(name for name in log if name.startswith("samples/"))
    content = packed({**log, name: " " * (4 * archive.FREE_BYTES)})
    assert 4 * archive.FREE_BYTES > archive.MOST_RATIO * 4096
    (tmp_path / "bomb.eval").write_bytes(content)
    with pytest.raises(InvalidDocument, match="unpacks to more than we read"):
        read_results([tmp_path / "bomb.eval"])


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_compression_that_python_unpacks_without_a_bound_is_refused(log, tmp_path, kind):
    """600 bytes of bzip2 take a gigabyte of memory before the first chunk is there."""
    (tmp_path / "bomb.eval").write_bytes(packed(log, kind))
    with pytest.raises(InvalidDocument, match="compressed in a way that we do not read"):
        read_results([tmp_path / "bomb.eval"])


def test_the_entries_are_counted_before_they_are_read(tmp_path):
    """Each takes ten times its size in memory. What is counted here is not even a directory."""
    (tmp_path / "log.eval").write_bytes(b"PK\x05\x06" + b"PK\x01\x02" * (archive.MOST_FILES + 1))
    with pytest.raises(InvalidDocument, match="more than 200,000 files"):
        read_results([tmp_path / "log.eval"])


def test_a_truncated_archive_is_refused(log, tmp_path):
    (tmp_path / "log.eval").write_bytes(packed(log)[:-40])
    with pytest.raises(InvalidDocument, match=r"is not a whole zip archive .*; was its tool still writing"):
        read_results([tmp_path / "log.eval"])


def test_zstandard_is_read(log, tmp_path):
    """Inspect writes it by default."""
    if sys.version_info < (3, 14):
        import zipfile_zstd  # noqa: F401 - its import adds it to zipfile
    (tmp_path / "log.eval").write_bytes(packed(log, archive.ZSTANDARD))
    assert read_results([tmp_path / "log.eval"]).cases


def test_data_that_is_no_zstandard_is_refused(log, tmp_path):
    content = bytearray(packed(log))
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        place = -1
        while (place := content.find(signature, place + 1)) >= 0:
            content[place + offset] = archive.ZSTANDARD
    (tmp_path / "log.eval").write_bytes(content)
    with pytest.raises(InvalidDocument, match="cannot be unpacked"):
        read_results([tmp_path / "log.eval"])
