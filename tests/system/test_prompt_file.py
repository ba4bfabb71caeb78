"""A target's prompt template: what is sent, and that a change of it is what a comparison sees."""

from __future__ import annotations

import json
import sys

import pytest

from tests.chat_server import Reply, chat_server
from tests.ending import ended

PROMPT = "You know that {{country}} is ruled from its capital.\nWhat is the capital of {{country}}?\n"
CAPITALS = {"France": "Paris", "Peru": "Lima", **{f"Land {n}": f"City {n}" for n in range(10)}}
ALL = len(CAPITALS)
AGAIN = 2  # fresh runs of a case that erred
SUITE = {
    "samples": [
        {
            "sample_id": country,
            "vars": {"country": country},
            "assertions": [{"type": "contains", "value": capital}],
        }
        for country, capital in CAPITALS.items()
    ]
}
CHECKED = "suites: [cases.json]\ntarget: {type: openai, model: tiny, prompt_file: prompts/ask.txt}\n"
OUT = ("-q", "-o", "out.json")


def answer(body, number):
    """Knows every capital, where it is asked for one."""
    asked = body["messages"][-1]["content"]
    capital = next(capital for country, capital in CAPITALS.items() if country in asked)
    return Reply(capital if "capital of" in asked else "I do not know.")


@pytest.fixture
def server(monkeypatch):
    with chat_server(answer) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        yield running


