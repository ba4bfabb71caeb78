"""`rerun`: a case that looks lost is run again on both sides, by the program that the base's settings name."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from runevals.run.tool_runner import filled
from tests.against_base import on_main, pull_request_event
from tests.ending import ended

TOOL = """
import os, pathlib, sys
key, folder = sys.argv[1:]
lost = pathlib.Path("answers.txt").read_text().split()
if "broken" in lost:
    sys.exit("no key in the environment")
end = "<failure message='still lost'/>" if key in lost else ""
test = f"<testcase name='{key}'>{end}</testcase>"
pathlib.Path(folder, "junit.xml").write_text(f"<testsuite name='kb'>{test}</testsuite>")
pathlib.Path(os.environ["CALLS"]).open("a").write(f"{key} {os.environ['RUNEVALS_SUITE']}\\n")
sys.exit(1)  # as test runners do if a test failed
"""
RERUN = f"version: 1\nrerun: [{sys.executable}, tool.py, '{{key}}', '{{output}}']\n"


def results(repository, name, lost, runs=3):
    ends = ["<failure message='lost'/>" if f"t{number}" in lost.split() else "" for number in range(20)]
    tests = "".join(f"<testcase name='t{number}'>{end}</testcase>" for number, end in enumerate(ends))
    repository.write(name, f"<testsuite name='kb'>{tests * runs}</testsuite>")


@pytest.fixture
def gated(repository, runevals, monkeypatch, tmp_path_factory):
    """Commits the answers of base and change, and compares the results of the change → what was printed."""
    calls = tmp_path_factory.mktemp("calls") / "calls"
    monkeypatch.setenv("CALLS", str(calls))

    def run(stored, now, code, settings=RERUN, tool=TOOL, of_base=RERUN):
        repository.git("checkout", "-q", "main")
        for name, text in {"tool.py": tool, "runevals.yaml": of_base, "answers.txt": "-"}.items():
            repository.write(name, text)
        repository.write(".gitignore", "*.xml\n*.json\n__pycache__\nmodules/\n")
        repository.git("add", "-A")
        repository.git("commit", "-qm", "base")
        results(repository, "base.xml", stored)
        runevals("gate", "base.xml", "-o", "base.json")
        repository.git("checkout", "-q", "-B", "change")
        repository.write("answers.txt", now)
        repository.write("runevals.yaml", settings)
        repository.git("commit", "-qam", "change")
        results(repository, "now.xml", now if now != "broken" else "t3")
        pull_request_event(repository.path, monkeypatch, repository.git("rev-parse", "main"))
        ending, out, err = runevals("gate", "now.xml", "--baseline", "base.json")
        ended(ending, code, out + err)
        return out + err, calls.read_text().splitlines() if calls.exists() else []

    return run


def test_a_lost_case_is_confirmed_on_fresh_runs_of_both_sides(gated):
    text, calls = gated("-", "t3", 1)
    assert "1 of 20 cases regressed" in text
    assert "t3" in text
    assert "1/1 → 0/2 on fresh runs" in text  # no test of the file has two outcomes: it is deterministic
    assert calls == ["t3 kb"] * 3
    assert text.count("rerun: 1 case of the base\n") == 1  # what takes minutes says how far it is
    assert text.count("rerun: 1 case of the head\n") == 2


def test_a_program_that_writes_no_results_leaves_the_case_open(gated):
    text, _ = gated("-", "broken", 3)
    assert "ended with exit code 1: no key in the environment" in " ".join(text.split())


def test_a_program_that_fails_on_the_base_alone_is_said_with_what_prepares_its_worktree(gated, repository):
    repository.write("modules/here", "")
    text = " ".join(gated("-", "t3", 3, tool=f"open('modules/here')\n{TOOL}")[0].split())
    assert "may be lost: on the base, rerun (" in text
    assert "its worktree has only what git has, and what `share` and `base_setup` put there" in text


@pytest.mark.parametrize(("more", "code"), [("", 3), ("share: [data]\n", 1)])
def test_a_base_that_lacks_files_that_git_ignores_clears_no_loss(gated, repository, more, code):
    """The job has them, and the worktree of the base does not: its fresh runs fail for want of them."""
    repository.write("data/names.txt", "shop")
    repository.write(".git/info/exclude", "data/\n")
    tool = TOOL.replace("if key in lost", "if key in lost or not pathlib.Path('data/names.txt').exists()")
    text, _ = gated("-", "t3", code, tool=tool, settings=RERUN + more, of_base=RERUN + more)
    told = "its checkout lacks data, which git ignores (`share` links it)"
    assert (told in " ".join(text.split())) is (code == 3)


UNSURE = """\
import pathlib, sys
key, folder = sys.argv[1:]
if key == "t3":
    sys.exit("no such test")
