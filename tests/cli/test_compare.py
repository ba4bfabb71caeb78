"""`runevals compare`: two results documents, and the verdict on the second; it runs nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.sample_suites import ANSWERS, SUITE


def test_compare_loads_nothing_that_runs_a_suite(tmp_path):
    """No evaluator, judge or dialect, and no more modules than it did. Settings know the kinds of targets."""
    document = Path(__file__).parents[1] / "reports" / "documents" / "format-1.json"
    needless = ("runevals.judge", "runevals.suites.load", "runevals.suites.dialects")
    script = (
        f"import sys; from runevals.cli import call; code = call(['compare', *2 * [{str(document)!r}]]); "
        "ours = [name for name in sys.modules if name.startswith('runevals.')]; "
        f"print(code, len(ours), *(sys.modules.keys() & {{*{needless}}}))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    code, modules, *loaded = done.stdout.splitlines()[-1].split()
    assert (code, loaded) == ("0", [])
    assert int(modules) <= 148


def test_a_lost_case_is_a_cause_with_its_place_in_json(project, runevals):
    """Without a document of its own there is nothing that could be typed next."""
    project.write("evals.json", SUITE)
    for name, answers in (("base", ANSWERS), ("head", ANSWERS.replace("Paris", "Rome"))):
        project.write("answers.jsonl", answers)
        runevals("run", "-q", "--target", "recorded:answers.jsonl", "-o", f"{name}.json")
    code, out, err = runevals("compare", "base.json", "head.json", "--format", "json")
    verdict = json.loads(out)
    assert (code, verdict["exit_code"], verdict["outcome"]) == (1, 1, "failed"), err
    assert [(cause["kind"], cause["cases"]) for cause in verdict["causes"]] == [("lost", 1), ("failing", 1)]
    lost = verdict["examples"][0]
    assert (lost["key"], lost["file"], lost["runs"]) == ("a", "evals.json", "1/1 → 0/1")
    assert lost["difference"] == ["− Paris", "+ Rome"]
    assert (verdict["next_steps"], verdict["reports"]) == ([], [])
