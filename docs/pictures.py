"""Makes the pictures of these pages from real runs: `.venv/bin/python docs/pictures.py [NAME…]`.

Needs Chromium, cmark-gfm and a font with emoji (Debian: fonts-noto-color-emoji). Look at them before you commit.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from runevals.records import Links
from runevals.reports import comment
from runevals.reports.results_document import parse

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples"
STYLE = (DOCS / "pictures.css").read_text(encoding="utf-8")
FILES = "https://github.com/o/r/blob/4f2ddd4/"


def main(names: Sequence[str]) -> None:
    """Makes the named pictures, all where none is named."""
    browsers = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, browsers)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in names or PICTURES:
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / ".git").mkdir()
                page = browser.new_page(viewport={"width": 1180, "height": 720}, color_scheme="light")
                PICTURES[name](page, Path(folder), DOCS / f"{name}.png")
                page.close()
            print(f"{name}.png: {(DOCS / f'{name}.png').stat().st_size // 1024} kB")


def runevals(*words: str, cwd: Path, **environment: str) -> str:
    """What the command line prints."""
    command = [sys.executable, "-P", "-m", "runevals", *words]
    told = {name: value for name, value in os.environ.items() if name not in ("CI", "GITHUB_ACTIONS")}
    done = subprocess.run(command, cwd=cwd, env=told | environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def write(folder: Path, files: Mapping[str, object]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def shoot(page: Page, html: str, path: Path) -> None:
    """A picture of some HTML in our style."""
    page.set_content(f"<!doctype html><style>{STYLE}</style><div id=picture>{html}</div>")
    page.locator("#picture").screenshot(path=path)


def box(title: str, content: str) -> str:
    return f"<div class=box><div class=title>{title}</div>{content}</div>"


def terminal(*typed: tuple[str, str]) -> str:
    """Commands and what they print."""
    return f"<pre class=terminal>{'<br>'.join(_printed(*one) for one in typed)}</pre>"


def _printed(command: str, output: str) -> str:
    lines = [escape(line) for line in output.rstrip().splitlines()]
    kinds = {"✓": "good", "✗": "bad"}
    shown = [f"<span class={kinds[line[0]]}>{line}</span>" if line[:1] in kinds else line for line in lines]
    return "\n".join([f"<span class=typed>$ {escape(command)}</span>", *shown, ""])


def example(name: str, folder: Path) -> Path:
    """A copy of an example, where its paths are as they are in the repository."""
    shutil.copytree(EXAMPLES / name, folder / "examples" / name, ignore=shutil.ignore_patterns(".evals"))
    return folder / "examples" / name


# -- one function a picture


def of_the_comment(page: Page, folder: Path, path: Path) -> None:
    there = example("support-agent", folder)
    runevals("run", "--config", "worse.yaml", "-o", "results.json", cwd=there)
    conclusion = parse((there / "results.json").read_text(encoding="utf-8"), "results.json")
    text = comment.render(conclusion, Links(files=FILES, run="https://github.com/o/r/actions/runs/1"))
    command = ["cmark-gfm", "--unsafe", "-e", "table"]
    body = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    for sign, kind in (("-", "gone"), (r"\+", "came")):
        body = re.sub(
            rf"^(<pre[^>]*><code[^>]*>)?({sign} .*)$", rf"\1<span class={kind}>\2</span>", body, flags=re.M
        )
    body = re.sub(r"(</span>)\n(?=<span|</code)", r"\1", body).replace("<details>", "<details open>", 1)
    shoot(page, box("<b>github-actions</b> bot commented", f"<div class=body>{body}</div>"), path)


def of_a_suite(page: Page, folder: Path, path: Path) -> None:
    text = """{
  "schemaVersion": "1.2.0",
  "default_evaluators": {"ExactMatch": {}},
  "items": [
    {"testId": "KB-001", "prompt": "How long can I return it?", "expected_response": "30 days"},
    {"testId": "KB-001", "prompt": "What does it cost?", "expected_response": "$10",
     "evaluators": {"Citatons": {}, "PartialMatch": {"algoritm": "token_set"}}}
  ]
}
"""
    write(folder, {"evals/evals.json": text})
    found = json.loads(runevals("validate", "--format", "json", cwd=folder))
    faults = {(one["line"], one["column"]) for one in found["problems"]}
    lines = [_marked(number, line, faults) for number, line in enumerate(text.splitlines(), start=1)]
    html = box("<b>evals/evals.json</b>", f"<pre class=file>{'<br>'.join(lines)}</pre>")
    told = runevals("validate", cwd=folder)
    shoot(page, html + box("terminal", terminal(("runevals validate", told))), path)


def _marked(number: int, line: str, faults: set[tuple[int, int]]) -> str:
    """A line with its number, and a wave under each word that a problem points at."""
    shown, done = "", 0
    for column in sorted(column for at, column in faults if at == number):
        word = re.match(r'"[^"]*"|\S+', line[column - 1 :])
        end = column - 1 + (word.end() if word else 1)
        shown += escape(line[done : column - 1]) + f"<span class=fault>{escape(line[column - 1 : end])}</span>"
        done = end
    return f"<span class=number>{number}</span>{shown}{escape(line[done:])}"


def of_checks(page: Page, folder: Path, path: Path) -> None:
    checks = {
        "ExactMatch": {},
        "PartialMatch": {},
        "Citations": {"citation_format": "bracket"},
        "word_count_max": {"value": 25},
        "Relevance": {},
    }
    item = {
        "testId": "KB-007",
        "prompt": "How long is the warranty, and is water damage covered?",
        "expected_response": "24 months",
        "evaluators": checks,
        "evaluators_mode": "replace",
    }
    answer = "Every device has a warranty of two years. Water damage is not covered. [5]"
    score = {"case": "KB-007", "evaluator": "Relevance", "score": 5, "reason": "It answers both questions."}
    write(
        folder,
        {
            "evals.json": {"schemaVersion": "1.2.0", "items": [item]},
            "answers.jsonl": {"case": "KB-007", "output": answer},
            "judge.jsonl": score,
        },
    )
    targets = ("--target", "recorded:answers.jsonl", "--judge", "recorded:judge.jsonl")
    runevals("run", *targets, "-o", "report.html", cwd=folder)
    page.goto(f"{(folder / 'report.html').as_uri()}#case=KB-007")
    page.set_viewport_size({"width": 900, "height": 1000})
    page.locator(".turn").first.screenshot(path=path)


CASES = 20
# (case, attempt) that fails; of 20 cases that are asked three times.
ON_THE_BASE = {(3, 2), (11, 1), (11, 3), (17, 3)}
BY_CHANCE = {(3, 1), (8, 2), (11, 2), (11, 3), (14, 1)}
LOST = {(case, attempt) for case in (5, 9, 16) for attempt in (1, 2, 3)}
AGENT = """FAILS = {fails}


