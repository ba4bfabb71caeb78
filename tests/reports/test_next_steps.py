"""What a report says to do next: every command runs as it is printed."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from runevals.records import Links, Problem
from runevals.reports import SUMMARY, comment
from runevals.reports.next_steps import Where, next_steps
from runevals.reports.results_document import read_conclusion
from runevals.verdict.causes import causes
from tests.against_base import commit, on_main
from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.judge.replies import verdict
from tests.reports.conclusions import HOSTILE, conclusion
from tests.sample_reports import case, checked_case, report
from tests.sample_suites import AGENT, ANSWERS, EXACT, SETTINGS, SUITE, WORSE, numbered


def printed(text):
    """The commands under Next, by what they are for."""
    lines = text.partition("\nNext\n")[2].partition("\n\n")[0].splitlines()
    return dict(line.strip().split("  ", 1) for line in lines)


def in_block(text):
    """Those of a comment or a file."""
    block = text.partition("```sh\n")[2].partition("\n```")[0].splitlines()
    return {what: command for command, _, what in (line.partition("  # ") for line in block)}


def typed(runevals, command):
    """Runs a command as a shell would, with a reason for the three dots."""
    folder, _, words = command.strip().rpartition(" && ")
    before = Path.cwd()
    os.chdir(shlex.split(folder)[1] if folder else before)
    try:
        return runevals(*shlex.split(words.replace("…", "wanted"))[1:])
    finally:
        os.chdir(before)


@pytest.fixture
def lost(repository):
    """A change of the agent's code that loses a case."""
    on_main(repository, "docs/notes.txt", "x")
    commit(repository, {"agent.py": WORSE, ".gitignore": ".evals/\n*.md\n"})
    return repository


def test_a_leak_that_the_base_has_is_shown_and_can_be_accepted(repository, runevals):
    """Another case fails before and now, too, and stands before it in the suite."""
    leaks = {"prompt": "x", "testId": "leak", "category": "redteam", "evaluators": {"contains": {"value": "no"}}}
    fails = {"prompt": "x", "testId": "old", "evaluators": {"contains": {"value": "never"}}}
    suite = {"schemaVersion": "1.2.0", "default_evaluators": {}, "items": [fails, leaks]}
    on_main(repository, "evals.json", suite)
    commit(repository, {"notes.txt": "x"})
    code, out, err = runevals("run", "--base", "main")
    ended(code, 1, out + err, "The gate redteam failed")
    steps = printed(out)
    assert steps["see one"].endswith("--filter=leak")
    ended(*typed(runevals, steps["wanted?"])[:1], 0, "", "")
    code, out, err = runevals("run", "--base", "main")
    ended(code, 1, out + err, "1 case will be accepted once a reviewer approves this commit: leak")


@pytest.mark.parametrize(
    ("gate", "name"),
    [
        ("min_pass_rate: 1", "min_pass_rate"),
        ('gates: [{name: all of them, metric: pass_rate, op: ">=", limit: 1}]', "all of them"),
    ],
)
def test_a_loss_is_to_be_accepted_once_no_gate_that_counts_it_fails(repository, runevals, gate, name):
    """Else the check would stay red: first, its limit is changed on the base."""
    settings = "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer', deterministic: true}\n"
    on_main(repository, "runevals.yaml", f"{settings}{gate}\n")
    commit(repository, {"agent.py": WORSE})
    code, out, err = runevals("--base", "main", "-q")
    ended(
        code, 1, out + err, f"{name}: ", "to accept a loss, first merge a change of this gate", without=["wanted?"]
    )
    on_main(repository, "runevals.yaml", settings)
    commit(repository, {"agent.py": WORSE})
    code, out, err = runevals("--base", "main", "-q")
    ended(code, 1, out + err, "regressed", without=["to accept a loss"])
    code, out, err = typed(runevals, printed(out)["wanted?"])
    ended(code, 0, out + err, "Written: ")


def run_all(runevals, commands):
    code, out, err = typed(runevals, commands["see one"])
    ended(code, 1, out + err, "1 of 1 case regressed: a")
    code, out, err = typed(runevals, commands["which line"])
    ended(code, 0, out + err, "agent.py:")
    code, out, err = typed(runevals, commands["wanted?"])
    ended(code, 0, out + err, "Written: ", "1 case")


