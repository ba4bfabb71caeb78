"""Prints the shell command of the README block that a `<!-- ci: NAME, exit N -->` comment stands above."""

import re
import sys
from pathlib import Path

readme = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
found = re.search(rf"<!-- ci: {re.escape(sys.argv[1])}, exit \d -->\n```sh\n(.*?)\n```", readme, re.DOTALL)
if found is None:
    sys.exit(f"README.md has no block marked 'ci: {sys.argv[1]}'")
print(found[1])
