"""Files that we exchange with GitHub: artifacts as zip archives, and the step outputs that its runner reads."""

from __future__ import annotations

import io
import warnings
import zipfile

NAME = "results.json"


def packed(*files, method=zipfile.ZIP_DEFLATED, level=None):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method, compresslevel=level) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in files:
            archive.writestr(name, content)
    return buffer.getvalue()


BOMB = packed((NAME, bytes(50_000_000)), level=1)  # every worker that collects the tests waits for it


def read_as_the_runner_does(text):
    found, lines = {}, iter(text.split("\n"))
    for line in lines:
        if line:
            name, delimiter = line.split("<<", 1)
            found[name] = "\n".join(iter(lines.__next__, delimiter))
    return found
