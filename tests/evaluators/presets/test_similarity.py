import pytest
from hypothesis import given
from hypothesis import strategies as st

from runevals.evaluators.presets.similarity import PresetSimilarity
from tests.evaluators.subjects import answering, passes

SHORT, LONG = "北京是中国首都", "北京是中国的首都"
ALGORITHMS = ("levenshtein", "cosine", "jaccard")


@pytest.mark.parametrize(
    ("algorithm", "text", "expected", "score"),
    [
        pytest.param("levenshtein", SHORT, LONG, 0.875, id="the seed's example, printed 0.88"),
        pytest.param("cosine", SHORT, LONG, 0.7715, id="cosine over CJK bigrams"),
        pytest.param("jaccard", SHORT, LONG, 0.625, id="jaccard over CJK bigrams"),
        pytest.param("cosine", "the cat", "the dog", 0.5, id="cosine over words"),
        pytest.param("jaccard", "a b c", "B C d", 0.5, id="jaccard folds case"),
        pytest.param("levenshtein", "👍🏽", "👍", 0.5, id="code points, not UTF-16 units"),
        pytest.param("cosine", "", "cat", 0.0, id="one side empty"),
    ],
)
def test_preset_similarity(algorithm, text, expected, score):
    verdict = PresetSimilarity(algorithm=algorithm).check(answering(text, expected=expected))
    assert verdict.score == pytest.approx(score, abs=5e-5)


def test_the_example_of_the_specification_passes_by_default():
    evaluator = PresetSimilarity()
    assert passes(evaluator, evaluator.check(answering(SHORT, expected=LONG)))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(left=st.text(max_size=20), right=st.text(max_size=20))
def test_similarity_is_symmetric_bounded_and_one_for_equal_texts(algorithm, left, right):
    evaluator = PresetSimilarity(algorithm=algorithm)
    there = evaluator.check(answering(left, expected=right)).score
    back = evaluator.check(answering(right, expected=left)).score
    assert there == pytest.approx(back)
    assert 0.0 <= there <= 1.0
    assert evaluator.check(answering(left, expected=left)).score == pytest.approx(1.0)


def test_without_an_expected_text_there_is_nothing_to_judge():
    assert PresetSimilarity().check(answering("Paris")).score is None