def test_what_the_screen_says_runs_where_it_is_read(lost, runevals):
    _, out, _ = runevals("--base", "main", "-q")
    run_all(runevals, printed(out))


def test_what_the_screen_says_runs_in_a_folder_below_also_if_the_results_went_elsewhere(lost, runevals):
    os.chdir(lost.path / "docs")
    _, out, _ = runevals("--base", "main", "-q", "-o", "out.md")
    assert list((lost.path / ".evals" / "results").glob("*.json"))
    run_all(runevals, printed(out))


def test_what_the_files_of_a_run_in_a_folder_below_say_runs_at_the_root(lost, runevals):
    os.chdir(lost.path / "docs")
    runevals("--base", "main", "-q", "-o", "out.md", "-o", "fix.md", "-o", "out.html")
    os.chdir(lost.path)
    fix, page = ((lost.path / "docs" / name).read_text() for name in ("fix.md", "out.html"))
    assert "cd docs && runevals run ../evals.json " in fix
    assert "cd docs && runevals run ../evals.json " in page.replace("\\u0026", "&")
    run_all(runevals, in_block((lost.path / "docs" / "out.md").read_text()))


OTHERWISE = """\
suites: [two.json]
target: {type: python, function: 'agent.py:answer', deterministic: true}
"""


@pytest.mark.parametrize("folder", [".", "docs"])
@pytest.mark.parametrize("options", [(), ("--evaluators", "exact_match"), ("--no-judge",)], ids=str)
def test_the_options_of_a_run_are_repeated_and_looking_at_a_case_is_no_run_of_the_change(
    repository, runevals, folder, options
):
    two = {**SUITE, "items": [{**item, "expected_response": "Quito"} for item in SUITE["items"]]}
    repository.write("two.json", two)
    repository.write("other/agent.py", "def answer(prompt): return 'Quito'\n")
    repository.write("docs/notes.txt", "x")
    on_main(repository, "other/runevals.yaml", OTHERWISE.replace("two.json", "../two.json"))
    commit(repository, {"other/agent.py": "def answer(prompt): return 'Rome'\n"})
    os.chdir(repository.path / folder)
    config = os.path.relpath(repository.path / "other/runevals.yaml")
    _, out, err = runevals("--base", "main", "-q", f"--config={config}", *options)
    assert "2 of 2 cases regressed" in out, out + err
    commands = printed(out)
    code, out, err = typed(runevals, commands["see one"])
    ended(code, 1, out + err, "1 of 1 case regressed")
    code, out, err = typed(runevals, commands["which line"])
    ended(code, 0, out + err, "agent.py:")
    code, out, err = typed(runevals, commands["wanted?"])
    ended(code, 0, out + err, "Written: ", "2 cases")


FAILS_ONCE = """\
from pathlib import Path


def answer(prompt):
    looked = Path({looked!r})
    if len(Path("evals.json").read_text().split("yes")) == 4 or looked.exists():
        return "yes"
    looked.touch()
    return "no"
"""


def test_no_line_is_looked_for_if_fresh_runs_pass_and_a_gate_failed_by_a_removed_case(
    repository, runevals, tmp_path_factory
):
    cases = numbered(3, "yes")
    repository.write("evals.json", {**EXACT, "items": cases})
    repository.write("agent.py", FAILS_ONCE.format(looked=str(tmp_path_factory.mktemp("of") / "looked")))
    gate = "gates: [{metric: weakening, op: '<=', limit: 0}]\n"
    on_main(repository, "runevals.yaml", SETTINGS.replace(", deterministic: true", "") + gate)
    commit(repository, {"evals.json": json.dumps({**EXACT, "items": cases[:2]})})
    code, out, err = runevals("--base", "main", "-q")
    ended(code, 1, out + err, "looked lost: fresh runs pass", "gate weakening <= 0 failed")
    assert set(printed(out)) == {"wanted?"}
    code, out, err = runevals("blame")
    ended(code, 0, out + err, "Nothing is searched")


