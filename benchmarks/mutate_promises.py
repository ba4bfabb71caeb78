"""Takes out the guard of every promise in SECURITY.md, one after the other: does its test fail?

    python benchmarks/mutate_promises.py [WORD…]    the promises whose text or test has one of the words

In a copy of the sources with an environment of its own. First all tests must pass there, as they are.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.attacks.mutations import PROMISES, Promise  # noqa: E402 - it is found from here

LIMIT_S = 300.0  # of one test; later, the missing guard was noticed
FAILED = 1  # pytest's exit code if tests ran and some failed
LEFT_OUT = (".git", ".venv", ".evals", "__pycache__", "*_cache", "node_modules")


def copy(into: Path) -> Path:
    """The sources, and the Python of an environment that imports runevals from there."""
    shutil.copytree(ROOT, into / "tree", ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
    venv.create(into / "tree" / ".venv", symlinks=True)
    place = into / "tree" / ".venv"
    site = next(place.glob("lib/python*/site-packages"))
    (site / "tree.pth").write_text(f"{into / 'tree' / 'src'}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    command = place / "bin" / "runevals"
    command.write_text(
        f"#!{place / 'bin' / 'python'}\nimport sys\nfrom runevals.__main__ import main\n\nsys.exit(main())\n",
        encoding="utf-8",
    )
    command.chmod(0o755)
    return place / "bin" / "python"


def run(python: Path, *tests: str) -> int | None:
    """The exit code of pytest; None if it does not end in time."""
    words = [str(python), "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    tree = python.parents[2]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [*words, *(f"tests/{test}" for test in tests)],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S * (1 if len(tests) == 1 else 10),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode not in (0, FAILED):
        print(done.stdout[-2000:], done.stderr[-2000:])
    return done.returncode


def notices(python: Path, promise: Promise) -> bool:
    """Whether the test fails without the guard."""
    file = python.parents[2] / promise.module
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(promise.guard, promise.without), encoding="utf-8")
    try:
        return run(python, promise.test) in (FAILED, None)
    finally:
        file.write_text(text, encoding="utf-8")


def main(words: list[str]) -> int:
    chosen = [one for one in PROMISES if not words or any(word in f"{one.says} {one.test}" for word in words)]
    with tempfile.TemporaryDirectory(prefix="promises-") as folder:
        python = copy(Path(folder))
        if run(python, *dict.fromkeys(promise.test for promise in chosen)) != 0:
            print("the tests do not pass as they are")
            return 2
        noticed = 0
        for promise in chosen:
            fails = notices(python, promise)
            noticed += fails
            print(f"{'✓' if fails else '✗ still passes'} {promise.says} ({promise.test})", flush=True)
    print(f"{noticed} of {len(chosen)} tests fail without their guard")
    return int(noticed < len(chosen))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
