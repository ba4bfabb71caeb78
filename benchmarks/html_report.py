"""The HTML report of 10 000 cases with answers of 2 KB on both sides, then of two targets that answer them.

Usage: `python benchmarks/html_report.py [CASES [FILE]]`; above 10 000 cases, answers have 200 characters.
Prints its size, what rendering costs, and with Playwright and Chromium how long it takes to open.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from msgspec.structs import replace

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.sample_reports import case, report  # noqa: E402

from runevals.records import (  # noqa: E402
    CaseReport,
    CheckResult,
    GateRules,
    Layer,
    Outcome,
    Problem,
    RunReport,
    ToolCall,
    TurnReport,
)
from runevals.reports import html  # noqa: E402
from runevals.verdict.outcome import Baseline, conclusion_of, decision  # noqa: E402
from runevals.verdict.score import over_attempts, over_turns  # noqa: E402

CASES = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
RUNS, LENGTH, LIMIT_S = 1, 2_000 if CASES <= 10_000 else 200, 2.0
CATEGORIES = ("billing", "returns", "shipping", "how-to", "tool usage", "safety", "conversation", "small talk")
TEXT = (
    "the plan includes storage and support for every account within thirty days of the order please contact us "
    "if your device was damaged on the way we replace it free of charge and send a label by mail"
)
WORDS = TEXT.split()

# How long the page takes from the input to the new number of cases; of it, 80 ms are waited for further letters.
SEARCH = """new Promise(done => {
  const box = document.getElementById('search');
  const from = performance.now();
  const count = document.getElementById('count');
  new MutationObserver(() => done(performance.now() - from)).observe(count, {childList: true});
  box.value = 'question 777';
  box.dispatchEvent(new Event('input'));
})"""
FILTER = "document.querySelector('.chip.of-status[data-value=failed]').click()"
SCROLL = """new Promise(done => {
  const from = performance.now();
  let frames = 0;
  const go = () => {
    window.scrollBy({top: 2000, behavior: 'instant'});
    if (frames++ < 60) requestAnimationFrame(go); else done((performance.now() - from) / 60);
  };
  go();
})"""
STEPS = (
    ("a case", "location.hash = '#case=case-05000'", "#case-page h1"),
    ("back", "location.hash = '#cases'", "#overview-page:not([hidden])"),
    ("to the cases", "document.getElementById('cases').scrollIntoView({behavior: 'instant'})", "#rows a"),
    ("a filter", FILTER, "#count:has-text(' of ')"),
)


def main() -> None:
    dice = random.Random(7)
    base = [made(number, dice, loss=0.0) for number in range(CASES)]
    head = [changed(one, dice) for one in base]
    conclusion = decision(
        whole(head), Baseline(report=whole(base), source="run 812 on main, 2 hours old"), GateRules()
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    text = html.render(conclusion)
    spent = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    path = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp(), "report.html")
    path.write_text(text, encoding="utf-8")
    print(f"{CASES} cases × ({RUNS} + {RUNS}) answers of {LENGTH} characters: {len(text) / 1e6:.1f} MB")
    print(f"rendered in {spent:.2f} s CPU, {(peak - before) / 1024:.0f} MB over the {before / 1024:.0f} MB before")
    opened(path)
    alone = {
        name: conclusion_of(whole(side), None, GateRules()) for name, side in (("large", base), ("small", head))
    }
    text = html.render_several(alone, {})
    path.write_text(text, encoding="utf-8")
    print(f"two targets: {len(text) / 1e6:.1f} MB")
    opened(path)


def opened(path: Path) -> None:
    """Prints how long Chromium takes from the address to the table, to a case, and to a search in all answers."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("not opened: Playwright is not here")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        started = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector(f"#count:has-text('{CASES}')")
        print(f"opened in {time.perf_counter() - started:.2f} s (limit {LIMIT_S:g} s)")
        paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"
        print(f"first paint: {page.evaluate(paint):.0f} ms")
        for told, script, selector in STEPS:
            started = time.perf_counter()
            page.evaluate(script)
            page.wait_for_selector(selector)
            print(f"{told}: {1000 * (time.perf_counter() - started):.0f} ms")
        page.locator("#search").focus()
        page.wait_for_timeout(500)  # a reader types a moment after going to the search box
        print(f"the first search: {page.evaluate(SEARCH):.0f} ms")
        print(f"another search: {page.evaluate(SEARCH.replace('777', '778')):.0f} ms")
        print(f"scrolling: {page.evaluate(SCROLL):.1f} ms a frame")
        heap = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
        print(f"JavaScript heap: {heap:.0f} MB")
        browser.close()


def whole(cases: list[CaseReport]) -> RunReport:
    return report(cases, repeat=RUNS)


def prose(dice: random.Random, length: int) -> str:
    words: list[str] = []
    size = 0
    while size < length:
        words.append(dice.choice(WORDS))
        size += len(words[-1]) + 1
    return " ".join(words)[:length]


def made(number: int, dice: random.Random, loss: float) -> CaseReport:
    category = CATEGORIES[number * len(CATEGORIES) // CASES]
    plain = case(f"case-{number:05d}", "p", category=category, tags=("slow",) if number % 7 == 0 else ())
    asked = f"Question {number}: {prose(dice, 200)}?"
    turns = [turn(asked, prose(dice, LENGTH), dice, loss) for _ in range(RUNS)]
    attempts = [over_turns(place, [one]) for place, one in enumerate(turns, start=1)]
    return over_attempts(replace(plain, name=prose(dice, 40)), attempts)


def changed(before: CaseReport, dice: random.Random) -> CaseReport:
    """The same case, answered in other words here and there; a few answers are worse, a few never came."""
    loss = 0.15 if before.category in ("returns", "how-to") else 0.01
    attempts = []
    for attempt in before.attempts:
        old = attempt.turns[0]
        words = (old.output or "").split()
        for _ in range(12):
            words[dice.randrange(len(words))] = dice.choice(WORDS)
        attempts.append(over_turns(attempt.attempt, [turn(old.prompt, " ".join(words), dice, loss)]))
    return over_attempts(before, attempts)


def turn(prompt: str, answer: str, dice: random.Random, loss: float) -> TurnReport:
    found = dice.random()
    broken = found < loss / 20
    grade = 2.0 if found < loss else 4.0 if found < 0.3 else 5.0
    error = Problem(code="target_timeout", message="no answer within 60 s") if broken else None
    outcome = Outcome.ERRORED if broken else Outcome.PASSED if grade >= 4 else Outcome.FAILED
    judged = CheckResult(
        id="Relevance",
        evaluator="Relevance",
        layer=Layer.JUDGE,
        outcome=outcome,
        score=None if broken else (grade - 1) / 4,
        value=None if broken else grade,
        scale=(1.0, 5.0),
        threshold=4.0,
        reason="" if broken else "The answer addresses the question and names the period that holds.",
        error=error,
        details={} if broken else {"votes": [grade, grade, min(grade + 1, 5.0)]},
        judge_model="judge",
    )
    return TurnReport(
        prompt=prompt,
        expected="Within thirty days of the order.",
        output=None if broken else answer,
        results=(judged,),
        latency_s=dice.lognormvariate(0.2, 0.6),
        cost_usd=0.0004,
        input_tokens=210,
        output_tokens=480,
        model="model",
        tool_calls=(ToolCall(name="search", input={"query": prompt[:60]}, output=answer[:200], ok=True),),
        error=error,
    )


if __name__ == "__main__":
    main()
