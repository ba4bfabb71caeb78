"""Hostile text, wherever it may go."""

import pytest

from runevals.lib.text.escape import (
    both_ends,
    code_cell,
    fenced,
    inert_line,
    log_text,
    one_line,
    revealed,
    spreadsheet_cell,
    visible,
    xml_text,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, with\nlines and\ttabs", "plain, with\nlines and\ttabs"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\u202eb\u200bc\ufeff", "a\\u202eb\\u200bc\\ufeff"),
        ("\x00\ud800\uffff\U000e0041", "\\x00\\ud800\\uffff\\U000e0041"),
        ("a\r\nb\rc", "a\nb\\x0dc"),
        ("北京 👍🏽", "北京 👍🏽"),
        ("❤️ and 葛\U000e0100", "❤️ and 葛\U000e0100"),
        ("a\U000e0141b\ufe01\ufe0f\ufe0f", "a\\U000e0141b\\ufe01\\ufe0f\\ufe0f"),
        ("a\u00adb\u3164", "a\\xadb\\u3164"),
        ("1\ufe0f\u20e3 \u795e\ufe00 \u3005\U000e0100", "1\ufe0f\u20e3 \u795e\ufe00 \u3005\U000e0100"),
    ],
)
def test_invisible_and_reordering_characters_are_escaped(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize("hidden", ["\u200b", "\u3164", "\ufe00", "\ufe0f\ufe0f", "\U000e0041", "\U000e0141"])
def test_a_judge_sees_what_hides_a_text(hidden):
    shown = revealed(f"yes{hidden} ❤️ नमस्ते\u200d 葛\U000e0100")
    assert hidden not in shown
    assert shown.endswith(" ❤️ नमस्ते\u200d 葛\U000e0100")


def test_both_ends_of_a_long_text_stay_within_the_limit():
    assert both_ends("a\n  b") == "a b"
    assert both_ends("message " + "x" * 300 + " cause", 30) == "message xx … xxxxxxxxxxx cause"
    assert [len(both_ends("x" * 300, most)) for most in (30, 31, 32)] == [30, 31, 32]


def test_one_line_replaces_line_ends_and_cuts_long_texts():
    assert one_line("a\n  b\u2028c") == "a b\\u2028c"
    assert one_line("x" * 300) == "x" * 199 + "…"


LIVE = ["@octocat", "![x](http://e/b.png)", "<img>", "a|b", "`x`", "</code>", "www.e.com", "#1", "a@b.com", "GH-1"]


@pytest.mark.parametrize("text", LIVE)
def test_markdown_and_html_in_cells_and_headlines_are_escaped(text):
    for made in (code_cell(text).removeprefix("<code>").removesuffix("</code>"), inert_line(text)):
        plain = (
            made.replace("&#64;<!---->", "").replace("<code>&#64;</code>", "").replace("<code>&#35;</code>", "")
        )
        plain = plain.replace("<code>&#45;</code>", "")
        assert not set("@![]<>|`#") & set(plain.replace("&#", ""))
        assert "www." not in plain
        assert "GH-" not in plain


def test_a_code_fence_is_longer_than_any_fence_in_its_text():
    assert fenced("a\n`````\nb", "diff") == "``````diff\na\n`````\nb\n``````"
    assert (
        fenced("`" * 300) == f"{'`' * 100}\n{'`' * 99}…\n{'`' * 100}"
    )  # a parser that counts in a byte sees its end


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::set-output name=x::y", ": :set-output name=x::y"),
        ("a\n  ::error::x", "a\n  : :error::x"),
        ("x ##[error]y", "x ## [error]y"),
        ("x ##VSO[task.prependpath]y", "x ## VSO[task.prependpath]y"),
        ("## Steps [1]", "## Steps [1]"),
        ("std::vector", "std::vector"),
    ],
)
def test_no_line_is_a_command_of_a_log(text, shown):
    assert log_text(text) == shown


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_spreadsheet_cell_is_a_formula(start):
    assert spreadsheet_cell(f"{start}1+1").startswith("'")
    assert spreadsheet_cell("1+1") == "1+1"


def test_xml_text_has_only_characters_that_xml_allows():
    assert xml_text("a\x0bb\ufffe\ttab\n") == "a\\x0bb\\ufffe\ttab\n"


@pytest.mark.parametrize(
    ("text", "shown"), [("- x", "&#45; x"), ("12. x", "12&#46; x"), ("a - b 1. c", "a - b 1. c")]
)
def test_a_line_cannot_start_a_markdown_list(text, shown):
    assert inert_line(text) == shown
