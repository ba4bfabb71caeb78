"""Plugins: a package that is installed adds its evaluator and reporter; one that cannot be used stops the run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ending import ended

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"


def package(folder, group, entry, code, name="other"):
    """An installed package of one module."""
    module = f"{name}_module"
    (folder / f"{name}-1.0.dist-info").mkdir(parents=True)
    (folder / f"{name}-1.0.dist-info" / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    )
    (folder / f"{name}-1.0.dist-info" / "entry_points.txt").write_text(
        f"[{group}]\n{entry.replace('MODULE', module)}\n"
    )
    (folder / f"{module}.py").write_text(code)
    return folder


def runevals(*words, cwd, path, **environment):
    """(exit code, stdout, stderr) of the command line with `path` among the installed packages."""
    told = {key: value for key, value in os.environ.items() if key not in ("CI", "GITHUB_ACTIONS")}
    told |= {"PYTHONPATH": str(path), **environment}
    command = [sys.executable, "-P", "-m", "runevals", *words]
    done = subprocess.run(command, cwd=cwd, env=told, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def project(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "project")
    (tmp_path / "project" / ".git").mkdir()
    return tmp_path / "project"


def test_the_example_adds_an_evaluator_and_a_reporter(installed, project):
    code, out, err = runevals("-o", "results.json", "-o", "badge.svg", cwd=project, path=installed)
    assert code == 0, out + err
    cases = json.loads((project / "results.json").read_text(encoding="utf-8"))["cases"]
    assert [(case["key"], case["status"]) for case in cases] == [("calm", "passed"), ("loud", "failed")]
    assert "evals 1/2" in (project / "badge.svg").read_text(encoding="utf-8")


def test_it_is_listed_and_explained(installed, project):
    assert "no_shouting" in runevals("evaluators", cwd=project, path=installed)[1]
    code, out, _ = runevals("evaluators", "no_shouting", cwd=project, path=installed)
    ended(code, 0, out, "most: whole number = 1")
    assert "no_shouting" not in runevals("evaluators", "--markdown", cwd=project, path=installed)[1]


def test_one_without_docstrings_is_listed_and_explained(project, tmp_path):
    code = SHOUT.replace("NAME", "shout").replace("(Check):", "(Check):\n    most: int = 3")
    place = package(tmp_path / "site", "runevals.evaluators", "shout = MODULE:Shout", code)
    for words in ((), ("shout",)):
        status, out, _ = runevals("evaluators", *words, cwd=project, path=place)
        assert (status, "shout" in out) == (0, True)


def test_eval_samples_name_it_as_an_assertion(installed, project):
    sample = {"sample_id": "a", "prompt": "Hi", "assertions": [{"type": "no_shouting", "most": 0, "not": True}]}
    (project / "samples.json").write_text(json.dumps([sample]))
    assert runevals("validate", "samples.json", cwd=project, path=installed)[0] == 0
    sample["assertions"][0]["most"] = -1
    (project / "samples.json").write_text(json.dumps([sample]))
    code, _, err = runevals("validate", "samples.json", cwd=project, path=installed)
    ended(code, 2, err, "most is -1; it must not be negative")


def test_without_the_package_its_names_are_unknown(project, tmp_path):
    code, _, err = runevals("validate", cwd=project, path=tmp_path)
    ended(code, 2, err, "there is no evaluator 'no_shouting'")


SHOUT = """
from dataclasses import dataclass
from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check
@evaluator("NAME")
@dataclass(frozen=True, kw_only=True)
class Shout(Check):
    def check(self, subject): ...
