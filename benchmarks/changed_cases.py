"""Does `changed_only: cases` ever miss what a full run sees? Random changes, each judged both ways.

    python benchmarks/changed_cases.py [CHANGES] [SEED] [FIRST]

A repository of three suites in two formats, with fixtures, a linked fixture and a prompt, answered by a program
that reads them. Each change edits, adds, renames, links or removes some of its files; then the same command runs
with and without `changed_only: cases`. Prints each change whose verdict differs, how many do, and how many cases
were run; ends with 1 if a verdict differs. A change depends on SEED and its number, from FIRST on. The program is
run in this process, and what git says of commits is asked once a change: that is most of the time of a run.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from runevals.cli import call
from runevals.records import Conversation, Response
from runevals.repository import git as git_module
from runevals.targets.command import CommandSettings, CommandTarget

WORDS = ("apple", "pear", "plum", "oak", "elm", "ash", "river", "stone", "cloud", "tiger")
SETTINGS = """\
suites:
  - evals/*.json
  - {path: evals/c.jsonl, evaluators: [contains]}
target: {type: command, command: [python3, agent.py], deterministic: true}
depends_on: [agent.py, 'prompts/**']
baseline: base.json
changed_only: cases
"""
AGENT = """\
def answer(prompt, folder):
    words = [path.read_text() for path in sorted(folder.glob("*.txt"))]
    return " ".join([prompt.split()[-1], *words])
"""
OF_COMMITS = {"rev-parse", "cat-file", "ls-tree", "config", "symbolic-ref", "merge-base"}  # not of files
EXACT = {"schemaVersion": "1.2.0", "default_evaluators": {"PartialMatch": {}}}


class InProcess(CommandTarget):
    """The program of a checkout, run here: its start would cost more than everything else."""

    def answer(self, conversation: Conversation) -> Response:
        """What it returns, of the files in the folder of the case."""
        base = self._settings.base
        program: dict[str, Callable[[str, Path], str]] = {}
        exec((base / "agent.py").read_text(), program)
        return Response(text=program["answer"](conversation.prompt, conversation.cwd or base))


def git_once_a_change() -> Callable[[], None]:
    """Keeps what git says of commits and configuration; the function that is returned forgets it."""
    ask, answers = git_module._run, {}

    def run(root: Path, arguments: Iterable[str], settings: Mapping[str, str], stdin: bytes = b"") -> Any:
        words = tuple(arguments)
        key = (root, words, tuple(settings.items()), stdin)
        if key not in answers:
            answer = ask(root, words, settings, stdin)
            if not OF_COMMITS.intersection(words):
                return answer
            answers[key] = answer
        return answers[key]

    git_module._run = run
    return answers.clear


def item(word: str, **more: object) -> dict[str, object]:
    return {"testId": word, "prompt": f"Say {word}", "expected_response": word, **more}


def workspace(folder: str) -> dict[str, object]:
    return {"extensions": {"runevals": {"workspace": {"from": folder}}}}


def write(root: Path, name: str, content: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(content, encoding="utf-8")


def make(root: Path) -> None:
    """The base."""
    write(root, "runevals.yaml", SETTINGS)
    write(root, "agent.py", AGENT)
    write(root, "prompts/one.md", "Be kind.")
    write(root, "evals/app/notes.txt", "oak")
    write(root, "evals/other/notes.txt", "tiger")
    write(root, ".gitignore", "/*.json\n")
    (root / "evals/linked").symlink_to("other")
    write(root, "evals/a.json", json.dumps({**EXACT, "items": [item(word) for word in WORDS[:3]]}))
    cases = [
        {**item("oak"), **workspace("app"), "prompt": "Say what the notes say"},
        {**item("tiger"), **workspace("linked"), "prompt": "Say what the notes say"},
    ]
    write(root, "evals/b.json", json.dumps({**EXACT, "items": cases}))
    rows = [{"id": word, "prompt": f"Say {word}", "expected": word} for word in WORDS[5:8]]
    write(root, "evals/c.jsonl", "\n".join(map(json.dumps, rows)) + "\n")


def edit_case(root: Path, choose: random.Random) -> None:
    path = root / choose.choice(("evals/a.json", "evals/b.json"))
    if not path.exists():
        return
    document = json.loads(path.read_text())
    one = choose.choice(document["items"])
    one[choose.choice(("prompt", "expected_response"))] = f"Say {choose.choice(WORDS)}"
    path.write_text(json.dumps(document))


def edit_row(root: Path, choose: random.Random) -> None:
    path = root / "evals/c.jsonl"
    lines = path.read_text().splitlines()
    lines[choose.randrange(len(lines))] = json.dumps(
        {"id": choose.choice(WORDS), "prompt": f"Say {choose.choice(WORDS)}", "expected": choose.choice(WORDS)}
    )
    path.write_text("\n".join(lines) + "\n")


def edit_checks(root: Path, choose: random.Random) -> None:
    path = root / "evals/a.json"
    document = json.loads(path.read_text())
    document["default_evaluators"] = {choose.choice(("ExactMatch", "PartialMatch")): {}}
    path.write_text(json.dumps(document))


def edit_fixture(root: Path, choose: random.Random) -> None:
    write(
        root,
        choose.choice(("evals/app/notes.txt", "evals/other/notes.txt", "evals/app/more.txt")),
        choose.choice(WORDS),
    )


def relink(root: Path, choose: random.Random) -> None:
    link = root / "evals/linked"
    link.unlink()
    link.symlink_to(choose.choice(("app", "other")))


def edit_agent(root: Path, choose: random.Random) -> None:
    write(root, "agent.py", AGENT.replace("[-1]", choose.choice(("[0]", "[-1]", "[-1].lower()"))))


def edit_prompt(root: Path, choose: random.Random) -> None:
    write(root, choose.choice(("prompts/one.md", "prompts/two.md")), choose.choice(WORDS))


def rename_suite(root: Path, choose: random.Random) -> None:
    path = root / "evals/a.json"
    path.rename(root / "evals" / f"{choose.choice(WORDS)}.json")
    path.write_text((root / "evals/b.json").read_text().replace("tiger", choose.choice(WORDS)))


def shuffle(root: Path, choose: random.Random) -> None:
    path = root / "evals/a.json"
    document = json.loads(path.read_text())
    choose.shuffle(document["items"])
    path.write_text(json.dumps(document, indent=choose.choice((None, 1, 2))))


def beside(root: Path, choose: random.Random) -> None:
    write(root, "README.md", choose.choice(WORDS))


CHANGES: tuple[Callable[[Path, random.Random], None], ...] = (
    *(
        edit_case,
        edit_row,
        edit_checks,
        edit_fixture,
        relink,
        edit_agent,
        edit_prompt,
        rename_suite,
        shuffle,
        beside,
    ),
)


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(("git", *identity, *words), cwd=root, check=True, capture_output=True)


def run(*words: str) -> tuple[int, str]:
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()):
        return call(["-q", *words, "-o", "out.json"]), out.getvalue()


def verdict(root: Path, mode: str) -> tuple[int, object, int, str]:
    """(exit code, status of each case, how many cases were run, what was printed)."""
    os.environ["RUNEVALS_CHANGED_ONLY"] = mode
    (root / "out.json").unlink(missing_ok=True)
    code, printed = run()
    out = root / "out.json"
    if not out.exists():
        return code, None, 0, printed
    document: Mapping[str, list[dict[str, object]]] = json.loads(out.read_text())
    outcomes = sorted((str(case["suite"]), str(case["key"]), str(case["status"])) for case in document["cases"])
    return code, outcomes, sum("base_result" not in case for case in document["cases"]), printed


def main() -> int:
    changes, seed, first = map(int, [*sys.argv[1:], *("200", "1", "0")[len(sys.argv) - 1 :]])
    differing, ran, full_cases, began = 0, 0, 0, time.monotonic()
    forget = git_once_a_change()
    CommandSettings.start = lambda self, making: InProcess(self, making.environment)  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder, "base")
        base.mkdir()
        make(base)
        git(base, "init", "-qb", "main")
        git(base, "add", "-A")
        git(base, "commit", "-qm", "base")
        os.chdir(base)
        os.environ["RUNEVALS_CHANGED_ONLY"] = "false"
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            assert call(["-q", "--baseline", "none", "-o", "base.json"]) == 0
        for number in range(first, first + changes):
            choose, there = random.Random(f"{seed} {number}"), Path(folder, "change")
            shutil.rmtree(there, ignore_errors=True)
            shutil.copytree(base, there, symlinks=True)
            os.chdir(there)
            made = [choose.choice(CHANGES) for _ in range(choose.randint(1, 3))]
            for change in made:
                change(there, choose)
            git(there, "add", "-A")
            git(there, "commit", "-qm", "change", "--allow-empty")
            forget()
            (by_case, full) = (verdict(there, "cases"), verdict(there, "false"))
            ran, full_cases = ran + by_case[2], full_cases + full[2]
            if by_case[:2] != full[:2]:
                differing += 1
                print(
                    f"change {number} differs:", *(change.__name__ for change in made), by_case, full, flush=True
                )
            if number % 50 == 49:  # progress
                took = time.monotonic() - began
                print(f"{number + 1} changes, {differing} differ, {took:.0f} s", flush=True)
        os.chdir("/")
    print(f"{changes} changes (seed {seed}): {differing} verdicts differ; {ran} cases run instead of {full_cases}")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
