"""`python -m runevals` and the `runevals` command."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Runs the command line; `--version` is answered without loading anything else."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from runevals.version import __version__

        sys.stdout.write(f"runevals {__version__}\n")
        return
    from runevals.cli import main as run  # click and the rest only when needed

    run(sys.argv[1:])


if __name__ == "__main__":
    if not (sys.flags.safe_path or __file__.startswith(sys.path[0] + os.sep)):
        del sys.path[0]  # `python -m` puts the working directory first: a module of a change would be ours
    main()