@pytest.mark.parametrize("of_main", ["", "target: {one}\n"], ids=["", "of one target on main"])
@pytest.mark.parametrize("against", ["", "against: steady\n"], ids=["alone", "against"])
def test_of_several_targets_the_commands_are_of_the_one_that_failed(repository, runevals, against, of_main):
    one = "{type: python, function: 'agent.py:answer', deterministic: true}"
    other = one.replace("agent.py", "other.py")
    repository.write("other.py", AGENT)
    several = f"suites: [evals.json]\ntargets:\n  mini: {one}\n  steady: {other}\n{against}"
    single = f"suites: [evals.json]\n{of_main.format(one=one)}"
    on_main(repository, "runevals.yaml", single if of_main else several)
    commit(repository, {"runevals.yaml": several, "agent.py": WORSE})
    _, out, _ = runevals("--base", "main", "-q")
    commands = printed(out)
    if of_main:  # the settings changed, too, and are searched first
        commands["which line"] += " --code"
    run_all(runevals, commands)
    code, out, err = runevals("blame", "--code")
    ended(code, 0, out + err, "agent.py:")


def test_what_two_targets_lost_is_accepted_one_after_the_other(repository, runevals):
    one = "{type: python, function: 'agent.py:answer', deterministic: true}"
    other = one.replace("agent.py", "other.py")
    repository.write("other.py", AGENT.replace("Quito", "Lima"))
    on_main(
        repository,
        "runevals.yaml",
        f"suites: [evals.json]\ntargets:\n  mini: {one}\n  steady: {other}\nagainst: steady\n",
    )
    commit(repository, {"agent.py": WORSE, "other.py": AGENT})
    _, out, err = runevals("--base", "main", "-q")
    commands = [line.split("  ")[-1] for line in out.splitlines() if line.strip().startswith("wanted?")]
    assert len(commands) == 2, out + err
    for name, file in (("mini", "agent.py"), ("steady", "other.py")):  # as a file for all targets says
        code, blamed, err = runevals("blame", "--code", f"--target={name}")
        ended(code, 0, blamed + err, f"{file}:")
    for command in (*commands, commands[0]):
        code, out, err = typed(runevals, command)
        ended(code, 0, out + err, "Written: ")
    assert "2 cases" in out, "the other's stays"


@pytest.mark.parametrize("way", ["edited", "removed"])
def test_what_only_the_base_has_can_be_accepted(repository, runevals, way):
    critical = {**SUITE["items"][0], "extensions": {"runevals": {"critical": True}}}
    two = [critical, {**critical, "testId": "b"}]
    repository.write("evals.json", {**SUITE, "items": two})
    settings = "suites: [evals.json]\nedits: accept\n"
    on_main(repository, "runevals.yaml", f"{settings}target: {{type: python, function: 'agent.py:answer'}}\n")
    edited = [{**two[0], "expected_response": "Rome"}, two[1]] if way == "edited" else two[1:]
    code = WORSE if way == "edited" else AGENT
    commit(repository, {"evals.json": {**SUITE, "items": edited}, "agent.py": code})
    runs, out, err = runevals("--base", "main", "-q")
    assert runs == 1, out + err
    code, out, err = typed(runevals, printed(out)["wanted?"])
    ended(code, 0, out + err, "Written: ")


def test_what_was_removed_so_that_too_little_can_be_compared_can_be_accepted(repository, runevals):
    items = [{**SUITE["items"][0], "testId": f"k{number}"} for number in range(10)]
    repository.write("evals.json", {**SUITE, "items": items})
    on_main(repository, "docs/notes.txt", "x")
    weaker = [{**items[0], "evaluators": {"regex": {"pattern": "."}}, "evaluators_mode": "replace"}, *items[1:7]]
    commit(repository, {"evals.json": {**SUITE, "items": weaker}})
    code, out, err = runevals("--base", "main", "-q")
    ended(code, 3, out + err, "Not known – only 7 of the base's 10 cases can be compared")
    code, out, err = typed(runevals, printed(out)["wanted?"])
    ended(code, 0, out + err, "Written: ", "3 cases")


