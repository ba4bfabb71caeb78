"""A change brings no workspace, setup or program that would decide over it, and its agent runs nothing in them."""

from __future__ import annotations

import pytest

TARGET = "target: {type: command, command: python3 agent.py, deterministic: true}"
SETTINGS = f"suites: [evals.json]\n{TARGET}\nedits: accept\n"
CHECK = {"argv": ["python3", "check.py"], "restore": ["check.py"]}
WORKSPACE = {"from": "app"}
GOOD, BAD = (f"open('shop.py', 'w').write('price = {price}')\nprint('Done.')\n" for price in (1, 2))
FORGES = """\
import os, pathlib, sys
version = f"python{sys.version_info.major}.{sys.version_info.minor}"
place = pathlib.Path(os.environ["HOME"], ".local/lib", version, "site-packages")
place.mkdir(parents=True)
(place / "usercustomize.py").write_text("import os; os._exit(0)")
print("Done.")
"""
LOST = "2 of 2 cases regressed"


def suite(workspace=WORKSPACE, check=CHECK):
    return {
        "schemaVersion": "1.2.0",
        "default_evaluators": {"program": check},
        "extensions": {"runevals": {"workspace": workspace}},
        "items": [{"testId": f"k{number}", "prompt": f"Fix {number}."} for number in range(2)],
    }


@pytest.fixture
def fixing(change):
    """A main whose agent sets the price that the program in its workspace asks for."""
    files = {"app/check.py": "import shop\nassert shop.price == 1\n", "app/shop.py": "price = 2\n"}
    change.main(settings=SETTINGS, evals=suite(), agent=GOOD, prompt=None, **files)
    return change


BRINGS = {
    "nothing": {},  # the control: a worse agent
    "another program": {"evals": suite(check={"argv": ["true"]})},
    "a setup": {"evals": suite({**WORKSPACE, "setup": ["sh", "-c", "echo 'assert True' > check.py"]})},
    "a fixture": {"app/check.py": "pass\n"},
}


@pytest.mark.parametrize("brought", BRINGS)
def test_a_change_cannot_bring_what_decides(fixing, brought):
    fixing.write(agent=BAD, **BRINGS[brought])
    fixing.compared().must(1, "k0", "k1")


def test_an_agent_cannot_decide_from_its_home(fixing):
    """Python would run it at the start of the base's program."""
    fixing.write(agent=FORGES)
    fixing.compared().must(1, LOST)


def test_a_change_of_the_fixture_alone_loses_nothing(fixing):
    """The control: the agent is as good as it was."""
    fixing.write(**{"app/readme.md": "An app.\n"})
    fixing.compared().must(0)
