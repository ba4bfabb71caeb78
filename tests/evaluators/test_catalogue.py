"""Every evaluator is registered, documented and tested; building one tells every problem."""

import inspect
from pathlib import Path

import pytest

from runevals.cli.evaluators import explain
from runevals.evaluators import catalogue
from runevals.records import EvaluatorSpec
from runevals.records.errors import InvalidOptions, UnknownEvaluator
from tests.evaluators.expectations import ASSERTIONS, BAD_OPTIONS

ASSERTED = {row[0] for row in ASSERTIONS} & {row[0] for row in BAD_OPTIONS}  # in test_assertions
JUDGED = {
    "faithfulness",
    "answer_relevancy",
    "context_recall",
    "semantic_similarity",
    "rubric",
}  # in test_assertions_judged
SKILLS = {
    "exact",
    "skill-contains",
    "skill-regex",
    "schema",
    "no_forbidden_patterns",
    "timeout_or_error",
}  # in test_skills
HERE = Path(__file__).parent
ALL = list(catalogue.catalogue().items())


@pytest.mark.parametrize(("name", "cls"), ALL)
def test_every_evaluator_has_a_test_documented_options_and_an_example(name, cls):
    family, module = Path(inspect.getfile(cls)).parent.name, Path(inspect.getfile(cls)).stem
    assert name in ASSERTED | JUDGED | SKILLS or (HERE / family / f"test_{module}.py").is_file()
    told = explain(name)
    assert "Example:" in told
    assert "MISSING" not in told
    assert " Literal =" not in told
    assert " tuple =" not in told
    for field in catalogue.options_of(cls):
        assert f"    {field.name}: " in inspect.getdoc(cls)


@pytest.mark.parametrize(("name", "cls"), ALL)
def test_the_file_is_named_for_the_evaluator(name, cls):
    plain = name.removeprefix("preset-").replace("-", "_").lower()
    assert Path(inspect.getfile(cls)).stem.replace("_", "") == plain.replace("_", "")


def test_an_alias_finds_its_evaluator():
    assert catalogue.find("similarity") is catalogue.find("preset-similarity")


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(UnknownEvaluator, match="no evaluator 'Relevence'; did you mean 'Relevance'"):
        catalogue.find("Relevence")


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        (EvaluatorSpec(name="Relevance", threshold=7), ["threshold is 7, but Relevance scores from 1 to 5"]),
        (EvaluatorSpec(name="Citations", threshold=-1), ["threshold is -1, but Citations scores from 0 upwards"]),
        (EvaluatorSpec(name="ExactMatch", threshold=1), ["ExactMatch passes or fails; it takes no threshold"]),
        (EvaluatorSpec(name="ExactMatch", weight=0), ["weight is 0; it must be above 0 and at most 1,000,000"]),
        (EvaluatorSpec(name="regex"), ["regex needs the option 'pattern'"]),
        (
            EvaluatorSpec(name="PartialMatch", options={"algorithm": "f2", "case_sensitive": "no"}),
            [
                "algorithm must be one of f1, levenshtein, token_set, not 'f2'",
                "case_sensitive must be true or false",
            ],
        ),
        (
            EvaluatorSpec(name="contains", options={"values": "x"}),
            ["contains has no option 'values'; did you mean 'value'? (it takes value, case_sensitive)"],
        ),
    ],
)
def test_every_invalid_option_is_reported(spec, problems):
    with pytest.raises(InvalidOptions) as refused:
        catalogue.build(spec)
    assert [sentence for _, sentence in refused.value.problems] == problems


def test_the_threshold_of_the_suite_overrides_the_default():
    assert catalogue.build(EvaluatorSpec(name="PartialMatch")).threshold == 0.5
    assert catalogue.build(EvaluatorSpec(name="PartialMatch", threshold=0.9)).threshold == 0.9
