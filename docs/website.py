"""Builds the documentation as a site with search: `.venv/bin/python docs/website.py VERSION FOLDER`.

The pages are those of `docs/`, which stay readable on GitHub. What they name outside of it is linked on GitHub at
this version. FOLDER then holds it (0.2.1 as `0.2`) beside the versions that it held before: `versions.json` lists
them for the switch in the header, `index.html` leads to the newest. A link that leads nowhere ends the build.
"""

from __future__ import annotations

import argparse
import json
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
REPOSITORY = "https://github.com/runevals/runevals"
ALSO = ("SECURITY.md", "CHANGELOG.md")  # pages of the site that stand beside docs/
CONFIGURATION = {
    "site_name": "runevals",
    "site_description": "CI for prompts, agents and skills: did this change make it worse?",
    "repo_url": REPOSITORY,
    "repo_name": "runevals/runevals",
    "theme": {
        "font": False,  # nothing is fetched from elsewhere
        "features": ["navigation.sections", "navigation.top", "search.highlight", "content.code.copy"],
        "palette": [
            {"scheme": "default", "toggle": {"icon": "lucide/moon", "name": "Dark"}},
            {"scheme": "slate", "toggle": {"icon": "lucide/sun", "name": "Light"}},
        ],
    },
    "extra": {"version": {"provider": "mike"}},  # the layout of versions that the switch reads
    "markdown_extensions": {
        "tables": {},
        "toc": {"permalink": True, "slugify": {"object": "pymdownx.slugs.slugify", "kwds": {"case": "lower"}}},
        "pymdownx.highlight": {},
        "pymdownx.superfences": {},
    },
}
INDEX = """<!doctype html>
<meta charset="utf-8">
<title>runevals</title>
<meta http-equiv="refresh" content="0; url={0}/">
<a href="{0}/">Documentation of runevals {0}</a>
"""
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")
_FENCE = re.compile(r"^(```.*?^```)", re.MULTILINE | re.DOTALL)


def build(version: str, folder: Path) -> None:
    """Adds the pages of a version to a site. Raises CalledProcessError if a link of theirs leads nowhere."""
    name = ".".join(version.split(".")[:2])
    with TemporaryDirectory() as place:
        work = Path(place)
        _copy_pages(work / "docs", version)
        project = {**CONFIGURATION, "nav": navigation(), "docs_dir": "docs", "site_dir": "site"}
        (work / "mkdocs.yml").write_text(json.dumps(project), encoding="utf-8")  # JSON is YAML
        command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
        subprocess.run(command, cwd=work, check=True, stdout=sys.stderr)
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(work / "site", folder / name)
    versions = sorted((path.parent.name for path in folder.glob("*/index.html")), key=_number, reverse=True)
    listed = [{"version": name, "title": name, "aliases": []} for name in versions]
    (folder / "versions.json").write_text(json.dumps(listed), encoding="utf-8")
    (folder / ".nojekyll").touch()  # else GitHub Pages leaves out what begins with an underscore
    (folder / "index.html").write_text(INDEX.format(versions[0]), encoding="utf-8")


def navigation() -> list[object]:
    """The pages under their kind, in the order of `docs/README.md`."""
    text = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    _, *parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    kinds = zip(parts[::2], parts[1::2], strict=True)
    return ["index.md", *({kind: re.findall(r"\]\(([\w-]+\.md)\)", part)} for kind, part in kinds), *ALSO]


def _copy_pages(to: Path, version: str) -> None:
    shutil.copytree(ROOT / "docs", to, ignore=lambda _, names: [name for name in names if not _is_page(name)])
    (to / "README.md").rename(to / "index.md")
    for name in ALSO:
        shutil.copy(ROOT / name, to / name)
    for path in to.glob("*.md"):
        at = "" if path.name in ALSO else "docs"
        path.write_text("".join(_linked(path.read_text(encoding="utf-8"), at, version)), encoding="utf-8")


def _is_page(name: str) -> bool:
    return name.endswith((".md", ".png"))


def _linked(text: str, at: str, version: str) -> Iterator[str]:
    """The text of a page that stands in the folder `at`, with its links as the site needs them."""
    for part in _FENCE.split(text):
        yield part if part.startswith("```") else _LINK.sub(lambda link: _address(link[1], at, version), part)


def _address(link: str, at: str, version: str) -> str:
    path = posixpath.normpath(posixpath.join(at, link))
    if path == "docs/README.md":
        return "index.md"
    if path in ALSO or (posixpath.dirname(path) == "docs" and _is_page(path)):
        return posixpath.basename(path)
    kind = "tree" if (ROOT / path).is_dir() else "blob"
    return f"{REPOSITORY}/{kind}/v{version}/{path}"


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    build(given.version, given.folder)


if __name__ == "__main__":
    main()
