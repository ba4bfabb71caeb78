"""promptfoo configurations: each folder holds one, and what it becomes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from runevals.imports.files import Files
from runevals.imports.providers import read_providers, targets_for
from runevals.imports.remarks import Remarks
from tests.ending import ended

VALUES = ", ".join(f"{name}: {list(range(10))}" for name in "abcdef")
MANY = f"prompts: [hi]\ntests: [{{vars: {{{VALUES}}}}}]\n"
TWENTY_THOUSAND = {f"v{number}": ["a", "b"] for number in range(20_000)}
HERE = Path(__file__).parent / "promptfoo"
ALL = sorted(path.parent.name for path in HERE.glob("*/promptfooconfig.yaml"))


@pytest.fixture
def imported(project, runevals, monkeypatch):
    """Converts a copy of one of the configurations → (exit code, stdout, remarks)."""

    def run(name, *options):
        folder = project.path / name
        shutil.copytree(HERE / name, folder, ignore=shutil.ignore_patterns("became"))
        (folder / ".git").mkdir()
        monkeypatch.chdir(folder)
        return runevals("import", "promptfoo", "promptfooconfig.yaml", *options)

    return run


@pytest.mark.parametrize("name", ALL)
def test_a_promptfoo_configuration_is_converted_to_the_expected_files(imported, project, golden, name):
    code, out, remarks = imported(name)
    folder, became = project.path / name, HERE / name / "became"
    golden(became / "remarks.txt", out + remarks)
    if code != 0:
        ended(code, 2, remarks, "nothing of it can be converted")
        return
    for path in (*sorted(folder.glob("runevals*.yaml")), *sorted((folder / "evals").rglob("*.*"))):
        golden(became / path.relative_to(folder), path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ALL)
def test_converted_files_are_valid(imported, runevals, name):
    if imported(name)[0] == 0:
        code, out, err = runevals("validate")
        assert code == 0, err
        assert " case" in out


def test_a_second_model_of_another_provider_needs_settings_of_its_own(project, runevals):
    """`--model` would ask the first one's endpoint for it."""
    providers = "[openai:gpt-5-mini, anthropic:messages:claude-sonnet-5]"
    project.write("promptfooconfig.yaml", f"prompts: [hi]\nproviders: {providers}\ntests: [{{}}]\n")
    _, _, remarks = runevals("import", "promptfoo", "promptfooconfig.yaml")
    ended(0, 0, remarks, "`target: {type: anthropic, model: claude-sonnet-5, …}`", without=["--model"])


def test_the_id_of_a_test_is_the_key_of_its_case_and_another_tools_eval_is_called_so(project, runevals):
    tests = (
        "[{id: fizz, vars: {q: x}, assert: [Says fizz, {type: contains, value: fizz}]}, {id: 7, description: d}]"
    )
    project.write("e.yaml", f"prompts: ['ask {{{{q}}}}']\nproviders: [openai:gpt-5-mini]\ntests: {tests}\n")
    code, _, err = runevals("import", "promptfoo", "e.yaml")
    ended(code, 0, err, "differs: the configuration: is an eval of agentv (prompts, tests[].id, ")
    samples = project.document("evals/eval-samples.json")["samples"]
    assert [(sample["sample_id"], sample.get("description")) for sample in samples] == [("fizz", None), ("7", "d")]


def test_without_prompts_the_variable_prompt_is_one(project, runevals):
    test = "{vars: {prompt: Hello}, assert: [{type: contains, value: Hello}]}"
    project.write("p.yaml", f"providers: [openai:gpt-5-mini]\ntests: [{test}, {{vars: {{q: Hello}}}}]\n")
    code, out, err = runevals("import", "promptfoo", "p.yaml")
    ended(code, 0, out, "1 case, 1 check")
    assert "lost: test 2: the prompt {{prompt}} is empty: `prompts` uses none of q" in err
    assert project.path.joinpath("evals/prompts/prompt.txt").read_text("utf-8") == "{{prompt}}\n"
    assert runevals("validate")[0] == 0