def test_after_a_run_of_some_cases_and_a_look_at_one_all_of_them_are_accepted(repository, runevals):
    items = [{**SUITE["items"][0], "testId": f"k{number}", "category": "x"} for number in range(2)]
    on_main(repository, "evals.json", {**SUITE, "items": [*items, SUITE["items"][1]]})
    repository.write("agent.py", WORSE)
    _, out, _ = runevals("--base", "main", "--category", "x", "-q")
    steps = printed(out)
    code, out, err = typed(runevals, steps["see one"])
    ended(code, 1, out + err, "1 of 1 case regressed: k0")
    code, out, err = typed(runevals, steps["which line"])
    ended(code, 0, out + err, "lost k0", "k1")
    code, out, err = typed(runevals, steps["wanted?"])
    ended(code, 0, out + err, "Written: runevals.accepted.yaml, 2 cases")


def test_where_the_target_is_of_another_type_nothing_is_offered_to_be_accepted(repository, runevals):
    """It would settle nothing: line one says what does."""
    on_main(repository, "evals.json", {**SUITE, "items": [*SUITE["items"], {**SUITE["items"][0], "testId": "c"}]})
    program = "print('Paris')\n"
    repository.write("runevals.yaml", "suites: [evals.json]\ntarget: {type: command, command: [python3, m.py]}\n")
    commit(repository, {"m.py": program, "evals.json": SUITE})
    code, out, err = runevals("--base", "main", "-q")
    ended(code, 3, out + err, "the target is of another type, command", without=["wanted?"])


def test_scores_that_fell_without_a_lost_case_are_accepted_together(project, runevals):
    for name, score in (("base", 0.9), ("now", 0.8)):
        rows = "".join(f"c{number},{score + number / 1000}\n" for number in range(30))
        project.write(f"{name}.csv", f"id,score\n{rows}")
    code, out, err = runevals("gate", "now.csv", "--baseline", "base.csv")
    ended(code, 1, out + err, "The score of 30 cases fell by 10.0 points")
    code, out, err = typed(runevals, printed(out)["wanted?"])
    ended(code, 0, out + err, "Written: runevals.accepted.yaml, 30 cases")
    again = runevals("gate", "now.csv", "--baseline", "base.csv", "-o", "out.json")
    ended(again[0], 1, again[1], "will be accepted once a reviewer approves", without=["wanted?"])
    assert "wanted?" not in runevals("report", "out.json")[1]


def test_of_several_models_a_case_is_seen_with_its_own(project, runevals):
    project.write("evals.json", SUITE)
    project.write("m.py", "import json, sys\nprint(json.load(sys.stdin)['model'])\n")
    target = ["--target", f"command:{sys.executable} m.py"]
    _, out, _ = runevals("evals.json", *target, "--model", "Paris", "--model", "Rome", "-q")
    code, out, err = typed(runevals, printed(out.partition("== Rome")[2])["see one"])
    ended(code, 0, out + err, "0 of 1 case passes", "Rome")


def test_a_case_that_another_model_lost_is_seen_with_that_and_no_line_is_searched(repository, runevals):
    words = json.dumps([sys.executable, "m.py"])
    repository.write("runevals.yaml", f"suites: [evals.json]\ntarget: {{type: command, command: {words}}}\n")
    on_main(repository, "m.py", "import json, sys\nprint(json.load(sys.stdin)['model'])\n")
    runevals("--model", "Paris", "-o", "base.json", "-q")
    _, out, _ = runevals("--baseline", "base.json", "--model", "Rome", "--repeat", "9", "-q")
    assert "which line" not in printed(out), out
    code, out, err = typed(runevals, printed(out)["see one"])
    ended(code, 0, out + err, "0 of 1 case passes", "Rome")
    _, out, _ = runevals("--base", "main", "--model", "Rome")
    assert "--model holds for the base, too" in out


def test_of_two_projects_gated_from_one_folder_each_accepts_its_own_loss(project, runevals):
    commands = {}
    for name in ("support", "search"):
        project.write(f"{name}/runevals.yaml", "version: 1\n")
        for side, end in (("base", ""), ("head", '<failure message="no"/>')):
            tests = f'<testcase classname="{name}" name="t">{end}</testcase>'
            project.write(f"{name}/{side}.xml", f"<testsuite>{tests}</testsuite>")
        given = (f"{name}/head.xml", "--baseline", f"{name}/base.xml", "--config", f"{name}/runevals.yaml")
        commands[name] = printed(runevals("gate", *given)[1])["wanted?"]
    for name, command in commands.items():
        code, out, err = typed(runevals, command)
        ended(code, 0, out + err, f"Written: {name}/runevals.accepted.yaml")


