"""`llm` evaluators: the template, what is data in it, and what the score means."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.evaluators.judged.llm import Llm
from runevals.records.judgement import Judgement
from tests.evaluators.subjects import answering

SUBJECT = answering("The answer {{expected}}", prompt="The question")


def test_the_documented_template_omits_a_missing_reference():
    question = Llm().question(SUBJECT)
    assert [label for label, _ in question.parts] == ["INPUT", "OUTPUT"]
    assert "reference" not in question.instructions
    with_expected = Llm().question(replace(SUBJECT, expected="gold"))
    assert dict(with_expected.parts)["EXPECTED"] == "gold"
    assert "A reference answer:\n(the text marked EXPECTED)" in with_expected.instructions
    assert "reference" not in Llm().question(replace(SUBJECT, expected="")).instructions  # empty is false


def test_the_documented_template_asks_for_each_dimension_and_keeps_those_of_the_reply():
    assert Llm().question(SUBJECT).dimensions == ("accuracy", "completeness", "clarity")
    assert Llm(prompt="Judge {{output}}").question(SUBJECT).dimensions == ()
    scores = {"clarity": 2.0}
    assert Llm().verdict(Judgement(score=6, dimensions=scores)).details == {"dimensions": scores}
    assert Llm().verdict(Judgement(score=6)).details == {}


def test_template_markup_in_a_response_is_not_expanded():
    question = Llm(prompt="Judge {{output}}").question(replace(SUBJECT, expected="secret"))
    assert question.instructions == "Judge (the text marked OUTPUT)"
    assert question.parts == (("OUTPUT", "The answer {{expected}}"),)


def test_metadata_and_nested_ifs():
    template = "{{#if metadata.a}}A{{#if metadata.b}}B{{metadata.b}}{{/if}}{{/if}}{{#if metadata.none}}N{{/if}}"
    question = Llm(prompt=template).question(replace(SUBJECT, metadata={"a": 1, "b": [2]}))
    assert question.instructions == "AB(the text marked METADATA B)"
    assert question.parts == (("METADATA B", "[2]"),)


@pytest.mark.parametrize(
    ("score", "more", "share", "passed"),
    [
        (6, {}, 0.6, True),
        (5.9, {}, 0.59, False),
        (0, {}, 0.0, False),
        (3, {"minimum": 1.0, "maximum": 5.0}, 0.5, False),
        (3.4, {"minimum": 1.0, "maximum": 5.0}, 0.6, True),
        (3, {"minimum": 1.0, "maximum": 5.0, "pass_from": 0.5}, 0.5, True),
    ],
)
def test_the_score_is_normalised_and_passes_from_six_tenths(score, more, share, passed):
    evaluator = Llm(**more)
    verdict = evaluator.verdict(Judgement(score=score, reason="r"))
    assert verdict.passed is passed
    assert evaluator.scale.share(verdict.score) == pytest.approx(share)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"prompt": "{{outptu}}"}, "no variable 'outptu'"),
        ({"prompt": "{{#if expected}}x"}, "does not close it"),
        ({"prompt": "{{#if input}}" * 5000 + "x" + "{{/if}}" * 5000}, "nests {{#if}} more than 20 deep"),
        ({"prompt": "x{{/if}}"}, "did not open"),
        ({"prompt": "no variable"}, "the judge would not see the answer: write {{output}}"),
        ({"prompt": "{{input}}{{#if output}}x{{/if}}"}, "the judge would not see the answer"),
        ({"minimum": 5.0, "maximum": 5.0}, "max must be above min"),
        ({"pass_from": 6.0}, "must be from 0 to 1"),
    ],
)
def test_invalid_llm_configurations_are_reported(more, told):
    assert told in "; ".join(sentence for _, sentence in Llm(**more).problems())
