"""What is handed to the runner says what we mean, whatever the values hold."""

import pytest

from runevals.github.file_commands import MAX_SUMMARY_BYTES, write_outputs, write_summary
from runevals.github.masking import mask_commands
from tests.github.exchanged_files import read_as_the_runner_does
from tests.reports.hostile import TEXTS


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
    assert write_summary(path, "after\n")
    assert not write_summary(path, "x" * (MAX_SUMMARY_BYTES + 1))
    assert path.read_text(encoding="utf-8") == "before\nafter\n"


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
