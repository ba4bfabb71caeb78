"""A whole run beside a bare loop, against an endpoint that takes its time: `python benchmarks/load.py`.

    python benchmarks/load.py [--cases 10 1000 10000] [--concurrency 32 128 512] [--latency-ms 50] [--repeats 1]
                              [--api chat responses messages]

Both ask the same endpoint, a process of its own, with the vendor's SDK in threads, look at each answer three
times and write JSON and JUnit. The bare loop, by chat completions, does nothing else: what it takes beyond the
ideal is the SDK's and the machine's. On a machine that others use too, only the ratio of the two means
something; of several repeats, the best of each counts.
"""

from __future__ import annotations

import argparse
import asyncio
import compileall
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import runevals

WRONG_EVERY = 20
MOST_WALL, MOST_CPU_MS, MOST_RSS_MB = 1.12, 1.8, 120  # what a run of 10 000 cases at concurrency 32 may take


@dataclass(frozen=True)
class Taken:
    """What one process took, the processes that it started included."""

    wall_s: float
    cpu_s: float
    rss_mb: float

    def best(self, other: Taken) -> Taken:
        pairs = zip((self.wall_s, self.cpu_s, self.rss_mb), (other.wall_s, other.cpu_s, other.rss_mb), strict=True)
        return Taken(*map(min, pairs))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, nargs="+", default=[10, 1000, 10_000])
    parser.add_argument("--concurrency", type=int, nargs="+", default=[32, 128, 512])
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--api", nargs="+", default=["chat"], choices=("chat", "responses", "messages"))
    told = parser.parse_args()
    compileall.compile_dir(Path(runevals.__file__).parent, quiet=1)  # as every installation does
    heads = ("cases", "at once", "what", "ideal s", "wall s", "× ideal", "CPU s", "ms/case", "peak MB")
    print("{:>7} {:>8}  {:<9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}".format(*heads))
    with endpoint(told.latency_ms / 1000) as base_url:
        for cases in told.cases:
            for concurrency in told.concurrency:
                both(cases, concurrency, told, base_url)
    print(
        f"A run of 10 000 at 32 may take {MOST_WALL} × the ideal, {MOST_CPU_MS} ms CPU a case, {MOST_RSS_MB} MB;"
        " 1 000 cases 2.3 s, 10 cases 0.75 s."
    )


def both(cases: int, concurrency: int, told: argparse.Namespace, base_url: str) -> None:
    """Bare loop and runevals, by each API, in turn; prints the best of each and their ratio."""
    ideal_s = math.ceil(cases / concurrency) * told.latency_ms / 1000
    best: dict[str, Taken] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_suite(Path(folder), cases)
        for _ in range(told.repeats):
            for name, words in commands(concurrency, told.api).items():
                taken = process(words, Path(folder), base_url)
                best[name] = taken.best(best.get(name, taken))
                require_right(Path(folder, f"{name}.json"), name, cases)
    for name, taken in best.items():
        print(
            f"{cases:>7} {concurrency:>8}  {name:<9} {ideal_s:>8.2f} {taken.wall_s:>8.2f} "
            f"{taken.wall_s / ideal_s:>8.2f} {taken.cpu_s:>8.2f} {1000 * taken.cpu_s / cases:>8.2f} "
            f"{taken.rss_mb:>8.0f}",
            flush=True,
        )
    bare = best.pop("bare")
    for name, run in best.items():
        ratios = f"{run.wall_s / bare.wall_s:>8.2f} {'':>8} {run.cpu_s / bare.cpu_s:>8.2f}"
        print(f"{'':>18}{'ratio':<9} {'':>8} {ratios}  {name}", flush=True)


def commands(concurrency: int, apis: Sequence[str]) -> dict[str, list[str]]:
    run = ["run", "evals.json", "--concurrency", str(concurrency), "--no-judge", "-q"]
    return {
        "bare": [sys.executable, __file__, "bare", str(concurrency)],
        **{
            api: [
                *(sys.executable, "-m", "runevals", *run, "--config", f"{api}.yaml"),
                *("-o", f"{api}.json", "-o", f"{api}.xml"),
            ]
            for api in apis
        },
    }


def process(words: list[str], folder: Path, base_url: str) -> Taken:
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "GITHUB_ACTIONS")}
    for vendor in ("OPENAI", "ANTHROPIC"):
        environment |= {f"{vendor}_BASE_URL": base_url, f"{vendor}_API_KEY": "a-key-of-nobody"}
    started = time.perf_counter()
    with (folder / "told.txt").open("w") as told:  # no pipe that somebody would have to read
        run = subprocess.Popen(words, cwd=folder, env=environment, stdout=told, stderr=told)
        _, status, used = os.wait4(run.pid, 0)
    wall_s = time.perf_counter() - started
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode > 1:
        sys.exit((folder / "told.txt").read_text())
    return Taken(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def write_suite(folder: Path, cases: int) -> None:
    checks = {
        "contains": {},
        "regex": {"pattern": r"answer \d+"},
        "PartialMatch": {"algorithm": "levenshtein", "threshold": 0.1},
    }
    items = [
        {"testId": f"k{n}", "prompt": f"Question {n}?", "expected_response": f"answer {n}"} for n in range(cases)
    ]
    suite = {"schemaVersion": "1.2.0", "default_evaluators": checks, "items": items}
    (folder / "evals.json").write_text(json.dumps(suite), encoding="utf-8")
    for api, vendor in (("chat", "openai"), ("responses", "openai"), ("messages", "anthropic")):
        target = {"type": vendor, "model": "tiny", "api": api}
        (folder / f"{api}.yaml").write_text(json.dumps({"target": target}), encoding="utf-8")


def require_right(path: Path, name: str, cases: int) -> None:
    """Ends the benchmark where a loop lost answers: its speed would mean nothing."""
    document = json.loads(path.read_text(encoding="utf-8"))
    found = (document["totals"]["passed"], document["totals"]["failed"])
    wrong = len(range(0, cases, WRONG_EVERY))
    if found != (cases - wrong, wrong):
        sys.exit(
            f"{name}: {found[0]} passed and {found[1]} failed of {cases}, of which {wrong} were answered wrongly"
        )


# -- the endpoint


def as_completion(text: str, number: int) -> dict[str, object]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1763700000}
    return {**head, "choices": [choice], "usage": usage}


