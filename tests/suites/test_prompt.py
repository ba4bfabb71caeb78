"""A target's prompt template with the variables of cases in it."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from runevals.records import Message, PromptTemplate
from runevals.records.errors import InvalidSuite
from runevals.suites.dialects import LoadOptions, load
from runevals.suites.prompt import prompt_problems, variables_of, with_prompts

ROWS = LoadOptions(evaluators={"preset-exact-match": {}})

WHERE = "; docs/suites.md#variables says where it stands"


@pytest.fixture
def suite(tmp_path):
    """A suite of eval samples, of another format by the name of its file."""

    def loaded(*cases, name="s.json"):
        path = tmp_path / name
        path.write_text(cases[0] if name.endswith((".yml", ".csv")) else json.dumps(cases), encoding="utf-8")
        return load(path, name, ROWS)

    return loaded


def template(*contents):
    roles = ["user", "assistant", "system"][: len(contents)][::-1]
    messages = tuple(Message(role=role, content=text) for role, text in zip(roles, contents, strict=True))
    return PromptTemplate(display_path="p.md", messages=messages)


def sample(key="a", **more):
    return {"sample_id": key, "assertions": [{"type": "contains", "value": "x"}], **more}


def asked(suite, *contents):
    """The prompt of the first case with this template, and what stands before it."""
    ((case, *_),) = [found.cases for found in with_prompts([suite], template(*contents), lambda case: True)]
    return case.turns[0].prompt, [(message.role, message.content) for message in case.opening]


VARS = {"city": "Rome", "user": {"name": "Ana", "age": 7}, "sizes": [1, 2.5], "none": None, "loop": "{{city}}"}


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("In {{city}}, {{ city }}", "In Rome, Rome"),
        ("{{user.name}} {{user.age}} {{user}}", 'Ana 7 {"name": "Ana", "age": 7}'),
        ("{{sizes}}<{{none}}>", "[1, 2.5]<>"),
        ("{{loop}}", "{{city}}"),
    ],
)
def test_variable_values_are_filled_in_as_text_and_not_expanded(suite, text, prompt):
    assert asked(suite(sample(vars=VARS)), text) == (prompt, [])


def test_the_prompt_of_a_case_is_a_variable_and_its_author_prompt(suite):
    own = suite(sample(prompt="Who?", context="x = 1", vars={"tone": "kind"}))
    [found] = with_prompts([own], template("Be {{tone}}. {{prompt}}"), lambda case: True)
    [turn] = found.cases[0].turns
    assert turn.prompt == "Be kind. Who?\n\n```\nx = 1\n```"
    assert turn.author_prompt == "Who?"


def test_messages_before_the_last_are_the_opening_of_the_conversation(suite):
    found = asked(suite(sample(vars=VARS)), "In {{city}}.", "Hello", "{{user.name}}")
    assert found == ("Ana", [("system", "In Rome."), ("assistant", "Hello")])


def test_only_the_first_turn_of_a_thread_uses_the_template(suite):
    turns = [{"prompt": text, "expected_response": "x"} for text in ("One?", "Two?")]
    told = suite({"name": "t", "turns": turns, "extensions": {"runevals": {"vars": {"tone": "kind"}}}})
    [found] = with_prompts([told], template("{{tone}}: {{prompt}}"), lambda case: True)
    assert [turn.prompt for turn in found.cases[0].turns] == ["kind: One?", "Two?"]


@pytest.mark.parametrize("name", ["prompt", "input"])
def test_columns_of_rows_are_variables_except_the_expected_text(suite, name):
    rows = suite("input,expected,tone\nWho?,Ana,kind\n", name="r.csv")
    assert asked(rows, f"{{{{tone}}}}: {{{{{name}}}}}")[0] == "kind: Who?"
    [problem] = prompt_problems([rows], template("{{input}} {{expected}}"), lambda case: True)
    assert "has no variable 'expected'" in str(problem)


@pytest.mark.parametrize("text", ["{{city}}: {{question}}", "{{question}}"])
def test_a_table_of_the_templates_variables_needs_no_input(tmp_path, text):
    (tmp_path / "r.csv").write_text("city,question,expected,difficulty\nRome,Who?,Ana,hard\n", encoding="utf-8")
    options = replace(ROWS, variables=variables_of(template(text)))
    rows = load(tmp_path / "r.csv", "r.csv", options)
    assert rows.errors == ()
    assert [*prompt_problems([rows], template(text), lambda case: True)] == []
    assert asked(rows, text)[0] == text.replace("{{city}}", "Rome").replace("{{question}}", "Who?")
    assert rows.cases[0].name == "Who?"  # by whichever it uses: other words of a prompt make no other cases
    assert load(tmp_path / "r.csv", "r.csv", ROWS).cases[0].turns[0].prompt == "Who?"  # without a template, too


def test_the_template_changes_neither_key_nor_fingerprint(suite):
    told = suite(sample(vars={"city": "Rome"}), sample("b", vars={"city": "Oslo"}))
    made = [with_prompts([told], template(text), lambda case: True)[0] for text in ("A {{city}}", "B {{city}}")]
    assert [[(case.key, case.fingerprint) for case in one.cases] for one in made] == [
        [(case.key, case.fingerprint) for case in told.cases]
    ] * 2
    assert told.cases[0].fingerprint != told.cases[1].fingerprint


@pytest.mark.parametrize(
    ("cases", "text", "told"),
    [
        (
            [sample(vars={"city": "Rome"})],
            "{{citty}} {{x}}",
            (
                "s.json:1:2: case 'a' has no variable 'citty', which p.md uses; did you mean 'city'?\n"
                "s.json:1:2: case 'a' has no variable 'x', which p.md uses" + WHERE
            ),
        ),
        (
            [sample("a", vars={}), sample("b", vars={"city": "Rome"}), sample("c", vars={"x": 1})],
            "{{city}}",
            f"s.json:1:2: case 'a' has no variable 'city', which p.md uses{WHERE} (and 1 more case)",
        ),
        (
            [sample(prompt="Who?", vars={"city": "Rome"})],
            "{{city}}",
            "s.json:1:2: case 'a' has a prompt, but p.md does not use it: add {{prompt}}",
        ),
        (
            [sample(prompt="Who?", vars={"prompt": "What?"})],
            "{{prompt}}",
            "s.json:1:2: case 'a' has both a prompt and a variable 'prompt': rename the variable",
        ),
        (
            [sample(vars={"city": " "})],
            "{{city}}",
            "s.json:1:2: the prompt of case 'a' is empty after p.md is filled in",
        ),
        (
            [sample(prompt="Who?", vars={"question": "Who?"}), sample("b", vars={"question": "What?"})],
            "Answer well, {question}.",
            (
                "s.json:1:2: p.md uses no variable: it would ask every case the same; "
                "add {{prompt}}, {{question}} (and 1 more case)"
            ),
        ),
        ([sample(prompt="Who?", vars={"question": "Who?"})], "{{question}}", None),
        ([sample(vars={"prompt": "Who?"})], "{{prompt}}", None),
    ],
)
def test_cases_that_lack_a_template_variable_are_reported(suite, cases, text, told):
    found = [str(problem) for problem in prompt_problems([suite(*cases)], template(text), lambda case: True)]
    assert "\n".join(found) == (told or "")
    if told is not None:
        with pytest.raises(InvalidSuite):
            asked(suite(*cases), text)


def test_cases_that_do_not_run_need_no_variables(suite):
    told = suite(sample("a", vars={"city": "Rome"}), sample("b", vars={}))
    [found] = with_prompts([told], template("{{city}}"), lambda case: case.key == "a")
    assert [case.turns[0].prompt for case in found.cases] == ["Rome", ""]


def test_without_a_template_a_sample_needs_a_prompt(suite):
    told = suite(sample("a", vars={"city": "Rome"}), sample("b", prompt="Who?"))
    [problem] = prompt_problems([told], None, lambda case: True)
    assert "case 'a' has variables and no prompt: name their prompt template with target.prompt_file" in str(
        problem
    )


def test_a_prompt_file_of_github_has_its_own_prompt(suite):
    text = "messages: [{role: user, content: Hi}]\ntestData: [{input: a}, {input: b}]\nevaluators: []\n"
    told = suite(text.replace("[]", "[{name: n, string: {contains: a}}]"), name="p.prompt.yml")
    [problem] = prompt_problems([told], template("{{input}}"), lambda case: True)
    assert "this suite is a prompt itself: run it without target.prompt_file" in str(problem)
