"""Copies of folders, and what is looked at in them: no link is followed."""

from __future__ import annotations

import io
import os
import resource
import tarfile
import tempfile
from pathlib import Path

import pytest

from runevals.repository import fresh_copy
from runevals.repository.fresh_copy import (
    CannotCopy,
    content_hash,
    copy_file,
    copy_folder,
    extract,
    hash_file,
    kind_at,
    pack,
    put_back,
    read_file,
    remove_everywhere,
    remove_folder,
    stamps,
    write_file,
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.sh").write_text("echo a", encoding="utf-8")
    (folder / "a.sh").chmod(0o755)
    (folder / "sub" / "b.txt").write_text("b" * 100_000, encoding="utf-8")
    (folder / "sub" / "link").symlink_to("../a.sh")
    return folder


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "target"
    folder.mkdir()
    return folder


def test_a_copy_has_the_same_files_rights_and_links(source, target):
    copy_folder(source, target)
    assert content_hash(target) == content_hash(source)
    assert (target / "sub" / "link").readlink() == Path("../a.sh")
    assert os.access(target / "a.sh", os.X_OK)


def test_a_copy_shares_no_file_with_its_source(source, target):
    copy_folder(source, target)
    (target / "a.sh").write_text("changed", encoding="utf-8")
    assert (source / "a.sh").read_text(encoding="utf-8") == "echo a"
    assert (target / "a.sh").stat().st_ino != (source / "a.sh").stat().st_ino


@pytest.mark.parametrize("leads", ["/etc/passwd", "../../outside", "../.."])
def test_a_link_that_leads_out_is_refused(source, target, leads):
    (source / "sub" / "bad").symlink_to(leads)
    with pytest.raises(CannotCopy, match="sub/bad leads out"):
        copy_folder(source, target)
    with pytest.raises(CannotCopy, match="sub/bad leads out"):
        content_hash(source)


def test_a_special_file_is_refused(source, target):
    os.mkfifo(source / "pipe")
    with pytest.raises(CannotCopy, match="pipe is a special file"):
        copy_folder(source, target)


@pytest.mark.parametrize("path", ["../x", "/tmp/x", "", "sub/../../x"])
def test_a_path_that_leads_out_is_refused(target, path):
    with pytest.raises(CannotCopy, match="not a path below"):
        write_file(target, path, "x")


def test_nothing_is_written_or_read_behind_a_link(tmp_path, source, target):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("s", encoding="utf-8")
    (target / "way").symlink_to(outside)
    (target / "file").symlink_to(outside / "secret")
    for write in (lambda: write_file(target, "way/x", "x"), lambda: copy_file(source / "a.sh", target, "way/x")):
        with pytest.raises(CannotCopy, match="behind a link"):
            write()
    assert [read_file(target, path, 100) for path in ("way/secret", "file")] == [None, None]
    assert [hash_file(target, path) for path in ("way/secret", "file")] == [None, None]
    assert [kind_at(target, path) for path in ("way/secret", "file", "nothing")] == [None, "link", None]
    write_file(target, "file", "mine")
    assert (outside / "secret").read_text(encoding="utf-8") == "s"
    assert [path.name for path in outside.iterdir()] == ["secret"]


def test_a_file_that_is_too_large_is_not_read(source):
    assert read_file(source, "sub/b.txt", 99_999) is None
    assert read_file(source, "sub/b.txt", 100_000) == b"b" * 100_000


def test_a_file_that_was_written_anew_with_its_old_time_has_another_stamp(source):
    before = stamps(source)
    told = (source / "a.sh").stat()
    (source / "a.sh").write_text("echo b", encoding="utf-8")
    os.utime(source / "a.sh", ns=(told.st_atime_ns, told.st_mtime_ns))
    assert stamps(source)["a.sh"] != before["a.sh"]


def test_caches_and_what_git_has_do_not_count(source):
    for name in (".git", "__pycache__", "sub/.pytest_cache"):
        (source / name).mkdir()
        (source / name / "x").write_text("x", encoding="utf-8")
    assert set(stamps(source)) == {"a.sh", "sub/b.txt", "sub/link"}


def test_an_archive_that_leads_out_is_refused(target):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        bad = tarfile.TarInfo("bad")
        bad.type, bad.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(bad)
    with pytest.raises(CannotCopy):
        extract(content.getvalue(), target)


def test_a_folder_without_rights_is_removed(target):
    inner = target / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "c").write_text("c", encoding="utf-8")
    inner.chmod(0)
    (target / "a").chmod(0o500)
    remove_folder(target)
    assert not target.exists()