@pytest.mark.parametrize("name", ["http", "https", "http://localhost:3000/ai"])
def test_an_address_leads_to_the_http_target_and_each_has_a_line(project, runevals, name):
    providers = "".join(f"- {{id: '{name}', label: {label}, config: {{url: 'http://x'}}}}\n" for label in "AB")
    project.write("p.yaml", f"prompts: [hi]\nproviders:\n{providers}tests: [{{}}]\n")
    _, _, err = runevals("import", "promptfoo", "p.yaml")
    lines = [line for line in err.splitlines() if "`target: {type: http, " in line]
    assert [line.partition("): ")[0] for line in lines] == [f"lost: provider {name} ({label}" for label in "AB"]


def test_a_transform_that_no_check_uses_is_named(project, runevals):
    checked = "{options: {transform: output.trim()}, assert: [{type: contains, value: a}]}"
    project.write(
        "p.yaml", f"prompts: [hi]\nproviders: [openai:m]\ntests: [{{options: {{transform: x}}}}, {checked}]\n"
    )
    lost = [line for line in runevals("import", "promptfoo", "p.yaml")[2].splitlines() if "transform" in line]
    assert lost == ["lost: test 1: options.transform has no equivalent in runevals"]


def test_strict_fails_if_something_was_not_converted(imported):
    code, out, _ = imported("summarization", "--strict")
    ended(code, 0, out, without=["could not be converted"])


def test_strict_reports_what_was_not_converted(imported):
    code, out, err = imported("getting-started", "--strict")
    ended(code, 2, out, "1 thing could not be converted")
    assert "lost: provider openai:o4-mini: a run has one target" in err


def test_an_import_does_not_overwrite_files(imported, runevals):
    assert imported("getting-started")[0] == 0
    code, _, err = runevals("import", "promptfoo", "promptfooconfig.yaml")
    ended(code, 2, err, "would be overwritten")
    assert runevals("import", "promptfoo", "promptfooconfig.yaml", "--force")[0] == 0


