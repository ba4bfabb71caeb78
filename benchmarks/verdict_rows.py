"""Simulated changes through the command line: `python benchmarks/verdict_rows.py [--only NAME] [--jobs N]`.

What each run of each case comes out as is written down beforehand. It answers both the product's procedure over a
simulated runner (`runevals.verdict.settle`) and `runevals` as a program: a repository with the base's commit and
the change's, and a target that looks up its answers by side, case and number of call. State, exit code, every
finding and every call must be equal. Prints a line for each change, and exits with 1 where any differs. With
`--spoil` the program is answered the other way round, and every row must differ.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from msgspec.structs import replace as changed

import runevals
from runevals.records import AttemptReport, CaseReport, Comparison, Finding, Layers, Outcome, RunReport, State
from runevals.reports.results_document import read, read_conclusion
from runevals.run.target_runner import HEAD_LOOKS
from runevals.settings.resolve import RawSettings, Settings, resolve
from runevals.verdict.case_runs import RunSide
from runevals.verdict.matching import Key, Pair
from runevals.verdict.outcome import conclusion_of
from runevals.verdict.score import over_attempts, run_report
from runevals.verdict.settle import FreshRounds, settled
from verdict_sim import ERRORED, FAILED, INFO, PASSED

CALLS = 400  # written down for each side of a case: more than are ever made
PASS, FAIL, ERROR = "pfe"
LETTERS = {PASS: PASSED, FAIL: FAILED, ERROR: ERRORED}
PATIENCE_S = 300
NOTHING: Mapping[str, object] = MappingProxyType({})
OF_ANOTHER_COMMIT = {"commit": "0" * 40}
OLD = {"started_at": "2026-01-01T00:00:00Z"}

AGENT = '''"""Answers as WORLD/answers.json says, by side, case and number of call; counts its calls in WORLD."""

import fcntl
import json
import os
import pathlib
import re
import sys
import time

WORLD = pathlib.Path({world!r})
SIDE = "head" if (WORLD / "drifted").exists() else {side!r}
if SIDE == "base" and (WORLD / "base_is_gone").exists():
    raise ImportError("a package that is gone")


def answer(prompt):
    number = int(re.search(r"[0-9]+", prompt)[0])
    told = json.loads((WORLD / "answers.json").read_text())
    side = "old form" if SIDE == "head" and number in told["edited"] and "edited" not in prompt else SIDE
    with (WORLD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wait_if_told()
        with (WORLD / "calls").open("a+") as calls:
            calls.seek(0)
            made = calls.read().split("\\n").count(f"{{side}} {{number}}")
            calls.write(f"{{side}} {{number}}\\n")
    letter = told["answers"][side][number][made]
    if letter == "e":
        raise RuntimeError("no answer")
    return {{"output": "right" if letter == "p" else "wrong", "costUSD": 1}}


def wait_if_told():
    """Before the call that WORLD/pause names is made, waits to be ended from outside."""
    pause = WORLD / "pause"
    made = (WORLD / "calls").read_text().count("\\n") if (WORLD / "calls").exists() else 0
    if not pause.exists() or made < int(pause.read_text()):
        return
    (WORLD / "paused").touch()
    while pause.exists():
        time.sleep(0.05)
    os._exit(1)


if __name__ == "__main__":
    print(json.dumps(answer(json.load(sys.stdin)["prompt"])))
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """One simulated change: how probably each case passes on either side, and how it is run."""

    base: Sequence[float]
    head: Sequence[float]
    critical: frozenset[int] = frozenset()
    parts: Sequence[str] = ()  # the category of each case; empty: none
    repeat: int = 3
    stored_runs: int = 3
    outage: float = 0.0  # share of runs that fail now, on both sides; the stored base was before it
    edited: frozenset[int] = frozenset()  # what the change rewrites; `old_form` is how they pass in their old form
    old_form: Sequence[float] = ()
    renamed: frozenset[int] = frozenset()  # the change gives them another key
    deterministic: bool = False

    def key(self, index: int, *, of_head: bool) -> str:
        """Under which a side has the case; its number is the case's."""
        return f"k{index}" if of_head or index not in self.renamed else f"k0{index}"

    def blank(self, index: int, *, of_head: bool) -> CaseReport:
        """The case without any run."""
        key = self.key(index, of_head=of_head)
        return CaseReport(
            suite="evals",
            key=key,
            name=key,
            file="evals.json",
            line=None,
            fingerprint=f"edited {index}" if of_head and index in self.edited else str(index),
            status=Outcome.SKIPPED,
            attempts=(),
            layers=Layers(),
            composite=None,
            pass_rate=None,
            category=self.parts[index] if self.parts else None,
            critical=index in self.critical,
        )