pathlib.Path(folder, "junit.xml").write_text(f"<testsuite name='kb'><testcase name='{key}'/></testsuite>")
"""


def test_a_case_that_cannot_be_run_again_is_no_pass_though_another_contradicts_itself(project, runevals):
    """Without the base's commit, too: t5 passes again, so that nothing is exact any more."""
    project.write("tool.py", UNSURE)
    project.write("runevals.yaml", RERUN)
    results(project, "base.xml", "", runs=1)
    results(project, "now.xml", "t3 t5", runs=1)
    code, out, err = runevals("gate", "now.xml", "--baseline", "base.xml")
    ended(code, 3, out + err, "t3", "ended with exit code 1: no such test; it wrote nothing into {output}")


def test_a_change_cannot_name_the_program_itself(gated):
    text, calls = gated("-", "t3", 1, settings="version: 1\nrerun: ['true']\n")
    assert "rerun: the setting was changed" in text
    assert calls


INSPECT = """
import json, pathlib, sys
key, folder = sys.argv[1:]
head = pathlib.Path("side.txt").read_text() == "head"
SCORES
log = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "plan": {}}
samples = [{"id": n, "epoch": 1, "input": "q", "target": "x", "scores": scores(n)} for n in range(10)]
picked = [one for one in samples if key in ("all", str(one["id"]))]
pathlib.Path(folder, "log.json").write_text(json.dumps({**log, "samples": picked}))
"""


def sides_of(repository, script, settings):
    """Commits the base, then the head, with a tool that reads in `side.txt` which of them it runs for."""
    for name, text in {
        "tool.py": script,
        "runevals.yaml": settings,
        ".gitignore": "*.json\n__pycache__\n",
    }.items():
        repository.write(name, text)
    for side in ("base", "head"):
        repository.write("side.txt", side)
        repository.git("add", "-A")
        repository.git("commit", "-qm", side)
        yield side


SCORED = """
def scores(n):
    lost = head and n == 3
    again = {"value": None} if WAY == "empty" else None
    second = {"value": "I" if lost else "C"} if key == "all" or not lost else again
    return {"first": {"value": "C"}, **({"second": second} if second else {})}
"""


@pytest.mark.parametrize("way", ["empty", "absent"])
def test_a_fresh_run_without_the_score_that_is_lost_does_not_clear_the_case(repository, runevals, way):
    """A judge of Inspect that is down gives no score, and the others pass."""
    script = INSPECT.replace("SCORES", SCORED.replace("WAY", repr(way)))
    for side in sides_of(repository, script, RERUN):
        subprocess.run([sys.executable, "tool.py", "all", "."], cwd=repository.path, check=True)
        stored = ["--baseline", "base.json"] if side == "head" else ["-o", "base.json"]
        code, out, err = runevals("gate", "log.json", *stored)
    assert (code, "3 may be lost: runs that could not be measured would decide it" in out) == (3, True), out + err


SEVERAL = """
import json, pathlib, sys
key, folder, model = sys.argv[1:]
lost = [3] if pathlib.Path("side.txt").read_text() == "head" else []
samples = [{"id": n, "input": "q", "scores": {"s": {"value": "I" if n in lost else "C"}}} for n in range(10)]
log = {"version": 2, "status": "success", "eval": {"task": "t", "model": model}, "plan": {}}
picked = [one for one in samples if key in ("all", str(one["id"]))]
pathlib.Path(folder, model + ".json").write_text(json.dumps({**log, "samples": picked}))
"""


def test_a_case_of_one_of_several_models_is_run_again_with_that_model_alone(repository, runevals):
    rerun = f"rerun: [sh, -c, '{sys.executable} tool.py \"$1\" \"$2\" m', sh, '{{key}}', '{{output}}']\n"
    for side in sides_of(repository, SEVERAL, rerun):
        for model, model_side in (("m", side), ("other", "base")):
            repository.write("side.txt", model_side)
            subprocess.run([sys.executable, "tool.py", "all", ".", model], cwd=repository.path, check=True)
        repository.write("side.txt", side)
        stored = ["--baseline", "base.json"] if side == "head" else ["-o", "base.json"]
        code, out, err = runevals("gate", "m.json", "other.json", *stored)
    ended(code, 1, out + err, "5/5 → 0/5 on fresh runs")


