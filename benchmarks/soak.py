"""Run after run in one process, its endpoint playing faults: `python benchmarks/soak.py [MINUTES [SEED]]`.

Every run must end in time, every case must come out as the endpoint knows that it answered it, and memory, threads
and open files must not grow. The first thing that is not so ends it with exit code 1. Linux only.
"""

from __future__ import annotations

import faulthandler
import gc
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.request import urlopen

from faulty_endpoint import TIMEOUT_S
from runevals.cli import call

MOST_CALLS = 5
BOUND_S = (
    300.0  # for one run: five attempts of twice the time limit and the pauses between, one case after another
)
STATUS_OF = {"right": "passed", "wrong": "failed", "again": "errored", "broken": "errored"}
WARM_UP_RUNS = 5


@dataclass(frozen=True)
class Held:
    """What the process holds between two runs."""

    rss_mb: float
    threads: int
    files: int
    children: int

    @classmethod
    def now(cls) -> Held:
        gc.collect()
        until = time.monotonic() + 10  # for threads that nobody waits for
        while threading.active_count() > 1 and time.monotonic() < until:
            time.sleep(0.05)
        status = Path("/proc/self/status").read_text()
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
        return cls(
            rss_mb=int(status.partition("VmRSS:")[2].split()[0]) / 1024,
            threads=threading.active_count(),
            files=len(list(Path("/proc/self/fd").iterdir())),
            children=len(children.split()),
        )


# What was freed goes back to the system, so that only what is held counts.
MALLOC = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "131072"}


def main() -> None:
    if not MALLOC.keys() <= os.environ.keys():
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **MALLOC})
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    seed = sys.argv[2] if len(sys.argv) > 2 else str(random.SystemRandom().randrange(10**6))
    print(f"seed {seed}, {minutes:g} minutes", flush=True)
    words = [sys.executable, str(Path(__file__).with_name("faulty_endpoint.py")), seed]
    with (
        subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as endpoint,
        tempfile.TemporaryDirectory() as at,
    ):
        assert endpoint.stdout is not None
        try:
            os.chdir(at)
            soak(f"http://127.0.0.1:{endpoint.stdout.readline().strip()}", minutes, random.Random(seed))
        finally:
            os.chdir("/")
            endpoint.kill()


def soak(address: str, minutes: float, chance: random.Random) -> None:
    for name in ("CI", "GITHUB_ACTIONS"):
        os.environ.pop(name, None)
    os.environ |= {"OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": "a-key-of-nobody"}
    target = {"type": "openai", "model": "m", "timeout_s": TIMEOUT_S}
    Path("runevals.yaml").write_text(json.dumps({"version": 1, "suites": ["evals.json"], "target": target}))
    ends_at, held = time.monotonic() + 60 * minutes, [Held.now()]
    played: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    slowest_s, runs = 0.0, 0
    while time.monotonic() < ends_at:
        runs += 1
        cases, cut_short = chance.randint(20, 120), chance.random() < 0.15
        took_s, found = one_run(runs, cases, chance.choice([1, 4, 16, 64, 128]), cut_short=cut_short)
        slowest_s = max(slowest_s, took_s)
        with urlopen(f"{address}/{runs}") as reply:
            ledger = json.load(reply)
        wrong = [
            told for key in found if (told := complaint(found[key], ledger.get(key, ()), cut_short=cut_short))
        ]
        if len(found) != cases or wrong:
            sys.exit(f"run {runs}: {len(found)} of {cases} cases in the document\n" + "\n".join(wrong))
        held.append(Held.now())
        played.update(word for calls in ledger.values() for word in calls)
        statuses.update(found.values())
        print(f"run {runs}: {cases} cases, {took_s:.1f} s, {held[-1]}", flush=True)
    tell(runs, slowest_s, held, played, statuses)


def one_run(number: int, cases: int, concurrency: int, *, cut_short: bool) -> tuple[float, Mapping[str, str]]:
    """(seconds, case → status). A run that does not end ends the process, with where every thread is."""
    items = [
        {"testId": f"{number}/{n}", "prompt": f"Case {number}/{n}?", "expected_response": "yes"}
        for n in range(cases)
    ]
    checks = {"contains": {"value": "yes"}, "regex": {"pattern": "answer"}, "max_length": {"value": 10**8}}
    suite = {"schemaVersion": "1.2.0", "default_evaluators": checks, "items": items}
    Path("evals.json").write_text(json.dumps(suite))
    words = ["run", "--concurrency", str(1 + cases // 8 if concurrency == 1 else concurrency), "--no-judge", "-q"]
    words += ["--max-duration", "3"] if cut_short else []
    told = io.StringIO()
    began = time.monotonic()
    faulthandler.dump_traceback_later(BOUND_S, exit=True)
    with redirect_stdout(told), redirect_stderr(told):
        code = call([*words, "-o", "out.json", "-o", "out.xml"])
    faulthandler.cancel_dump_traceback_later()
    if code not in (0, 1, 3):
        sys.exit(f"run {number} ended with {code}:\n{told.getvalue()}")
    document = json.loads(Path("out.json").read_text())
    return time.monotonic() - began, {case["key"]: case["status"] for case in document["cases"]}


def complaint(status: str, calls: Sequence[str], *, cut_short: bool) -> str | None:
    """What is wrong with a case of this status that was answered so."""
    words = [call.split()[0] for call in calls]
    last = words[-1] if words else None
    if last is None or (cut_short and last == "again"):
        good = status == "skipped" if cut_short else False
        good |= cut_short and status == "errored"
    else:
        good = status == STATUS_OF[last]
    asked_well = len(words) <= MOST_CALLS and all(word == "again" for word in words[:-1])
    return None if good and asked_well else f"{status} after {list(calls)}"


def tell(runs: int, slowest_s: float, held: Sequence[Held], played: Counter[str], statuses: Counter[str]) -> None:
    print(f"{runs} runs, {statuses.total()} cases, {played.total()} calls; the slowest run took {slowest_s:.0f} s")
    print("statuses:", dict(statuses.most_common()))
    print("played:", dict(played.most_common()))
    settled = held[WARM_UP_RUNS:] or held
    third = max(1, len(settled) // 3)
    grown = []
    for name, may_grow in (("rss_mb", 15.0), ("threads", 0), ("files", 1), ("children", 0)):
        values = [getattr(one, name) for one in settled]
        before, after = median(values[:third]), median(values[-third:])
        print(f"{name}: {before:g} in the first third, {after:g} in the last (medians); most {max(values):g}")
        grown += [name] if after > before + may_grow else []
    if grown:
        sys.exit(f"grows: {', '.join(grown)}")
    print("nothing wrong, nothing grown")


if __name__ == "__main__":
    main()