"""


@pytest.mark.parametrize(
    ("group", "entry", "code", "why"),
    [
        ("evaluators", "shout = MODULE:Shout", "import no_such_thing", "No module named 'no_such_thing'"),
        ("evaluators", "shout = MODULE:Shout", "raise SystemError('x')", "SystemError: x"),
        ("targets", "t = MODULE", "raise SystemExit(0)", "SystemExit: 0"),
        ("evaluators", "shout = MODULE:Shout", "", "has no attribute 'Shout'"),
        ("evaluators", "shout = MODULE:Shout", "class Shout: ...", "not a class of one of the four kinds"),
        ("evaluators", "shout = MODULE:Shout", SHOUT.replace("NAME", "scream"), "it is registered as 'scream'"),
        ("evaluators", "contains = MODULE:Shout", SHOUT.replace("NAME", "shout"), "the name is built in"),
        ("evaluators", "shout = MODULE:Shout", SHOUT.replace("NAME", "contains"), "'contains' is already used"),
        ("reporters", "r = MODULE", "NAME = 'r'", "it has no FILENAME, render"),
        ("reporters", "r = MODULE", "NAME, FILENAME, render = 'r', 'r.html', str", "end in .html, as those of"),
        ("reporters", "junit = MODULE", "", "the name is built in"),
        ("dialects", "d = MODULE", "NAME = 'd'", "it has no recognises, load"),
        ("dialects", "rows = MODULE", "", "the name is built in"),
    ],
)  # fmt: skip
def test_one_that_cannot_be_used_stops_the_run_and_says_why(project, tmp_path, group, entry, code, why):
    place = package(tmp_path / "site", f"runevals.{group}", entry, code)
    (project / "evals" / "evals.json").write_text('[{"prompt": "Hi", "expected_response": "x"}]')
    for words in (("validate",), ("-q",)):
        told = runevals(*words, cwd=project, path=place)
        assert told[0] == 2
        assert why in told[2]
        assert f"of the package other 1.0 (entry point runevals.{group}) cannot be used" in told[2]
        assert "Traceback" not in told[2]


RETURNS = """
from dataclasses import dataclass
from runevals.evaluators import Check, Verdict, evaluator
class Truth:
    def __bool__(self): return False
class Number(float):  # as numpy's, its comparisons are not bool
    def __ge__(self, other): return Truth()
def leave(): raise SystemExit(0)
@evaluator("returns")
@dataclass(frozen=True, kw_only=True)
class Returns(Check):
    def check(self, subject): return eval(subject.prompt)
"""


def test_what_an_evaluator_returns_passes_only_if_it_says_so(project, tmp_path):
    contract = "result does not follow the contract: "
    decided = f"{contract}'passed' must be True, False or None, not"
    expected = {
        "Verdict(1, 'fine')": ("passed", "fine"),
        "Verdict(Number(0.2), 'low')": ("failed", "low"),
        "Verdict(1.0000000000000002, 'a cosine')": ("passed", "a cosine"),
        "Verdict(-0.00000006, 'single precision')": ("failed", "single precision"),
        "Verdict(1.0001, 'over')": ("errored", f"{contract}its score, 1.0001, is not on its scale, 0 to 1"),
        "Verdict(float('nan'), '')": ("errored", f"{contract}its score, nan, is not on its scale, 0 to 1"),
        "Verdict(0.2, 'low', passed=0)": ("errored", f"{decided} int"),
        "Verdict(0.2, '', passed=Truth())": ("errored", f"{decided} Truth"),
        "Verdict(85, 'in per cent')": ("errored", f"{contract}its score, 85, is not on its scale, 0 to 1"),
        "Verdict('0.2', 'low')": ("errored", f"{contract}its score is str, not a number"),
        "Verdict(0.2, None)": ("errored", f"{contract}its reason is NoneType, not text"),
        "Verdict(1.0, '', {'x': Truth})": (
            "errored", f"{contract}its details are not JSON: Object of type type is not JSON serializable",
        ),
        "0.2": ("errored", f"{contract}it returned float, not a Verdict"),
        "leave()": ("errored", "SystemExit: 0"),
    }  # fmt: skip
    rows = [{"id": prompt, "input": prompt} for prompt in expected]
    (project / "rows.json").write_text(json.dumps({"evaluators": ["returns"], "rows": rows}))
    (project / "answers.jsonl").write_text(
        "".join(json.dumps({"case": each, "output": "x"}) + "\n" for each in expected)
    )
    place = package(tmp_path / "site", "runevals.evaluators", "returns = MODULE:Returns", RETURNS)
    words = ("rows.json", "--target", "recorded:answers.jsonl", "-o", "out.json")
    code, out, err = runevals(*words, cwd=project, path=place)
    ended(code, 3, out + err, without=["Traceback"])
    cases = json.loads((project / "out.json").read_text(encoding="utf-8"))["cases"]
    results = {case["key"]: case["attempts"][0]["turns"][0]["results"][0] for case in cases}
    assert {key: (result["outcome"], result["reason"]) for key, result in results.items()} == expected


def test_two_packages_with_one_name_are_told_apart(project, tmp_path):
    place = package(
        tmp_path / "site", "runevals.evaluators", "shout = MODULE:Shout", SHOUT.replace("NAME", "shout")
    )
    package(place, "runevals.evaluators", "shout = MODULE:Shout", SHOUT.replace("NAME", "shout"), name="another")
    code, _, err = runevals("validate", cwd=project, path=place)
    ended(code, 2, err, "another 1.0", "other 1.0")


def test_a_dialect_reads_its_files_after_ours(project, tmp_path):
    code = """
