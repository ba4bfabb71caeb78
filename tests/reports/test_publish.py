"""Writing: whole files or none, and one that fails costs no other."""

from pathlib import Path

import pytest

from runevals.lib.storage.files import write_whole
from runevals.records.errors import CannotWrite, InvalidSettings
from runevals.reports.publish import check_outputs, publish
from tests.reports.conclusions import all_passed


def test_one_file_that_cannot_be_written_costs_no_other(tmp_path):
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    outputs = [tmp_path / "file" / "a.json", tmp_path / "new" / "b.json", tmp_path / "c.xml"]
    with pytest.raises(CannotWrite, match=r"a\.json"):
        publish(all_passed(), outputs)
    assert [path.is_file() for path in outputs] == [False, True, True]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "out.json"
    write_whole(path, "old")
    with pytest.raises(ZeroDivisionError):
        write_whole(path, (str(1 / number) for number in (1, 0)))  # a fault in the middle of writing
    assert path.read_text(encoding="utf-8") == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["out.json"]


def test_an_existing_file_keeps_its_mode(tmp_path):
    path = tmp_path / "out.json"
    path.touch(0o600)
    write_whole(path, "x\ud800")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_bytes() == b"x\\ud800"


@pytest.mark.parametrize("name", ["out.pdf", "folder", "file/out.json"])
def test_outputs_nobody_could_write_are_told_before_the_run(tmp_path, name):
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(InvalidSettings):
        check_outputs([tmp_path / (f"{name}.json" if name == "folder" else name)])


def test_a_folder_whose_name_begins_as_an_address_does_is_no_bucket(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_outputs([Path("s3x/results.json"), Path("gs1/results.json")])
