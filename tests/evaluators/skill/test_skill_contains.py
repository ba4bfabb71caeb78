import pytest

from runevals.evaluators import catalogue
from runevals.evaluators.kinds import Subject
from runevals.evaluators.skill.skill_contains import SkillContains
from runevals.records import EvaluatorSpec, Response
from runevals.records.errors import InvalidOptions


@pytest.mark.parametrize(
    ("values", "result", "score"),
    [
        pytest.param(("-i", "a.mp4"), "ffmpeg -i a.mp4", 1.0, id="parts of a text"),
        pytest.param(("-i", "b.mp4"), "ffmpeg -i a.mp4", 0.0, id="one is missing"),
        pytest.param((" ",), "two words", 1.0, id="a space is a value of its own"),
        pytest.param(("-i", 2), ["-i", 2.0], 1.0, id="elements of a list"),
        pytest.param((True,), [1], 0.0, id="true is not 1"),
        pytest.param(("1",), 1, 0.0, id="neither text nor list"),
    ],
)
def test_every_value_must_be_in_the_result(values, result, score):
    subject = Subject(prompt="{}", response=Response(text="", value=result))
    assert SkillContains(values=values).check(subject).score == score


def test_the_empty_text_is_in_every_text():
    with pytest.raises(InvalidOptions, match="values has the empty text"):
        catalogue.build(EvaluatorSpec(name="skill-contains", options={"values": ["a", ""]}))
