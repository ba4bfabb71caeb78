"""What is handed to the runner says what we mean, whatever the values hold."""

import os

import pytest

from runevals.github.file_commands import MAX_SUMMARY_BYTES, NAMES, FileCommands
from runevals.github.this_job import mask_commands
from tests.github.exchanged_files import read_as_the_runner_does
from tests.reports.hostile import TEXTS


def write_outputs(path, outputs):
    commands = FileCommands({"GITHUB_OUTPUT": str(path)})
    commands.add_outputs(outputs)
    commands.write()


@pytest.mark.parametrize("value", TEXTS, ids=range(len(TEXTS)))
def test_an_output_is_what_it_is(tmp_path, value):
    path = tmp_path / "output"
    write_outputs(path, {"before": "1", "value": value, "after": "2"})
    found = read_as_the_runner_does(path.read_bytes().decode())  # it splits at line feeds only
    assert list(found) == ["before", "value", "after"]
    assert found["value"] == value.encode("utf-8", "backslashreplace").decode()


@pytest.mark.parametrize("value", ["plain", "", "two\nlines", "EOF\nverdict<<EOF\npassed\nEOF", "a=b", "x<<y"])
def test_an_output_cannot_make_another(tmp_path, value):
    path = tmp_path / "output"
    write_outputs(path, {"headline": value, "exit_code": "1"})
    assert read_as_the_runner_does(path.read_text(encoding="utf-8")) == {"headline": value, "exit_code": "1"}


def test_delimiters_cannot_be_foreseen(tmp_path):
    path = tmp_path / "output"
    write_outputs(path, {"a": "1", "b": "2"})
    delimiters = {line.split("<<")[1] for line in path.read_text(encoding="utf-8").splitlines() if "<<" in line}
    assert len(delimiters) == 2


def test_a_name_that_is_none_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is no name"):
        write_outputs(tmp_path / "output", {"a\nb": "1"})


def test_a_summary_is_appended_and_one_too_large_is_not_written(tmp_path):
    path = tmp_path / "summary"
    path.write_text("before\n", encoding="utf-8")
    commands = FileCommands({"GITHUB_STEP_SUMMARY": str(path)})
    assert commands.add_summary("after\n")
    assert not commands.add_summary("x" * (MAX_SUMMARY_BYTES + 1))
    commands.write()
    assert path.read_text(encoding="utf-8") == "before\nafter\n"


def as_appended(path, around):
    with path.open("a", encoding="utf-8") as file:
        file.write("exit_code=0\n")


def as_overwritten(path, around):
    path.write_text("exit_code=0\n", encoding="utf-8")


def as_link(path, around):
    path.unlink()
    path.symlink_to(around)


def as_hard_link(path, around):
    path.unlink()
    path.hardlink_to(around)


def as_pipe(path, around):
    path.unlink()
    os.mkfifo(path)


def as_folder(path, around):
    path.unlink()
    (path / "full").mkdir(parents=True)


def as_nothing(path, around):
    path.unlink()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "put", [as_appended, as_overwritten, as_link, as_hard_link, as_pipe, as_folder, as_nothing]
)
def test_only_what_was_there_and_what_we_add_is_told_to_the_runner(tmp_path, name, put):
    around = tmp_path / "letter"
    around.write_text("not yours", encoding="utf-8")
    path = tmp_path / "file"
    path.write_text("before=1\n", encoding="utf-8")
    commands = FileCommands({name: str(path)})
    commands.add_outputs({"exit_code": "1"})
    commands.add_summary("### Failed\n")
    put(path, around)
    commands.write()
    told = path.read_text(encoding="utf-8")
    assert told.startswith("before=1\n")
    assert "exit_code=0" not in told
    assert len(told) > len("before=1\n") or name not in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
    assert around.read_text(encoding="utf-8") == "not yours"


def test_a_file_that_cannot_be_written_keeps_no_other_from_it(tmp_path):
    (tmp_path / "kept").mkdir()
    commands = FileCommands(
        {"GITHUB_OUTPUT": str(tmp_path / "kept" / "output"), "GITHUB_ENV": str(tmp_path / "env")}
    )
    (tmp_path / "kept").rmdir()
    (tmp_path / "env").write_text("LD_PRELOAD=evil.so\n", encoding="utf-8")
    with pytest.raises(FileNotFoundError):
        commands.write()
    assert (tmp_path / "env").read_text(encoding="utf-8") == ""


def test_values_of_variables_named_like_secrets_are_masked():
    environment = {
        "OPENAI_API_KEY": "not-a-real-key",
        "deploy_token": "100%-secret-text",
        "A_SECRET": "short",
        "HOME": "/github/home",
        "SSH_KEY": "first-long-line\nx\nsecond-long-line",
    }
    assert list(mask_commands(environment)) == [
        "::add-mask::not-a-real-key",
        "::add-mask::first-long-line",
        "::add-mask::second-long-line",
        "::add-mask::100%25-secret-text",
    ]
