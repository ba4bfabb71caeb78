"""CPU time of short commands, as whole processes: `python benchmarks/startup.py`. Prints medians of 15 runs."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

RUNS = 15


def main() -> None:
    runevals = str(Path(sys.executable).with_name("runevals"))
    with tempfile.TemporaryDirectory() as folder:
        items = [
            {"testId": f"K-{n}", "prompt": f"Question {n}?", "expected_response": f"Answer {n}"} for n in range(20)
        ]
        suite = Path(folder, "evals.json")
        suite.write_text(json.dumps({"schemaVersion": "1.2.0", "items": items}), encoding="utf-8")
        rows = [
            ("python -c pass", [sys.executable, "-c", "pass"], None),
            ("runevals --version", [runevals, "--version"], 150),
            ("runevals validate (20 cases)", [runevals, "validate", str(suite)], 400),
            ("runevals --help", [runevals, "--help"], None),
        ]
        print(f"{'command':<32} {'CPU ms':>8} {'wall ms':>8} {'limit':>8}")
        for name, command, limit in rows:
            cpu, wall = zip(*(once(command, folder) for _ in range(RUNS)), strict=True)
            told = "" if limit is None else f"{limit}"
            print(f"{name:<32} {1000 * median(cpu):>8.0f} {1000 * median(wall):>8.0f} {told:>8}")


def once(command: list[str], folder: str) -> tuple[float, float]:
    """CPU and wall seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, env={**os.environ}, check=True, capture_output=True)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


if __name__ == "__main__":
    main()