@dataclass(frozen=True, slots=True)
class Written:
    """How every run of a change comes out: for each side and case a letter a call."""

    truth: Truth
    answers: Mapping[RunSide, Sequence[str]]

    @classmethod
    def drawn(cls, truth: Truth, errors: float, rng: random.Random) -> Written:
        """From the rates of `truth`; a share of the calls errors. The base's first runs are what it stores."""
        now = 1 - truth.outage

        def letter(rate: float) -> str:
            return ERROR if rng.random() < errors else PASS if rng.random() < rate else FAIL

        def letters(rates: Sequence[float], before: int = 0) -> list[str]:
            return [
                "".join(letter(rate if call < before else rate * now) for call in range(CALLS)) for rate in rates
            ]

        base, head = letters(truth.base, truth.stored_runs), letters(truth.head)
        return cls(truth, {"base": base, "head": head, "old form": letters(truth.old_form)})

    def saying(self, told: Mapping[RunSide, Sequence[str]]) -> Written:
        """The same, but the runs of these sides come out so, and the last of each case from there on."""
        letters = {side: [one.ljust(CALLS, one[-1]) for one in cases] for side, cases in told.items()}
        return replace(self, answers={**self.answers, **letters})

    def spoiled(self) -> Written:
        """The same, but the change's target answers the other way round."""
        other = str.maketrans(PASS + FAIL, FAIL + PASS)
        return self.saying({"head": [letters.translate(other) for letters in self.answers["head"]]})


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of a change, and all that led to it."""

    state: State
    exit_code: int
    findings: Mapping[str, str]  # unit → state and reason, its numbers, and the fresh runs of both sides
    lost: Sequence[str]  # cases
    numbers: str  # of the comparison
    calls: Mapping[str, int]  # side and case → how many
    shown: str  # the findings in question, in short

    @classmethod
    def of(cls, found: Comparison, exit_code: int, calls: Mapping[str, int]) -> Seen:
        numbers = f"drop {found.drop}, p {found.p_value}, of a gain {found.gain_p_value}"
        rounds = f"rounds {found.rounds_done} of {found.rounds_planned}, fresh ones {bool(found.fresh)}"
        asked = [one for one in found.findings if one.family == "case" or one.state is not State.NOT_WORSE]
        counts = Counter(f"{one.family} {one.reason}" for one in asked)
        return cls(
            state=found.state,
            exit_code=exit_code,
            findings={f"{one.family} {one.name} by {one.metric}": _ended(one) for one in found.findings},
            lost=[change.key for change in found.lost_cases],
            numbers=f"{numbers}, improved {found.improved}, {rounds}",
            calls=calls,
            shown=", ".join(f"{number} {what}" for what, number in sorted(counts.items())) or "nothing",
        )

    @property
    def head_calls(self) -> int:
        """Calls of the change's target."""
        return sum(number for name, number in self.calls.items() if not name.startswith("base"))

    def differs_from(self, other: Seen) -> str:
        """What is not equal; empty where all is."""
        told = []
        for name in ("state", "exit_code", "findings", "lost", "numbers", "calls"):
            ours, theirs = getattr(self, name), getattr(other, name)
            if isinstance(ours, Mapping):
                keys = [key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]
                told += [f"{name} of {key}: {ours.get(key)}, not {theirs.get(key)}" for key in sorted(keys)[:4]]
            elif ours != theirs:
                told.append(f"{name}: {ours}, not {theirs}")
        return "; ".join(told)


def _ended(finding: Finding) -> str:
    numbers = f"drop {finding.drop}, p {finding.p_value}, e {finding.e_value}, chance {finding.chance}"
    runs = f"more {finding.more}, base {_statuses(finding.base)}, head {_statuses(finding.head)}"
    kind = f"critical {finding.critical}, dead {finding.dead}, edited {finding.edited}"
    return f"{finding.state}, {finding.reason}, {numbers}, {runs}, {kind}"


def _statuses(case: CaseReport | None) -> str:
    return "-" if case is None else "".join(attempt.status[0] for attempt in case.attempts)


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """What can be run, as the procedure sees it."""

    fresh: bool = False  # the base is measured just now
    all_rounds: bool = False
    old: bool = False  # what is stored of the base is a month old
    drifts: bool = False  # both sides are one commit, which answers otherwise than when it was stored
    base: Literal["runs", "does not run", "breaks at its first call"] = "runs"


