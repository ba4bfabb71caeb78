"""XML of unknown origin: elements with their lines, and no document type."""

from __future__ import annotations

import pytest

from runevals.lib.parsing.xml import LONGEST_TEXT, read_xml
from runevals.records.errors import InvalidDocument


def test_elements_have_lines_attributes_and_their_own_text():
    root = read_xml(b'<a xmlns:x="urn:x">\n<x:b id="1">one<c/>two</x:b></a>', "x.xml")
    [child] = root.children
    assert (child.name, child.line, child.attributes, child.text) == ("b", 2, {"id": "1"}, "onetwo")


def test_a_long_text_is_cut():
    assert len(read_xml(b"<a>" + b"x" * (LONGEST_TEXT + 10) + b"</a>", "x.xml").text) <= LONGEST_TEXT


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"<a><b></a>", "x.xml:1:9: is not XML: mismatched tag", id="mismatched"),
        pytest.param(
            b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "x.xml:1: has a document type", id="external"
        ),
        pytest.param(b"<a>" * 200 + b"</a>" * 200, "nests them deeper than 100", id="deep"),
        pytest.param(b'<?xml version="1.0" encoding="klingon"?><a/>', "is not XML", id="encoding"),
        pytest.param(b"<a>&b;</a>", "is not XML: undefined entity", id="entity"),
    ],
)
def test_what_is_not_plain_xml_is_refused(content, message):
    with pytest.raises(InvalidDocument, match=message):
        read_xml(content, "x.xml")
