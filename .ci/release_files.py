"""Make the action here that of a release: `release_files.py IMAGE TAG`.

It then runs the published image instead of building its own, and the composite action uses this very release.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main(image: str, tag: str) -> None:
    set_line("action.yml", "  image: Dockerfile\n", f"  image: docker://{image}:{tag}\n")
    set_line("with-artifact/action.yml", "runevals/runevals@v0 ", f"runevals/runevals@{tag} ")


def set_line(name: str, found: str, wanted: str) -> None:
    path = Path(name)
    text = path.read_text(encoding="utf-8")
    if text.count(found) != 1:
        sys.exit(f"{path}: '{found.strip()}' is there {text.count(found)} times, not once")
    path.write_text(text.replace(found, wanted), encoding="utf-8")


main(*sys.argv[1:])
