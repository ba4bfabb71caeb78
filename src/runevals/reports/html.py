"""One page to open from an artifact, offline: verdict, picture, every case with base and head, statistics."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Template

from runevals.lib.text.escape import one_line
from runevals.records import Conclusion
from runevals.reports.page_cases import PageCase, bodies, cases_beside, cases_of, row
from runevals.reports.page_overview import overview
from runevals.reports.page_targets import overview_of_targets
from runevals.reports.side_by_side import headline
from runevals.verdict.side_by_side import columns_of

SCRIPTS = (
    *("dom.js", "data.js", "notes.js", "diff.js", "charts.js", "filters.js", "table.js"),
    *("timeline.js", "case.js", "sections.js", "theme.js", "main.js"),
)
# Only the page's own script and style may run, and no request is allowed: untrusted text stays text.
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'"
)


def render(conclusion: Conclusion) -> str:
    """The whole page; untrusted input is only included as data."""
    return _page(conclusion.verdict.headline, overview(conclusion), cases_of(conclusion))


def render_several(conclusions: Mapping[str, Conclusion], pages: Mapping[str, str]) -> str:
    """One page with a side for each target; `pages` are the file names of their own pages, if they have any."""
    title = headline(columns_of(conclusions))
    return _page(title, overview_of_targets(conclusions, pages), cases_beside(list(conclusions.values())))


def _page(title: str, about: Mapping[str, object], cases: Sequence[PageCase]) -> str:
    texts = bodies(cases)
    return filled(
        "page.html",
        SCRIPTS,
        title=title,
        overview=json.dumps({**about, "without_texts": texts.count("\nnull")}),
        rows=json.dumps([row(case) for case in cases], separators=(",", ":")),
        bodies=texts,
    )


def filled(page: str, scripts: Sequence[str], *, title: str, **data: str) -> str:
    """A page template with its style, scripts, title and JSON filled in."""
    style, script = page_part("page.css"), _joined(tuple(scripts))
    return Template(page_part(page)).substitute(
        policy=POLICY.format(script=fingerprint(script), style=fingerprint(style)),
        title=html.escape(one_line(title)),
        style=style,
        script=script,
        **{name: embedded(text) for name, text in data.items()},
    )


def embedded(text: str) -> str:
    """JSON that cannot end the script element around it: plain ASCII without <, > and &."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def fingerprint(text: str) -> str:
    """What a policy calls a style or script by."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _joined(scripts: tuple[str, ...]) -> str:
    inner = "\n".join(page_part(name) for name in scripts)
    return f'(() => {{\n"use strict";\n{inner}}})();\n'


@cache
def page_part(name: str) -> str:
    """A file of the page."""
    return files("runevals.reports").joinpath("page", name).read_text(encoding="utf-8")
