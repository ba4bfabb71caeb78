"""The expectations of patterns are what real Node says."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.evaluators.expectations import PATTERNS

pytestmark = pytest.mark.needs("node")


def test_node_agrees_with_every_expectation():
    script = (
        "const cases = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
        "console.log(JSON.stringify(cases.map(([p, f, t]) => new RegExp(p, f).test(t))));"
    )
    asked = json.dumps([[pattern, flags, text] for pattern, flags, text, _ in PATTERNS])
    done = subprocess.run(
        ["node", "-e", script], input=asked, capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(done.stdout) == [matches for *_, matches in PATTERNS]
