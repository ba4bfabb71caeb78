"""The lines of a results document as we lay it out → its cases, one by one, and the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def cases_of(lines: Iterable[str], rest: list[str]) -> Iterator[str]:
    """The text of each case; everything else goes to `rest`, in which their list is empty.

    A case is a line; in older documents, it ends with a line that is only its bracket. Raises ValueError for
    another layout.
    """
    left = iter(lines)
    for line in left:
        rest.append(line)
        if line == ' "cases": [\n':
            yield from _until_closed(left)
            rest.append("],\n")


def _until_closed(lines: Iterator[str]) -> Iterator[str]:
    case: list[str] = []
    for line in lines:
        case.append(line)
        ends = line.startswith('  {"') or line in ("  },\n", "  }\n")
        if ends and line.endswith("},\n"):
            yield "".join(case)[: -len(",\n")]
            case = []
        elif ends:
            yield "".join(case)
            if next(lines, None) == " ],\n":
                return
            break
    raise ValueError("the cases do not end as ours do")
