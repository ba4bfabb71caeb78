"""Make the action here run a published image instead of building its own: `point_at_image.py IMAGE`."""

from __future__ import annotations

import sys
from pathlib import Path

BUILT = "  image: Dockerfile\n"


def main(image: str) -> None:
    path = Path("action.yml")
    text = path.read_text(encoding="utf-8")
    if text.count(BUILT) != 1:
        sys.exit(f"{path} does not have exactly one line '{BUILT.strip()}'")
    path.write_text(text.replace(BUILT, f"  image: docker://{image}\n"), encoding="utf-8")


main(*sys.argv[1:])
