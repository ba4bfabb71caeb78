"""`[tool.runevals]` of pyproject.toml is a settings file like the others, and a folder has one."""

from __future__ import annotations

from functools import partial

import pytest

from runevals.records.errors import InvalidSuite
from runevals.settings.file import base_settings_file
from runevals.settings.resolve import RawSettings, resolve
from tests.sample_suites import SETTINGS, SUITE

TABLE = """\
[project]
name = "bot"
dependencies = ["runevals"]

[tool.runevals]
target = "recorded:answers.json"
repeat = 2

[[tool.runevals.gates]]
name = "all"
metric = "pass_rate"
op = ">="
limit = 0.5

[tool.other]
repeat = "seven"
"""


@pytest.fixture(autouse=True)
def answers(project):
    project.write("answers.json", "{}")


def settle(path):
    return resolve(RawSettings(cwd=path, environment={}))


def test_the_table_is_read_as_a_file_of_its_own_is(project):
    project.write("pyproject.toml", TABLE)
    settings = settle(project.path)
    assert (settings.measure.repeat, settings.origins["repeat"]) == (2, "pyproject.toml")
    assert [gate.name for gate in settings.rules.gates] == ["all"]
    assert settings.file.places["repeat"].line == 7


def test_a_mistake_in_the_table_has_its_line_in_the_file(project, runevals):
    project.write("pyproject.toml", TABLE.replace("repeat = 2", 'repeat = "two"'))
    code, _, err = runevals("settings")
    assert code == 2
    assert "pyproject.toml:7" in err
    project.write("pyproject.toml", TABLE.replace("limit = 0.5", "limmit = 0.5"))
    assert "pyproject.toml:13" in runevals("settings")[2]
    project.write("pyproject.toml", TABLE.replace("repeat = 2", "repeat = "))
    assert "pyproject.toml:7:10: is not TOML" in runevals("settings")[2]


@pytest.mark.parametrize(
    "text", ['[project]\nname = "runevals"\n', "[tool.other]\nx = 1\n", "[project\n", "tool = 'runevals'\n"]
)
def test_a_pyproject_without_the_table_has_no_settings(project, text):
    project.write("pyproject.toml", text)
    assert settle(project.path).file is None


def test_settings_of_the_root_are_named_as_seen_from_a_folder_below(project):
    """Results are posted: they name no folder above the repository."""
    project.write("runevals.yaml", "repeat: 2\n")
    project.write("below/evals.json", SUITE)
    assert settle(project.path / "below").origins["repeat"] == "../runevals.yaml"


def test_settings_in_two_files_of_a_folder_are_refused(project, runevals):
    project.write("runevals.yaml", SETTINGS)
    project.write("pyproject.toml", TABLE)
    project.write("evals.json", SUITE)
    code, _, err = runevals()
    assert code == 2
    assert "pyproject.toml: has settings, and so does runevals.yaml; keep one of them" in err


def test_a_named_pyproject_without_the_table_is_refused(project):
    project.write("other.toml", "[project]\n")
    with pytest.raises(InvalidSuite, match=r"has no table \[tool.runevals\]"):
        resolve(RawSettings(cwd=project.path, environment={}, flags={"config": "other.toml"}))


def test_the_table_of_the_base_decides_over_a_change(project):
    files = {"pyproject.toml": TABLE.encode()}
    base = base_settings_file([project.path], project.path, None, partial(map, files.get))
    assert (base.display_name, base.values["repeat"]) == ("pyproject.toml", 2)
    files["pyproject.toml"] = b"[project]\n"
    assert base_settings_file([project.path], project.path, None, partial(map, files.get)) is None


def test_results_and_cache_of_a_subfolder_are_beside_the_settings(project, runevals, monkeypatch):
    project.write("runevals.yaml", "target: recorded:answers.jsonl\n")
    project.write("answers.jsonl", '{"case": "a", "output": "Paris"}\n{"case": "b", "output": "Lima"}\n')
    project.write("sub/evals.json", SUITE)
    monkeypatch.chdir(project.path / "sub")
    assert runevals("evals.json")[0] == 0
    assert (project.path / ".evals" / "results").is_dir()
    assert not (project.path / "sub" / ".evals").exists()
    assert settle(project.path / "sub").measure.cache == project.path / ".evals" / "cache"


def test_checkouts_share_the_cache_of_the_user(project, tmp_path):
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    shared = tmp_path / "cache" / "runevals"
    assert resolve(RawSettings(cwd=project.path, environment=environment)).measure.cache == shared
    in_ci = {**environment, "CI": "true"}
    assert resolve(RawSettings(cwd=project.path, environment=in_ci)).measure.cache is None


@pytest.mark.parametrize("text", [f"{'.'.join(['a'] * 60_000)} = 1\n", f"x = {'[' * 20_000}"])
def test_a_hostile_pyproject_without_our_table_is_left_alone(project, text):
    project.write("runevals.yaml", "repeat: 2\n")
    project.write("pyproject.toml", text)
    assert settle(project.path).measure.repeat == 2
