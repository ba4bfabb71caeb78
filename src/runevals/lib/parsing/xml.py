"""XML of unknown origin → its elements. No document type, and so no entity, is accepted."""

from __future__ import annotations

from xml.parsers import expat

from msgspec import Struct

from runevals.lib.parsing.limits import LIMITS
from runevals.records.errors import InvalidDocument

ENDS_EARLY = " (the file ends too early: was its tool still writing?)"
_ERRORS = expat.errors
_CUT = dict.fromkeys(
    (_ERRORS.XML_ERROR_UNCLOSED_TOKEN, _ERRORS.XML_ERROR_NO_ELEMENTS, _ERRORS.XML_ERROR_UNCLOSED_CDATA_SECTION),
    ENDS_EARLY,
)
MOST_DEEP = 100
LONGEST_TEXT = 100_000  # characters of one element's own text; the rest is left out


class XmlElement(Struct):
    """An element without the namespace of its name; `line` counts from 1."""

    name: str
    attributes: dict[str, str]
    line: int
    children: list[XmlElement] = []
    pieces: list[str] = []

    @property
    def text(self) -> str:
        """Its own text, without that of its children."""
        return "".join(self.pieces)


class _Builder:
    """Collects the elements that the parser reports."""

    def __init__(self, display_path: str) -> None:
        self.parser = expat.ParserCreate()
        self.root: XmlElement | None = None
        self._display_path, self._open, self._elements = display_path, list[XmlElement](), 0
        self._left = 0  # characters that the open element may still have
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = lambda _name: self._open.pop()
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse

    def refused(self, why: str) -> InvalidDocument:
        """The error to raise here."""
        return InvalidDocument(f"{self._display_path}:{self.parser.CurrentLineNumber}: {why}")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        element = XmlElement(name.rpartition(":")[2], attributes, self.parser.CurrentLineNumber)
        self._elements += 1
        if len(self._open) >= MOST_DEEP or self._elements > LIMITS.xml_elements:
            most = f"{LIMITS.xml_elements:,} elements, or nests them deeper than {MOST_DEEP}"
            raise self.refused(f"has more than {most}, the most we read")
        if self._open:
            self._open[-1].children.append(element)
        self.root = self.root or element
        self._open.append(element)
        self._left = LONGEST_TEXT

    def _text(self, text: str) -> None:
        if self._left > 0:
            self._open[-1].pieces.append(text[: self._left])
            self._left -= len(text)

    def _refuse(self, *_: object) -> None:
        raise self.refused("has a document type (DOCTYPE), which may define entities; it is not read")


def read_xml(content: bytes, display_path: str) -> XmlElement:
    """The root element. Raises InvalidDocument with the line for what is not XML, or has a document type."""
    builder = _Builder(display_path)
    try:
        builder.parser.Parse(content, True)  # noqa: FBT003 - expat takes no keywords
    except expat.ExpatError as error:
        what = _ERRORS.messages.get(error.code, str(error.code))
        place = f"{display_path}:{error.lineno}:{error.offset + 1}"
        raise InvalidDocument(f"{place}: is not XML: {what}{_CUT.get(what, '')}") from None
    except (LookupError, ValueError) as error:  # an encoding that Python does not have
        raise InvalidDocument(f"{display_path} is not XML that we read: {error}") from None
    assert builder.root is not None  # noqa: S101 - a document without an element is not XML
    return builder.root