# Of promptfoo: tests without a description, of which a filter by description selects none.
FILTERED = """
import json, pathlib, sys
folder, pattern = sys.argv[1:]
def row(question, good):
    checks = [{"pass": good, "score": int(good), "assertion": {"type": "contains", "value": "yes"}}]
    test = {"vars": {"q": question}, "assert": [one["assertion"] for one in checks]}
    graded = {"pass": good, "score": int(good), "componentResults": checks}
    place = {"testIdx": 0, "promptIdx": 0, "provider": "p"}
    return {**place, "testCase": test, "success": good, "gradingResult": graded}
row, other = row("refund?", pathlib.Path("side.txt").read_text() == "base"), row("other?", True)
rows = {"all": [row, other], "other": [other]}.get(pattern, [])
text = json.dumps({"results": {"version": 3, "results": rows}})
pathlib.Path(folder, "out.json").write_text(text)
"""


@pytest.mark.parametrize(
    ("word", "told"),
    [
        (
            "^{pattern}$",
            "no result of “refund?” of promptfoo; ^refund\\?$ selects no such test: name it so (promptfoo: a",
        ),
        ("other", "no result of “refund?” of promptfoo, only “other?” of promptfoo"),
    ],
)
def test_a_rerun_that_selects_no_such_test_says_the_case_and_what_helps(repository, runevals, word, told):
    settings = f"version: 1\nrerun: [{sys.executable}, tool.py, '{{output}}', '{word}']\n"
    for side in sides_of(repository, FILTERED, settings):
        subprocess.run([sys.executable, "tool.py", ".", "all"], cwd=repository.path, check=True)
        stored = ["--baseline", "base.json", "--deterministic"] if side == "head" else ["-o", "base.json"]
        code, out, err = runevals("gate", "out.json", *stored)
    ended(code, 3, " ".join((out + err).split()), f"rerun gave {told}", without=["not a list"])


def test_a_rerun_without_a_filter_runs_all_and_finds_the_case(repository, runevals):
    settings = f"version: 1\nrerun: [{sys.executable}, tool.py, '{{output}}', all]\n"
    for side in sides_of(repository, FILTERED, settings):
        subprocess.run([sys.executable, "tool.py", ".", "all"], cwd=repository.path, check=True)
        stored = ["--baseline", "base.json"] if side == "head" else ["-o", "base.json"]
        code, out, err = runevals("gate", "out.json", *stored)
    ended(code, 1, out + err, "5/5 → 0/5 on fresh runs")


def test_a_name_is_no_option():
    values = {"key": "--output=/etc", "name": "n", "suite": "s", "output": "/tmp/x"}
    with pytest.raises(ValueError, match="would be read as an option"):
        filled("{key}", values)
    assert filled("--filter={key}", values) == "--filter=--output=/etc"
    assert filled("{name}{other}", values) == "n{other}"


def test_a_case_is_named_by_a_pattern_and_without_its_parameters(project, runevals):
    writes = "import pathlib, sys; pathlib.Path('asked').write_text(' '.join(sys.argv[1:]))"
    project.write(
        "runevals.yaml", f"rerun: [{sys.executable}, -c, {json.dumps(writes)}, '{{pattern}}', '{{test}}']\n"
    )
    case = "<testsuite name='kb'><testcase name='a.b[1]'>{}</testcase></testsuite>"
    project.write("base.xml", case.format(""))
    project.write("now.xml", case.format("<failure/>"))
    assert runevals("gate", "now.xml", "--baseline", "base.xml")[0] == 3
    assert (project.path / "asked").read_text() == r"a\.b\[1\] a.b"


OF_PYTEST = """
import pytest
@pytest.mark.parametrize("asked", ["is it $10, or 'a = b'?"])
def test_answer(asked):
    assert open("answers.txt").read() == "right"
"""
RERUN_OF_PYTEST = (
    f"version: 1\nrerun: [{sys.executable}, -m, pytest, -p, 'no:cacheprovider', -k, '{{test}}', "
    "'--junitxml={output}/junit.xml']\n"
)