def as_response(text: str, number: int) -> dict[str, object]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    usage = {"input_tokens": 12, "output_tokens": 9, "total_tokens": 21}
    head = {"id": f"resp_{number}", "object": "response", "created_at": 1763700000, "status": "completed"}
    return {**head, "output": [item], "usage": usage}


def as_message(text: str, number: int) -> dict[str, object]:
    head = {"id": f"msg_{number}", "type": "message", "role": "assistant", "stop_reason": "end_turn"}
    usage = {"input_tokens": 12, "output_tokens": 9}
    return {**head, "content": [{"type": "text", "text": text}], "usage": usage}


FORMS = {b"completions": as_completion, b"responses": as_response, b"messages": as_message}


class Answers(asyncio.Protocol):
    """HTTP/1.1 with as little work as it takes, so that the other core is the client's."""

    latency_s = 0.05

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, ended, body = self.received.partition(b"\r\n\r\n")
        if not ended:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        self.received = body[length:]
        number = int(body.partition(b"Question ")[2].partition(b"?")[0])
        form = FORMS[head.partition(b" HTTP")[0].rpartition(b"/")[2]]
        asyncio.get_running_loop().call_later(self.latency_s, self.answer, number, form)

    def answer(self, number: int, form: Callable[[str, int], dict[str, object]]) -> None:
        text = "I do not know." if number % WRONG_EVERY == 0 else f"It is answer {number}, as far as I know."
        body = json.dumps({"model": "tiny-2026-09", **form(text, number)}).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        if not self.transport.is_closing():
            self.transport.write(head.encode() + body)


@contextmanager
def endpoint(latency_s: float) -> Iterator[str]:
    """Its address, while it runs."""
    words = [sys.executable, __file__, "endpoint", str(latency_s)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            yield f"http://127.0.0.1:{running.stdout.readline().strip()}/v1"
        finally:
            running.kill()


async def serve(latency_s: float) -> None:
    Answers.latency_s = latency_s
    server = await asyncio.get_running_loop().create_server(Answers, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# -- the bare loop


def bare(concurrency: int) -> None:
    """The same calls, checks and files, and nothing else."""
    import openai
    from rapidfuzz.distance import Levenshtein

    client = openai.OpenAI(max_retries=0, timeout=120)
    pattern = re.compile(r"answer \d+", re.IGNORECASE)

    def ask(item: dict[str, str]) -> dict[str, object]:
        started = time.monotonic()
        message = [{"role": "user", "content": item["prompt"]}]
        completion = client.chat.completions.create(model="tiny", messages=message)  # type: ignore[arg-type]
        text, expected = completion.choices[0].message.content or "", item["expected_response"]
        checks = [
            expected.casefold() in text.casefold(),
            pattern.search(text) is not None,
            Levenshtein.normalized_similarity(text.casefold(), expected.casefold()) >= 0.1,
        ]
        return {
            "key": item["testId"],
            "output": text,
            "latency_s": time.monotonic() - started,
            "usage": completion.usage.total_tokens if completion.usage else None,
            "checks": checks,
            "passed": all(checks),
        }

    from junit_xml import TestCase, TestSuite, to_xml_report_file

    items = json.loads(Path("evals.json").read_text(encoding="utf-8"))["items"]
    rows = []
    with ThreadPoolExecutor(concurrency) as pool, Path("bare.jsonl").open("w", encoding="utf-8") as file:
        waiting = deque(pool.submit(ask, item) for item in items)
        while waiting:
            row = waiting.popleft().result()
            file.write(json.dumps(row) + "\n")
            rows.append(row)
    tests = []
    for row in rows:
        test = TestCase(str(row["key"]), "evals", float(row["latency_s"]), str(row["output"]))  # type: ignore[arg-type]
        if not row["passed"]:
            test.add_failure_info("a check failed")
        tests.append(test)
    with Path("bare.xml").open("w", encoding="utf-8") as xml:
        to_xml_report_file(xml, [TestSuite("evals", tests)])
    passed = sum(bool(row["passed"]) for row in rows)
    totals = {"totals": {"passed": passed, "failed": len(rows) - passed}}
    Path("bare.json").write_text(json.dumps(totals), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["endpoint"]:
        asyncio.run(serve(float(sys.argv[2])))
    elif sys.argv[1:2] == ["bare"]:
        bare(int(sys.argv[2]))
    else:
        main()
