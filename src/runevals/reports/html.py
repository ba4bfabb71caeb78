"""One page to open from an artifact, offline: verdict, picture, every case with base and head, statistics."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import Template

from runevals.lib.text.escape import one_line
from runevals.records import Conclusion
from runevals.reports.page_cases import bodies, case_pairs, rows
from runevals.reports.page_overview import overview

NAME = "html"
FILENAME = "report.html"
SCRIPTS = (
    *("dom.js", "diff.js", "charts.js", "filters.js", "table.js"),
    *("timeline.js", "case.js", "sections.js", "theme.js", "main.js"),
)
# Only the page's own script and style may run, and no request is allowed: untrusted text stays text.
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'"
)


def render(conclusion: Conclusion) -> str:
    """The whole page; untrusted input is only included as data."""
    pairs, run = case_pairs(conclusion), conclusion.report.run
    texts = bodies(pairs, None if run.of_tool else run.settings)
    return filled(
        "page.html",
        SCRIPTS,
        title=conclusion.verdict.headline,
        overview=json.dumps({**overview(conclusion, pairs), "without_texts": texts.count("\nnull")}),
        rows=json.dumps(rows(pairs), separators=(",", ":")),
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
