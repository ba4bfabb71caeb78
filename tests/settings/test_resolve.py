"""Where settings come from, and what a settings file may not do."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings, InvalidSuite, UsageError
from runevals.settings.resolve import RawSettings, resolve
from runevals.settings.table import SETTINGS


@pytest.fixture
def project(tmp_path):
    (tmp_path / ".git").mkdir()

    def settle(text: str | None = None, *, environment=None, inputs=None, cwd=tmp_path, **flags):
        if text is not None:
            (tmp_path / "runevals.yaml").write_text(text, encoding="utf-8")
        return resolve(RawSettings(flags=flags, inputs=inputs or {}, cwd=cwd, environment=environment or {}))

    settle.path = tmp_path
    return settle


def test_flag_before_input_before_environment_before_file_before_default(project):
    told = {"text": "repeat: 2", "environment": {"RUNEVALS_REPEAT": "3"}, "inputs": {"repeat": "4"}}
    assert project().measure.repeat == 1
    assert project("repeat: 2").measure.repeat == 2
    assert project("repeat: 2", environment=told["environment"]).measure.repeat == 3
    assert project("repeat: 2", environment=told["environment"], inputs=told["inputs"]).measure.repeat == 4
    assert (
        project("repeat: 2", environment=told["environment"], inputs=told["inputs"], repeat=5).measure.repeat == 5
    )


def test_a_variable_that_is_nearly_a_settings_stops_the_run(project, runevals, monkeypatch):
    monkeypatch.setenv("RUNEVALS_SUITE", "evals.json")  # what a `rerun` gets
    assert runevals("settings")[0] == 0
    monkeypatch.setenv("RUNEVALS_MAX_COTS", "1")
    code, _, err = runevals("settings")
    assert code == 2
    assert "the variable RUNEVALS_MAX_COTS is no setting; did you mean RUNEVALS_MAX_COST?" in err


def test_a_case_is_run_three_times_in_ci_unless_the_settings_say_how_often(project):
    assert (project().measure.repeat, project(environment={"CI": "true"}).measure.repeat) == (1, 3)
    assert project("repeat: 1", environment={"CI": "true"}).measure.repeat == 1


def test_the_file_says_how_many_fresh_runs_may_be_made(project):
    assert project().rules.regression.max_fresh_runs is None
    assert project("fresh_runs: 200").rules.regression.max_fresh_runs == 200
    with pytest.raises(InvalidSuite, match="unknown key 'fresh_run'; did you mean 'fresh_runs'"):
        project("fresh_run: 200")


def test_yes_in_a_file_is_text_and_the_message_says_what_to_write(project):
    with pytest.raises(InvalidSuite, match="must be true or false, but is the text 'yes'; write true"):
        project("annotations: yes")


def test_against_without_a_skill_has_two_forms(project):
    assert (
        project("against: {without: skill}").compare.against == project("against: without-skill").compare.against
    )
    with pytest.raises(InvalidSuite, match="against"):
        project("against: {without: judge}")


def test_an_empty_input_is_not_given(project):
    assert project("repeat: 2", inputs={"repeat": "", "all": ""}).measure.repeat == 2


@pytest.mark.parametrize(("text", "value"), [("true", True), ("False", False), ("1", True), ("no", False)])
def test_yes_and_no_as_text(project, text, value):
    assert project(inputs={"all": text}).load.everything is value


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"repeat": "two"}, "input repeat must be a whole number, but is 'two'"),
        ({"all": "perhaps"}, "input all must be true or false"),
        ({"min_pass_rate": "nan"}, "input min_pass_rate is nan; it must be from 0 to 1"),
    ],
)
def test_bad_text_is_told_with_its_source(project, inputs, told):
    with pytest.raises(InvalidSettings, match=told):
        project(inputs=inputs)


@pytest.mark.parametrize(
    ("given", "place"),
    [
        pytest.param({"shard": "5/4"}, "--shard is '5/4'", id="a flag"),
        pytest.param({"fail_on": "foo"}, "--fail-on: there is no gate 'foo'", id="a flag of two words"),
        pytest.param({"repeat": 0}, "--repeat is 0", id="a number"),
        pytest.param({"mark": "-1d"}, "--mark: '-1d' is no mark", id="a mark"),
        pytest.param({"inputs": {"fail_on": "foo"}}, "input fail_on: there is no gate", id="an input"),
        pytest.param({"environment": {"RUNEVALS_SHARD": "0"}}, "RUNEVALS_SHARD is '0'", id="a variable"),
        pytest.param({"text": "verify: of"}, "runevals.yaml:1:9: /verify must be", id="a file"),
    ],
)
def test_a_wrong_value_is_named_by_its_place_as_it_was_written(project, given, place):
    with pytest.raises((InvalidSettings, InvalidSuite)) as error:
        project(**given)
    assert str(error.value).startswith(place)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("judge: {judges: [a]}", "unknown key 'judges'; it belongs to the file itself, beside 'judge'"),
        ("deterministic: true", "unknown key 'deterministic'; it belongs to 'target'"),
        ("errors: {xyz: 1}", "unknown key 'xyz'; known are limit"),
        ("min_pass_rate: 95", "/min_pass_rate 95 is greater than 1: it is a share; write 0.95 for 95 %"),
    ],
)
def test_a_key_or_a_value_that_cannot_be_is_told_with_what_may_be_meant(project, text, told):
    with pytest.raises(InvalidSuite, match=told):
        project(text)


def test_every_evaluator_that_cannot_be_built_is_told_at_once(project):
    with pytest.raises(InvalidSettings) as refused:
        project(
            "evaluators:\n"
            "- {id: one, type: code}\n"
            "- {id: two, type: code, file: nowhere.py}\n"
            "- {id: regex, type: code, code: x}\n"
            "- {id: all, type: composite, evaluatorIds: [one, contains]}\n"
            "- {id: fine, type: composite, evaluatorIds: [contains]}\n"
        )
    lines = str(refused.value).splitlines()
    assert [line.removeprefix("runevals.yaml: evaluators: ").split()[0] for line in lines] == [
        "one:",
        "two:",
        "'regex'",
    ]


def test_every_problem_of_the_file_is_told_with_line_and_nearest_word(project):
    with pytest.raises(InvalidSuite) as refused:
        project("version: 1\nconcurency: 4\nrepeat: 0\ntarget:\n  type: opnai\n  modle: x\n")
    told = [str(problem) for problem in refused.value.problems]
    assert "runevals.yaml:2:1: /concurency unknown key 'concurency'; did you mean 'concurrency'?" in told
    assert any(line.startswith("runevals.yaml:5:9: /target/type must be one of") for line in told)
    assert "runevals.yaml:6:3: /target/modle unknown key 'modle'; did you mean 'model'?" in told
    assert any(line.startswith("runevals.yaml:3:9: /repeat") for line in told)


def test_words_that_yaml_1_1_would_change_stay_text(project):
    assert project("category: [no, on, 12:30, 2026-11-20]").selection.category == (
        "no",
        "on",
        "12:30",
        "2026-11-20",
    )


@pytest.mark.parametrize("text", ["repeat: 1\nrepeat: 2\n", "repeat: [", "a: &a [*a]", "- x"])
def test_yaml_that_cannot_be_meant_is_refused(project, text):
    with pytest.raises(InvalidSuite):
        project(text)


def test_an_alias_bomb_is_refused(project):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 8)]
    with pytest.raises(InvalidSuite, match="aliases expand to more than 1000000 values"):
        project("\n".join(lines))


def test_a_literal_key_in_the_file_is_refused(project):
    with pytest.raises(InvalidSuite, match="looks like a key; name its environment variable"):
        project("target: {type: openai, model: m, api_key_env: sk-abcdefghijklmnopqrstuvwx}")


@pytest.mark.parametrize("named", ["../outside.md", "/etc/passwd", "link.md", "folder"])
def test_files_that_the_settings_name_lie_inside_the_repository(project, named):
    (project.path.parent / "outside.md").write_text("x", encoding="utf-8")
    (project.path / "link.md").symlink_to("/etc/passwd")
    (project.path / "folder").mkdir()
    with pytest.raises(UsageError, match=r"target.system_prompt_file"):
        project(f"target: {{type: openai, model: m, system_prompt_file: {named}}}")


def test_paths_of_the_file_are_relative_to_it_and_flags_to_here(project):
    (project.path / "sub").mkdir()
    (project.path / "prompt.md").write_text("Be kind.", encoding="utf-8")
    settled = project(
        "suites: [evals.json]\ntarget: {type: openai, model: m, system_prompt_file: prompt.md}",
        cwd=project.path / "sub",
    )
    assert settled.load.suites[0].base == project.path
    assert settled.target.system_prompt == "Be kind."
    assert (
        project("suites: [a.json]", cwd=project.path / "sub", suites=["b.json"]).load.suites[0].base.name == "sub"
    )


def test_a_baseline_is_a_path_or_an_address_however_its_scheme_is_written(project):
    settled = project("baseline: HTTPS://results.example/Base.json")
    assert settled.compare.baseline == "https://results.example/Base.json"
    assert project("baseline: a/b.json").compare.baseline == str(project.path / "a" / "b.json")
    with pytest.raises(InvalidSuite, match=r"runevals\.yaml:1:11: /baseline file:// is not read"):
        project("baseline: file:///srv/base.json")  # a file of that name would be missing, and nothing compared
    with pytest.raises(InvalidSettings, match="baseline: file:// is not read"):
        project("version: 1", baseline="file:///srv/base.json")


def test_in_ci_the_file_may_not_send_the_key_elsewhere(project):
    text = "target: {type: openai, model: m, base_url: 'https://evil.example/v1'}"
    assert project(text).target.base_url == "https://evil.example/v1"
    with pytest.raises(
        InvalidSettings, match=r"name it in the workflow: OPENAI_BASE_URL=https://evil\.example/v1"
    ):
        project(text, environment={"CI": "true", "OPENAI_API_KEY": "key-1"})
    trusted = {"CI": "true", "OPENAI_API_KEY": "key-1", "OPENAI_BASE_URL": "https://evil.example/v1"}
    assert project(text, environment=trusted).target.base_url == "https://evil.example/v1"


def test_the_environment_names_target_and_judge(project):
    settled = project(
        environment={
            "OPENAI_API_KEY": "k",
            "RUNEVALS_MODEL": "m",
            "AZURE_AI_OPENAI_ENDPOINT": "https://x.example",
            "AZURE_AI_MODEL_NAME": "gpt",
        }
    )
    assert (settled.target.type, settled.target.model) == ("openai", "m")
    assert [(judge.type, judge.model) for judge in settled.judges] == [("azure", "gpt")]


def test_every_setting_has_its_own_words():
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)
    assert all(setting.help.endswith(".") for setting in SETTINGS)