def answer(prompt, messages, case):
    return "no" if (int(prompt), case["attempt"]) in FAILS else "yes"
"""


def of_the_verdict(page: Page, folder: Path, path: Path) -> None:
    items = [{"testId": f"case {n}", "prompt": f"{n}", "expected_response": "yes"} for n in range(1, CASES + 1)]
    suite = {"schemaVersion": "1.2.0", "default_evaluators": {"ExactMatch": {}}, "items": items}
    write(folder, {"evals.json": suite})
    for name, fails in (("main", ON_THE_BASE), ("reworded", BY_CHANCE), ("shortened", BY_CHANCE | LOST)):
        write(folder, {"agent.py": AGENT.format(fails=fails)})
        runevals("--target", "python:agent.py:answer", "--repeat", "3", "-o", f"{name}.json", cwd=folder)
    titles = {
        "reworded": "<b>Noise</b>: what failed today passed yesterday, and the other way round",
        "shortened": "<b>A loss</b>: cases that always passed now always fail",
    }
    shown = []
    for name, title in titles.items():
        told = runevals("compare", "main.json", f"{name}.json", cwd=folder).split("\n\n")[0]
        rows = "".join(_row(folder, one, label) for one, label in (("main", "base"), (name, "this change")))
        table = f"<table class=deals>{rows}</table>"
        shown.append(box(title, table + terminal((f"runevals compare main.json {name}.json", told))))
    legend = (
        "<span><i class=dot></i> a run that passed</span><span><i class='dot lost'></i> one that failed</span>"
    )
    shoot(page, f"<div class=legend>20 cases, three runs each: {legend}</div>{''.join(shown)}", path)


def _row(folder: Path, name: str, label: str) -> str:
    cases = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["cases"]
    cells = []
    for case in cases:
        kinds = ["dot" if one["status"] == "passed" else "dot lost" for one in case["attempts"]]
        frame = " lost-case" if all(kind == "dot lost" for kind in kinds) else ""
        cells.append(
            f"<td><div class='dots{frame}'>{''.join(f'<i class={kind!r}></i>' for kind in kinds)}</div></td>"
        )
    return f"<tr><th>{label}</th>{''.join(cells)}</tr>"


def of_the_report(page: Page, folder: Path, path: Path) -> None:
    there = example("support-agent", folder)
    runevals("run", "--config", "worse.yaml", "-o", "report.html", cwd=there)
    page.goto((there / "report.html").as_uri())
    page.screenshot(path=path)


def of_a_plugin(page: Page, folder: Path, path: Path) -> None:
    there = example("plugin", folder)
    with tempfile.TemporaryDirectory() as installed:  # not in the checkout, whose plugins do not count
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", installed, str(there)]
        subprocess.run(pip, check=True, capture_output=True)
        lines = ("runevals evaluators no_shouting", "runevals -q -o badge.svg")
        typed = [(line, runevals(*line.split()[1:], cwd=there, PYTHONPATH=installed)) for line in lines]
    badge = (there / "badge.svg").read_text(encoding="utf-8")
    html = box("terminal", terminal(*typed)) + box("badge.svg", f"<div style='padding: 14px 16px'>{badge}</div>")
    shoot(page, html, path)


PICTURES: Mapping[str, Callable[[Page, Path, Path], None]] = {
    "comment": of_the_comment,
    "suites": of_a_suite,
    "evaluators": of_checks,
    "verdict": of_the_verdict,
    "report": of_the_report,
    "plugins": of_a_plugin,
}

if __name__ == "__main__":
    main(sys.argv[1:])