@pytest.mark.parametrize(
    "links",
    [
        {"a/b/c/s": "../../..", "a/b/c/L": "s/../../../etc/hostname"},
        {"s": "a/b", "L": "s/../../.."},
        {"s": "t", "t": "/etc", "L": "s/hostname"},
    ],
)
def test_links_that_lead_out_by_way_of_others_are_refused(source, target, links):
    (source / "a" / "b" / "c").mkdir(parents=True)
    for path, leads in links.items():
        (source / path).symlink_to(leads)
    with pytest.raises(CannotCopy, match="leads out"):
        copy_folder(source, target)
    with pytest.raises(CannotCopy, match="leads out"):
        content_hash(source)


def test_links_that_stay_inside_by_way_of_others_are_copied(source, target):
    (source / "up").symlink_to("sub/link")
    (source / "sub" / "top").symlink_to("..")
    (source / "again").symlink_to("sub/top/sub/../a.sh")
    (source / "circle").symlink_to("circle")
    copy_folder(source, target)
    assert content_hash(target) == content_hash(source)


def test_links_that_take_too_long_to_follow_are_refused(source, target):
    """A thousand of them, each by way of forty others."""
    for number in range(1000):
        to = f"{'sub/../' * 100}{(number + 1) % 1000}"
        (source / f"{number}").symlink_to(to)
    for look in (content_hash, lambda folder: copy_folder(folder, target)):
        with pytest.raises(CannotCopy, match="more than 1000000 steps"):
            look(source)


def nested(folder: Path, levels: int) -> None:
    """Folders in folders, deeper than a path can be."""
    at = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("deep", dir_fd=at)
        inner = os.open("deep", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)


def test_folders_that_are_too_deep_are_refused_and_removed(source, target):
    nested(source, 100)
    copy_folder(source, target)
    remove_folder(source / "deep")
    assert not (source / "deep").exists()
    nested(source, 3000)
    for look in (stamps, content_hash, lambda folder: copy_folder(folder, target)):
        with pytest.raises(CannotCopy, match="more than 100 levels deep"):
            look(source)
    remove_folder(source)
    assert not source.exists()


@pytest.mark.needs("linux")
def test_more_folders_than_open_files_are_all_looked_at(source, target):
    for number in range(60):
        (source / f"{number}").mkdir()
        (source / f"{number}" / "x").touch()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len([*Path("/proc/self/fd").iterdir()]) + 20, limits[1]))
    try:
        found = stamps(source)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert len(found) == 3 + 60


def test_folders_count_as_files_do(source, target, monkeypatch):
    monkeypatch.setattr(fresh_copy, "MOST_FILES", 10)
    for number in range(10):
        (source / f"{number}").mkdir()
    for look in (stamps, lambda folder: copy_folder(folder, target)):
        with pytest.raises(CannotCopy, match="more than 10 files and folders"):
            look(source)


@pytest.mark.needs("an ordinary user")  # root may read everything
def test_a_folder_that_cannot_be_read_is_not_passed_over(source):
    (source / "sub").chmod(0)
    try:
        with pytest.raises(CannotCopy, match="sub cannot be looked at"):
            stamps(source)
    finally:
        (source / "sub").chmod(0o700)


def test_what_was_packed_is_put_back(source):
    before = content_hash(source)
    (source / "sub" / ("long" * 60)).write_text("ü", encoding="utf-8")
    with tempfile.TemporaryFile() as packed:
        pack(source, ["sub", "sub/b.txt", "a.sh", "none"], packed)
        (source / "sub" / "b.txt").unlink()
        (source / "sub" / "link").rename(source / "none")
        (source / "a.sh").chmod(0o600)
        put_back(packed, source, ["a.sh", "none"])
        assert not (source / "sub" / "b.txt").exists()
        put_back(packed, source, ["sub"])
    (source / "sub" / ("long" * 60)).unlink()
    assert content_hash(source) == before


def test_everything_of_a_name_is_removed_whatever_else_is_there(source):
    for place in ("", "sub", "deep"):
        (source / place / "__pycache__").mkdir(parents=True)
        nested(source / place / "__pycache__", 200)
    (source / "sub" / "empty").mkdir()
    (source / "sub" / "empty" / "__pycache__").symlink_to("..")
    (source / ".mypy_cache").mkdir()
    nested(source / ".mypy_cache", 200)
    remove_everywhere(source, "__pycache__")
    assert [*source.rglob("__pycache__")] == []
    assert set(stamps(source)) == {"a.sh", "sub/b.txt", "sub/link"}
    remove_folder(source)