from runevals.records import Case, EvaluatorSpec, Location, Suite, Turn
NAME = "lines"
def recognises(value): return isinstance(value, dict) and "lines" in value
def load(source, options):
    cases = tuple(
        Case(suite=source.path, key=f"l{n}", name=line, fingerprint=line, location=source.locate(("lines", n)),
             turns=(Turn(prompt=line, checks=(EvaluatorSpec(name="min_length", options={"value": 3}),)),))
        for n, line in enumerate(source.value["lines"]))
    return Suite(name=source.path, path=source.path, dialect=NAME, cases=cases)
"""
    place = package(tmp_path / "site", "runevals.dialects", "lines = MODULE", code)
    (project / "lines.yaml").write_text("lines: [One?, Two?]\n")
    code, out, err = runevals("validate", "lines.yaml", cwd=project, path=place)
    ended(code, 0, out + err, "2 cases, 2 checks (lines)")


TARGET = """
from runevals.records import ModelIdentity, Response
class Echo:
    def __init__(self, options, *, base, timeout_s):
        if set(options) - {"prefix"}:
            raise ValueError("echo takes 'prefix'")
        self.prefix = options.get("prefix", "")
    def answer(self, conversation):
        if conversation.prompt == "crash":
            raise KeyError("gone")
        if conversation.prompt == "odd":
            return Response(text="> odd", input_tokens="sk-" + "a1B2" * 6)
        return Response(text=self.prefix + conversation.prompt)
    def identity(self): return ModelIdentity(type="echo", model=None)
    def close(self): ...
