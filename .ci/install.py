"""What the documentation installs and uses; `python .ci/install.py` writes it into every file that does.

`ACTION_REF` of src/runevals/version.py is the one line to change: with the tag `v0` the package is installed by
its name. Until then a name that is not ours could be anybody's: a commit is what it is. Pages name extras of what
is installed already.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from runevals.version import ACTION_REF

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/*.md")
FILES = ("docs/ci/*", "docs/workflows/*.yml")
_BY_NAME = r"runevals(?P<extras>\[[\w,]+\])?(?: @ git\+[^\s'\"]+)?"
_PACKAGE = re.compile(rf"(?<=pip install )(?P<quote>')?(?:{_BY_NAME}|git\+[^\s'\"]+/runevals@\w+)(?(quote)')")
_ACTION = re.compile(r"(?<=uses: runevals/runevals)(/container)?@\w+")


def requirement(extras: str = "", ref: str = ACTION_REF) -> str:
    """What pip is given for runevals with these extras, such as `[gitlab]`."""
    if ref.startswith("v"):
        return f"'runevals{extras}'" if extras else "runevals"
    source = f"git+https://github.com/runevals/runevals@{ref}"
    return f"'runevals{extras} @ {source}'" if extras else source


def written(text: str, ref: str = ACTION_REF) -> str:
    """A CI file, with what is to be installed and used now."""
    return used(_PACKAGE.sub(lambda match: requirement(match["extras"] or "", ref), text), ref)


def used(text: str, ref: str = ACTION_REF) -> str:
    """A page, with the action that is to be used now."""
    return _ACTION.sub(rf"\1@{ref}", text)


def changed() -> dict[Path, str]:
    """The files that install or use another runevals → what they should be."""
    kinds = ((FILES, written), (PAGES, used))
    should = {
        path: rewrite(path.read_text(encoding="utf-8"))
        for patterns, rewrite in kinds
        for pattern in patterns
        for path in ROOT.glob(pattern)
        if path.is_file()
    }
    return {path: text for path, text in should.items() if text != path.read_text(encoding="utf-8")}


def main() -> None:
    for path, text in changed().items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