@pytest.mark.parametrize("folder", [".", "support"])
def test_tests_of_pytest_are_run_again_whatever_their_parameters_where_their_settings_are(
    repository, runevals, folder
):
    repository.write("support/test_bot.py", OF_PYTEST)
    repository.write("support/runevals.yaml", RERUN_OF_PYTEST)
    repository.write("support/answers.txt", "right")
    on_main(repository, ".gitignore", "*.xml\n.evals\n__pycache__\n")
    for name, answer in (("base", "right"), ("now", "wrong")):
        repository.write("support/answers.txt", answer)
        command = [sys.executable, "-m", "pytest", "-qp", "no:cacheprovider", f"--junitxml={name}.xml"]
        subprocess.run(command, cwd=repository.path / "support", check=False, capture_output=True)
    repository.git("commit", "-qam", "wrong")
    os.chdir(repository.path / folder)
    base, now, settings = (
        os.path.relpath(repository.path / "support" / name) for name in ("base.xml", "now.xml", "runevals.yaml")
    )
    code, out, err = runevals("gate", now, "--baseline", base, "--config", settings, "--base", "main")
    ended(code, 1, out + err, "1 of 1 case regressed", "0/2 on fresh runs")


@pytest.mark.parametrize(("started", "again"), [(".", "support"), ("support", ".")], ids=["root", "folder"])
def test_a_rerun_that_is_started_in_another_folder_than_the_tool_says_so(repository, runevals, started, again):
    """Pytest names a class by the folders between."""
    answers = repository.path / "answers.txt"
    for name, content in (("__init__", ""), ("test_bot", OF_PYTEST.replace("answers.txt", str(answers)))):
        repository.write(f"support/tests/{name}.py", content)
    rerun = RERUN_OF_PYTEST.replace("rerun: [", f"rerun: [env, -C, {repository.path / again}, ")
    repository.write("support/runevals.yaml", rerun)
    repository.write("support/__init__.py", "")
    answers.write_text("right")
    on_main(repository, ".gitignore", "*.xml\n.evals\n__pycache__\n")
    for name, answer in (("base", "right"), ("now", "wrong")):
        answers.write_text(answer)
        command = [sys.executable, "-m", "pytest", "-qp", "no:cacheprovider", "--rootdir=."]
        command += [f"--junitxml={repository.path / name}.xml", "tests" if again == "." else "support/tests"]
        subprocess.run(command, cwd=repository.path / started, check=False, capture_output=True)
    repository.git("commit", "-qam", "wrong")
    words = ("now.xml", "--baseline", "base.xml", "--config", "support/runevals.yaml", "--base", "main")
    _, out, err = runevals("gate", *words)
    assert "it is named as seen from another folder: start `rerun` where your tool is started" in out, out + err


@pytest.mark.parametrize(
    ("folder", "other", "told"),
    [
        ("a", ":", ["1 of 4 cases regressed", "5/5 → 0/5 on fresh runs"]),
        (
            "a",  # and the project beside it has no such test
            'mkdir {output}/b; echo "<testsuites/>" >{output}/b/junit.xml',
            ["1 of 4 cases regressed", "5/5 → 0/5 on fresh runs"],
        ),
        (
            ".",
            ":",
            ["rerun gave no result of t.one of pytest (a), only t.one of pytest; JUnit XML of that suite goes"],
        ),
    ],
)
def test_a_test_of_one_of_several_projects_is_run_again_into_the_folder_of_its_project(
    repository, runevals, folder, other, told
):
    writes = f"d={{output}}/{folder}; mkdir -p $d; cp a/one.xml $d/junit.xml; {other}"
    repository.write("runevals.yaml", f"version: 1\nrerun: [sh, -c, '{writes}']\n")
    one = "<testsuite name='pytest'><testcase classname='t' name='one'>{}</testcase>{}</testsuite>"
    two = "<testcase classname='t' name='two'/>"
    for name in "ab":
        repository.write(f"base/{name}/junit.xml", one.format("", two))
        repository.write(f"now/{name}/junit.xml", one.format("<failure/>" if name == "a" else "", two))
    repository.write("a/one.xml", one.format("", ""))
    on_main(repository, ".gitignore", "base\nnow\n.evals\n")
    repository.write("a/one.xml", one.format("<failure/>", ""))
    repository.git("commit", "-qam", "change")
    code, out, err = runevals("gate", "now", "--baseline", "base", "--base", "main", "--stochastic")
    ended(code, 1 if folder == "a" else 3, " ".join((out + err).split()), *told)
    _, out, _ = runevals("gate", "now", "--baseline", "base")
    of_one_side = "rerun ran only this side: the base's result does not say its commit (`--base REF` does)"
    assert (of_one_side in " ".join(out.split())) is (folder == "a"), out
