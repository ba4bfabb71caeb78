"""ROUGE-N, BLEU-4 and edit distance against other implementations, hand-worked values, and their laws."""

from __future__ import annotations

import random
import warnings
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runevals.evaluators.text.ngrams import bleu, rouge_recall
from runevals.evaluators.text.rouge_n_min import RougeNMin
from runevals.evaluators.text.tokens import tokens

WORDS = "the a cat dog sat ran on in mat house and then it was 30 days refund policy".split()  # noqa: SIM905 - words
TOKENS = st.lists(st.sampled_from("abcde"), max_size=12)


def texts(seed):
    rng = random.Random(seed)
    for _ in range(500):
        yield tuple(" ".join(rng.choices(WORDS, k=rng.randint(1, 14))) for _ in range(2))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_rouge_agrees_with_googles_implementation(n):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer([f"rouge{n}"], use_stemmer=False)
    for response, reference in texts(n):
        wanted = scorer.score(reference, response)[f"rouge{n}"].recall
        assert rouge_recall(tokens(response), tokens(reference), n) == pytest.approx(wanted)


def test_rouge_of_a_reference_shorter_than_n_is_never_reached():
    assert rouge_recall(tokens("hello"), tokens("hi"), 2) == 0.0


def test_a_reference_with_gigabytes_of_ngrams_is_a_problem_of_the_suite():
    [(option, problem)] = RougeNMin(reference="w " * 20_000, n=10_000).problems()
    assert (option, "too many to compare" in problem) == ("reference", True)
    assert not list(RougeNMin(reference="w " * 20_000, n=4).problems())


def test_bleu_agrees_with_sacrebleu():
    import sacrebleu

    for response, reference in texts(4):
        ours = bleu(tokens(response), tokens(reference))
        found = sacrebleu.sentence_bleu(
            response, [reference], smooth_method="none", use_effective_order=False, tokenize="none"
        )
        assert ours == pytest.approx(found.score / 100, abs=1e-9)


@pytest.mark.parametrize(
    ("response", "reference", "score"),
    [
        ("the cat sat on a mat", "the cat sat on the mat", 0.537285),
        ("the cat is sitting on the mat today", "the cat sat on the mat today", 0.411134),
        ("北京是中国首都", "北京是中国的首都", 0.612975),
        ("hello", "hello", 0.0),  # under four tokens
    ],
)
def test_bleu_agrees_with_a_calculation_by_hand(response, reference, score):
    assert bleu(tokens(response), tokens(reference)) == pytest.approx(score, abs=1e-6)


@pytest.mark.parametrize(("n", "score"), [(1, 0.875), (2, 0.7143)])
def test_rouge_of_chinese_text_agrees_with_a_calculation_by_hand(n, score):
    assert rouge_recall(tokens("北京是中国首都"), tokens("北京是中国的首都"), n) == pytest.approx(score, abs=1e-4)


@given(TOKENS, TOKENS)
def test_scores_are_shares_and_identity_is_one(left, right):
    for n in (1, 2, 3):
        assert 0.0 <= rouge_recall(left, right, n) <= 1.0
        assert rouge_recall(right, right, n) == float(len(right) >= n)
    assert 0.0 <= bleu(left, right) <= 1.0
    if len(right) >= 4:
        assert isclose(bleu(right, right), 1.0)


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_the_edit_distance_is_a_metric(first, second, third):
    from rapidfuzz.distance import Levenshtein

    def ours(left, right):
        """The textbook's two rows."""
        before = list(range(len(right) + 1))
        for row, letter in enumerate(left, start=1):
            now = [row]
            for column, other in enumerate(right, start=1):
                now.append(min(before[column] + 1, now[-1] + 1, before[column - 1] + (letter != other)))
            before = now
        return before[-1]

    assert Levenshtein.distance(first, second) == ours(first, second) == ours(second, first)
    assert ours(first, third) <= ours(first, second) + ours(second, third)


def test_tokens_keep_accents_and_every_script():
    expected = ["café", "σοφια", "한", "국", "か", "な", "30", "day"]
    assert tokens("Café ΣΟΦΙΑ 한국 かな 30-day") == expected
