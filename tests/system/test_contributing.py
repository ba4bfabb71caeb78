"""CONTRIBUTING.md, followed to the letter in a copy of the sources: an evaluator in ten minutes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import ROOT, blocks


def test_the_evaluator_that_contributors_are_shown_can_be_added(tmp_path):
    for folder in ("src", "tests", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "action.yml"):
        shutil.copy(ROOT / name, tmp_path)
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    names = re.findall(r"^\d\. Write `([\w/.]+)`", page, re.M)
    shown = [block.text for block in blocks("CONTRIBUTING.md", "python")]
    assert len(names) == len(shown) == 2
    for name, text in zip(names, shown, strict=True):
        (tmp_path / name).write_text(text, encoding="utf-8")

    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    [step] = [block.text for block in blocks("CONTRIBUTING.md", "sh")]
    # Only what looks at the new evaluator: all of them take a minute, and run elsewhere.
    commands = step.replace(".venv/bin", str(Path(sys.executable).parent)).replace(
        "tests/evaluators", "tests/evaluators -k 'asks_back or page'"
    )
    done = subprocess.run(
        ["sh", "-euc", commands], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 8
    assert "### asks_back" in (tmp_path / "docs" / "evaluators.md").read_text(encoding="utf-8")

    item = {"prompt": "It is broken", "expected_response": "?", "evaluators": {"asks_back": {"mark": "!"}}}
    suite = {"schemaVersion": "1.2.0", "default_evaluators": {}, "items": [item]}
    (tmp_path / "evals.json").write_text(json.dumps(suite), encoding="utf-8")
    command = [sys.executable, "-m", "runevals", "validate", "evals.json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, "1 case, 1 check" in done.stdout) == (0, True), done.stdout + done.stderr
    for tool in (["ruff", "check"], ["ruff", "format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", *tool, *names], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout
