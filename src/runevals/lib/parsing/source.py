"""JSON and YAML text → plain values with their locations in the file."""

from __future__ import annotations

import json
import re
import sys
from array import array
from bisect import bisect_right
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from json.decoder import JSONDecodeError
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.parsing.limits import LIMITS
from runevals.lib.parsing.schema import complaints
from runevals.lib.parsing.strict_json import refuse_constant, require_few_values
from runevals.lib.text.numbers import phrase, short_list
from runevals.lib.text.suggest import MISSPELT, nearest
from runevals.records import FileProblem, Location
from runevals.records.errors import InvalidSuite, UsageError

if TYPE_CHECKING:
    from yaml import MarkedYAMLError

MAX_BYTES = 64 * 1024 * 1024
MAX_YAML_NODES = 1_000_000
MOST_DEEP = 500
LANGUAGES = {".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".py": "python"}  # of graders

Step = str | int
JsonPath = tuple[Step, ...]
Level = Literal["error", "warning", "notice"]  # of a problem

_VALUES = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_LINE_END = re.compile(r"\n")
_NO_NUMBERS = frozenset({"NaN", "Infinity", "-Infinity"})
_MOST_DIGITS = sys.get_int_max_str_digits()  # 0: any number
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


class Source(Struct, frozen=True, dict=True):
    """The values of a file, and the location of each."""

    path: str
    text: str
    value: object
    has_marks: bool = False
    marks: Mapping[JsonPath, tuple[int, int]] = {}  # (key offset, offset), if known from parsing

    def locate(self, json_path: JsonPath, *, key: bool = False) -> Location:
        """The location of the value at `json_path`, or of its key; of the nearest enclosing value."""
        return self.at(self._offsets(json_path)[0 if key else 1], pointer(json_path))

    def offset(self, json_path: JsonPath) -> int:
        """Where the value at `json_path` begins in the text."""
        return self._offsets(json_path)[1]

    def within(self, json_path: JsonPath, value: object) -> Source:
        """The part of a document with marks at `json_path`, whose value this is, as if it were all of it."""
        depth = len(json_path)
        marks = {path[depth:]: at for path, at in self.marks.items() if path[:depth] == json_path}
        return replace(self, value=value, marks=marks)

    def place(self, json_path: JsonPath, key: Step | None = None) -> Location:
        """The location of the value at `json_path`, or of a key in it, for a field of a record."""
        return Place(self.without_value, json_path, key)

    def _offsets(self, json_path: JsonPath) -> tuple[int, int]:
        if self.has_marks:
            while json_path not in self.marks and json_path:
                json_path = json_path[:-1]
            return self.marks.get(json_path, (0, 0))
        offsets = (_after_space(self.text, 0),) * 2
        for depth, step in enumerate(json_path):
            outer = json_path[:depth]
            if outer not in self._inside:  # each is scanned once, and only on demand
                self._inside[outer] = _Inside(self.text, offsets[1])
            inner = self._inside[outer].offsets(step)
            if inner is None:
                break
            offsets = inner
        return offsets

    def at(self, offset: int, json_pointer: str = "") -> Location:
        """Line and column of a character, at which the value with this pointer is."""
        line = bisect_right(self._line_starts, offset)
        column = offset - self._line_starts[line - 1] + 1
        return Location(file=self.path, line=line, column=column, pointer=json_pointer)

    def problem(
        self,
        json_path: JsonPath,
        message: str,
        *,
        key: bool = False,
        rule: str = "meaning",
        level: Level = "error",
    ) -> FileProblem:
        """Something wrong at `json_path`."""
        place = self.locate(json_path, key=key)
        return FileProblem(location=place, pointer=place.pointer, message=message, rule=rule, level=level)

    def warning(
        self, json_path: JsonPath, message: str, *, key: bool = False, rule: str = "meaning"
    ) -> FileProblem:
        """What a reader of the file should know of `json_path`, and does not stop the run."""
        return self.problem(json_path, message, key=key, rule=rule, level="warning")

    def schema_problems(self, package: str, name: str) -> list[FileProblem]:
        """All violations of a schema that we ship: `schema_problems("runevals.suites", "quarantine-1")`."""
        return [
            self.problem(complaint.json_path, complaint.message, key=complaint.key, rule=complaint.rule)
            for complaint in complaints(package, name, self.value)
        ]

    @cached_property
    def _inside(self) -> dict[JsonPath, _Inside]:
        return {}

    @cached_property
    def without_value(self) -> Source:
        """What places refer to, which many records keep."""
        return replace(self, value=None)

    @cached_property
    def _line_starts(self) -> Sequence[int]:
        starts = array("I", (0,))
        starts.extend(match.end() for match in _LINE_END.finditer(self.text))
        return starts


class Place(Location):
    """A location that is computed when it is first read: most never are."""

    __slots__ = ("json_path", "key", "source")

    def __init__(self, source: Source, json_path: JsonPath, key: Step | None) -> None:
        self.source = source
        self.json_path = json_path
        self.key = key

    def __getattr__(self, name: str) -> Any:
        at = self.json_path if self.key is None else (*self.json_path, self.key)
        place = self.source.locate(at, key=self.key is not None)
        super().__init__(file=place.file, line=place.line, column=place.column, pointer=place.pointer)
        return getattr(place, name)

    def __reduce__(self) -> tuple[object, ...]:
        return partial(Location, file=self.file, line=self.line, column=self.column, pointer=self.pointer), ()


def pointer(json_path: JsonPath) -> str:
    """`json_path` as a JSON pointer (RFC 6901), the empty text for the whole document."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in json_path)


def read_text(path: Path, display_path: str, most_bytes: int = MAX_BYTES) -> str:
    """The text of a file, UTF-8 with or without a byte order mark. Raises InvalidSuite."""
    try:
        _require_file(path, display_path)
        if path.stat().st_size > most_bytes:
            raise unreadable(display_path, f"is larger than {most_bytes // 1024**2} MiB, the most we read")
        return decoded(path.read_bytes(), display_path)
    except OSError as error:
        raise unreadable(display_path, f"cannot be read: {error.strerror}") from None


def _require_file(path: Path, display_path: str) -> None:
    """Raises InvalidSuite if it is missing or is not a file."""
    if not path.is_file():
        raise unreadable(display_path, "is not a file" if path.exists() else "there is no such file")


def decoded(content: bytes, display_path: str) -> str:
    """The text of a file's bytes, UTF-8 with or without a byte order mark. Raises InvalidSuite."""
    if content.startswith(_LFS_POINTER):
        message = "is a pointer of Git LFS, not the file itself: run `git lfs pull`, or check out with `lfs: true`"
        raise unreadable(display_path, message)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        is_utf_16 = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        form = "UTF-16" if is_utf_16 else f"not UTF-8 text (byte {error.start})"
        raise unreadable(display_path, f"is {form}; save it as UTF-8") from None


def read_lines(path: Path, display_path: str) -> Iterator[str]:
    """The lines of a UTF-8 file of any size. Raises InvalidSuite."""
    try:
        _require_file(path, display_path)
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            yield from file
    except UnicodeDecodeError:
        raise unreadable(display_path, "is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise unreadable(display_path, f"cannot be read: {error.strerror}") from None


def read_json(text: str, display_path: str) -> Source:
    """JSON text → Source. Raises InvalidSuite, with the place, for anything RFC 8259 does not allow."""
    if not text.strip():
        raise unreadable(display_path, "the file is empty", 1, 1)
    try:
        require_few_values(text, LIMITS.document_values)
    except ValueError as error:
        raise unreadable(display_path, f"is not read: {error}; split it") from None
    has_duplicates = False

    def fields(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal has_duplicates
        object_ = dict(pairs)
        has_duplicates = has_duplicates or len(object_) < len(pairs)
        return object_

    try:
        value = json.loads(text, object_pairs_hook=fields, parse_constant=refuse_constant)
    except JSONDecodeError as error:
        raise unreadable(display_path, f"is not JSON: {why_no_json(error)}", *where_no_json(error)) from None
    except RecursionError:
        raise unreadable(display_path, "is nested too deeply") from None
    except ValueError as error:
        raise _unreadable_number(display_path, text, error) from None
    return _without_problems(Source(display_path, text, value), _duplicates(text) if has_duplicates else ())


def _without_problems(source: Source, problems: Iterable[tuple[JsonPath, int, str]]) -> Source:
    """`source`, if it has no problem: path, offset and message of each. Raises InvalidSuite."""
    if unreadables := [
        FileProblem(location=source.at(offset), pointer=pointer(json_path), message=message, rule="unreadable")
        for json_path, offset, message in problems
    ]:
        raise InvalidSuite(unreadables)
    return source


def _unreadable_number(display_path: str, text: str, error: ValueError) -> InvalidSuite:
    """What is wrong with the first number that Python does not read."""
    for match in _TOKEN.finditer(text):
        digits = match[0].lstrip("-")
        if match[0] in _NO_NUMBERS:
            message = f"{match[0]} is not a number in JSON"
        elif len(digits) > _MOST_DIGITS > 0 and digits.isdigit():
            message = f"{len(digits)} digits are too many"
        else:
            continue
        at = Source(display_path, text, None).at(match.start())
        return unreadable(display_path, f"cannot be read: {message}", at.line, at.column)
    return unreadable(display_path, f"is not JSON: {error}")


def why_no_json(error: ValueError | RecursionError) -> str:
    """The parser's message without the "at" that the position would follow: it is given before the message."""
    if isinstance(error, JSONDecodeError) and _last_comma(error) is not None:
        return "remove the comma before the closing bracket"
    at = error.doc[error.pos :].lstrip() if isinstance(error, JSONDecodeError) else ""
    if at.startswith(("//", "/*", "#")) and getattr(error, "msg", "").startswith("Expecting"):
        return "JSON has no comments; remove this one"
    return re.sub(r"( starting)? at$", "", getattr(error, "msg", str(error)))


def where_no_json(error: JSONDecodeError) -> tuple[int, int]:
    """The line and column of the mistake, from 1."""
    comma = _last_comma(error)
    if comma is None:
        return error.lineno, error.colno
    return error.doc.count("\n", 0, comma) + 1, comma - error.doc.rfind("\n", 0, comma)


def _last_comma(error: JSONDecodeError) -> int | None:
    """The offset of a comma that nothing follows: the parser stopped there, as Python 3.13 does, or behind it."""
    if error.msg.startswith("Illegal trailing comma"):
        return error.pos
    before = error.doc[: error.pos].rstrip() if error.doc[error.pos : error.pos + 1] in ("]", "}") else ""
    return len(before) - 1 if before.endswith(",") else None


def read_line(text: str) -> object:
    """One line of JSON Lines. Raises ValueError for what is not JSON, and for duplicate keys."""
    return json.loads(text, object_pairs_hook=unique_keys, parse_constant=refuse_constant)


def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """For `object_pairs_hook`: the object. Raises ValueError for a duplicate key."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys: set[str] = set()
        duplicate = next(name for name, _ in pairs if name in keys or keys.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"duplicate key '{duplicate}'; remove one of them")
    return fields


def _after_space(text: str, offset: int) -> int:
    match = _SPACE.match(text, offset)
    return offset if match is None else match.end()


def _past(text: str, offset: int) -> int:
    """Where the value ends that begins there."""
    try:
        return _VALUES.raw_decode(text, offset)[1]
    except RecursionError:  # nearly too deep; it was read with fewer calls around it
        depth = 0
        for match in _TOKEN.finditer(text, offset):
            depth += (match[0] in "{[") - (match[0] in "}]")
            if depth == 0:
                return match.end()
        raise


class _Inside:
    """The offsets of an object's members, or of a list's entries, scanned as far as they are looked for.

    What is behind the last one is not: the list of all cases is the last member of most suites.
    """

    def __init__(self, text: str, offset: int) -> None:
        self._members: dict[Step, tuple[int, int]] = {}  # offset of the key, offset of the value
        self._entries = array("I")
        self._rest = self._scan(text, offset)
        self._lock = Lock()

    def offsets(self, step: Step) -> tuple[int, int] | None:
        """Where the key and its value begin; an entry of a list has no key. None if it is not there."""
        with self._lock:
            while (known := self._known(step)) is None:
                if not next(self._rest, False):
                    return None
            return known

    def _known(self, step: Step) -> tuple[int, int] | None:
        if isinstance(step, int) and step < len(self._entries):
            return (self._entries[step],) * 2
        return self._members.get(step)

    def _scan(self, text: str, offset: int) -> Iterator[bool]:
        """Yields as soon as it knows one more."""
        bracket = text[offset : offset + 1]
        if bracket not in ("{", "["):
            return
        at = _after_space(text, offset + 1)
        while text[at] not in "}]":
            key = at
            if bracket == "{":
                name, end = _VALUES.raw_decode(text, at)
                at = _after_space(text, _after_space(text, end) + 1)
                self._members[name] = (key, at)
            else:
                self._entries.append(at)
            yield True
            at = _after_space(text, _past(text, at))
            if text[at] == ",":
                at = _after_space(text, at + 1)


def _duplicates(text: str) -> Iterator[tuple[JsonPath, int, str]]:
    """Every duplicate key of valid JSON text: its path, its offset, and the problem in words."""
    json_path: list[Step] = []
    keys: list[set[str] | None] = []  # per open container: the keys so far, None for a list
    expects_key = False
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == ",":
            expects_key = bool(keys) and keys[-1] is not None
            if not expects_key:
                json_path[-1] = int(json_path[-1]) + 1
        elif token in "}]":
            keys.pop()
            json_path.pop()
            expects_key = False
        elif expects_key and (open_keys := keys[-1]) is not None:
            name = json.loads(token)
            json_path[-1], expects_key = name, False
            if name in open_keys:
                yield tuple(json_path), match.start(), f"duplicate key '{name}'; remove one of them"
            open_keys.add(name)
        elif token == "{":
            keys.append(set())
            json_path.append("")
            expects_key = True
        elif token == "[":
            keys.append(None)
            json_path.append(0)


def read_yaml(text: str, display_path: str) -> Source:
    """YAML text by the core rules of YAML 1.2 → Source. Raises InvalidSuite with the place."""
    import yaml  # 15 ms that a JSON suite need not pay

    from runevals.lib.parsing.yaml12 import CoreLoader, construct

    if not text.strip():
        raise unreadable(display_path, "the file is empty", 1, 1)
    if sum(map(text.count, ("[", "{", "- ", "-\t", "? ", "?\t"))) > MOST_DEEP:  # otherwise it cannot nest so deep
        _refuse_deep_yaml(text, display_path)
    try:
        value, marks, problems = construct(yaml.compose(text, CoreLoader), MAX_YAML_NODES)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise unreadable(display_path, f"is not YAML: {_why_no_yaml(error, text)}", line, column) from None
    except yaml.YAMLError as error:
        raise unreadable(display_path, f"is not YAML: {error}") from None
    except RecursionError:
        raise unreadable(display_path, "is nested too deeply") from None
    return _without_problems(Source(display_path, text, value, has_marks=True, marks=marks), problems)


def _why_no_yaml(error: MarkedYAMLError, text: str) -> str:
    """The parser's message; of the usual mistakes, also what to write instead."""
    message, mark = str(error.problem or error.context), error.problem_mark
    line = "" if mark is None else "".join(text.splitlines()[mark.line : mark.line + 1])
    character = "" if mark is None else line[mark.column : mark.column + 1]
    if character == "\t":
        return "a tab is here; indent with spaces"
    if character in ("@", "`", "%") and "cannot start any token" in message:
        return f"{message}; put a text that begins with {character} into quotes"
    if message.startswith("mapping values are not allowed"):
        return f"{message}; put a text that has ': ' in it into quotes"
    return message


def read_source(path: Path, display_path: str) -> Source:
    """A `.json`, `.yaml` or `.yml` file → Source."""
    return parse_text(read_text(path, display_path), path.suffix, display_path)


def parse_source(content: bytes, suffix: str, display_path: str) -> Source:
    """Bytes of a file, such as one of another commit → Source. Raises InvalidSuite."""
    return parse_text(decoded(content, display_path), suffix, display_path)


def parse_text(text: str, suffix: str, display_path: str) -> Source:
    """Text of a file with this suffix → Source. Raises InvalidSuite."""
    return read_yaml(text, display_path) if suffix in (".yaml", ".yml") else read_json(text, display_path)


def _refuse_deep_yaml(text: str, display_path: str) -> None:
    """Raises InvalidSuite if a text nests deeper than the stack of a loader written in C allows."""
    import yaml

    from runevals.lib.parsing.yaml12 import CoreLoader

    depth = 0
    try:
        for event in yaml.parse(text, Loader=CoreLoader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MOST_DEEP:
                line = event.start_mark.line + 1 if event.start_mark else None
                raise unreadable(display_path, f"is nested deeper than {MOST_DEEP}", line)
    except yaml.YAMLError:
        return  # reported with its location when it is loaded


def path_inside(root: Path, reference: str, *, base: Path, what: str) -> Path:
    """A file that a suite or settings file names, with links resolved; it must be inside `root`.

    Raises UsageError if it does not exist, is not a regular file, or leads out of the repository.
    """
    path = resolved_path(base / reference)
    if path is None:
        raise UsageError(f"{what}: {reference[:80]!r} cannot be a path")
    if not path.is_relative_to(root.resolve()):
        raise UsageError(f"{what}: {reference} is outside the repository ({root})")
    if is_of_git(path, root):
        raise UsageError(f"{what}: {reference} is a file of git, not of the repository")
    if not path.is_file():
        inside = base.resolve().is_relative_to(root.resolve())
        folder = base.resolve().relative_to(root.resolve()).as_posix() if inside else base
        siblings = sorted(each.name for each in path.parent.glob("*"))
        guess = nearest(path.name, siblings, least=MISSPELT)
        alike = short_list([name for name in siblings if name.endswith(path.suffix or "\n")])
        near = phrase(alike, "; the folder has {}") if guess is None else f"; did you mean '{guess}'?"
        raise UsageError(f"{what}: there is no file {reference} (looked in {folder}){near}")
    return path


def lies_inside(root: Path, path: Path) -> bool:
    """Whether `path`, links resolved, lies in `root`."""
    there = resolved_path(path)
    return there is not None and there.is_relative_to(root.resolve())


def resolved_path(path: Path) -> Path | None:
    """`path` with links resolved; None for an invalid path or a circle of links."""
    try:
        there = path.resolve()
        there.exists()
    except (OSError, ValueError, RuntimeError):  # too long, with a character that no path has; a circle
        return None
    return there


def is_of_git(path: Path, root: Path) -> bool:
    """Whether a file below `root`, links resolved, belongs to git: it may contain credentials."""
    parts = path.relative_to(root.resolve()).parts if path.is_relative_to(root.resolve()) else path.parts
    return any(part.lower() in (".git", "git~1") for part in parts)


def code_file(root: Path, reference: str, *, base: Path, what: str) -> tuple[str, str | None]:
    """(the text of a grader's file, its language by its ending). Raises UsageError as `path_inside` does."""
    path = path_inside(root, reference, base=base, what=what)
    try:
        return path.read_text(encoding="utf-8-sig"), LANGUAGES.get(path.suffix)
    except UnicodeDecodeError:
        raise UsageError(f"{what}: {reference} is not UTF-8 text") from None


def unreadable(
    file: str, message: str, line: int | None = None, column: int | None = None, *, rule: str = "unreadable"
) -> InvalidSuite:
    """What to raise of a file that cannot be read, or be used as a whole."""
    location = Location(file=file, line=line, column=column)
    return InvalidSuite([FileProblem(location=location, pointer="", message=message, rule=rule)])
