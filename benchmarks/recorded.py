"""CPU of whole commands without a network, beside a fixed loop: `python benchmarks/recorded.py [--cases 10000]`.

A suite with three deterministic checks a case, each with options of its own, in both formats that have them. Each
command runs `--repeats` times, in turn with a loop of pure Python; the best of both counts. On a machine that
others use too, only the ratio to the loop means something: multiply it by the loop's time on a quiet machine.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import runevals

LOOP = "total = 0\nfor number in range(8_000_000): total += number % 7"
RUN = ("run", "--target", "recorded:answers.jsonl", "--no-judge", "-q")
COMMANDS = {
    "version": ("--version",),
    "validate": ("validate", "evals.json"),
    "validate, samples": ("validate", "samples.json"),
    "run": (*RUN, "evals.json", "-o", "base.json", "-o", "base.xml"),
    "run, samples": (*RUN, "samples.json", "-o", "samples-base.json", "-o", "samples-base.xml"),
    "run with a base, html": (
        *(*RUN[:2], "recorded:changed.jsonl", *RUN[3:], "evals.json", "--baseline", "base.json"),
        *("-o", "head.json", "-o", "head.xml", "-o", "head.html"),
    ),
    "compare": ("compare", "base.json", "head.json", "-o", "compared.md"),
    "report html": ("report", "head.json", "-o", "again.html"),
}


@dataclass(frozen=True)
class Used:
    """What one process used."""

    cpu_s: float
    rss_mb: float


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    options = parser.parse_args()
    compileall.compile_dir(Path(runevals.__file__).parent, quiet=1)  # as every installation does
    print(f"{options.cases} cases; {'command':<22} {'CPU s':>7} {'loop s':>7} {'ratio':>7} {'peak MB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        with ProcessPoolExecutor(1) as pool:  # a process begins with the peak of its parent
            pool.submit(write_files, Path(folder), options.cases).result()
        for name in options.only:
            row(name, Path(folder), options.repeats)
        for path in sorted(Path(folder).glob("base*.*")):
            print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")


def row(name: str, folder: Path, repeats: int) -> None:
    """Prints one command's best beside the loop's best."""
    loops, runs = [], []
    for _ in range(repeats):
        loops.append(process([sys.executable, "-I", "-c", LOOP], folder))
        runs.append(process([sys.executable, "-m", "runevals", *COMMANDS[name]], folder))
    loop_s, cpu_s = (min(used.cpu_s for used in each) for each in (loops, runs))
    peak_mb = max(used.rss_mb for used in runs)
    print(f"{name:<35} {cpu_s:>7.2f} {loop_s:>7.2f} {cpu_s / loop_s:>7.2f} {peak_mb:>8.0f}", flush=True)


def process(words: list[str], folder: Path) -> Used:
    """Runs one command, its children included. Ends the benchmark if it could not measure."""
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "GITHUB_ACTIONS")}
    with (folder / "output.txt").open("w") as output:
        run = subprocess.Popen(words, cwd=folder, env=environment, stdout=output, stderr=output)
        _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode > 1:
        sys.exit((folder / "output.txt").read_text())
    return Used(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def write_files(folder: Path, cases: int) -> None:
    """The suite in two formats, the answers of a base, and those of a change that loses every fortieth case."""
    numbers = range(cases)
    items = [
        {
            "testId": f"case-{number:06}",
            "prompt": f"Question {number}?",
            "evaluators": {
                "contains": {"value": f"answer {number}"},
                "regex": {"pattern": rf"answer\s+{number}\b"},
                "levenshtein_max": {"reference": f"It is answer {number}.", "value": 12},
            },
        }
        for number in numbers
    ]
    suite = {"schemaVersion": "1.2.0", "default_evaluators": {}, "items": items}
    (folder / "evals.json").write_text(json.dumps(suite, indent=2), encoding="utf-8")
    samples = [
        {
            "sample_id": item["testId"],
            "prompt": item["prompt"],
            "assertions": [{"type": name, **options} for name, options in item["evaluators"].items()],  # type: ignore[attr-defined]
        }
        for item in items
    ]
    (folder / "samples.json").write_text(json.dumps(samples, indent=2), encoding="utf-8")
    for name, every in (("answers.jsonl", 20), ("changed.jsonl", 40)):
        with (folder / name).open("w", encoding="utf-8") as file:
            for number in numbers:
                text = "I do not know." if number % every == every - 1 else f"It is answer {number}, I think."
                answer = {"case": f"case-{number:06}", "output": text, "latency_ms": 50}
                file.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
