"""Peak memory and time of large runs and of what reads their documents: `python benchmarks/memory.py`.

How many cases, and how many bytes an answer, may follow.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

OUTPUTS = ("results.json", "junit.xml")
RUN = ("run", "evals.json", "--target", "recorded:answers.jsonl", "-q")
COMMANDS = {
    "run": (*RUN, "-o", "results.json", "-o", "junit.xml"),
    "run with a baseline": (*RUN, "--baseline", "results.json", "-o", "again.json"),
    "compare": ("compare", "results.json", "again.json", "-o", "compared.md"),
    "report": ("report", "again.json", "-o", "table.csv"),
}


def main() -> None:
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 2048
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), cases, size)
        print(f"{cases} cases of {size} bytes")
        for name, words in COMMANDS.items():
            print(f"  {name:<20} {_measured(words, folder)}")
        written = ", ".join(f"{name} {(Path(folder) / name).stat().st_size / 1e6:.0f} MB" for name in OUTPUTS)
    print(f"  {written}")


def _measured(words: tuple[str, ...], folder: str) -> str:
    """Peak, CPU and wall time of one command, which a process of its own waits for."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_once, words, folder).result()


def _once(words: tuple[str, ...], folder: str) -> str:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "runevals", *words], cwd=folder, check=False, capture_output=True, text=True
    )
    took_s = time.monotonic() - began
    if done.returncode not in (0, 1):
        return done.stderr
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return f"peak {used.ru_maxrss / 1024:>5.0f} MiB  CPU {used.ru_utime + used.ru_stime:>3.0f} s  {took_s:>3.0f} s"


def _write(folder: Path, cases: int, size: int) -> None:
    """A suite with one check a case, and an answer for each."""
    rng = random.Random(20261121)
    words = [f"word{number}" for number in range(1000)]
    items = [
        {
            "testId": f"case-{number:06}",
            "prompt": f"Question {number}?",
            "expected_response": f"word{number % 100}",
        }
        for number in range(cases)
    ]
    suite = {"schemaVersion": "1.2.0", "default_evaluators": {"ExactMatch": {}}, "items": items}
    (folder / "evals.json").write_text(json.dumps(suite), encoding="utf-8")
    with (folder / "answers.jsonl").open("w", encoding="utf-8") as file:
        for item in items:
            text = " ".join(rng.choices(words, k=size // 8))[:size]
            file.write(json.dumps({"case": item["testId"], "output": text, "latency_ms": 5}) + "\n")


if __name__ == "__main__":
    main()
