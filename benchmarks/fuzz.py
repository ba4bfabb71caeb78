"""Broken and hostile files, one after another: `python benchmarks/fuzz.py [--minutes N] [--seed S]`.

Suites, settings, results documents, archives and the files beside them are taken from the tests, changed in a few
places, and given to a command in a process of its own. It must end in time, with exit code 0 to 3, touch nothing
outside its project, start no program but git and our own, and print no escape sequence and, in a job, no command
for its runner. What breaks one of these is printed, each kind once, with its number: `--only NUMBER` runs it
again, `--keep FOLDER` keeps its files. Linux only.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import os
import pkgutil
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

import runevals
from runevals.cli import call
from runevals.github.archive import UnsafeArchive, member
from runevals.records.errors import RunevalsError
from runevals.reports import results_document

REPOSITORY = Path(__file__).parents[1]
CPU_S, WALL_S, MEMORY_BYTES = 20, 240, 3 * 1024**3  # what one input may take
BROKE, LEFT = 97, 98  # exit codes of our own: an exception got out; it went where it may not
SAID = "::fuzz::"  # in many texts of ours: no line of an output may begin with it
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
TOUCHING = {"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod"}
TOUCHING |= {"os.chown", "shutil.rmtree", "shutil.move", "shutil.copyfile", "os.utime", "os.mkfifo"}

NASTY: list[Any] = [
    *(None, True, False, 0, -1, 1, 10**9, 10**400, -(10**30), 0.5, -0.0, 1e308, 5e-324),
    *(float("nan"), float("inf")),
    *("", " ", "\n", "\x00", "\ud800", "\ufeff", "\u202e", "ü", "é" * 300, "x" * 100_000, "9" * 5000),
    *("-", "~", "="),
    *(f"\n{SAID}x", f"{SAID}x", f"\r{SAID}x\n", f"\x1b[31m\n\r{SAID}x", "\u2028::fuzz::", "\x9b31m"),
    *("../../../etc/passwd", "/etc/passwd", "/dev/null", "/proc/self/environ", ".git/config"),
    *("../outside/letter.txt", "%0A::fuzz::"),
    *("a/" * 300, "a" * 300, "CON", "evals.json", "*", "**/*", "**/" * 12, "[", "?(", "(a+)+$", "(?<=a{1,99})"),
    "\\",
    *("{{", "{{output}}", "${HOME}", "$(id)", "{{#if x}}", "=1+1", "@x", "<script>x</script>", "]]>", "|"),
    *("2026-01-01", "0000-00-00", "9999-12-31T23:59:60Z", "1e999", "NaN", "yes", "null", "0x10", "1_000", "-.5"),
    *([], {}, [[]], {"": {}}, [None], {"__proto__": 1}, [1, "1", 1.0], {"$ref": "#"}, {"type": "composite"}),
]
TOKENS = [
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\r",
    b"\n---\n",
    b"&a [*a]",
    b"*a",
    b"!!python/object:os.x ",
]
TOKENS += [
    b"<<: *x",
    b"? ",
    b"{",
    b"]",
    b'"',
    b"\\ud800",
    b"1e999",
    b"\t",
    b"#",
    b"%",
    b"\xe2\x80\xae",
    b",,,",
    b"\x1b[0m",
]


@dataclass(frozen=True)
class Input:
    """Files of a project, and the command that reads them; no words where `work` does."""

    number: int
    kind: str
    files: dict[str, bytes]
    words: tuple[str, ...] = ()
    work: Callable[[], int] | None = None

    @property
    def in_job(self) -> bool:
        return self.number % 2 == 0


@dataclass(frozen=True)
class Ended:
    """How it ended; `what` is "" where nothing is wrong."""

    what: str
    output: str
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", type=int, help="run this one input, and print its output")
    parser.add_argument("--keep", type=Path, help="keep the files of what broke here")
    told = parser.parse_args()
    load_everything()
    found: Counter[str] = Counter()
    ran: Counter[str] = Counter()
    slowest = 0.0
    began = time.monotonic()
    numbers = [told.only] if told.only is not None else iter(range(1_000_000_000))
    for number in numbers:
        if time.monotonic() - began > 60 * told.minutes:
            break
        given = made(told.seed, number)
        ended = run(given, told.keep)
        ran[given.kind] += 1
        slowest = max(slowest, ended.seconds)
        if told.only is not None:
            print(ended.output)
        if ended.what:
            found[ended.what] += 1
            if found[ended.what] == 1:
                show(given, ended)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(ran.items()))
    minutes = (time.monotonic() - began) / 60
    print(f"seed {told.seed}: {ran.total()} inputs ({kinds}) in {minutes:.1f} min, slowest {slowest:.1f} s")
    for what, count in found.most_common():
        print(f"{count} × {what}")
    sys.exit(1 if found else 0)


def show(given: Input, ended: Ended) -> None:
    print(f"\n#{given.number} {given.kind}: {' '.join(given.words)}\n{ended.what}")
    for name, content in given.files.items():
        print(f"  {name}: {content[:600]!r}{f' … {len(content)} bytes' if len(content) > 600 else ''}")
    print("  " + ended.output[-1500:].encode("unicode_escape").decode().replace("\\n", "\n  "), flush=True)


def load_everything() -> None:
    """What the children need, once, here."""
    for module in pkgutil.walk_packages(runevals.__path__, "runevals."):
        if not module.name.endswith("__main__") and ".sandbox." not in module.name:
            import_module(module.name)
    gc.collect()
    gc.freeze()


# -- inputs


def made(seed: int, number: int) -> Input:
    """The input of this number: of an equal seed, always the same."""
    chance = random.Random(f"{seed}:{number}")
    kinds = [suite, suite, suite, settings, settings, document, document, archive, beside, imported]
    return chance.choice(kinds)(chance, number)


@cache
def seeds(kind: str) -> tuple[tuple[str, bytes], ...]:
    """Files of the tests and examples, by name."""
    folders = {
        "suite": [("tests/suites/dialects", "*/*/*"), ("examples", "*/evals*"), ("tests/suites/health", "**/*")],
        "settings": [
            ("examples", "*/*.yaml"),
            ("docs", "**/*.yaml"),
            ("tests/suites/dialects", "settings/*.yaml"),
        ],
        "document": [("tests/reports/documents", "*.json"), ("tests/reports/golden", "*.results.json")],
        "imported": [("tests/imports", "**/*.yaml"), ("tests/imports", "**/*.json")],
    }[kind]
    paths = {path for folder, pattern in folders for path in (REPOSITORY / folder).glob(pattern) if path.is_file()}
    known = (".json", ".jsonl", ".yaml", ".yml", ".csv", ".md")
    names = [path for path in sorted(paths) if path.suffix in known and not path.name.endswith(".cases.json")]
    return tuple((path.name, path.read_bytes()) for path in names)


SETTINGS = b"suites: [evals.json]\ntarget: {type: recorded, path: answers.jsonl}\n"
SUITE = {
    "schemaVersion": "1.2.0",
    "default_evaluators": {"ExactMatch": {}, "contains": {"phrases": ["a"]}},
    "items": [{"testId": name, "prompt": f"{name}?", "expected_response": "a"} for name in ("a", "b")],
}
EVERY_SETTING: dict[str, Any] = {
    "suites": ["evals.json", {"path": "evals.json"}],
    "target": {"type": "recorded", "path": "answers.jsonl"},
    "judge": {"model": "tiny", "votes": 3},
    "gates": [{"name": "g", "metric": "pass_rate", "op": ">=", "limit": 0.5, "scope": {"tag": "x"}}],
    "evaluators": [
        {"id": "both", "type": "composite", "evaluatorIds": ["contains"], "aggregation": "and"},
        {"id": "year", "type": "preset", "preset": "regex", "pattern": "\\d{4}"},
        {"id": "tone", "type": "llm", "prompt": "{{output}}", "scoreRange": {"min": 0, "max": 10}},
        {"id": "own", "type": "code", "file": "own.py"},
    ],
    "redact": ["secret-\\d+"],
    "url_fetch": {"enabled": False, "allow_hosts": ["x"]},
    "prices": {"tiny": {"input": 1, "output": 2}},
    "depends_on": ["data/**"],
    "max_cost": 1.0,
    "repeat": 2,
}
BESIDE: dict[str, Any] = {
    "runevals.quarantine.yaml": {
        "cases": [{"suite": "evals.json", "key": "a", "owner": "me", "until": "2030-01-01"}]
    },
    "answers.jsonl": [{"case": "a", "output": "a"}, {"case": "b", "output": ["a"], "input_tokens": 3}],
    ".env": "A_KEY=x\n",
    "gold.jsonl": [{"prompt": "a", "response": "b", "scores": {"Relevance": 3}}],
    ".mcp.json": {"mcpServers": {"x": {"command": "false", "args": [], "urlPatterns": ["x"]}}},
}


def project(**files: bytes) -> dict[str, bytes]:
    answers = b'{"case": "a", "output": "a"}\n{"case": "b", "output": "c"}\n'
    own = b"def evaluate(i, o, e, m):\n    return {'passed': True}\n"
    plain = {
        "runevals.yaml": SETTINGS,
        "evals.json": json.dumps(SUITE).encode(),
        "answers.jsonl": answers,
        "own.py": own,
    }
    return {**plain, **files}


def suite(chance: random.Random, number: int) -> Input:
    name, content = chance.choice([*seeds("suite"), ("evals.json", json.dumps(SUITE).encode())])
    name = name if name.endswith((".csv", ".jsonl", ".md")) else f"evals{Path(name).suffix}"
    files = project(**{name: mutated(chance, name, content)})
    validate = ("validate", name, "--format", chance.choice(["text", "github", "json", "sarif"]))
    commands = [validate, (*validate, "--health"), ("plan", name), ("upgrade", name)]
    commands.append(("run", name, "--target", "recorded:answers.jsonl", "-o", "out.json", "-o", "out.html"))
    return Input(number, "suites", files, chance.choice(commands))


def settings(chance: random.Random, number: int) -> Input:
    choices = [
        (name, content) for name, content in seeds("settings") if b"suites" in content or b"target" in content
    ]
    every = yaml.safe_dump(dict(chance.sample(list(EVERY_SETTING.items()), chance.randint(2, 6)))).encode()
    _, content = chance.choice([*choices, *[("every", every)] * 4])
    files = project(**{"runevals.yaml": mutated(chance, "runevals.yaml", content)})
    run_ = ("run", "--target", "recorded:answers.jsonl", "--judge-model", "", "-o", "out.json")
    return Input(number, "settings", files, chance.choice([("settings",), ("plan",), ("validate",), run_[:3]]))


def document(chance: random.Random, number: int) -> Input:
    name, content = chance.choice(seeds("document"))
    _, other = chance.choice(seeds("document"))
    files = {"a.json": mutated(chance, name, content), "b.json": other}
    forms = [("report", "a.json", "-o", f"out.{end}") for end in ("html", "md", "csv", "xml", "json")]
    more = [
        ("compare", "a.json", "b.json"),
        ("compare", "b.json", "a.json", "-o", "out.html"),
        ("report", "a.json"),
    ]
    more += [("merge", "a.json", "b.json", "-o", "out.json"), ("history", "a.json", "b.json")]
    return Input(number, "documents", files, chance.choice([*forms, *more]))


def archive(chance: random.Random, number: int) -> Input:
    name, content = chance.choice(seeds("document"))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", chance.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as made_:
        for entry in chance.sample(["results.json", "a/b.txt", "junit.xml", "x"], chance.randint(1, 4)):
            made_.writestr(entry, mutated(chance, name, content))
    torn = scrambled(chance, packed.getvalue(), chance.randint(0, 6))

    def work() -> int:
        try:
            results_document.parse(member(torn, "results.json").decode("utf-8", "replace"), "the archive")
        except (UnsafeArchive, RunevalsError):
            return 2
        return 0

    return Input(number, "archives", {"a.zip": torn}, ("(archive.member, results_document.parse)",), work)


def beside(chance: random.Random, number: int) -> Input:
    name, content = chance.choice(list(BESIDE.items()))
    lines = isinstance(content, list)
    text = "\n".join(json.dumps(line) for line in content) if lines else content
    raw = (text if isinstance(text, str) else yaml.safe_dump(text)).encode()
    files = project(**{name: mutated(chance, name, raw)})
    words = ("judge", "calibrate", "gold.jsonl") if name == "gold.jsonl" else chance.choice([("run",), ("plan",)])
    return Input(number, "files beside", files, words)


def imported(chance: random.Random, number: int) -> Input:
    name, content = chance.choice(seeds("imported"))
    given = f"promptfooconfig{Path(name).suffix}"
    return Input(number, "imports", {given: mutated(chance, name, content)}, ("import", given))


# -- mutations


def mutated(chance: random.Random, name: str, content: bytes) -> bytes:
    """The file, changed in its structure where it can be read, and in its bytes at times."""
    try:
        lines = name.endswith(".jsonl")
        tree = (
            [json.loads(line) for line in content.splitlines() if line] if lines else yaml_or_json(name, content)
        )
    except (ValueError, yaml.YAMLError, RecursionError):
        return scrambled(chance, content, chance.randint(1, 4))
    for _ in range(chance.choice([1, 1, 1, 2, 2, 3, 5])):
        tree = bent(chance, tree)
    written = rewritten(chance, name, tree)
    return scrambled(chance, written, chance.randint(1, 3)) if chance.random() < 0.2 else written


def yaml_or_json(name: str, content: bytes) -> Any:
    if name.endswith((".csv", ".md")):
        raise ValueError(name)
    return json.loads(content) if name.endswith(".json") else yaml.safe_load(content)


def rewritten(chance: random.Random, name: str, tree: Any) -> bytes:
    if name.endswith(".jsonl"):
        return b"\n".join(json.dumps(line).encode() for line in (tree if isinstance(tree, list) else [tree]))
    if name.endswith(".json") or chance.random() < 0.3:
        return json.dumps(tree, ensure_ascii=chance.random() < 0.8, indent=chance.choice([None, 1])).encode(
            "utf-8", "replace"
        )
    try:
        return yaml.safe_dump(tree, allow_unicode=chance.random() < 0.5, sort_keys=False).encode(
            "utf-8", "replace"
        )
    except (yaml.YAMLError, RecursionError):
        return json.dumps(tree).encode()


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every (list or object, index or key) in it."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in list(inner):
        yield tree, key
        yield from places(value)


def bent(chance: random.Random, tree: Any) -> Any:
    """The tree with one thing in it changed."""
    all_ = list(places(tree))
    if not all_ or chance.random() < 0.02:
        return nasty(chance)
    holder, key = chance.choice(all_)
    other_holder, other_key = chance.choice(all_)
    match chance.randint(0, 8):
        case 0 | 1 | 2:
            holder[key] = nasty(chance)
        case 3:
            del holder[key]
        case 4 if isinstance(holder, dict):
            holder[str(nasty(chance))[:200] if chance.random() < 0.5 else str(other_key)] = holder.pop(key)
        case 5 if isinstance(holder, list):
            holder += [holder[key]] * chance.choice([1, 1, 3, 300])
        case 6:
            holder[key] = [holder[key]]
        case 7 if isinstance(holder[key], str):
            text = holder[key]
            at = chance.randint(0, len(text))
            holder[key] = text[:at] + str(nasty(chance)) + text[at:]
        case _:
            copied = json.loads(json.dumps(other_holder[other_key], default=str))
            holder[key] = copied
    return tree


def nasty(chance: random.Random) -> Any:
    if chance.random() < 0.03:
        deep: Any = []
        for _ in range(chance.choice([70, 300])):
            deep = [deep] if chance.random() < 0.5 else {"a": deep}
        return deep
    value = chance.choice(NASTY)
    return json.loads(json.dumps(value)) if isinstance(value, list | dict) else value


def scrambled(chance: random.Random, content: bytes, times: int) -> bytes:
    """Bytes flipped, cut, doubled, put in."""
    made_ = bytearray(content)
    for _ in range(times):
        at = chance.randint(0, len(made_))
        match chance.randint(0, 5):
            case 0 if at < len(made_):
                made_[at] ^= 1 << chance.randint(0, 7)
            case 1:
                del made_[at : at + chance.choice([1, 1, 5, 50, 5000])]
            case 2:
                made_[at:at] = chance.choice(TOKENS)
            case 3:
                made_[at:at] = made_[at : at + chance.choice([1, 20, 400])] * chance.choice([1, 1, 50])
            case 4 if chance.random() < 0.1:
                made_ = bytearray(
                    made_.decode("utf-8", "replace").encode(chance.choice(["utf-16", "utf-8-sig", "utf-32"]))
                )
            case _ if at < len(made_):
                made_[at] = chance.randint(0, 255)
    return bytes(made_)


# -- running


def run(given: Input, keep: Path | None) -> Ended:
    """Runs it in a child, in a project of its own, and looks at what became of both."""
    with tempfile.TemporaryDirectory(prefix="runevals-fuzz-") as name:
        root = Path(name)
        folder = root / "project"
        for inner in ("project/.git", "tmp", "outside"):
            (root / inner).mkdir(parents=True)
        (root / "outside" / "letter.txt").write_text("theirs")
        for file, content in given.files.items():
            (folder / file).write_bytes(content)
        began = time.monotonic()
        status = in_child(given, root)
        output = (root / "output").read_text("utf-8", "replace")
        what = judged(status, output, root, in_job=given.in_job)
        if what and keep is not None:
            shutil.copytree(folder, keep / str(given.number), symlinks=True, dirs_exist_ok=True)
        return Ended(what, output, time.monotonic() - began)


def judged(status: int | None, output: str, root: Path, *, in_job: bool) -> str:
    last = [line for line in output.splitlines() if line.strip()] or [""]
    where = [line.strip() for line in last if line.strip().startswith('File "') and "runevals" in line]
    place = where[-1].rpartition("runevals/")[2] if where else last[-1][:160]
    if status is None:
        return f"no end within {CPU_S} s of CPU, {WALL_S} s"
    if os.WIFSIGNALED(status):
        return f"ended by signal {os.WTERMSIG(status)}"
    code = os.waitstatus_to_exitcode(status)
    if code == LEFT:
        return f"outside: {last[-1][:160]}"
    if code not in (0, 1, 2, 3):
        crash = next((line for line in reversed(last) if "Error" in line.partition(":")[0]), "")
        return f"exit {code}: {crash.partition(':')[0]} at {place}"
    beside = {str(path.relative_to(root)) for path in [*root.iterdir(), *(root / "outside").rglob("*")]}
    if made_ := beside - {"outside", "outside/letter.txt", "output", "project", "tmp"}:
        return f"something was made beside the project: {sorted(made_)}"
    for line in output.replace("\r", "\n").splitlines():
        if in_job and line.lstrip(" ").startswith(SAID):
            return "a command for the runner in the output"
    return "an escape sequence in the output" if "\x1b" in output or "\x9b" in output else ""


def in_child(given: Input, root: Path) -> int | None:
    """Its wait status; None where it had to be ended."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(child_main(given, root))
        finally:
            os._exit(BROKE)
    deadline = time.monotonic() + WALL_S
    pause = 0.002
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            late = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
            return None if late else status
        time.sleep(pause)
        pause = min(0.05, pause * 1.5)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def child_main(given: Input, root: Path) -> int:
    output = os.open(root / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.clear()
    os.environ.update(
        PATH=os.defpath, HOME=str(root / "outside"), TMPDIR=str(root / "tmp"), NO_COLOR="1", LC_ALL="C.UTF-8"
    )
    if given.in_job:
        os.environ.update(CI="true", GITHUB_ACTIONS="true")
    tempfile.tempdir = None
    os.chdir(root / "project")
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.addaudithook(watching(root))
    try:
        code = call(given.words) if given.work is None else given.work()
    except BaseException:  # noqa: BLE001 - that is what is looked for
        traceback.print_exc()
        code = BROKE
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def watching(root: Path) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook: ends the process where it writes outside its project, starts a program, or calls anybody."""
    ours = (f"{root}/project", f"{root}/tmp", f"{root}/output", "/dev/null", "/dev/tty")

    def leave(what: str) -> None:
        os.write(2, f"\n{what}\n".encode("utf-8", "replace"))
        os._exit(LEFT)

    def is_ours(path: Any) -> bool:
        return isinstance(path, int) or os.path.realpath(os.fsdecode(path)).startswith(ours)

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(args[2], int) and args[2] & WRITES and not is_ours(args[0]):
            leave(f"opens {args[0]!r} to write")
        elif event in TOUCHING and not all(
            is_ours(arg) for arg in args[:2] if isinstance(arg, str | bytes | os.PathLike)
        ):
            leave(f"{event} {args!r}")
        elif event == "subprocess.Popen":
            words = [os.fsdecode(word) for word in args[1]]
            if words[0] != sys.executable and Path(words[0]).name != "git":
                leave(f"starts {words!r}")
        elif event in ("os.system", "os.exec", "os.posix_spawn", "pty.spawn", "os.startfile"):
            leave(f"{event} {args!r}")
        elif event == "socket.connect":
            raise ConnectionRefusedError(111, "nobody is called here")

    return hook


if __name__ == "__main__":
    main()
