"""Which edits of a suite make a case another one."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest

from runevals.records import EvaluatorSpec, Turn
from runevals.suites.dialects import LoadOptions, load
from runevals.suites.fingerprint import case_fingerprints

PROMPT = "What is the capital of France?\n\nAnswer in one word.\n"


def content(turn: Turn, extra: object = None, ignored: tuple[str, ...] = ()) -> str:
    """What cases of two runs are compared by."""
    found = case_fingerprints([turn], extra or {}, ignored)
    return found["normalised_fingerprint"] or found["fingerprint"]


def asking(prompt=PROMPT, **more):
    return Turn(**{"prompt": prompt, "expected": "30 days", "context": "Café", **more})


def contains(text):
    return EvaluatorSpec(name="contains", options={"value": text})


@pytest.mark.parametrize(
    "prompt",
    [
        pytest.param(PROMPT + " ", id="trailing blank"),
        pytest.param(PROMPT.rstrip(), id="no newline at the end"),
        pytest.param(f"\n {PROMPT}", id="leading blanks"),
        pytest.param(PROMPT.replace("\n", "\r\n"), id="line ends"),
        pytest.param(PROMPT.replace("\n\n", "\n"), id="blank line"),
        pytest.param(PROMPT.replace(" ", "  "), id="runs of blanks"),
        pytest.param(PROMPT.replace(" ", "\t"), id="tabs"),
        pytest.param(PROMPT.replace(" ", "\u00a0"), id="no-break spaces"),
    ],
)
def test_a_prompt_that_differs_in_white_space_only_is_the_same_content(prompt):
    assert content(asking(prompt)) == content(asking())
    assert content(asking(context=prompt)) == content(asking(context=PROMPT))
    assert content(asking(), {"answer": [prompt]}) == content(asking(), {"answer": [PROMPT]})


@pytest.mark.parametrize("name", ["prompt", "context"])
def test_the_unicode_form_of_what_is_sent_is_not_a_difference(name):
    assert content(asking(**{name: "Cafe\u0301?"})) == content(asking(**{name: "Café?"}))


@pytest.mark.parametrize(
    "comparing",
    [
        lambda text: {"expected": text},
        lambda text: {"checks": (contains(text),)},
        lambda text: {"checks": (EvaluatorSpec(name="regex", options=MappingProxyType({"pattern": [text]})),)},
        lambda text: {"checks": (EvaluatorSpec(name="any", children=(contains(text),)),)},
    ],
)
def test_the_unicode_form_of_what_checks_compare_is_a_difference(comparing):
    """A check sees the text as it is written: another form of it does not find what the old one found."""
    for one, other in (("Cafe\u0301", "Café"), ("5 \u212a", "5 K")):  # the sign for kelvin, whose NFC is a letter
        before, after = (content(asking(context=None, **comparing(text))) for text in (one, other))
        assert before != after


@pytest.mark.parametrize(
    "other",
    [
        {"prompt": PROMPT.replace("one word", "one  Word")},
        {"prompt": PROMPT.replace("one word", "oneword")},
        {"prompt": "2² = ?"},  # compatibility forms, such as 22, are other texts
        {"context": None},
        {"expected": None},
    ],
)
def test_different_words_are_different_content(other):
    assert content(asking(**other)) != content(asking())


def test_white_space_in_an_expected_text_is_a_difference():
    code = "def f():\n    return 1"
    for other in (code + "\n", code.replace("\n", " \r\n"), code.replace("    ", "  "), f" {code}"):
        assert content(asking(expected=other)) != content(asking(expected=code))


def test_white_space_in_the_options_of_a_check_is_a_difference():
    pattern, other = (EvaluatorSpec(name="regex", options={"pattern": text}) for text in ("a b", "a  b"))
    assert content(asking(checks=(pattern,))) != content(asking(checks=(other,)))


def test_a_case_has_an_exact_and_a_normalised_fingerprint():
    plain, blank = (case_fingerprints([asking(prompt)]) for prompt in ("Hello", "Hello "))
    assert plain["normalised_fingerprint"] is None
    assert plain["fingerprint"] != blank["fingerprint"]
    assert blank["normalised_fingerprint"] == plain["fingerprint"]


def test_stored_results_of_equal_content_have_an_equal_fingerprint():
    """It stands in documents of earlier versions, and must never become another."""
    found = case_fingerprints([asking(checks=(EvaluatorSpec(name="ExactMatch"),))], {"a": 1})
    assert found["fingerprint"] == "57df272efa5708469f61f822d6926791058bd021f3bd0d434e1b35a977ad11e1"


def test_descriptive_names_of_a_case_are_not_content():
    assert content(asking(), {"tags": "a", "n": 1}, ("tags",)) == content(
        asking(), {"tags": "b", "n": 1}, ("tags",)
    )
    assert content(asking(), {"n": 1}, ("tags",)) != content(asking(), {"n": 2}, ("tags",))


ITEM = {"testId": "k", "prompt": "Hello", "expected_response": "Hi"}
SAMPLE = {"sample_id": "k", "prompt": "Hello", "assertions": [{"type": "contains", "value": "Hi"}]}
ROW = {"id": "k", "input": "Hello", "expected": "Hi", "country": "France"}
CALL = {"id": "k", "skill": "greet", "input": {"name": "Ada"}, "expected": {"type": "exact", "value": "Hi"}}
ENTRY = {"id": "k", "name": "Ada", "expected": "Hi"}
DESCRIBED = {"tags": ["new"], "critical": True, "category": "redteam"}
LABELLED = {**DESCRIBED, "provenance": "human"}


def greeting(entry, message="Greet {{name}}"):
    messages = [{"role": "user", "content": message}]
    evaluators = [{"name": "greets", "string": {"contains": "{{expected}}"}}]
    return {"messages": messages, "testData": [entry], "evaluators": evaluators}


def document(item):
    return {"schemaVersion": "1.2.0", "items": [item]}


def only_case(folder, document, name="evals.json"):
    case = loaded_case(folder, document, name)
    return case.normalised_fingerprint or case.fingerprint


def loaded_case(folder, document, name="evals.json"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    suite = load(path, name, LoadOptions(evaluators={"preset-exact-match": {}}))
    assert suite.errors == ()
    (case,) = suite.cases
    return case


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"schemaVersion": "1.2.0", "items": [one]}, {"schemaVersion": "1.2.0", "items": [other]})
        for one, other in (
            (ITEM, {**ITEM, "name": "another", "tags": ["new"], "category": "redteam", "notes": "seen in May"}),
            (ITEM, {**ITEM, "testId": "other"}),
            (ITEM, {**ITEM, "prompt": "Hello\n"}),
            ({**ITEM, "context": "One.\nTwo."}, {**ITEM, "context": "One. Two."}),
        )
    ]
    + [
        ([one], [other])
        for one, other in (
            (SAMPLE, {**SAMPLE, **LABELLED}),
            (SAMPLE, {**SAMPLE, "prompt": "Hello "}),
            ({**SAMPLE, "context": "One.\nTwo."}, {**SAMPLE, "context": "One. Two.\n"}),
            (ROW, {**ROW, **LABELLED}),
            (ROW, {**ROW, "input": " Hello", "country": "France "}),
        )
    ]
    + [
        (greeting(ENTRY), greeting({**ENTRY, **LABELLED})),
        (greeting(ENTRY), greeting({**ENTRY, "id": "other", "name": "Ada "})),
    ],
)
def test_files_that_differ_in_white_space_and_metadata_only_have_the_same_content(tmp_path, before, after):
    assert only_case(tmp_path, before) == only_case(tmp_path, after)


def test_skill_cases_that_differ_in_metadata_only_have_the_same_content(tmp_path):
    place = "skills/greet/tests/cases.json"
    before = only_case(tmp_path, [CALL], place)
    assert only_case(tmp_path, [{**CALL, **DESCRIBED, "description": "Greets."}], place) == before
    assert only_case(tmp_path, [{**CALL, "input": {"name": "Ada "}}], place) != before  # data of a program


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            greeting({**ENTRY, "category": "a"}, "{{category}}"),
            greeting({**ENTRY, "category": "b"}, "{{category}}"),
        ),
        ([ROW], [{**ROW, "country": "Peru"}]),
        ([ROW], [{**ROW, "expected": "Ho"}]),
        ([{**SAMPLE, "must_have": "$25"}], [{**SAMPLE, "must_have": ""}]),
        ([SAMPLE], [{**SAMPLE, "customer": {"tier": "gold"}}]),
        (document(ITEM), document({**ITEM, "extensions": {"ours": {"must": "$25"}}})),
    ],
)
def test_everything_that_the_target_or_a_check_gets_is_content(tmp_path, before, after):
    assert only_case(tmp_path, before) != only_case(tmp_path, after)


def test_everything_that_a_check_of_a_skill_gets_is_content(tmp_path):
    place = "skills/greet/evals/evals.json"
    (tmp_path / "skills" / "greet").mkdir(parents=True)
    (tmp_path / "skills" / "greet" / "SKILL.md").write_text("---\nname: greet\ndescription: d\n---\n", "utf-8")
    case = {"id": 1, "prompt": "Hello", "expected_output": "Hi", "assertions": ["Greets."]}

    def fingerprint(**more):
        return only_case(tmp_path, {"skill_name": "greet", "evals": [{**case, **more}]}, place)

    assert fingerprint(customer="hard") != fingerprint(customer="easy")
    assert fingerprint(notes="seen in May", priority=1) == fingerprint()


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("samples.json", [SAMPLE], [{**SAMPLE, "notes": "seen in May"}]),
        ("evals.json", document(ITEM), document({**ITEM, "notes": "seen in May"})),
    ],
)
def test_a_check_may_read_a_note_so_it_is_exact_content(tmp_path, name, before, after):
    one, other = (loaded_case(tmp_path, text, name) for text in (before, after))
    assert one.fingerprint != other.fingerprint
    assert one.fingerprint == (other.normalised_fingerprint or other.fingerprint)


def test_a_variable_that_is_called_as_a_note_is_content(tmp_path):
    def fingerprint(notes):
        extensions = {"runevals": {"vars": {"notes": notes}}, "ours": 1}
        return only_case(tmp_path, document({**ITEM, "extensions": extensions}))

    assert fingerprint("a") != fingerprint("b")


def test_a_case_is_the_same_in_rows_and_in_an_eval_document(tmp_path):
    item = {"prompt": "Capital of France?", "expected_response": "Paris", "category": "eu"}
    document = {"schemaVersion": "1.2.0", "default_evaluators": {"PartialMatch": {}}, "items": [item]}
    (tmp_path / "evals.json").write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "rows.csv").write_text("input,expected,category\nCapital of France?,Paris,eu\n", encoding="utf-8")
    options = LoadOptions(evaluators={"PartialMatch": {}})
    first, second = (load(tmp_path / name, name, options).cases[0] for name in ("evals.json", "rows.csv"))
    assert first.fingerprint == second.fingerprint
