"""Where secrets are found in other forms, and how much of the text is replaced."""

from __future__ import annotations

import pytest

from runevals.lib.text.encoded_secrets import EncodedSecrets


def found(text: str, secret: str = "sk-A1/b2+c3=d4") -> str:
    return EncodedSecrets([(secret, "A_KEY")]).removed_from(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sk-A1/b2+c3=d4", "[redacted A_KEY]"),
        ("see sk A1 b2 c3 d4.", "see [redacted A_KEY]."),
        ("k=sk-A1%2Fb2%2Bc3%3Dd4&x", "k=[redacted A_KEY]&x"),
        ("SK\\u002dA1\\/b2&#43;c3&#x3d;d4", "[redacted A_KEY]"),
        ("sk-A1/b2+c3=d", "sk-A1/b2+c3=d"),
        ("sk-A1/b2+c3=d4 " * 3, "[redacted A_KEY] " * 3),
    ],
)
def test_a_secret_with_separators_between_its_characters_is_redacted_with_them(text, shown):
    assert found(text) == shown


@pytest.mark.parametrize("word", ["password", "production", "00000000", "20240101", "--------", ""])
def test_a_word_or_a_value_of_few_significant_characters_is_not_searched_in_pieces(word):
    assert found(" ".join(word), word) == " ".join(word)


@pytest.mark.parametrize("separator", ["é", "的", "ж", "·", " "])
def test_letters_of_other_alphabets_are_separators_too(separator):
    assert found(separator.join("s3cretvalue9Q7"), "s3cretvalue9Q7") == "[redacted A_KEY]"


def test_a_long_value_of_letters_is_searched_in_pieces():
    assert found(" ".join("correcthorsebattery"), "correcthorsebattery") == "[redacted A_KEY]"


@pytest.mark.parametrize(
    "text", ["1" * 40, "0" * 70, "8" * 13, "A" * 13, "0x" * 20, "'" * 40, "%\\&" * 9, "0000\n0000000 "]
)
def test_a_text_that_only_begins_like_an_encoding_stays(text):
    assert found(text) == text
