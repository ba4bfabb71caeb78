"""What graders cost: `python benchmarks/graders.py [CALLS]` prints cold start, calls, a mixed run, and growth."""

from __future__ import annotations

import os
import resource
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runevals.records.script import Language
from runevals.sandbox import Answer, Sandbox

SOURCES: dict[Language, str] = {
    "javascript": "const _ = require('lodash');\nmodule.exports = async (i, o) => ({passed: _.size(o) > NUMBER})",
    "python": "import json\ndef evaluate(i, o, e, m):\n    return {'passed': len(json.dumps(o)) > NUMBER}\n",
}


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for language in SOURCES:
        with Sandbox(workers=1) as sandbox:
            first = timed(sandbox, language, 0)
            each = sorted(timed(sandbox, language, 0) for _ in range(300))
        median, worst = statistics.median(each), each[-1]
        told = f"first {1000 * first:.0f} ms, then median {1000 * median:.1f}, worst {1000 * worst:.1f} ms"
        print(f"{language}: {told}")
    with Sandbox(workers=2) as sandbox, ThreadPoolExecutor(4) as pool:
        began, cpu = time.perf_counter(), cpu_s()
        mixed = [(language, number % 10) for number in range(calls // 2) for language in SOURCES]
        answers = list(pool.map(lambda one: call(sandbox, *one), mixed))
        wall = time.perf_counter() - began
        workers = children()
        memory, descriptors = rss_mb(workers), open_files(workers)
    lost = sum(answer.passed is not True for answer in answers)
    own = len(list(Path("/proc/self/fd").iterdir()))
    print(
        f"{len(answers)} mixed calls over 20 graders, two workers of each kind: {wall:.2f} s wall, {lost} lost; "
        f"workers {memory} MB and {descriptors} descriptors together, {own} of our own; CPU {cpu_s() - cpu:.2f} s"
    )


def call(sandbox: Sandbox, language: Language, number: int) -> Answer:
    """One of ten graders of this language."""
    return sandbox.call(
        code=SOURCES[language].replace("NUMBER", str(number)),
        filename="grader",
        language=language,
        kind="evaluator",
        arguments={"input": "?", "output": "a long answer", "expected": None, "metadata": {}},
    )


def timed(sandbox: Sandbox, language: Language, number: int) -> float:
    """Seconds of one call."""
    began = time.perf_counter()
    call(sandbox, language, number)
    return time.perf_counter() - began


def children() -> list[str]:
    """The processes that this thread and others started."""
    tasks = Path(f"/proc/{os.getpid()}/task")
    return [pid for task in tasks.iterdir() for pid in (task / "children").read_text().split()]


def rss_mb(pids: list[str]) -> int:
    """Their resident memory together."""
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return pages * resource.getpagesize() // 1024**2


def open_files(pids: list[str]) -> int:
    """Their descriptors together; 0 where they are hidden from us."""
    try:
        return sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in pids)
    except PermissionError:
        return 0


def cpu_s() -> float:
    """Seconds of processor time of this process and the children it has buried."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    main()