class Recited:
    """A Runner whose target recites what is written down, run by run."""

    trouble = base_lacks = ""
    lost_before = ()
    can_run = True

    def __init__(self, written: Written, how: How, base_looks: int) -> None:
        self.truth = written.truth
        self.planned = written.truth.repeat
        self.all_rounds = how.all_rounds
        self.of_branch = how.drifts
        self.why_no_base = "no base" if how.base == "does not run" else ""
        self.calls: Counter[str] = Counter()
        self.until_fresh: int | None = None  # calls before the first fresh run
        self._drifts, self._drifted = how.drifts, False
        self._answers = written.answers
        self._breaks = how.base == "breaks at its first call"
        self._looks: Mapping[RunSide, int] = {"base": base_looks, "head": HEAD_LOOKS}
        self._scored: list[list[AttemptReport]] = [[] for _ in written.truth.head]

    @property
    def why_no_rounds(self) -> str:
        return self.why_no_base

    def stored_base(self, *, old: bool) -> RunReport:
        """What an earlier run left."""
        stored = self._runs("base", range(len(self.truth.base)), self.truth.stored_runs)
        self._drifted = self._drifts
        report = self._report("base", stored)
        began = report.run.started_at - timedelta(days=30 * old)
        return changed(report, run=changed(report.run, started_at=began))

    def next_round(self) -> RunReport:
        made = self._runs("head", range(len(self._scored)), self.planned if self.all_rounds else 1)
        for index, runs in made.items():
            self._scored[index] += runs
        return self._report("head", dict(enumerate(self._scored)))

    def fresh_rounds(self, only: Sequence[Pair] | None, _why: str) -> FreshRounds | str:
        if self.why_no_base:
            return self.why_no_base
        self._begin_fresh()
        if self._breaks:
            self.trouble = "no base"
            return self.trouble
        indices = range(len(self.truth.head)) if only is None else [_index(pair) for pair in only]
        base, head = (
            self._report(side, self._runs(side, indices, number)) for side, number in self._looks.items()
        )
        return FreshRounds(base=base, head=head, source="a fresh run")

    def again(self, side: RunSide, cases: Sequence[Pair]) -> Mapping[Key, AttemptReport]:
        self._begin_fresh()
        if side == "base" and self._breaks:
            self.trouble = self.why_no_base = "no base"
            return {}
        return {pair.key: self._run(side, _index(pair)) for pair in cases}

    def checking(self, cases: int) -> None:
        """Nothing is shown."""

    def _begin_fresh(self) -> None:
        if self.until_fresh is None:
            self.until_fresh = self.calls.total()

    def _run(self, side: RunSide, index: int) -> AttemptReport:
        answers: RunSide = "head" if self._drifted else side
        name = f"{answers} {index}"
        letter = self._answers[answers][index][self.calls[name]]
        self.calls[name] += 1
        return LETTERS[letter]

    def _runs(self, side: RunSide, indices: Sequence[int], number: int) -> Mapping[int, list[AttemptReport]]:
        return {index: [self._run(side, index) for _ in range(number)] for index in indices}

    def _report(self, side: RunSide, runs: Mapping[int, Sequence[AttemptReport]]) -> RunReport:
        cases = [
            over_attempts(self.truth.blank(index, of_head=side == "head"), _numbered(made))
            for index, made in runs.items()
        ]
        target = changed(INFO.target, deterministic=self.truth.deterministic)
        commit = "one of both sides" if self._drifts else None
        return run_report(changed(INFO, repeat=self.truth.repeat, target=target, commit=commit), cases)


def _numbered(runs: Sequence[AttemptReport]) -> list[AttemptReport]:
    return [changed(run, attempt=number) for number, run in enumerate(runs, 1)]


def _index(pair: Pair) -> int:
    return int(pair.head.key.removeprefix("k"))


def in_process(written: Written, how: How, settings: Settings) -> tuple[Seen, int]:
    """What the procedure says, and the number of calls before the first fresh run."""
    runner, rules = Recited(written, how, settings.compare.verify_repeats), settings.rules
    base = runner.stored_base(old=how.old)
    report, found = settled(runner, base, "the base", rules.regression, fresh=how.fresh)
    code = conclusion_of(report, found, rules).verdict.exit_code
    return Seen.of(found, code, runner.calls), runner.until_fresh or runner.calls.total()


