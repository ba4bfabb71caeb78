"""A page of results, taken apart."""

from __future__ import annotations

import json
from html.parser import HTMLParser


class Page(HTMLParser):
    """The elements of a page, and the text of its scripts and style."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.raw: dict[str, str] = {}
        self.policy = ""
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.names.append(tag)
        self.attributes += attrs
        self._open = told.get("id", tag) if tag in ("script", "style", "title") else ""
        if told.get("http-equiv") == "Content-Security-Policy":
            self.policy = told["content"]

    def handle_endtag(self, tag):
        self._open = ""

    def handle_data(self, data):
        if self._open:
            self.raw[self._open] = self.raw.get(self._open, "") + data

    def data(self, name):
        return json.loads(self.raw[f"{name}-data"])
