"""What the documentation installs, in one line; `python .ci/install.py` writes it into every file that does.

After the first release, SOURCE is "" and they install the package by its name. Until then a name that is not ours
could be anybody's: a commit is what it is.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SOURCE = "git+https://github.com/runevals/runevals@729c434590af58fd873dbdaed0f05d16c7f4efad"

ROOT = Path(__file__).parents[1]
FILES = ("docs/ci/*", "docs/workflows/*.yml")
_BY_NAME = r"runevals(?P<extras>\[[\w,]+\])?(?: @ git\+[^\s'\"]+)?"
_PACKAGE = re.compile(rf"(?<=pip install )(?P<quote>')?(?:{_BY_NAME}|git\+[^\s'\"]+/runevals@\w+)(?(quote)')")


def requirement(extras: str = "") -> str:
    """What pip is given for runevals with these extras, such as `[gitlab]`."""
    if not SOURCE:
        return f"'runevals{extras}'" if extras else "runevals"
    return f"'runevals{extras} @ {SOURCE}'" if extras else SOURCE


def written(text: str) -> str:
    """The text, with what is to be installed now."""
    return _PACKAGE.sub(lambda match: requirement(match["extras"] or ""), text)


def files() -> list[Path]:
    """The files that install runevals."""
    return sorted(path for pattern in FILES for path in ROOT.glob(pattern) if path.is_file())


def main() -> None:
    for path in files():
        text = path.read_text(encoding="utf-8")
        if (new := written(text)) != text:
            path.write_text(new, encoding="utf-8")
            sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