class Place:
    """A repository with the base's commit and the change's; beside it the world that its target answers from."""

    def __init__(self, folder: Path, written: Written, more: str, target: str) -> None:
        self.path, self.world = folder / "repository", folder / "world"
        self.base, self.out = self.world / "base.json", self.world / "out.json"
        self.written = written
        self.env = {
            name: value
            for name, value in os.environ.items()
            if name != "CI" and not name.startswith(("GITHUB_", "RUNEVALS_"))
        }
        self.env["PYTHONPATH"] = str(Path(runevals.__file__).parents[1])  # the same sources as here
        self.path.mkdir()
        self.world.mkdir()
        told = {"edited": sorted(written.truth.edited), "answers": written.answers}
        (self.world / "answers.json").write_text(json.dumps(told))
        self.git("init", "-q", "-b", "main")
        self._commit("base", more, target)
        self.git("checkout", "-qb", "change")
        self._commit("head", more, target)

    def _commit(self, side: str, more: str, target: str) -> None:
        truth = self.written.truth
        items = [_item(truth, index, of_head=side == "head") for index in range(len(truth.head))]
        suite = {"schemaVersion": "1.2.0", "default_evaluators": {"ExactMatch": {}}, "items": items}
        (self.path / "evals.json").write_text(json.dumps(suite, indent=1))
        (self.path / "agent.py").write_text(AGENT.format(world=str(self.world), side=side))
        sure = f", deterministic: {str(truth.deterministic).lower()}"
        settings = f"suites: [evals.json]\nrepeat: {truth.repeat}\ntarget: {{{target}{sure}}}\n{more}"
        (self.path / "runevals.yaml").write_text(settings)
        self.git("add", "-A")
        self.git("commit", "-qm", side)

    def git(self, *words: str) -> str:
        """What git says."""
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *identity, *words], cwd=self.path, env=self.env, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def started(self, *words: str) -> subprocess.Popen[str]:
        """The command line, begun."""
        return subprocess.Popen(
            [sys.executable, "-m", "runevals", *words],
            cwd=self.path,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def runevals(self, *words: str) -> tuple[int, str]:
        """(exit code, what it said)."""
        run = self.started(*words)
        out, _ = run.communicate(timeout=PATIENCE_S)
        return run.returncode, out

    def head(self, *words: str) -> int:
        """The change's run, its document in the world → its exit code."""
        return self.runevals("run", *words, "-q", "-o", str(self.out))[0]

    def store_base(self, altered: Mapping[str, object] = NOTHING, *words: str) -> None:
        """The base's own run, as a push to its branch leaves it."""
        self.git("checkout", "-q", "main")
        _, out = self.runevals("run", "--baseline", "none", *words, "-q", "-o", str(self.base))
        if not self.base.exists():
            raise RuntimeError(f"the base was not measured: {out}")
        document = json.loads(self.base.read_text())
        document["run"].update(altered)
        self.base.write_text(json.dumps(document))
        self.git("checkout", "-q", "change")

    @property
    def is_complete(self) -> bool:
        """Whether the last run left results of all cases."""
        return self.out.exists() and read(self.out).complete

    def calls(self) -> Counter[str]:
        """Side and case → the calls that the target has counted."""
        return Counter((self.world / "calls").read_text().splitlines())


def _item(truth: Truth, index: int, *, of_head: bool) -> dict[str, object]:
    prompt = f"Question {index}, edited?" if of_head and index in truth.edited else f"Question {index}?"
    item: dict[str, object] = {
        "testId": truth.key(index, of_head=of_head),
        "prompt": prompt,
        "expected_response": "right",
    }
    if truth.parts:
        item["category"] = truth.parts[index]
    if index in truth.critical:
        item["extensions"] = {"runevals": {"critical": True}}
    return item


Way = Callable[[Place, int], int]  # how the command line is used → its exit code; told when fresh runs begin


def stored(place: Place, _until: int, *, altered: Mapping[str, object] = NOTHING) -> int:
    """Against a stored result of the base; `altered` is what else its document says of its run."""
    place.store_base(altered)
    return place.head("--baseline", str(place.base))


def in_ci(place: Place, until: int) -> int:
    """Of no change: others will be compared with it."""
    place.env["CI"] = "true"
    return stored(place, until)


def on_a_schedule(place: Place, _until: int) -> int:
    """Of the commit whose result is stored; its target answers as the change's does now."""
    place.store_base()
    place.git("checkout", "-q", "main")
    (place.world / "drifted").touch()
    place.env["CI"] = "true"
    return place.head("--baseline", str(place.base))


def beside(place: Place, _until: int) -> int:
    """The base is run first."""
    return place.head("--base", "main")


def deployed(place: Place, _until: int) -> int:
    """The target is an address, which answers as it is deployed now."""
    with endpoint(place.world) as deploy:
        address = deploy("base")
        place.store_base(NOTHING, "--target", f"http:{address}")
        deploy("head")
        return place.head("--baseline", str(place.base), "--target", f"http:{address}")


def in_shards(place: Place, _until: int, *, number: int, altered: Mapping[str, object] = NOTHING) -> int:
    """In parts, which `merge` puts together and holds against the base."""
    place.store_base(altered)
    names = [str(place.world / f"shard-{part}.json") for part in range(1, number + 1)]
    for part, name in enumerate(names, start=1):
        place.runevals("run", "--shard", f"{part}/{number}", "-q", "-o", name)
    return place.runevals("merge", *names, "--baseline", str(place.base), "-o", str(place.out))[0]


def out_of_money(place: Place, until: int, *, more: int) -> int:
    """A budget ends it again and again, the first time in the middle of its fresh runs."""
    place.store_base()
    money = str(until - sum(place.calls().values()) + more)
    return _gone_on_with(
        place, place.head("--baseline", str(place.base), "--concurrency", "1", "--max-cost", money)
    )


def ended(place: Place, until: int, *, more: int, by: signal.Signals | None, base: bool = False) -> int:
    """A signal ends it in the middle of a call, so many of its fresh runs later; without one, its time."""
    words = ["--base", "main"] if base else ["--baseline", str(place.base)]
    if not base:
        place.store_base()
    (place.world / "pause").write_text(str(until + more))
    duration = [] if by is not None else ["--max-duration", "20"]
    run = place.started("run", *words, "--concurrency", "1", *duration, "-q", "-o", str(place.out))
    waited_for(place.world / "paused", run)
    if by is not None:
        run.send_signal(by)
    run.communicate(timeout=PATIENCE_S)
    (place.world / "pause").unlink()
    return _gone_on_with(place, run.returncode)


def waited_for(path: Path, run: subprocess.Popen[str]) -> None:
    """Returns when the file is there."""
    began = time.monotonic()
    while not path.exists():
        if run.poll() is not None or time.monotonic() - began > PATIENCE_S:
            run.kill()
            raise RuntimeError(f"it was to be ended in the middle, and was not: {run.communicate()[0]}")
        time.sleep(0.02)


def _gone_on_with(place: Place, code: int) -> int:
    """Resumes an ended run until it is complete."""
    out = ""
    for times in range(20):
        if code not in (130, -signal.SIGKILL) and place.is_complete:
            if not times:
                raise RuntimeError("it was to be ended in the middle, and was not")
            return code
        code, out = place.runevals("run", "--resume", "-q")
    raise RuntimeError(f"it does not come to an end: {out}")


def broken(place: Place, _until: int) -> int:
    """The base's code cannot be loaded any more."""
    place.store_base()
    (place.world / "base_is_gone").touch()
    return place.head("--baseline", str(place.base))


@contextmanager
def endpoint(world: Path) -> Iterator[Callable[[str], str]]:
    """A server that answers as either side; call what comes to deploy one, which gives the address."""
    serving: dict[str, Callable[[str], object]] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(serving["answer"](asked["prompt"])).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def deploy(side: str) -> str:
        namespace: dict[str, Any] = {}
        exec(AGENT.format(world=str(world), side=side), namespace)
        serving["answer"] = namespace["answer"]
        return f"http://127.0.0.1:{server.server_port}/"

    try:
        yield deploy
    finally:
        server.shutdown()
        server.server_close()


def through_command_line(place: Place, way: Way, until: int) -> Seen:
    """What `runevals` says."""
    code = way(place, until)
    found = read_conclusion(place.out).comparison
    if found is None:
        raise RuntimeError("nothing was compared")
    return Seen.of(found, code, place.calls())


Draw = Callable[[random.Random], Truth]
Suite = Callable[[random.Random, int], list[float]]  # how probably each of so many cases passes


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A change, and how it is run."""

    kind: str
    name: str
    draw: Draw
    way: Way
    how: How = field(default=How())
    told: Mapping[RunSide, Sequence[str]] = field(default_factory=dict)  # how runs come out, where it is not drawn
    shows: str = ""  # what must come of it, so that the row is about what its name says
    errors: float = 0.0  # the share of calls that error
    settings: str = ""  # more of them
    target: str = "type: python, function: 'agent.py:answer'"


def ushape(rng: random.Random, cases: int) -> list[float]:
    """A noisy suite: two runs of a case disagree 17 % of the time."""
    return [rng.betavariate(0.6, 0.2) for _ in range(cases)]


def steady(rng: random.Random, cases: int) -> list[float]:
    """Of ten cases seven nearly always pass, the others now and then."""
    return [0.995 if rng.random() < 0.7 else rng.betavariate(2.0, 1.0) for _ in range(cases)]


def lost(cases: int, *, now: float = 0.0, number: int = 1, others: Suite = steady, **fields: Any) -> Draw:
    """The first cases always passed."""

    def draw(rng: random.Random) -> Truth:
        rates = [1.0] * number + others(rng, cases - number)
        return Truth(base=rates, head=[now] * number + rates[number:], **fields)

    return draw


def certain(_rng: random.Random, cases: int) -> list[float]:
    """Cases that always pass: when a run is cut is known."""
    return [1.0] * cases


def same(cases: int, suite: Suite = steady, **fields: Any) -> Draw:
    """Nothing changed."""

    def draw(rng: random.Random) -> Truth:
        rates = suite(rng, cases)
        return Truth(base=rates, head=rates, **fields)

    return draw


def fallen(cases: int, points: float, **fields: Any) -> Draw:
    """Every case falls alike."""
    return lambda _rng: Truth(base=[0.95] * cases, head=[0.95 - points] * cases, **fields)


def edited(now: float, old_form: float) -> Draw:
    """The first of twelve cases is edited, and always passed."""
    base, rest = [1.0] * 12, [1.0] * 11
    return lambda _rng: Truth(base=base, head=[now, *rest], edited=FIRST, old_form=[old_form, *rest])


def among_others(_rng: random.Random) -> Truth:
    """A critical case is lost where others fail now and then."""
    rates = [0.9] + [0.7] * 6 + [0.995] * 9
    return Truth(base=rates, head=[0.0, *rates[1:]], critical=FIRST)


def part_lost(_rng: random.Random) -> Truth:
    """Six cases of one category, and another gets better."""
    base = [0.95] * 6 + [0.4] * 6 + [1.0] * 12
    return Truth(base=base, head=[0.1] * 6 + [0.95] * 6 + [1.0] * 12, parts=["a"] * 6 + ["b"] * 6 + ["c"] * 12)


def better(_rng: random.Random) -> Truth:
    """Half of the cases get better."""
    return Truth(base=[0.3] * 10 + [1.0] * 10, head=[1.0] * 20)


def two_parts(_rng: random.Random) -> Truth:
    """The base's side of a part that is lost in the first round, while another gets better."""
    base = [1.0] * 8 + [0.0] * 8 + [1.0] * 12
    return Truth(base=base, head=base, parts=["a"] * 8 + ["b"] * 8 + ["c"] * 12)


def falling(_rng: random.Random) -> Truth:
    """One part fails mostly, the rest a little more often than before."""
    return Truth(base=[0.95] * 30, head=[0.4] * 6 + [0.75] * 24, parts=["a"] * 6 + ["b"] * 24)


def bad_suite(_rng: random.Random) -> Truth:
    """Many cases look lost, and some are."""
    rates = [1.0] * 10 + [0.5] * 30
    return Truth(base=rates, head=[0.0] * 10 + rates[10:])


FIRST = frozenset({0})
STRICT, LENIENT = "on_unknown: fail\n", "on_unknown: pass\nverify: off\n"
FEW = "fresh_runs: 3\n"
NOT_ALIKE: Mapping[RunSide, Sequence[str]] = {"head": ("fpffpf", *("p",) * 7)}
# Stored in a bad hour: the first case failed, and five others now and then. Now the first one is lost.
BAD_HOUR: Mapping[RunSide, Sequence[str]] = {
    "base": ("fffp", *("fpp",) * 5, *("p",) * 6),
    "head": ("f", *("p",) * 11),
}
WORST_HOUR: Mapping[RunSide, Sequence[str]] = {
    "base": (*("fffp",) * 10, *("p",) * 10),
    "head": ("f", *("p",) * 19),
}
BESIDE, MERGED = How(fresh=True), How(all_rounds=True)
NO_BASE, DRIFT = How(base="does not run"), How(all_rounds=True, drifts=True)
COMMAND = f"type: command, command: ['{sys.executable}', agent.py]"


def on_a_worktree() -> Iterator[Row]:
    """A loss that the base's commit, run again, proves."""
    worktree = partial(Row, kind="worktree", shows="case proven")
    yield worktree(name="a case 100 → 0 %, 8 cases", draw=lost(8), way=stored)
    yield worktree(name="a case 100 → 0 %, 12 cases, --base", draw=lost(12), way=beside, how=BESIDE)
    yield worktree(name="two cases lost of 12", draw=lost(12, number=2), way=stored)
    yield worktree(name="a case 100 → 10 %, --base", draw=lost(12, now=0.1), way=beside, how=BESIDE)
    yield worktree(name="a critical case 100 → 10 %", draw=lost(12, now=0.1, critical=FIRST), way=stored)
    yield worktree(name="a critical case 90 → 0 % among others", draw=among_others, way=stored)
    yield worktree(name="a case lost, a tenth of calls errors", draw=lost(12), way=stored, errors=0.1)
    yield worktree(name="a case lost, a command answers", draw=lost(4), way=stored, target=COMMAND)
    yield worktree(name="a case lost in its old form too", draw=edited(0.0, 0.0), way=stored)
    yield worktree(
        name="a case of redteam lost, --base", draw=lost(8, parts=["redteam"] + ["x"] * 7), way=beside, how=BESIDE
    )
    yield worktree(name="a case lost in a bad hour", draw=lost(12, outage=0.1), way=stored)
    yield worktree(name="a case lost, always alike", draw=lambda _: sure(), way=stored)
    yield worktree(name="a case lost, always alike, --base", draw=lambda _: sure(), way=beside, how=BESIDE)


def without_a_base() -> Iterator[Row]:
    """The base has only what is stored of it."""
    without = partial(Row, kind="no base", shows="not_known")
    elsewhere = partial(stored, altered=OF_ANOTHER_COMMIT)
    yield without(name="verify: off", draw=lost(12), way=stored, how=NO_BASE, settings="verify: off\n")
    yield without(name="its commit is not here", draw=lost(8, others=certain), way=elsewhere, how=NO_BASE)
    yield without(name="an address", draw=lost(12, others=certain), way=deployed, how=NO_BASE)
    yield without(name="an address, a critical case", draw=lost(8, critical=FIRST), way=deployed, how=NO_BASE)
    yield without(name="an address, nothing changed", draw=same(12), way=deployed, how=NO_BASE, shows="not_worse")
    yield without(
        name="an address, 30 points lost", draw=fallen(20, 0.3), way=deployed, how=NO_BASE, shows="worse"
    )
    yield without(name="not known may pass", draw=lost(12), way=stored, how=NO_BASE, settings=LENIENT)
    yield without(
        name="its code cannot be run any more", draw=lost(12), way=broken, how=How(base="breaks at its first call")
    )


def sharded() -> Iterator[Row]:
    """Run in parts, and merged."""
    shards = partial(Row, kind="shards", how=MERGED)
    two, three, four = (partial(in_shards, number=number) for number in (2, 3, 4))
    yield shards(name="2 shards, a case lost", draw=lost(12), way=two, shows="case proven")
    yield shards(name="2 shards, a critical case 100 → 20 %", draw=lost(12, now=0.2, critical=FIRST), way=two)
    yield shards(name="2 shards, a renamed case lost", draw=lost(12, renamed=FIRST), way=two, shows="case proven")
    yield shards(name="2 shards, a fifth of the calls errs", draw=lost(12), way=two, errors=0.2)
    yield shards(name="3 shards, nothing changed", draw=same(12), way=three, shows="not_worse")
    yield shards(name="3 shards, an edited case made stricter", draw=edited(0.0, 1.0), way=three)
    yield shards(name="2 shards, a case lost that failed before", draw=same(12), way=two, told=BAD_HOUR)
    yield shards(name="2 shards, always alike, a case lost", draw=lambda _: sure(), way=two)
    yield shards(name="4 shards, 40 points lost", draw=fallen(16, 0.4), way=four, shows="worse")
    yield shards(
        name="2 shards, a case lost, verify: off",
        draw=lost(12),
        way=two,
        how=How(all_rounds=True, base="does not run"),
        settings="verify: off\n",
    )

    yield shards(
        name="2 shards, its commit is not here",
        draw=lost(12),
        way=partial(in_shards, number=2, altered=OF_ANOTHER_COMMIT),
        how=How(all_rounds=True, base="does not run"),
        shows="not_known",
    )
    yield shards(
        name="2 shards, an old base, nothing changed",
        draw=same(12),
        way=partial(in_shards, number=2, altered=OLD),
        how=How(all_rounds=True, old=True),
    )


def cut_short() -> Iterator[Row]:
    """Ended in the middle, and gone on with."""
    cut = partial(Row, kind="cut", shows="case proven")
    yield cut(
        name="SIGKILL among fresh runs",
        draw=lost(8, others=certain),
        way=partial(ended, more=9, by=signal.SIGKILL),
    )
    yield cut(
        name="SIGINT among fresh runs, --base",
        draw=lost(8, others=certain),
        way=partial(ended, more=5, by=signal.SIGINT, base=True),
        how=BESIDE,
    )
    yield cut(
        name="out of money among fresh runs", draw=lost(8, others=certain), way=partial(out_of_money, more=5)
    )
    yield cut(name="out of money, a critical case", draw=among_others, way=partial(out_of_money, more=9))
    yield cut(
        name="out of time among fresh runs", draw=lost(8, others=certain), way=partial(ended, more=4, by=None)
    )
    yield cut(
        name="SIGKILL in fresh rounds",
        draw=fallen(16, 0.6),
        way=partial(ended, more=60, by=signal.SIGKILL),
        shows="whole proven",
    )
    yield cut(name="SIGINT, a case edited", draw=edited(0.0, 0.0), way=partial(ended, more=3, by=signal.SIGINT))


def others() -> Iterator[Row]:
    """Everything else."""
    other = partial(Row, kind="other", way=stored)
    yield other(
        name="nothing changed, steady, 30 cases, six parts",
        draw=same(30, parts=[f"part {index % 6}" for index in range(30)]),
    )
    yield other(name="nothing changed, ushape, 30 cases, --base", draw=same(30, ushape), way=beside, how=BESIDE)
    yield other(name="many cases better", draw=better, shows="not_worse")
    yield other(name="many looked better, of a bad hour", draw=same(20), told=WORST_HOUR, shows="case proven")
    yield other(name="10 points lost, 60 cases", draw=fallen(60, 0.1))
    yield other(name="a part lost, paid by another", draw=part_lost, shows="worse")
    yield other(name="a case made stricter", draw=edited(0.0, 1.0))
    yield other(name="a case lost, but for its edited form", draw=edited(1.0, 0.0), shows="new_form")
    yield other(name="the same, edits: accept", draw=edited(1.0, 0.0), settings="edits: accept\n", shows="worse")
    yield other(name="the same, on_unknown: fail", draw=edited(1.0, 0.0), settings=STRICT, shows="new_form")
    yield other(name="a case edited, and fine", draw=edited(1.0, 1.0), shows="not_worse")
    yield other(name="a tenth of calls errors, nothing changed", draw=same(12), errors=0.1)
    yield other(name="always alike, it was said, and is not", draw=lambda _: sure(), told=NOT_ALIKE)
    yield other(name="a case lost that failed in a bad hour", draw=same(12), told=BAD_HOUR, shows="case proven")
    yield other(name="both sides fail four runs of ten now", draw=same(20, outage=0.4))
    yield from with_an_old_base()
    yield other(name="a renamed case lost", draw=lost(12, renamed=FIRST), shows="case proven")
    yield other(name="a renamed case lost, --base", draw=lost(12, renamed=FIRST), way=beside, how=BESIDE)
    yield other(name="half of the calls errs, a case lost", draw=lost(12), errors=0.5)
    yield other(name="a third of the calls errs, 40 points lost", draw=fallen(16, 0.4), errors=0.35)
    yield other(name="in CI, of no change", draw=lost(8), way=in_ci, how=How(all_rounds=True), shows="case proven")
    yield other(name="a part and the whole lost", draw=falling)
    yield other(name="on a schedule, the same code lost a case", draw=lost(12), way=on_a_schedule, how=DRIFT)
    yield other(name="on a schedule, it lost 40 points", draw=fallen(16, 0.4), way=on_a_schedule, how=DRIFT)
    yield other(
        name="a part looks lost, then its cases",
        draw=two_parts,
        told={"head": ("fppffff",) * 8 + ("pf",) * 8 + ("p",) * 12},
        shows="case proven",
    )
    yield other(name="3 fresh runs at most", draw=lost(12, others=certain), settings=FEW, shows="not_known")
    yield other(name="ten cases of 40 lost, others flaky", draw=bad_suite)
    yield other(name="a tenth of calls errors, 30 points lost", draw=fallen(20, 0.3), errors=0.1)
    yield other(name="one run a case", draw=lost(12, repeat=1, stored_runs=1))
    yield other(name="five runs a case", draw=lost(12, now=0.1, repeat=5, stored_runs=5))


def with_an_old_base() -> Iterator[Row]:
    """It is measured afresh before anything passes."""
    other = partial(Row, kind="other", how=How(old=True), way=partial(stored, altered=OLD))
    yield other(name="an old base, nothing changed", draw=same(12))
    yield other(name="an old base, a case lost", draw=lost(12), shows="case proven")
    yield other(name="an old base, both sides fail now", draw=same(20, outage=0.5))


def sure() -> Truth:
    """A target that says that it always answers alike; a case is lost."""
    head = [0.0] + [1.0] * 7
    return Truth(base=[1.0] * 8, head=head, deterministic=True, repeat=1, stored_runs=1)


def checked(row: Row, seed: int, *, spoiled: bool) -> tuple[str, bool]:
    """The line of a change, and whether both ways are equal and show what it is about."""
    rng = random.Random(f"{seed} {row.name}")
    written = Written.drawn(row.draw(rng), row.errors, rng).saying(row.told)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder), written.spoiled() if spoiled else written, row.settings, row.target)
        expected, until = in_process(written, row.how, resolve(RawSettings(cwd=place.path, environment={})))
        try:
            found = through_command_line(place, row.way, until)
            told = found.differs_from(expected)
        except Exception as error:  # noqa: BLE001 - the other rows are worth their while all the same
            told = f"{type(error).__name__}: {error}"
    if row.shows and row.shows not in f"{expected.state}, {expected.shown}":
        told = f"it was to show '{row.shows}'; {told}"
    line = f"{row.kind:<9}{row.name:<46}{expected.state:<11}{expected.exit_code:<3}"
    line += f"{expected.head_calls:>4}  {expected.shown}"
    return (f"✗ {line}\n    the command line: {told}" if told else f"  {line}"), not told


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", action="append", default=[], help="rows whose kind or name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="rows at once")
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--spoil", action="store_true", help="answer the command line the other way round")
    told = parser.parse_args()
    rows = (*on_a_worktree(), *without_a_base(), *sharded(), *cut_short(), *others())
    chosen = [row for row in rows if not told.only or any(text in f"{row.kind} {row.name}" for text in told.only)]
    print(f"  {'':<9}{'change':<46}{'state':<11}{'exit':<4} head runs, findings in question")
    with ThreadPoolExecutor(told.jobs) as pool:
        unequal = 0
        for line, equal in pool.map(partial(checked, seed=told.seed, spoiled=told.spoil), chosen):
            unequal += not equal
            print(line, flush=True)
    print(f"{unequal} of {len(chosen)} rows differ" if unequal else f"all {len(chosen)} rows are equal")
    return 1 if unequal or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
