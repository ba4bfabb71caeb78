"""pytest as `python -m pytest` starts it, in processes of their own that need not import it again.

As a program, this forks one for each request on its input; a process that imports all by itself takes a second.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path


@contextmanager
def pytest_forks(output: Path) -> Iterator[Callable[[list[str], Path, dict[str, str]], tuple[int, str]]]:
    """Runs pytest with these words, in this folder and environment → (exit code, what it printed)."""
    command = [sys.executable, __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:

        def run(words: list[str], folder: Path, environment: dict[str, str]) -> tuple[int, str]:
            server.stdin.write(json.dumps([words, str(folder), environment, str(output)]) + "\n")
            server.stdin.flush()
            code = int(server.stdout.readline())
            return code, output.read_text(encoding="utf-8")

        yield run
        server.stdin.close()


def _serve() -> None:
    # What the plugin loads when it is used, not the plugin: pytest imports and rewrites that itself.
    import execnet  # noqa: F401
    import pytest
    from _pytest.config import default_plugins

    import runevals.cli
    import runevals.run.recorded_tests  # noqa: F401

    for name in default_plugins:
        import_module(f"_pytest.{name}")
    gc.freeze()
    for line in sys.stdin:
        words, folder, environment, output = json.loads(line)
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            printed, nothing = (
                os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
                os.open(os.devnull, os.O_RDONLY),
            )
            for source, stream in ((nothing, 0), (printed, 1), (printed, 2)):
                os.dup2(source, stream)
            sys.path[0], sys.argv = folder, ["pytest", *words]
            sys.exit(pytest.console_main())
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