@pytest.fixture
def change(repository, server):
    """A branch that begins at a commit with a suite, settings and a prompt file."""
    repository.git("checkout", "-q", "main")
    for name, content in (("cases.json", SUITE), ("runevals.yaml", CHECKED), ("prompts/ask.txt", PROMPT)):
        repository.write(name, content)
    repository.write(".gitignore", "*.json\n!cases.json\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "prompt")
    repository.git("checkout", "-q", "-B", "change")
    return repository


def sent(server):
    return [body["messages"][-1]["content"] for body in server.requests]


def test_the_prompt_is_sent_with_the_variables_of_each_case(change, runevals, server):
    code, out, err = runevals(*OUT)
    ended(code, 0, out + err, f"{ALL} of {ALL} cases pass")
    assert sorted(sent(server))[0] == PROMPT.strip().replace("{{country}}", "France")
    [turn] = change.document()["cases"][0]["attempts"][0]["turns"]
    assert turn["prompt"] == PROMPT.strip().replace("{{country}}", "France")


def test_a_worse_prompt_is_a_regression_of_the_same_cases(change, runevals, server):
    runevals("-q", "-o", "base.json")
    change.write("prompts/ask.txt", "Tell me about {{country}}.")
    code, out, err = runevals("--base", "main", *OUT)
    assert code == 1, out + err
    assert sorted(set(sent(server)[2 * ALL :]))[0] == "Tell me about France."
    base, head = change.document("base.json"), change.document()
    assert [case["fingerprint"] for case in head["cases"]] == [case["fingerprint"] for case in base["cases"]]
    hashes = [document["run"]["target"]["prompt_hash"] for document in (base, head)]
    assert None not in hashes
    assert len(set(hashes)) == 2
    assert {found["change"] for found in head["comparison"]["changes"]} == {"regressed"}
    assert "− Paris" in out


def test_the_changed_line_of_the_prompt_is_shown_above_the_answers(change, runevals):
    change.write("prompts/ask.txt", PROMPT.replace("What is the capital of", "Tell me about"))
    code, out, err = runevals("--base", "main", *OUT, "-o", "summary.md")
    shown = "What changed in the prompt  prompts/ask.txt"
    ended(code, 1, out + err, shown, "-What is the capital of {{country}}?", "+Tell me about {{country}}?")
    [changed] = change.document()["prompt_changes"]
    assert changed["path"] == "prompts/ask.txt"
    summary = (change.path / "summary.md").read_text(encoding="utf-8")
    assert "**What changed in the prompt** <code>prompts&#47;ask&#46;txt</code>\n```diff\n@@" in summary
    assert summary.index("+Tell me about") < summary.index("What changed in the answers")


def test_a_secret_in_a_prompt_is_not_shown(change, runevals, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    change.write("prompts/ask.txt", "Tell me about {{country}} with sk-0123456789abcdef.")
    assert runevals("--base", "main", *OUT)[0] == 1
    [changed] = change.document()["prompt_changes"]
    assert "Tell me about {{country}} with " in changed["diff"]
    assert "0123456789abcdef" not in (change.path / "out.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [("--redact", "none"), ("--redact", "hashes")])
def test_where_contents_are_not_written_no_prompt_is(change, runevals, words):
    change.write("prompts/ask.txt", "Tell me about {{country}}.")
    assert runevals("--base", "main", *OUT, *words)[0] == 1
    assert "prompt_changes" not in change.document()


def test_a_prompt_behind_a_link_out_of_the_repository_is_not_shown(change, runevals, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "ask.txt"
    outside.write_text("Tell me about {{country}}.", encoding="utf-8")
    (change.path / "prompts/ask.txt").unlink()
    (change.path / "prompts/ask.txt").symlink_to(outside)
    _, out, err = runevals("--base", "main", *OUT)
    assert "Tell me about {{country}}" not in out + err


def test_an_unchanged_prompt_is_green(change, runevals):
    code, out, err = runevals("--base", "main", *OUT)
    ended(code, 0, out + err, "No regression")


def test_a_prompt_file_is_read_by_the_run(change, runevals, server):
    assert runevals("-q", "-o", "base.json")[0] == 0
    again = ("--baseline", "base.json", "--changed-only", *OUT)
    change.write("README.md", "Hello.")
    assert "nothing was run" in runevals(*again)[1]
    change.write("prompts/ask.txt", f"Please. {PROMPT}")
    code, out, _ = runevals(*again)
    ended(code, 0, out, "prompts/ask.txt")
    assert len(server.requests) == 2 * ALL


def test_kept_answers_are_those_of_the_prompt(change, runevals, server):
    run = ("--cache-target", *OUT)
    assert [runevals(*run)[0], runevals(*run)[0], len(server.requests)] == [0, 0, ALL]
    change.write("prompts/ask.txt", f"Please. {PROMPT}")
    assert (runevals(*run)[0], len(server.requests)) == (0, 2 * ALL)


def test_a_run_goes_on_with_no_answer_to_another_prompt(change, runevals, monkeypatch):
    def unwell(body, number):
        is_down = "Peru" in body["messages"][-1]["content"] and number < ALL + AGAIN
        return Reply(status=400) if is_down else answer(body, number)

    with chat_server(unwell) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert runevals(*OUT)[0] == 3
        assert len(server.requests) == ALL + AGAIN
        change.write("prompts/ask.txt", f"Please. {PROMPT}")
        assert runevals("--resume", *OUT)[0] == 0
        assert [text[:7] for text in sent(server)[ALL + AGAIN :]] == ["Please."] * ALL


@pytest.mark.parametrize("words", [(), ("--base", "main"), ("--dry-run",)])
def test_a_variable_that_no_case_has_is_told_before_anything_is_sent(change, runevals, server, words):
    change.write("prompts/ask.txt", "What is the capital of {{county}}?")
    code, _, err = runevals(*words)
    told = "cases.json:3:3: case 'France' has no variable 'county', which prompts/ask.txt uses"
    ended(code, 2, err, told, f"did you mean 'country'? (and {ALL - 1} more cases)")
    assert server.requests == []


def test_the_settings_show_the_prompt_file(change, runevals):
    code, out, _ = runevals("settings")
    ended(code, 0, out, "openai model=tiny ", " prompt_file=prompts/ask.txt")


def test_validate_tells_it_too(change, runevals):
    change.write("prompts/ask.txt", "What is the capital of {{county}}?")
    code, _, err = runevals("validate")
    ended(code, 2, err, "case 'France' has no variable 'county'")
    change.write("prompts/ask.txt", "{% if country %}")
    code, _, err = runevals("validate")
    ended(code, 2, err, "prompts/ask.txt:1:1: has a tag")


def test_prompts_of_the_command_line_are_asked_so_too(change, runevals, server):
    change.write("prompts/ask.txt", "Where is the capital of {{prompt}}?")
    code, out, err = runevals("--prompts", "France", "--expected", "Paris", "--no-judge", *OUT)
    ended(code, 0, out + err, "1 of 1 case passes")
    assert sent(server) == ["Where is the capital of France?"]
    change.write("prompts/ask.txt", PROMPT)
    code, _, err = runevals("--prompts", "France", "--no-judge", *OUT)
    ended(code, 2, err, "has no variable 'country'")


CHAT = [{"role": "system", "content": "Be kind to {{country}}."}, {"role": "user", "content": "{{country}}?"}]


def test_a_chat_keeps_its_roles_after_the_system_prompt(change, runevals, server):
    change.write("prompts/ask.json", CHAT)
    settings = CHECKED.replace("ask.txt", "ask.json").replace(
        "model: tiny", "model: tiny, system_prompt: Be brief."
    )
    change.write("runevals.yaml", settings)
    runevals(*OUT)
    found = next(body["messages"] for body in server.requests if "France" in body["messages"][-1]["content"])
    assert [(message["role"], message["content"]) for message in found] == [
        ("system", "Be brief."),
        ("system", "Be kind to France."),
        ("user", "France?"),
    ]


@pytest.mark.parametrize(
    ("target", "program"),
    [
        (f"type: command, command: ['{sys.executable}', agent.py]", "print(open(0).read())"),
        (
            "type: python, function: 'agent.py:answer'",
            "import json\ndef answer(prompt, messages):\n return json.dumps(locals())",
        ),
    ],
)
def test_programs_and_functions_are_given_the_filled_prompt(change, runevals, target, program):
    change.write("prompts/ask.json", CHAT)
    change.write("agent.py", program)
    change.write("runevals.yaml", f"suites: [cases.json]\ntarget: {{{target}, prompt_file: prompts/ask.json}}\n")
    runevals(*OUT)
    answers = [case["attempts"][0]["turns"][0]["output"] for case in change.document()["cases"]]
    assert [json.loads(one)["prompt"] for one in answers[:2]] == ["France?", "Peru?"]
    assert json.loads(answers[0])["messages"] == [
        {"role": "system", "content": "Be kind to France."},
        {"role": "user", "content": "France?"},
    ]


def test_recorded_answers_need_no_prompt(change, runevals):
    lines = [json.dumps({"case": country, "output": capital}) for country, capital in CAPITALS.items()]
    change.write("answers.jsonl", "\n".join(lines))
    code, out, err = runevals("--target", "recorded:answers.jsonl", *OUT)
    ended(code, 0, out + err, f"{ALL} of {ALL} cases pass")


def test_another_target_needs_the_prompt(change, runevals, server):
    code, _, err = runevals("--target", "openai:other", *OUT)
    ended(
        code,
        2,
        err,
        "case 'France' has variables and no prompt: name their prompt template with target.prompt_file",
    )
    assert server.requests == []


def test_answers_to_the_prompt_of_today_are_judged_again(change, runevals):
    assert runevals("-q", "-o", "base.json")[0] == runevals(*OUT)[0] == 0
    suite = json.loads(json.dumps(SUITE).replace("Lima", "Cusco"))
    change.write("cases.json", suite)
    code, out, err = runevals("compare", "--rejudge", "base.json", "out.json", "-o", "again.json")
    assert code == 0, out + err
    assert [case["status"] for case in change.document("again.json")["cases"][:2]] == ["passed", "failed"]


def test_a_change_of_prompt_and_suite_runs_the_old_form_of_each_case(change, runevals, server):
    change.write("prompts/ask.txt", "Tell me about {{country}}.")
    easy = [{**sample, "assertions": [{"type": "max_length", "value": 99}]} for sample in SUITE["samples"]]
    change.write("cases.json", {"samples": easy})
    code, out, err = runevals("--base", "main", *OUT)
    assert (code, "12 cases pass only in their edited form" in out.split("\n")[0]) == (0, True), out + err


IMPORTED = {
    "prompts": "file://prompts/support.txt",
    "providers": "openai:tiny",
    "tests": [
        {"description": country, "vars": {"country": country}, "assert": [{"type": "contains", "value": capital}]}
        for country, capital in CAPITALS.items()
    ],
}
IMPORT = ("import", "promptfoo", "promptfooconfig.json")


@pytest.fixture
def imported(change, runevals):
    """A branch from a commit of main that has an imported promptfoo configuration."""
    change.git("checkout", "-q", "main")
    change.git("rm", "-q", "cases.json", "evals.json", "agent.py")
    change.write("promptfooconfig.json", IMPORTED)
    change.write("prompts/support.txt", PROMPT)
    code, out, err = runevals(*IMPORT, "--force")
    ended(code, 0, out + err, f"✓ promptfoo: {ALL} cases, {ALL} checks", "Prompt: prompts/support.txt")
    change.git("add", "-A", "-f")
    change.git("commit", "-qm", "imported")
    assert runevals("-q")[0] == 0
    change.git("checkout", "-q", "-B", "change")
    return change


@pytest.mark.parametrize("again", [False, True], ids=["edited", "edited and imported again"])
def test_an_imported_prompt_that_is_made_worse_is_a_regression(imported, runevals, again):
    imported.write("prompts/support.txt", "Tell me about {{country}}.\n")
    if again:
        assert runevals(*IMPORT, "--force")[0] == 0
    imported.git("commit", "-qam", "worse")
    code, out, err = runevals("run", "--base", "main", *OUT)
    ended(code, 1, out + err, "12 of 12 cases regressed", "− Paris", without=["compared on the suite of"])
    assert imported.document()["comparison"]["state"] == "worse"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("target: {%s}", ("--model", "a", "--model", "b")),
        ("targets: {one: {%s}, two: {%s}}", ()),
    ],
)
def test_a_table_of_variables_is_read_for_several_targets(change, runevals, settings, words):
    target = f"type: command, command: ['{sys.executable}', '-c', 'print(input())'], prompt_file: p.md"
    change.write("p.md", "Answer {{question}}")
    change.write("t.csv", "id,question,expected\nk1,France,France\nk2,Peru,Peru\n")
    entry = "suites: [{path: t.csv, evaluators: [preset-contains]}]\n"
    change.write("runevals.yaml", entry + settings.replace("%s", target) + "\n")
    assert runevals("validate")[0] == 0
    code, out, err = runevals("run", *words, "--no-judge", "-q", "-o", "out.json")
    assert code == 0, out + err
    assert out.count("2 of 2 cases pass") == 2


def test_the_settings_give_the_checks_of_a_table_their_options(change, runevals):
    change.write("t.csv", "id,input,expected\nk1,France,France\nk2,Peru,Peru\n")
    change.write("app.py", "def answer(prompt):\n    return prompt\n")
    checks = "{preset-contains: {}, max_length: {value: 5}, not_contains: {value: Fr}}"
    change.write(
        "runevals.yaml", f"suites: [{{path: t.csv, evaluators: {checks}}}]\ntarget: python:app.py:answer\n"
    )
    code, out, err = runevals(*OUT)
    ended(code, 0, out + err, "k1", "max_length: 6 characters, at most 5 wanted", "not_contains: found: Fr")
    code, _, err = runevals("validate", "t.csv", "--evaluators", "max_length")
    ended(code, 2, err, "max_length needs the option 'value'", "`evaluators: {max_length: {…}}`")


def test_the_question_names_the_cases_of_a_table(change, runevals):
    change.write("p.md", "{{shop}}: {{question}}")
    change.write("t.csv", "shop,question,expected\nAcme,Who?,Acme\nAcme,When?,Acme\n")
    target = f"{{type: command, command: ['{sys.executable}', '-c', 'print(input())'], prompt_file: p.md}}"
    change.write("runevals.yaml", f"suites: [{{path: t.csv, evaluators: [preset-contains]}}]\ntarget: {target}\n")
    assert runevals(*OUT)[0] == 0
    assert [case["name"] for case in change.document()["cases"]] == ["Who?", "When?"]
    change.write("t.csv", "Shop,Question,expected\nAcme,Who?,Acme\n")
    code, _, err = runevals(*OUT)
    ended(code, 2, err, "the prompt file has 'question', and the column is 'Question'")


def test_a_misspelt_prompt_file_has_the_right_name(change, runevals):
    change.write("prompts/support.md", "{{prompt}}")
    change.write("runevals.yaml", "target: {type: openai, model: m, prompt_file: prompts/supprt.md}\n")
    code, _, err = runevals(*OUT)
    ended(code, 2, err, "there is no file prompts/supprt.md", "did you mean 'support.md'?")


ADDED = '"shop": "Acme", '  # beside the question
RENAMED = '"ask": "France", "shop": "Acme", '


@pytest.mark.parametrize(
    ("variables", "prompt", "expected", "told"),
    [
        (ADDED, "For {{shop}}, answer {{question}}", 0, "No regression shown"),
        (ADDED, "For {{shop}}, repeat: {{question}}!", 1, "1 case lost: k2"),
        (ADDED, "For {{shop}}", 3, " says where it stands (and 1 more case); edit it in an earlier change, "),
        (
            RENAMED,
            "For {{shop}}, answer {{ask}}",
            3,
            "(and 1 more case); edit the cases in an earlier change; `on_",
        ),
    ],
    ids=["only added", "only added, and worse", "in place of the question", "renamed"],
)
def test_a_variable_that_prompt_and_cases_get_at_once(change, runevals, variables, prompt, expected, told):
    """The old form is asked with the value that is added; one of another name could ask something easier."""
    program = "import json\ntext = json.loads(input())['prompt']\nprint(text.replace('Peru!', '') + '.')\n"
    target = f"{{type: command, command: ['{sys.executable}', agent.py], prompt_file: p.md}}"
    entry = f"suites: [{{path: cases.jsonl, evaluators: [preset-contains]}}]\ntarget: {target}\n"
    rows = '{{"id": "k1", "question": "France", {0}"expected": "France"}}\n'
    rows += '{{"id": "k2", "question": "Peru", {0}"expected": "Peru"}}\n'
    change.write("agent.py", program)
    change.write("runevals.yaml", entry)
    change.write("p.md", "Answer {{question}}")
    change.write("cases.jsonl", rows.format(""))
    change.git("add", "-A")
    change.git("commit", "-qm", "without a shop")
    change.write("p.md", prompt)
    change.write("cases.jsonl", rows.format(variables))
    code, out, err = runevals("--base", "HEAD", *OUT)
    ended(code, expected, out + err, told, without=["which line"] if expected == 3 else [])
    if expected == 3:  # what it says is done
        change.git("commit", "-qm", "cases first", "cases.jsonl")
        change.write("p.md", "For {{shop}}, answer {{question}}")
        code, out, err = runevals("--base", "HEAD", *OUT)
        ended(code, 0, out + err, "No regression shown")
