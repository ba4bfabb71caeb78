"""llms.txt is made from the pages, and leads to all of them."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.docs.pages import ROOT


def test_llms_txt_is_the_output_of_its_generator(tmp_path):
    """Renew it by docs/llms.py."""
    program = "import llms, sys; sys.stdout.reconfigure(encoding='utf-8'); print(llms.text(), end='')"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT / "docs", capture_output=True, check=True)
    assert (ROOT / "llms.txt").read_text(encoding="utf-8") == run.stdout.decode()


def test_every_page_has_a_line_that_leads_to_a_file():
    lines = re.findall(r"^- \[.+\]\(\S+?/v0/(\S+)\): \S.+$", (ROOT / "llms.txt").read_text(encoding="utf-8"), re.M)
    assert all((ROOT / path).is_file() for path in lines)
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"} == {
        path.removeprefix("docs/") for path in lines if path.startswith("docs/")
    }