"""


def test_a_target_answers(project, tmp_path):
    place = package(tmp_path / "site", "runevals.targets", "echo = MODULE:Echo", TARGET)
    rows = {"evaluators": ["preset-exact-match"], "rows": [
        {"id": "a", "input": "b", "expected": "> b"}, {"id": "c", "input": "crash", "expected": "x"},
        {"id": "d", "input": "odd", "expected": "> odd"},
    ]}  # fmt: skip
    (project / "rows.json").write_text(json.dumps(rows))
    settings = "target: {type: plugin, plugin: echo, options: {prefix: '> '}}\n"
    (project / "runevals.yaml").write_text(settings)
    runevals("rows.json", "-o", "out.json", cwd=project, path=place)
    document = json.loads((project / "out.json").read_text(encoding="utf-8"))
    assert [case["status"] for case in document["cases"]] == ["passed", "errored", "errored"]
    assert "sk-" not in json.dumps(document)
    assert document["run"]["target"]["type"] == "echo"
    (project / "runevals.yaml").write_text(settings.replace("prefix", "prefiks"))
    code, _, err = runevals("rows.json", cwd=project, path=place)
    ended(code, 2, err, "target.options: echo takes 'prefix'")
    code, _, err = runevals("rows.json", "--target", "plugin:ehco", cwd=project, path=place)
    ended(code, 2, err, "no target plugin 'ehco'; did you mean 'echo'?")


def test_a_reporter_that_crashes_is_named(project, tmp_path):
    code = "NAME, FILENAME = 'r', 'r.txt'\ndef render(conclusion): return conclusion.nothing"
    place = package(tmp_path / "site", "runevals.reporters", "r = MODULE", code)
    (project / "evals" / "evals.json").write_text('[{"prompt": "Hi", "expected_response": "x"}]')
    told = runevals("--no-judge", "-o", "a.txt", cwd=project, path=place)
    assert (told[0], "the plugin 'r' of the package other 1.0" in told[2]) == (2, True), told[2]
    assert "AttributeError" in told[2]


@pytest.mark.parametrize(
    ("of_base", "of_change", "environment", "is_loaded"),
    [
        pytest.param("plugins: [Runevals_Calm]\n", "plugins: [other]\n", {"CI": "true"}, False, id="attack"),
        pytest.param("plugins: [runevals-calm]\n", "", {"CI": "true"}, False, id="no list"),
        pytest.param("", "plugins: [other]\n", {"CI": "true"}, True, id="the base has no list"),
        pytest.param("plugins: [runevals-calm]\n", "", {}, True, id="at home"),
    ],
)
def test_a_plugin_that_a_change_adds_is_not_loaded(project, installed, of_base, of_change, environment, is_loaded):
    """CI installed what the change asked for. The package that the base names still is."""
    settings = (project / "runevals.yaml").read_text()
    shutil.rmtree(project / ".git")

    def git(*words):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", *words], cwd=project, check=True)

    git("init", "-q", "-b", "main")
    for branch, more in (("main", of_base), ("change", of_change)):
        (project / "runevals.yaml").write_text(settings + more)
        git("checkout", "-q", "-B", branch)
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", branch)
    site = package(project.parent / "site", "runevals.reporters", "r = MODULE", "raise SystemExit('owned')")
    path = os.pathsep.join((str(site), str(installed)))
    code, out, err = runevals("-q", "--base", "main", cwd=project, path=path, **environment)
    assert ("owned" in err, code == 2) == (is_loaded, is_loaded), out + err
    assert ("the plugins of other 1.0 are not loaded" in err) is not is_loaded


@pytest.mark.parametrize("cwd", [".", "evals"])
@pytest.mark.parametrize("path", [".", "src", "link"])
def test_a_checkout_brings_no_plugin_along(project, cwd, path):
    (project / "link").symlink_to("src")
    for folder in (cwd, "src"):
        (project / folder).mkdir(exist_ok=True)
    package(project / path, "runevals.evaluators", "shout = MODULE:Shout", "raise SystemExit('owned')")
    told = runevals("evaluators", cwd=project / cwd, path=project / path)
    assert (told[0], "owned" in told[1] + told[2]) == (0, False)


def test_modules_of_the_checkout_are_not_imported(project):
    """Also not by `python -m runevals`, which begins the path with the working directory."""
    for name in ("click", "yaml", "openai"):
        (project / f"{name}.py").write_text("raise SystemExit('owned')")
    told = [key for key in os.environ if key not in ("PYTHONPATH", "PYTHONSAFEPATH")]
    command = [sys.executable, "-m", "runevals", "validate"]
    environment = {key: os.environ[key] for key in told}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert "no_shouting" in done.stdout + done.stderr
    assert "owned" not in done.stdout + done.stderr
