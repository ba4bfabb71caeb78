"""CPU time of short commands beside a Python that does nothing: `python benchmarks/startup.py`.

Whole processes, in turn; the best of 30 runs of each. `runevals` is started by the script that current installers
write (uv, pip 26). The script of an older pip imports `re` first, and `python -m` imports `runpy`: each costs a
few milliseconds more than `--version` itself.
"""

from __future__ import annotations

import compileall
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import runevals

RUNS = 30
SCRIPT = """import sys
from runevals.__main__ import main
if __name__ == "__main__":
    sys.exit(main())
"""


def main() -> None:
    compileall.compile_dir(Path(runevals.__file__).parent, quiet=1)  # as every installation does
    with tempfile.TemporaryDirectory() as folder:
        items = [
            {"testId": f"K-{n}", "prompt": f"Question {n}?", "expected_response": f"Answer {n}"} for n in range(20)
        ]
        suite = Path(folder, "evals.json")
        suite.write_text(json.dumps({"schemaVersion": "1.2.0", "items": items}), encoding="utf-8")
        script = Path(folder, "runevals")
        script.write_text(SCRIPT, encoding="utf-8")
        rows = {
            "python -I -c pass": ([sys.executable, "-I", "-c", "pass"], ""),
            "runevals --version": ([sys.executable, script, "--version"], "1.2 times python"),
            "python -m runevals --version": ([sys.executable, "-m", "runevals", "--version"], ""),
            "runevals validate (20 cases)": ([sys.executable, script, "validate", suite], "150 ms"),
            "runevals --help": ([sys.executable, script, "--help"], ""),
        }
        times = {name: [once(command, folder) for _ in range(2)] for name, (command, _) in rows.items()}
        for _ in range(RUNS):
            for name, (command, _) in rows.items():
                times[name].append(once(command, folder))
    least = min(times["python -I -c pass"])[0]
    print(f"{'command':<32} {'CPU ms':>8} {'wall ms':>8} {'times python':>13}  goal")
    for name, (_, goal) in rows.items():
        cpu, wall = map(min, zip(*times[name], strict=True))
        print(f"{name:<32} {1000 * cpu:>8.1f} {1000 * wall:>8.1f} {cpu / least:>13.2f}  {goal}")


def once(command: list[str | Path], folder: str) -> tuple[float, float]:
    """CPU and wall seconds of one process."""
    began = time.perf_counter()
    run = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        sys.exit(f"{command} ended with {run.returncode}")
    return used.ru_utime + used.ru_stime, time.perf_counter() - began


if __name__ == "__main__":
    main()