@pytest.mark.parametrize("words", [("other/two.json",), ("--all",)], ids=str)
def test_suites_that_the_command_line_named_are_searched(repository, runevals, words):
    repository.write("runevals.yaml", "target: {type: python, function: 'agent.py:answer', deterministic: true}\n")
    repository.write("evals/two.json", {**SUITE, "items": SUITE["items"][1:]})
    on_main(repository, "other/two.json", SUITE)
    repository.write("agent.py", WORSE)
    _, out, _ = runevals("run", *words, "--base", "main", "-q")
    code, out, err = typed(runevals, printed(out)["which line"])
    ended(code, 0, out + err, "agent.py:2 lost a")


def test_a_run_with_a_file_of_variables_is_repeated_with_it(repository, runevals):
    program = "import os\ndef answer(prompt):\n    return os.environ['PLACE']\n"
    repository.write("evals.json", {**SUITE, "default_evaluators": {"contains": {}}})
    repository.write(".gitignore", "env/\n.evals/\n")
    on_main(repository, "agent.py", program)
    repository.write("env/.env.stage", "PLACE=Paris, Lima\n")
    repository.write("agent.py", program.replace("os.environ['PLACE']", "os.environ['PLACE'][:5]"))
    _, out, _ = runevals("--env", "stage", "--base", "main", "-q")
    steps = printed(out)
    code, out, err = typed(runevals, steps["see one"])
    ended(code, 1, out + err, "1 of 1 case regressed: b")
    code, out, err = typed(runevals, steps["which line"])
    ended(code, 0, out + err, "agent.py:3 lost b")


def test_a_case_of_recorded_answers_is_seen_with_these_answers(repository, runevals):
    repository.write("answers.jsonl", ANSWERS)
    runevals("--target", "recorded:answers.jsonl", "-q", "-o", "base.json")
    repository.write("answers.jsonl", ANSWERS.replace("Paris", "Rome"))
    _, out, _ = runevals("--target", "recorded:answers.jsonl", "--baseline", "base.json", "-q")
    code, out, err = typed(runevals, printed(out)["see one"])
    ended(code, 0, out + err, "0 of 1 case passes", "Rome")


def test_a_case_of_recorded_answers_that_the_base_has_too_is_seen_beside_the_base_s(repository, runevals):
    on_main(repository, "answers.jsonl", ANSWERS)
    repository.write("answers.jsonl", ANSWERS.replace("Paris", "Rome"))
    _, out, _ = runevals("--target", "recorded:answers.jsonl", "--base", "main", "-q")
    code, out, err = typed(runevals, printed(out)["see one"])
    ended(code, 1, out + err, "1 of 1 case regressed: a", "Rome")


def test_a_case_that_the_change_moved_to_a_new_suite_is_seen_beside_the_suite_it_was_in(repository, runevals):
    repository.write("runevals.yaml", SETTINGS.replace("evals.json", "evals/*.json"))
    on_main(repository, "evals/one.json", SUITE)
    for name, items in (("one", SUITE["items"][1:]), ("two", SUITE["items"][:1])):
        repository.write(f"evals/{name}.json", {**SUITE, "items": items})
    commit(repository, {"agent.py": WORSE})
    _, out, _ = runevals("--base", "main", "-q")
    code, out, err = typed(runevals, printed(out)["see one"])
    ended(code, 1, out + err, "1 of 1 case regressed: a")


