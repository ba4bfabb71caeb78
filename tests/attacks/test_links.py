"""A link in what is checked out leads us nowhere: nothing behind it is made, written, read or deleted."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import struct
import subprocess
from contextlib import closing, suppress
from pathlib import Path

import pytest

from runevals.lib.storage.cache import FILENAME
from runevals.run.resume.unfinished import MOST_KEPT
from tests.attacks.conftest import SUITE, photograph

TOLD = {"version": "0", "options": {}, "paths": [], "code": {}, "addresses": []}


def old_runs(folder: Path, count: int = 30) -> None:
    """Folders as runs leave them that were killed; beside what is ours, each has a file of somebody else."""
    for number in range(count):
        run = folder / f"2020-01-{number + 1:02}_00-00-00-abcd"
        run.mkdir(parents=True)
        (run / "options.json").write_text(json.dumps(TOLD), encoding="utf-8")
        (run / "lock").touch()


def ways(outside: Path, near: Path) -> dict[str, Path]:
    """Links to a folder, by how they lead there."""
    (near / "step").symlink_to(outside)
    return {
        "absolute": outside,
        "relative": Path("..") / outside.name,
        "by another link": Path("step"),
        "to what is not there": outside / "new",
        "in a circle": Path("circle"),
    }


def link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    up = Path(*[".."] * (len(path.relative_to(Path.cwd()).parts) - 1))
    path.symlink_to(path.name if target == Path("circle") else target if target.is_absolute() else up / target)


def first(words):
    return words[0]


CACHED = [FILENAME, f"{FILENAME}-wal", f"{FILENAME}-shm", ".gitignore", "answers-1.broken"]
OURS = [".evals", ".evals/runs", ".evals/cache", ".evals/results"]


@pytest.mark.parametrize("place", OURS)
@pytest.mark.parametrize("way", ["absolute", "relative", "by another link", "to what is not there", "in a circle"])
def test_a_run_refuses_a_link_in_place_of_a_folder_of_ours(hostile, around, place, way):
    old_runs(around / "runs")
    old_runs(around)
    before = photograph(around)
    link(hostile.path / place, ways(around, hostile.path)[way])
    hostile.run("run").must(2, f"Error: {place} is a link, which is not followed")
    assert photograph(around) == before


def test_without_the_link_the_same_run_makes_room_among_its_own(hostile):
    """The control: it is the link that is refused, and there is something to be deleted."""
    old_runs(hostile.path / ".evals" / "runs")
    hostile.run("run").must(0)
    assert (
        len(list((hostile.path / ".evals" / "runs").iterdir())) == MOST_KEPT - 1
    )  # and this run's, which is done


def test_the_review_in_its_own_words(hostile, around):
    """`.evals/runs -> ../..` deleted 12 of 30 projects beside the checkout, and said nothing."""
    (hostile.path / "checkout").mkdir()
    siblings = hostile.path / "siblings"
    for number in range(30):
        (siblings / f"project-{number}").mkdir(parents=True)
        (siblings / f"project-{number}" / "work.txt").write_text("years of it", encoding="utf-8")
    checkout = siblings / "checkout"
    (checkout / ".evals").mkdir(parents=True)
    (checkout / ".git").mkdir()
    for name in ("evals.json", "runevals.yaml"):
        shutil.copy(hostile.path / name, checkout)
    (checkout / ".evals" / "runs").symlink_to("../..")
    before = photograph(siblings)
    hostile.run("run", cwd=checkout).must(2, ".evals/runs is a link")
    assert photograph(siblings) == before


def test_folders_that_are_no_runs_of_ours_are_never_deleted(hostile):
    runs = hostile.path / ".evals" / "runs"
    old_runs(runs)
    for number in range(30):
        (runs / f"1999-{number:02}").mkdir()
        (runs / f"1999-{number:02}" / "thesis.txt").write_text("mine", encoding="utf-8")
    (runs / "2020-01-01_00-00-00-abcd" / "thesis.txt").write_text("mine", encoding="utf-8")
    hostile.run("run").must(0)
    assert len(list(runs.glob("1999-*/thesis.txt"))) == 30
    assert (runs / "2020-01-01_00-00-00-abcd" / "thesis.txt").exists()


@pytest.mark.parametrize("name", CACHED)
@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("words", [["run"], ["cache-info"], ["cache-clear"]], ids=first)
def test_a_file_of_the_cache_that_is_a_link_is_refused(hostile, around, name, there, words):
    target = around / ("letter.txt" if there else "new.txt")
    before = photograph(around)
    link(hostile.path / ".evals" / "cache" / name, target)
    hostile.run(*words).must(2, f".evals/cache/{name} is a link")
    assert photograph(around) == before


@pytest.mark.parametrize("place", ["results", "results/deep", "results/deep/out.json"])
@pytest.mark.parametrize(
    "command",
    [
        ["run", "-o"],
        ["report", "given.json", "-o"],
        ["compare", "given.json", "given.json", "-o"],
        ["merge", "given.json", "-o"],
    ],
    ids=first,
)
def test_an_output_behind_a_link_is_refused_before_anything_is_asked(hostile, around, place, command):
    hostile.run("run", "-o", "given.json").must(0)
    before = photograph(around)
    link(hostile.path / place, around)
    hostile.run(*command, "results/deep/out.json").must(2, f"{place} is a link")
    assert photograph(around) == before


def test_an_output_in_real_folders_is_written(hostile):
    """The control of the one above."""
    hostile.run("run", "-o", "results/deep/out.json").must(0)
    assert (hostile.path / "results" / "deep" / "out.json").is_file()


@pytest.mark.parametrize(
    "output", ["results/../results/out.json", "{here}/results/out.json", "{alias}/results/out.json"]
)
def test_the_way_an_output_is_named_hides_no_link(hostile, around, output, tmp_path_factory):
    alias = tmp_path_factory.mktemp("alias") / "checkout"
    alias.symlink_to(hostile.path)
    link(hostile.path / "results", around)
    before = photograph(around)
    hostile.run("run", "-o", output.format(here=hostile.path, alias=alias)).must(2, "is a link")
    assert photograph(around) == before


def test_a_link_outside_the_repository_is_the_users_own(hostile, around, tmp_path_factory):
    """No commit can make it: a folder for results may be one."""
    mine = tmp_path_factory.mktemp("mine")
    (mine / "results").symlink_to(around)
    hostile.run("run", "-o", mine / "results" / "out.json").must(0)
    assert (around / "out.json").is_file()


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["judge", "calibrate", "gold.jsonl", "--judge", "recorded:kept.jsonl", "-o", "made/x.json"], "made"),
        (["history", "given.json", "-o", "made/x.html"], "made"),
        (["schema", "settings", "--write", "made"], "made"),
        (["run", "--cache", "made/cache"], "made"),
        (["run", "--cache", "made/cache"], "made/cache"),
    ],
)
def test_no_command_writes_behind_a_link(hostile, around, words, place):
    hostile.run("run", "-o", "given.json").must(0)
    hostile.write("gold.jsonl", '{"input": "a", "output": "b", "evaluator": "Relevance", "score": 5}\n')
    hostile.write("kept.jsonl", "")
    link(hostile.path / place, around)
    before = photograph(around)
    done = hostile.run(*words)
    assert done.code in (2, 3), done.text
    assert photograph(around) == before


@pytest.mark.parametrize("command", [["init"], ["upgrade", "old.json"]], ids=first)
def test_a_file_that_a_command_changes_may_be_a_link_but_not_out_of_the_repository(hostile, around, command):
    (around / "old.json").write_text(json.dumps({"items": SUITE["items"]}), encoding="utf-8")
    for name in (".gitignore", "old.json"):
        link(hostile.path / name, around / ("letter.txt" if name == ".gitignore" else name))
    before = photograph(around)
    hostile.run(*command)
    assert photograph(around) == before


@pytest.mark.parametrize("place", [".evals", ".evals/results", ".evals/cache", "made", "made/deep"])
def test_a_link_that_is_made_while_we_run_is_not_followed(project, hostile, around, place):
    """The program under test puts it where our folder was; what lies behind it has the names of our files."""
    for folder in (around, around / "runs", around / "results", around / "deep"):
        folder.mkdir(exist_ok=True)
        for name in ("options.json", "lock", "answers.log", "answers-1.sqlite-wal", ".gitignore", "out.json"):
            (folder / name).write_text("not yours", encoding="utf-8")
    before = photograph(around)

    def put_a_link():
        path = project.path / place
        if not path.is_symlink():
            with suppress(FileNotFoundError):
                path.rename(f"{path}-before")
            link(path, around)

    hostile.meanwhile = put_a_link
    words = ["-o", "made/deep/out.json"] if place.startswith("made") else ["--cache-target"]
    done = hostile.run("run", "--concurrency", "1", *words)
    assert photograph(around) == before
    done.must(0 if place == ".evals/cache" else 3, f"{place} is a link")


@pytest.mark.parametrize("name", ["options.json", "lock", "answers.log"])
def test_a_run_that_goes_on_refuses_a_link_among_its_files(project, hostile, around, name):
    hostile.first = None
    hostile.run("run").must(3)
    [run] = (project.path / ".evals" / "runs").iterdir()
    if (run / name).exists():
        shutil.move(run / name, around / "letter.txt")
    (run / name).symlink_to(around / "letter.txt")
    before = photograph(around)
    hostile.run("run", "--resume", run.name).must(2)
    assert photograph(around) == before


def test_a_link_is_seen_by_the_doctor(hostile, around):
    link(hostile.path / ".evals", around)
    hostile.run("doctor").must(2, ".evals is a link")


def rollback(path: Path, named: Path) -> None:
    """A rollback journal of SQLite that names a file: whoever opens the database deletes that file."""
    name, magic = os.fsencode(named), bytes.fromhex("d9d505f920a163d7")
    header = magic + struct.pack(">IIIII", 0, 0, 2, 512, 4096)
    record = struct.pack(">I", 0x40000000 // 4096 + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    path.write_bytes(header.ljust(512, b"\0") + record)


@pytest.mark.parametrize(
    "words", [["cache-info"], ["cache-clear"], ["run", "--judge", "big"]], ids=lambda it: it[0]
)
def test_a_journal_that_lies_beside_the_database_deletes_nothing(hostile, around, words):
    cache = hostile.path / ".evals" / "cache"
    cache.mkdir(parents=True)
    before = photograph(around)
    for control in (True, False):
        with suppress(sqlite3.Error), closing(sqlite3.connect(cache / FILENAME)) as file:
            file.execute("CREATE TABLE t (x)")
        rollback(cache / f"{FILENAME}-journal", around / "letter.txt")
        if control:
            with suppress(sqlite3.Error), closing(sqlite3.connect(cache / FILENAME)) as file:
                file.execute("SELECT * FROM t").fetchall()
            assert photograph(around) != before, "a plain SQLite must fall into it"
            (around / "letter.txt").write_text("not yours either", encoding="utf-8")
        else:
            hostile.run(*words)
    assert photograph(around) == before


def test_a_cache_that_is_committed_is_not_believed(hostile):
    hostile.run("run", "--cache-target").must(0)
    subprocess.run(["git", "init", "-q"], cwd=hostile.path, check=True)
    hostile.run("run", "--cache-target").must(0)  # the control: it is ours
    subprocess.run(["git", "add", "-f", ".evals/cache"], cwd=hostile.path, check=True)
    hostile.run("run", "--cache-target").must(2, "answers-1.sqlite is committed")


def test_a_pipe_in_place_of_a_lock_holds_nobody_up(hostile):
    hostile.first = None
    hostile.run("run").must(3)
    [run] = (hostile.path / ".evals" / "runs").iterdir()
    (run / "lock").unlink()
    os.mkfifo(run / "lock")
    hostile.first = "yes"
    hostile.run("run", "--resume").must(0)