def test_a_converted_javascript_check_gives_the_same_verdicts(imported, project, runevals):
    imported("everything", "--output", "suite.json", "--settings", "conf/runevals.yaml")
    suite = [{"sample_id": "x", "prompt": "?", "vars": {"limit": 4}, "assertions": [{"type": "custom", "fn": ""}]}]
    folder = project.path / "everything"
    suite[0]["assertions"][0]["fn"] = next((folder / "checks").iterdir()).relative_to(folder).as_posix()
    project.write("everything/one.json", suite)
    found = []
    for answer in ("a b", "a"):  # 2 / 4 reaches 0.5
        project.write("everything/answers.jsonl", f'{{"case": "x", "output": "{answer}"}}')
        runevals("one.json", "--target", "recorded:answers.jsonl", "-o", "out.json")
        found.append(project.document("everything/out.json")["cases"][0]["status"])
    assert found == ["passed", "failed"]


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ("- a list\n", "is no configuration"),
        ("prompts: [hi]\ntests: []\nprompts: [a]\n", "duplicate key"),
        ("prompts: ['{{x}}']\ntests: [{vars: {x: ''}}]\n", "nothing of it can be converted"),
        ("prompts: [file://../../secret.txt]\ntests: [{}]\n", "is outside the repository"),
        ("prompts: [hi]\ntests: [{vars: 5}]\n", "its variables or options are no object"),
        ("prompts: [hi]\ntests: [{vars: file://v.py}]\n", "v.py is not a data file"),
        ("prompts: [hi]\ntests: [{vars: rows.csv}]\n", "rows.csv holds no variables"),
        (MANY, "make more than 100000 cases"),
        ("prompts: [hi]\ntests: file:///etc/*.json\n", "is outside the repository"),
        ("prompts: [hi]\ntests: file://../**/*.json\n", "is outside the repository"),
        ("prompts: [hi]\ntests: file://**x*.json\n", "no file matches"),
        (f"prompts: [hi]\ntests: file://{'**/' * 40}*.jsonl\n", "no file matches"),
        ("prompts: [hi]\ntests: file://wide.csv\n", "more than 1000 columns"),
        ("prompts: [hi]\ntests: file://ragged.csv\n", "header has columns: a cell with ',' in it needs quotes"),
        ("prompts: [hi]\ntests: file://unclosed.csv\n", "is not CSV"),
        (f"prompts: [hi]\ntests: [{{vars: {TWENTY_THOUSAND}}}]\n", "make more than 100000 cases"),
        ("prompts: 7\nproviders: 8\ntests: 9\ndefaultTest: 3\nscenarios: [1]\nassertionTemplates: 1\n", "is no"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_a_promptfoo_configuration_is_reported(project, runevals, config, told):
    project.write("p.yaml", config)
    project.write("wide.csv", ",".join(f"c{number}" for number in range(1001)))
    project.write("v.py", "")
    project.write("rows.csv", "q\na\n")
    project.write("unclosed.csv", 'q,__expected\na,equals:x\n"b,equals:y\nc,equals:z\n')
    project.write("ragged.csv", "q,__expected\na,b,c\n")
    project.write("/".join("d" * 40) + "/x.txt", "")
    code, _, err = runevals("import", "promptfoo", "p.yaml")
    ended(code, 2, err, told)


def test_texts_of_files_lose_the_blanks_around_them_and_variables_may_stand_in_files(project, runevals):
    """As promptfoo reads them: prompts do not end with the line break of a file."""
    test = {"vars": {"q": "file://q.txt"}, "assert": [{"type": "starts-with", "value": "file://a.txt"}]}
    of_files = [{"vars": "file://v.yaml", "assert": []}, {"vars": ["v.yaml", "w.json"]}]
    project.write("p.json", {"prompts": ["{{q}}"], "providers": ["openai:tiny"], "tests": [test, *of_files]})
    for name, text in (
        ("q.txt", "Who?\n"),
        ("a.txt", " I am\n\n"),
        ("v.yaml", "q: |\n  You?\n"),
        ("w.json", '{"r": 1}'),
    ):
        project.write(name, text)
    code, out, _ = runevals("import", "promptfoo", "p.json")
    ended(code, 0, out, without=["could not be converted"])
    first, *others = project.document("evals/eval-samples.json")["samples"]
    assert (first["vars"], first["assertions"][0]["value"]) == ({"q": "Who?"}, "I am")
    assert [sample["vars"] for sample in others] == [{"q": "You?"}, {"q": "You?", "r": 1}]


def test_a_cell_may_be_long_and_code_may_have_many_blank_lines(project, runevals):
    """In time proportional to their length: blank lines took hours."""
    assertion = {"type": "javascript", "value": f"// x{chr(10) * 200_000}return output === 'y'"}
    project.write(
        "p.json", {"prompts": ["{{q}}"], "tests": ["file://t.csv", {"vars": {"q": "z"}, "assert": [assertion]}]}
    )
    project.write("t.csv", f"q\n{'x' * 200_000}\n")
    code, out, err = runevals("import", "promptfoo", "p.json")
    ended(code, 0, out + err, "2 cases, 1 check", "check-1.mjs", without=["Traceback"])


def test_scenarios_of_millions_of_cases_are_refused_at_once(project, runevals):
    many = [{"vars": {"q": str(number)}} for number in range(3000)]
    project.write("p.json", {"prompts": ["{{q}}"], "scenarios": [{"config": many, "tests": many}]})
    code, _, err = runevals("import", "promptfoo", "p.json")
    ended(code, 2, err, "more than 100000 cases")


def test_converted_settings_are_readable_yaml(imported, project):
    imported("everything")
    text = (project.path / "everything" / "runevals.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text)["suites"] == ["evals/eval-samples.json"]
    assert not text.startswith("{")


def prompted(project, name="runevals.yaml"):
    """(the prompt file that settings name, what it holds)."""
    named = yaml.safe_load((project.path / name).read_text(encoding="utf-8"))["target"]["prompt_file"]
    return named, (project.path / name).parent.joinpath(named).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("provider", "target"),
    [
        ("anthropic:messages:claude-sonnet-5", {"type": "anthropic", "model": "claude-sonnet-5"}),
        ("google:gemini-3.5-flash", {"type": "gemini", "model": "gemini-3.5-flash"}),
        ("openrouter:meta/llama-4", {"type": "openrouter", "model": "meta/llama-4"}),
        ("ollama:chat:qwen3:4b", {"type": "ollama", "model": "qwen3:4b"}),
        ("ollama:embeddings:nomic", None),
        ("cohere:command-a", None),
        ("bedrock:openai.gpt-oss-120b-1:0", {"type": "bedrock", "model": "openai.gpt-oss-120b-1:0"}),
        ("bedrock:converse:us.amazon.nova-pro-v1:0", {"type": "bedrock", "model": "us.amazon.nova-pro-v1:0"}),
    ],
)
def test_providers_that_speak_the_same_api_become_targets(provider, target):
    (found,) = read_providers(provider, Files(folder=HERE, root=HERE), Remarks())
    assert found.target == target


@pytest.mark.parametrize(
    ("provider", "target"),
    [
        ("anthropic:claude-agent-sdk", {"type": "claude-code"}),
        (
            {"id": "openai:codex-sdk", "config": {"model": "m", "working_dir": "w"}},
            {"type": "codex", "model": "m"},
        ),
    ],
)
def test_agents_become_agents_and_what_else_they_are_given_is_remarked(provider, target):
    remarks = Remarks()
    found = read_providers([provider], Files(folder=HERE, root=HERE), remarks)
    assert targets_for([("p",)], found, remarks) == [target]
    keys = [] if isinstance(provider, str) else ["config.working_dir has no equivalent in runevals"]
    assert [remark.message for remark in remarks.entries] == keys


def test_a_prefix_that_differs_between_tests_becomes_a_variable(project, runevals):
    config = "prompts: ['{{x}}?']\nproviders: [openai:tiny]\n"
    config += (
        "tests: [{vars: {x: a}, options: {prefix: 'Dear {{x}}, '}}, {vars: {x: b}, options: {suffix: ' Bye'}}]\n"
    )
    project.write("p.yaml", config)
    assert runevals("import", "promptfoo", "p.yaml")[0] == 0
    assert prompted(project) == ("evals/prompts/prompt-1.txt", "{{__prefix}}{{x}}?{{__suffix}}\n")
    samples = project.document("evals/eval-samples.json")["samples"]
    assert [sample["vars"] for sample in samples] == [
        {"x": "a", "__prefix": "Dear a, ", "__suffix": ""},
        {"x": "b", "__prefix": "", "__suffix": " Bye"},
    ]


@pytest.mark.parametrize(
    ("settings", "named"),
    [("runevals.yaml", "p/ask.txt"), (".github/runevals.yaml", "p/ask.txt"), ("ci/runevals.yaml", "../p/ask.txt")],
)
def test_a_prompt_file_is_used_unchanged(project, runevals, settings, named):
    project.write("p/ask.txt", "What is {{x}}?")
    project.write("p.yaml", "prompts: file://p/ask.txt\nproviders: openai:tiny\ntests: [{vars: {x: a}}]\n")
    assert runevals("import", "promptfoo", "p.yaml", "--settings", settings)[0] == 0
    text = (project.path / settings).read_text(encoding="utf-8")
    assert yaml.safe_load(text)["target"]["prompt_file"] == named
    code, out, err = runevals("validate", "--config", settings)
    ended(code, 0, out + err, "1 case")


def test_a_prompt_of_another_repository_is_copied(project, runevals):
    project.write("other/.git/HEAD", "")
    project.write("other/ask.txt", "What is {{x}}?")
    project.write("other/p.yaml", "prompts: file://ask.txt\nproviders: openai:tiny\ntests: [{vars: {x: a}}]\n")
    (project.path / "mine" / ".git").mkdir(parents=True)
    words = ("--output", "mine/evals/cases.json", "--settings", "mine/runevals.yaml")
    assert runevals("import", "promptfoo", "other/p.yaml", *words)[0] == 0
    assert prompted(project, "mine/runevals.yaml") == ("evals/prompts/ask.txt", "What is {{x}}?\n")


def test_without_a_target_the_prompt_is_written_and_the_settings_say_what_to_add(imported, project):
    code, out, err = imported("several-prompts")
    ended(
        code,
        0,
        out,
        "⚠ promptfoo: 2 cases",
        "No target: no provider has an equal here",
        without=["✓"],
    )
    assert "cohere:command-a: ask it through" in err
    assert "its config (systemPrompt) is lost with it" in err
    text = (project.path / "several-prompts" / "runevals.yaml").read_text(encoding="utf-8")
    (target,) = [line.removeprefix("# ") for line in text.splitlines() if line.startswith("# target:")]
    assert yaml.safe_load(target)["target"]["prompt_file"] == "prompts/support.txt"


def test_strict_fails_if_the_provider_was_not_converted(imported):
    code, out, _ = imported("several-prompts", "--strict")
    ended(code, 2, out, "⚠ promptfoo: 2 cases")


def test_a_provider_keeps_its_prompts_and_a_prompt_its_config(project, runevals):
    schema = {"type": "json_schema", "json_schema": {"name": "s", "schema": {}}}
    prompts = [
        {"label": "short", "raw": "{{n}}?", "config": {"response_format": schema}},
        {"label": "long", "raw": "What is {{n}}?", "config": {"top_p": 0.5, "stream": True}},
    ]
    providers = [
        {"id": "openai:small", "prompts": ["short"], "config": {"temperature": 0, "top_p": 1}},
        {"id": "openai:large", "prompts": ["short", "long"]},
        {"id": "openai:idle", "prompts": ["short"], "config": {"max_tokens": 9}},
    ]
    project.write("p.json", {"prompts": prompts, "providers": providers, "tests": [{"vars": {"n": 1}}]})
    code, _, err = runevals("import", "promptfoo", "p.json")
    short, long = (
        yaml.safe_load((project.path / name).read_text(encoding="utf-8"))["target"]
        for name in ("runevals.yaml", "runevals.long.yaml")
    )
    assert (short["model"], long["model"]) == ("small", "large")
    assert short["parameters"] == {"temperature": 0, "top_p": 1, "response_format": schema}
    assert long["parameters"] == {"top_p": 0.5}
    ended(code, 0, err, "lost: prompt long: config.stream", "lost: provider openai:idle: a run has one target")
    ended(code, 0, err, "--model idle`; its config (max_tokens) is not that of the target: set it there\n")


def test_config_of_an_assertion_reaches_its_code(imported, project, runevals):
    imported("parts-that-fail")
    answers = '{"case": "code", "output": "Pro"}'
    project.write("parts-that-fail/answers.jsonl", answers)
    code, out, err = runevals("--filter", "code", "--target", "recorded:answers.jsonl", "-o", "out.json")
    ended(code, 0, out + err, "1 of 1 case passes")


def test_below_a_half_nothing_is_written_without_force(project, runevals):
    assertions = [{"type": "contains", "value": "x"}, *({"type": "moderation"} for _ in range(5))]
    document = {"prompts": ["hi"], "providers": ["openai:tiny"], "tests": [{"assert": assertions}]}
    project.write("p.json", document)
    code, _, err = runevals("import", "promptfoo", "p.json")
    ended(code, 2, err, "1 of 6 assertions can be converted", "(5 places; this is the first)")
    assert not (project.path / "evals").exists()
    code, out, _ = runevals("import", "promptfoo", "p.json", "--force")
    ended(code, 0, out, "1 case, 1 check (1 of 6 assertions kept)")