def test_a_case_that_is_judged_is_seen_with_the_same_judge(project, runevals):
    rubric = {"rubric": {"rubric": "is polite"}}
    items = [{**item, "evaluators": rubric} for item in SUITE["items"]]
    project.write("evals.json", {**SUITE, "items": items})
    project.write("answers.jsonl", ANSWERS.replace("Paris", "Rome"))
    rows = ({"case": item["testId"], "evaluator": "rubric", "score": 5} for item in items)
    project.write("judge.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    _, out, err = runevals("--target", "recorded:answers.jsonl", "--judge", "recorded:judge.jsonl", "-q")
    assert "see one" in out, out + err
    code, out, err = typed(runevals, printed(out)["see one"])
    ended(code, 0, out + err, "0 of 1 case passes", "Rome")


def test_what_a_run_may_only_by_a_flag_is_seen_by_that_flag(repository, runevals):
    """Settings that another author committed name a program that the base does not."""
    target = "suites: [evals.json]\ntarget: {{type: python, function: '{}:answer', deterministic: true}}\n"
    on_main(repository, "runevals.yaml", target.format("agent.py"))
    commit(repository, {"runevals.yaml": target.format("bot.py"), "bot.py": WORSE})
    repository.git("config", "user.email", "somebody@else.example")
    code, out, err = runevals("--base", "main", "-q")
    ended(code, 2, out + err, "or with --trust")
    code, out, err = runevals("--base", "main", "-q", "--trust")
    ended(code, 1, out + err, "1 of 2 cases regressed: a")
    for what in ("see one", "which line"):
        code, told, err = typed(runevals, printed(out)[what])
        ended(code, int(what == "see one"), told + err, without=["with --trust"])


def test_a_judge_that_only_a_flag_names_is_asked_again(repository, runevals, monkeypatch):
    rubric = {"rubric": {"rubric": "is polite"}}
    items = [{**item, "evaluators": {**rubric, "ExactMatch": {}}} for item in SUITE["items"][:1]]
    on_main(repository, "evals.json", {**SUITE, "items": items})
    commit(repository, {"agent.py": WORSE})
    with chat_server(lambda body, _: Reply(verdict(body, 5))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, out, err = runevals("--base", "main", "-q", "--judge-model", "big")
        ended(code, 1, out + err, "1 of 1 case regressed: a")
        for what in ("see one", "which line"):
            if what in printed(out):
                code, told, err = typed(runevals, printed(out)[what])
                ended(code, int(what == "see one"), told + err, without=["none is configured"])


def test_a_case_whose_answers_are_in_the_suite_is_seen_with_them(repository, runevals):
    items = [{**item, "response": item["expected_response"]} for item in SUITE["items"]]
    on_main(repository, "evals.json", {**SUITE, "items": items})
    repository.write("evals.json", {**SUITE, "items": [{**items[0], "response": "Rome"}, items[1]]})
    words = ("run", "--evaluate-only", "evals.json", "--base", "main", "-q")
    commands = printed(runevals(*words)[1])
    code, out, err = typed(runevals, commands["see one"])
    ended(code, 1, out + err, "1 of 1 case regressed: a", "Rome")


def test_a_comment_says_what_runs_in_a_clone_that_has_the_results_of_the_job(lost, runevals):
    runevals("--base", "main", "-q", "-o", "results.json")
    for path in (lost.path / ".evals" / "results").iterdir():
        path.unlink()
    text = comment.render(read_conclusion(lost.path / "results.json"), Links(run="https://example.org/runs/9"))
    commands = in_block(text)
    assert [*commands] == ["see one", "which line", "wanted?"]
    run_all(runevals, commands)


@pytest.mark.parametrize("outputs", [(), ("-o", "out.json"), ("-o", "out.md")], ids=str)
def test_results_of_another_tool_can_only_be_accepted(lost, runevals, outputs):
    cases = "".join(f'<testcase classname="k" name="t{n}">{{}}</testcase>' for n in range(4))
    fails = '<failure message="no"/>'
    lost.write("base.xml", f"<testsuite>{cases.replace('{}', '')}</testsuite>")
    lost.write("head.xml", f"<testsuite>{cases.replace('{}', fails, 1).replace('{}', '')}</testsuite>")
    _, out, _ = runevals("gate", "head.xml", "--baseline", "base.xml", "--deterministic", *outputs)
    commands = printed(out)
    assert [*commands] == ["wanted?"]
    code, out, err = runevals("blame")
    ended(code, 2, out + err, "has results of junit: only runs of suites can be searched")
    code, out, err = typed(runevals, commands["wanted?"])
    ended(code, 0, out + err, "Written: ", "1 case")


@pytest.mark.parametrize(
    ("heads", "words"),
    [
        pytest.param({"a": None, "b": None}, "accept a b", id="few are named"),
        pytest.param(dict.fromkeys("abcdefg", "ship"), "accept --category ship", id="a category"),
        pytest.param(dict.fromkeys("abcdefg"), "accept --all", id="many that share nothing"),
        pytest.param({HOSTILE: None}, "accept --all", id="a name that nobody can type"),
    ],
)
def test_accept_names_what_was_lost(heads, words):
    base = [case(key, "p", category=category) for key, category in heads.items()]
    head = [case(key, "f", category=category) for key, category in heads.items()]
    made = conclusion(report(head, deterministic=True), report(base, deterministic=True))
    steps = dict(next_steps(made, causes(made.report, made.comparison), Where()))
    assert steps["wanted?"] == f'runevals {words} --reason "…"'


def test_what_a_run_that_was_cut_short_lacks_is_not_offered_to_be_accepted():
    base, head = report({"a": "p", "b": "p"}, deterministic=True), report({"a": "f"}, deterministic=True)
    stopped = Problem(code="incomplete", message="the results count 2 attempts and have 1")
    made = conclusion(replace(head, run=replace(head.run, stopped=stopped)), base)
    assert [*dict(next_steps(made, causes(made.report, made.comparison), Where()))] == ["see one"]


def test_a_case_in_quarantine_is_not_proposed_to_be_seen_alone():
    made = conclusion(report([case("a", "f", quarantined=True), case("b", "f")]), None)
    steps = dict(next_steps(made, causes(made.report, made.comparison), Where()))
    assert "--filter=b" in steps["see one"]


def test_no_command_repeats_a_name_that_says_something_else():
    made = conclusion(report([case(HOSTILE, "f")]), None)
    assert "see one" not in SUMMARY.render(made)


def test_the_line_is_searched_also_for_a_case_that_still_passes_with_a_lower_score():
    sides = [report([checked_case("a", [[score]])], deterministic=True) for score in (0.6, 0.9)]
    made = conclusion(*sides)
    steps = dict(next_steps(made, causes(made.report, made.comparison), Where()))
    assert [*steps] == ["see one", "which line", "wanted?"]


def test_code_is_put_back_only_if_no_text_changed():
    made = conclusion(report({"a": "f"}, deterministic=True), report({"a": "p"}, deterministic=True))
    assert (
        dict(next_steps(made, causes(made.report, made.comparison), Where()))["which line"]
        == "runevals blame --code"
    )


def test_a_case_with_signs_in_its_key_is_seen_and_not_offered_again_once_it_is(repository, runevals):
    key = "What's (a) fee, now? 5 < 6 & *all* [of] {it}!"
    repository.write("agent.py", WORSE)
    repository.write("evals.json", {**SUITE, "items": [{**SUITE["items"][0], "testId": key}, SUITE["items"][1]]})
    code, out, err = typed(runevals, printed(runevals("evals.json", "-q")[1])["see one"])
    ended(code, 0, out + err, "0 of 1 case passes", key, without=["see one"])


def test_a_case_whose_base_cannot_be_run_is_seen_alone(repository, runevals):
    """As after `-o base.json` before anything was committed."""
    repository.write("late.json", SUITE)
    assert runevals("late.json", "-q", "-o", "base.json")[0] == 0
    repository.write("agent.py", WORSE)
    _, out, _ = runevals("late.json", "--baseline", "base.json", "-q")
    assert "cannot be run" in out
    steps = printed(out)
    code, out, err = typed(runevals, steps["see one"])
    ended(code, 0, out + err, "0 of 1 case passes", "Failing")
    assert "which line" not in steps


def test_of_a_setting_that_a_gate_holds_nothing_is_offered_to_be_accepted(repository, runevals):
    """A gate whose name is a part of line one has its reason, too."""
    settings = "target: python:agent.py:answer\ngates: [{name: a, metric: weakening, op: '<=', limit: 0}]\n"
    on_main(repository, "runevals.yaml", f"{settings}min_pass_rate: 0.3\n")
    repository.write("runevals.yaml", f"{settings}min_pass_rate: 0.2\n")
    repository.git("commit", "-qam", "lower")
    code, out, _ = runevals("--base", "main")
    told = "for settings, `fail_on` of the workflow can leave it out once"
    ended(code, 1, out, told, without=["runevals accept"])
    code, out, _ = runevals("--base", "main", "--fail-on", "no_regression")
    ended(code, 0, out, "! a: weakening is 1, must be <= 0")
