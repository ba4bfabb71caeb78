"""`runevals blame`: the changed lines that lost the cases of a failing run."""

from __future__ import annotations

import json
import sys

import pytest
import yaml

from tests.against_base import on_main, pull_request_event
from tests.ending import ended
from tests.sample_suites import EXACT

AGENT = """
import pathlib
RULES = {"warranty": "24 months", "refund": "30 days"}
def answer(prompt):
    text = pathlib.Path("prompts/support.md").read_text()
    if prompt == "tone":
        return "yes" if "Be kind." in text or "Say please." in text else "no"
    if prompt == "place":
        return "yes" if "Berlin" in text and "Paris" in text else "no"
    return "yes" if RULES.get(prompt, "") in text else "no"
"""
SETTINGS = "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer', deterministic: true}\n"
PROMPT = """# Support

- The warranty is 24 months.
- A refund is possible within 30 days.
- Be kind.
- Say please.
- Offices: Berlin.
- Also in Paris.
- We ship.
"""
CHANGED = """# Support team

- The warranty is two years.
- A refund is possible.
- Be brief.
- Say less.
- Offices: Bern.
- Also in Pisa.
- We ship everywhere.
"""
PLACE = "prompts/support.md"


@pytest.fixture
def change(repository):
    """A change of a prompt, of which two lines lose a case each, two only together, and two each alone."""
    keys = ("warranty", "refund", "tone", "place", "other")
    items = [{"testId": key, "prompt": key, "expected_response": "yes"} for key in keys]
    repository.write("evals.json", {**EXACT, "items": items})
    repository.write("agent.py", AGENT)
    repository.write("runevals.yaml", SETTINGS)
    repository.write(".gitignore", ".evals/\n*.json\n!evals.json\n*.md\n!prompts/*\n")
    on_main(repository, PLACE, PROMPT)
    repository.write(PLACE, CHANGED)
    repository.git("commit", "-qam", "change")
    return repository


def test_each_lost_case_names_its_lines(change, runevals):
    code, out, _ = runevals("--base", "main", "-q")
    ended(code, 1, out, "  which line  runevals blame\n")
    code, out, _ = runevals("blame", "-o", "out.json", "-o", "out.md")
    lines = [
        f"{PLACE}:3 lost warranty (put back: 0 of 1 → 1 of 1; ",
        f"{PLACE}:4 lost refund (put back: ",
        f"{PLACE}:5 and {PLACE}:6 together lost tone ({PLACE}:",
        f"{PLACE}:7 and {PLACE}:8 lost place (both put back: 0 of 1 → 1 of 1; ",
        "Put back: 8 hunks in 1 file since ",
        "\nWritten: out.json, out.md\n",
    ]
    ended(code, 0, out, *lines)
    assert (change.git("status", "--porcelain"), (change.path / PLACE).read_text()) == ("", CHANGED)
    assert len(change.git("worktree", "list").splitlines()) == 1
    assert [case["key"] for case in change.document()["blame"]["cases"]] == ["warranty", "refund", "tone", "place"]
    assert "* prompts&#47;support.md&#58;3 lost warranty" in (change.path / "out.md").read_text()
    assert f"{PLACE}:3 lost warranty" in runevals("report", "out.json")[1]
    assert runevals("report", "out.json", "-o", "again.md")[1] == "Written: again.md\n"


def test_of_a_case_that_failed_before_the_lines_that_lost_a_check_are_named(change, runevals):
    """Its outcome is the same with all lines put back."""
    items = [{"testId": "warranty", "prompt": "warranty", "expected_response": "yes"}]
    evaluators = {"ExactMatch": {}, "PartialMatch": {}, "Citations": {}}
    change.write("evals.json", {**EXACT, "default_evaluators": evaluators, "items": items})
    on_main(change, "evals.json", (change.path / "evals.json").read_text())
    change.write(PLACE, CHANGED)
    code, out, _ = runevals("--base", "main", "-q")
    fell = "The score of ExactMatch, PartialMatch fell in 1 of 1 case"
    ended(code, 1, out, fell, "  which line  runevals blame\n")
    code, out, _ = runevals("blame")
    ended(code, 0, out, f"{PLACE}:3 lost warranty (put back: 0 of 1 → 1 of 1; ")


def test_a_table_that_a_program_may_read_is_a_text(change, runevals):
    on_main(change, "agent.py", AGENT.replace("prompts/support.md", "table.csv"))
    on_main(change, "table.csv", PROMPT)
    change.write("table.csv", PROMPT.replace("24 months", "two years"))
    assert runevals("--base", "main", "-q")[0] == 1
    code, out, _ = runevals("blame")
    ended(code, 0, out, "table.csv:3 lost warranty (put back: 0 of 1 → 1 of 1; ")


def test_what_code_lost_is_found_if_it_is_put_back_too_also_if_it_is_not_committed(change, runevals):
    change.write(PLACE, PROMPT.replace("We ship.", "We ship everywhere."))
    change.write("agent.py", AGENT.replace("24 months", "36 months"))
    runevals("--base", "main", "-q")
    code, out, _ = runevals("blame", "-q")
    expected = (
        "warranty: not found: still lost with the only hunk put back, 0 of 1; --code also puts back 1 other file"
    )
    ended(code, 0, out, "1 hunk in 1 file since", "and what is not committed yet", expected)
    code, out, _ = runevals("blame", "-q", "--code")
    ended(code, 0, out, "2 hunks in 2 files since", "agent.py:3 lost warranty (put back: 0 of 1 → 1 of 1")
    assert "36 months" in (change.path / "agent.py").read_text()


@pytest.mark.parametrize(
    ("prompt", "code", "found"),
    [
        pytest.param(
            ("24 months", "two years"),
            ("", ""),
            "prompts/help.md:3 lost warranty (put back: 0 of 1 → 1 of 1; ",
            id="its words changed",
        ),
        pytest.param(
            ("", ""), ("24 months", "36 months"), "agent.py:3 lost warranty (put back: ", id="only moved"
        ),
    ],
)
def test_of_a_text_that_moved_with_its_code_and_in_the_settings_its_lines_are_compared(
    change, runevals, prompt, code, found
):
    """Also where all cases run without each hunk."""
    settings = SETTINGS + "depends_on: [prompts/support.md]\n"
    on_main(change, "runevals.yaml", settings)
    change.git("mv", PLACE, "prompts/help.md")
    change.write("prompts/help.md", PROMPT.replace(*prompt))
    change.write("agent.py", AGENT.replace(*code).replace("support.md", "help.md"))
    change.write("runevals.yaml", settings.replace("support.md", "help.md"))
    change.git("commit", "-qam", "move")
    ended_with, out, _ = runevals("--base", "main", "-q")
    ended(ended_with, 1, out, "  which line  runevals blame --code\n")
    ended_with, out, err = runevals("blame")
    ended(ended_with, 0, out + err, "Code is put back, too (--code), as ", found)
    ended_with, out, _ = runevals("blame", "-q", "--code", "--coverage")
    ended(ended_with, 0, out, found, ": noticed by warranty\n")


def test_of_a_program_that_is_renamed_its_code_is_put_back_too(change, runevals):
    change.git("mv", "agent.py", "bot.py")
    change.write("runevals.yaml", SETTINGS.replace("agent.py", "bot.py"))
    change.git("commit", "-qam", "move")
    assert runevals("--base", "main", "-q")[0] == 1
    code, out, err = runevals("blame")
    ended(code, 0, out + err, "Code is put back, too (--code), as ", " lost warranty (put back: ")
    assert runevals("blame", "-q", "--code")[1] == out


def test_code_may_name_a_renamed_text_that_the_settings_name_too(change, runevals):
    settings = SETTINGS.replace("deterministic", "system_prompt_file: prompts/support.md, deterministic")
    on_main(change, "runevals.yaml", settings)
    change.git("mv", PLACE, "prompts/help.md")
    change.write("prompts/help.md", PROMPT.replace("24 months", "two years"))
    change.write("agent.py", AGENT.replace("support.md", "help.md"))
    change.write("runevals.yaml", settings.replace("support.md", "help.md"))
    change.git("commit", "-qam", "move")
    code, out, _ = runevals("--base", "main", "-q")
    ended(code, 1, out, "  which line  runevals blame --code\n")
    code, out, _ = runevals("blame", "-q", "--code")
    ended(code, 0, out, "prompts/help.md:3 lost warranty (put back: 0 of 1 → 1 of 1; ")


@pytest.mark.parametrize("place", ["b.prompt.yml", "evals/a.prompt.yml"])
def test_of_a_prompt_file_that_is_renamed_the_lines_are_compared(change, runevals, place):
    """Its cases are those of its new name, also where the settings still have the former one."""
    suite = (
        "messages: [{role: system, content: The warranty is 24 months.}, {role: user, content: '{{message}}'}]\n"
        "testData: [{testId: warranty, message: How long?, expected: 'yes'}]\n"
        "evaluators: [{name: e, string: {contains: '{{expected}}'}}]\n"
    )
    stub = "import sys\nprint('yes' if '24 months' in sys.stdin.read() else 'no')\n"
    settings = "suites: [a.prompt.yml]\ntarget: {type: command, command: python stub.py, deterministic: true}\n"
    for name, text in (("stub.py", stub), ("a.prompt.yml", suite), ("runevals.yaml", settings)):
        on_main(change, name, text)
    (change.path / "a.prompt.yml").unlink()
    change.write(place, suite.replace("24 months", "two years"))
    change.write("runevals.yaml", settings.replace("a.prompt.yml", place))
    change.git("add", "-A")
    change.git("commit", "-qm", "move")
    code, out, _ = runevals("--base", "main", "-q")
    ended(code, 1, out, "1 of 1 case regressed", "  which line  runevals blame\n")
    code, out, err = runevals("blame", "-q")
    ended(code, 0, out + err, f"{place}:1 lost warranty (put back: 0 of 1 → 1 of 1; ", "2 hunks in 2 files")


@pytest.mark.parametrize(
    ("former", "rewritten", "hunks"),
    [
        ("old", False, "4 hunks in 3 files"),
        ("apps/search", False, "4 hunks in 3 files"),
        pytest.param("old", True, "5 hunks in 4 files", id="its settings written anew"),
    ],
)
def test_of_a_project_whose_folder_is_renamed_the_lines_are_compared(
    change, runevals, monkeypatch, former, rewritten, hunks
):
    """Also those of a file that git takes for another one, and of one that is removed."""
    settings = SETTINGS.replace("deterministic", "system_prompt_file: short.md, deterministic")
    agent = AGENT.replace("text =", "text = ' '.join(p.read_text() for p in pathlib.Path().glob('*.md')) +")
    files = {"runevals.yaml": settings, "evals.json": change.document("evals.json"), "agent.py": agent}
    files |= {
        PLACE: PROMPT.replace("24", "2").replace("30", "3"),
        "short.md": "24 months\n",
        "gone.md": "30 days\n",
    }
    change.git("rm", "-q", "runevals.yaml")
    for name, text in files.items():
        change.write(f"{former}/{name}", text)
    change.write(".gitignore", ".evals/\n")
    on_main(change, "README.md", "All.\n")
    for name in files:
        change.write(f"new/{name}", (change.path / former / name).read_text())
        (change.path / former / name).unlink()
    (change.path / "new/gone.md").unlink()
    change.write("new/short.md", "two years of\nour own\n")
    if rewritten:
        values = {**yaml.safe_load(settings), "concurrency": 2}
        change.write("new/runevals.yaml", f"# Written anew.\n{yaml.safe_dump(values)}")
    change.write(f"new/{PLACE}", files[PLACE].replace("Be kind.", "").replace("Say please.", ""))
    change.git("add", "-A")
    change.git("commit", "-qm", "move")
    monkeypatch.chdir(change.path / "new")
    code, out, _ = runevals("--base", "main", "-q")
    ended(code, 1, out, "3 of 5 cases regressed", "  which line  runevals blame\n")
    code, out, err = runevals("blame", "-q")
    lines = [
        "new/short.md:1–2 lost warranty",
        "new/gone.md (the whole file) lost refund",
        f"new/{PLACE}:6 together lost tone",
    ]
    ended(code, 0, out + err, *lines, hunks, without=["its new name"])


def test_of_several_projects_the_texts_of_the_one_that_lost_the_case_are_looked_at(change, runevals, monkeypatch):
    """What its code reads elsewhere, only `--code` puts back."""
    (change.path / "runevals.yaml").unlink()
    for name, text in (("search/runevals.yaml", SETTINGS), ("search/evals.json", change.document("evals.json"))):
        change.write(name, text)
    change.write("search/agent.py", AGENT.replace("prompts/support.md", "rules.md"))
    change.write("search/rules.md", PROMPT)
    change.write("support/runevals.yaml", SETTINGS)
    change.write(".gitignore", ".evals/\n")
    on_main(change, "support/prompts/support.md", PROMPT)
    change.write("support/prompts/support.md", CHANGED)
    change.write("search/agent.py", (change.path / "search/agent.py").read_text().replace("24 months", "one year"))
    change.git("commit", "-qam", "change")
    monkeypatch.chdir(change.path / "search")
    code, out, _ = runevals("--base", "main", "-q")
    ended(code, 1, out, "  which line  runevals blame --code\n", without=["What changed in the prompt"])
    code, _, err = runevals("blame", "-q")
    assert (code, "; --code also puts back 2 other files" in err) == (2, True), err
    code, out, _ = runevals("blame", "-q", "--code")
    ended(code, 0, out, "search/agent.py:3 lost warranty")


def test_the_settings_file_of_the_run_is_that_of_the_search(change, runevals):
    (change.path / "runevals.yaml").unlink()
    on_main(change, "other.yaml", SETTINGS)
    change.write(PLACE, CHANGED)
    change.git("commit", "-qam", "change")
    assert runevals("--config", "other.yaml", "--base", "main", "-q")[0] == 1
    code, out, err = runevals("blame", "-q")
    ended(code, 0, out + err, f"{PLACE}:3 lost warranty")


def test_a_target_that_a_flag_named_is_repeated_and_asked_for(change, runevals):
    """The settings' own target would be searched, and lost nothing."""
    on_main(change, "runevals.yaml", "suites: [evals.json]\ntarget: 'command:cat'\n")
    change.write(PLACE, CHANGED)
    change.git("commit", "-qam", "change")
    target = "--target=python:agent.py:answer"
    _, out, err = runevals(target, "--base", "main", "-q", "--trust")
    assert "runevals blame --target=python:agent.py:answer --trust" in out, out + err
    code, _, err = runevals("blame", "-q")
    ended(code, 2, err, f"another target than the settings name: runevals blame {target}")


def test_of_many_lost_cases_examples_are_searched_as_many_as_are_said(change, runevals):
    items = [{"testId": f"w{n}", "prompt": "warranty", "expected_response": "yes"} for n in range(12)]
    on_main(change, "evals.json", {**EXACT, "items": items})
    change.write(PLACE, PROMPT.replace("24 months", "two years"))
    runevals("--base", "main", "-q")
    code, out, err = runevals("blame", "-q", "-o", "out.json")
    ended(
        code, 0, err, "Searching examples, 5 of 12 lost cases; choose others with --filter", without=["at most 10"]
    )
    assert len(change.document("out.json")["blame"]["cases"]) == 5, out


def test_noise_takes_more_runs_and_a_limit_ends_the_search(change, runevals):
    on_main(change, "runevals.yaml", SETTINGS.replace(", deterministic: true", ", reuse: true") + "repeat: 5\n")
    change.write(PLACE, PROMPT.replace("24 months", "two years").replace("We ship", "We walk"))
    assert runevals("--base", "main", "-q")[0] == 1
    code, out, _ = runevals("blame", "-q")
    ended(code, 0, out, f"{PLACE}:3 lost warranty (put back: 0 of 8 → 8 of 8; 38 calls)")
    code, out, _ = runevals("blame", "-q", "--max-calls", "20")
    ended(code, 0, out, "warranty: not found: it takes more runs than may be made (19 calls)")


def test_a_line_that_cannot_be_put_back_alone_does_not_end_the_search(change, runevals):
    """Of the settings: without its first line, the list is not YAML."""
    on_main(change, "runevals.yaml", SETTINGS + "depends_on:\n  - prompts/**\n")
    change.write("runevals.yaml", SETTINGS)
    change.write(PLACE, PROMPT.replace("24 months", "two years"))
    runevals("--base", "main", "-q")
    code, out, _ = runevals("blame", "-q")
    ended(code, 0, out, "3 hunks in 2 files", f"{PLACE}:3 lost warranty (put back")


def test_a_passing_document_of_another_commit_does_not_answer_for_this_one(change, runevals):
    change.git("checkout", "-q", "main")
    code, out, _ = runevals("--base", "main", "-q")
    ended(code, 0, out, without=["runevals blame"])
    change.git("checkout", "-q", "-")
    code, out, _ = runevals("--base", "main", "-q", "-o", "lost.md", "-o", "lost 1.json")
    ended(code, 1, out, "  which line  runevals blame\n")
    change.git("commit", "-q", "--allow-empty", "-m", "next")
    code, _, err = runevals("blame")
    assert (code, "; run again; if it ran elsewhere, name its document" in err) == (2, True), err


def test_bad_input_says_what_to_do(change, runevals, monkeypatch):
    def refused(text, *words):
        code, _, err = runevals("blame", *words)
        assert (code, text in err) == (2, True), err

    refused("there are no results of a comparison in .evals/results; `runevals --base main` makes them")
    refused("nowhere.json: there is no such file", "nowhere.json")
    runevals("--base", "main", "-q", "-o", "lost.json")
    refused("git knows no such commit here", "lost.json", "--base", "nowhere")
    refused("no text that the target reads changed since", "lost.json", "--base", "HEAD")
    refused("no lost case is left by --category, --tag and --filter", "lost.json", "--filter", "oth*")
    refused("recorded answers cannot be asked again", "lost.json", "--target", "recorded:agent.py")
    several = ("--target", "openai", "--model", "m1", "--model", "m2")
    refused("several targets are set, m1, m2; name one", "lost.json", *several)
    change.write("other.json", {**EXACT, "items": [{"testId": "x", "prompt": "x", "expected_response": "yes"}]})
    refused("name its suite with --suite PATH", "lost.json", "--suite", "other.json")
    change.git("commit", "-q", "--allow-empty", "-m", "next")
    refused("run again", "lost.json")
    change.git("checkout", "-q", "main")
    runevals("--base", "main", "-q", "-o", "same.json")
    code, out, _ = runevals("blame", "same.json")
    ended(code, 0, out, "Nothing is searched: no unedited case of same.json lost anything.")
    monkeypatch.setenv("CI", "true")
    change.git("checkout", "-q", "-")
    code, out, _ = runevals("--base", "main", "-q", "-o", "same.json")
    ended(code, 1, out, "runevals blame same.json")
    monkeypatch.delenv("CI")
    pull_request_event(change.path, monkeypatch, change.git("rev-parse", "main"))
    refused("run it on your machine", "lost.json")
    monkeypatch.delenv("GITHUB_EVENT_NAME")
    monkeypatch.setenv("CI", "true")
    refused("run it on your machine", "lost.json")


def test_a_change_that_crashes_is_to_be_mended_before_its_lines_are_searched(change, runevals):
    change.write("agent.py", AGENT.replace("text =", "prompt.nothing_like_it\n    text ="))
    change.git("commit", "-qam", "crash")
    code, out, _ = runevals("--base", "main", "-q")
    ended(code, 3, out, "Not measured")
    code, out, err = runevals("blame", "-q")
    ended(code, 0, out + err, "Nothing is searched: ", "; 5 could not be measured: mend the error first.")


def test_coverage_names_the_new_lines_that_no_case_notices(change, runevals):
    """Also of a passing run: nothing is searched then, and the document has the answer."""
    change.write(PLACE, PROMPT.replace("# Support", "# Support team") + "- Say: 36 hours.\n- Smile.\n")
    assert runevals("--base", "main", "-q")[0] == 0
    code, out, err = runevals("blame", "--coverage", "-o", "out.json", "-o", "out.md")
    lines = [
        "Coverage of the change:",
        f"  {PLACE}:1 is changed, and no case notices it",
        f"  {PLACE}:10 is new, and no case notices it",
        f"  {PLACE}:11 is new, and no case notices it",
    ]
    ended(code, 0, out, *lines, without=["lost by", "not found"])
    assert "3 hunks and the head × 5 cases × 1 run: 20 calls of target and judge planned" in err
    assert [one.get("new", False) for one in change.document()["blame"]["coverage"]] == [False, True, True]
    assert "**Coverage of the change**" in (change.path / "out.md").read_text()
    assert f"{PLACE}:10 is new" in runevals("report", "out.json")[1]
    code, _, err = runevals("blame", "--coverage", "--max-calls", "19")
    assert (code, "20 calls of target and judge planned, but at most 19 may be" in err) == (2, True), err


def test_coverage_names_the_cases_that_notice_a_line_beside_what_was_lost(change, runevals):
    change.write(PLACE, PROMPT.replace("24 months", "two years").replace("- We ship.", "- We ship far."))
    assert runevals("--base", "main", "-q")[0] == 1
    code, out, _ = runevals("blame", "-q", "--coverage")
    noticed = f"{PLACE}:3: noticed by warranty\n"
    ended(code, 0, out, f"{PLACE}:3 lost warranty (put", f"{PLACE}:9 is changed, and no case notices it", noticed)


def test_what_was_lost_is_noticed_although_the_runs_of_the_coverage_are_too_few(change, runevals):
    on_main(change, "runevals.yaml", SETTINGS.replace(", deterministic: true", ", reuse: true") + "repeat: 3\n")
    change.write(PLACE, PROMPT.replace("24 months", "two years") + "- Smile.\n")
    assert runevals("--base", "main", "-q")[0] == 1
    code, out, _ = runevals("blame", "-q", "--coverage")
    ended(code, 0, out, f"{PLACE}:3: noticed by warranty\n", f"{PLACE}:10 is new, and no case shows a difference")


def test_coverage_of_a_noisy_target_says_in_how_many_runs_nothing_was_seen(change, runevals):
    on_main(change, "runevals.yaml", SETTINGS.replace(", deterministic: true", ", reuse: true") + "repeat: 2\n")
    change.write(PLACE, PROMPT + "- Smile.\n")
    assert runevals("--base", "main", "-q")[0] == 0
    code, out, _ = runevals("blame", "-q", "--coverage")
    ended(code, 0, out, f"{PLACE}:10 is new, and no case shows a difference in 2 runs")


def test_of_a_skill_that_moves_with_its_suite_and_in_the_settings_the_lines_are_searched(repository, runevals):
    """The settings that follow the move find nothing at its former path if they are put back."""
    agent = "import json, sys\nprint('yes' if '24 months' in json.load(sys.stdin)['system'] else 'no')\n"
    target = f"{{type: command, command: {json.dumps([sys.executable, 'agent.py'])}, system_prompt_file: SKILL.md"
    text = "---\nname: shop\ndescription: Answers.\n---\nBe kind.\nThe warranty is 24 months.\n"
    evals = [
        {"id": n, "prompt": f"{n}?", "expected_output": "y", "assertions": [{"type": "contains", "value": "yes"}]}
        for n in range(3)
    ]
    for name, content in {"agent.py": agent, "evals/evals.json": {"skill_name": "shop", "evals": evals}}.items():
        repository.write(name, content)
    settings = f"suites: [evals/evals.json]\ntarget: {target}, deterministic: true}}\n"
    repository.write("runevals.yaml", settings)
    on_main(repository, "SKILL.md", text)
    (repository.path / "skills/shop").mkdir(parents=True)
    repository.git("mv", "SKILL.md", "evals", "skills/shop/")
    moved = settings.replace("SKILL", "skills/shop/SKILL").replace("evals/evals", "skills/shop/evals/evals")
    repository.write("runevals.yaml", moved)
    repository.write("skills/shop/SKILL.md", text.replace("24 months", "two years"))
    repository.git("commit", "-qam", "move")
    code, out, _ = runevals("--base", "main", "-q")
    ended(code, 1, out, "3 of 3 cases regressed", "  which line  runevals blame\n")
    code, out, err = runevals("blame", "-q")
    ended(code, 0, out + err, "skills/shop/SKILL.md:6 lost", "1 hunk in 1 file")


def test_a_case_that_was_edited_is_searched_in_the_form_that_lost(change, runevals):
    """With its lines put back, a prompt may need what the edit took from the cases."""
    change.git("checkout", "-q", "main")
    change.write("agent.py", "import json\nprint(json.loads(input())['prompt'])\n")
    change.write("p.md", "{{company}}: {{topic}}\nBe kind.\nAnswer {{question}}\n")
    case = '{{"id": "{0}", "topic": "Hours", "question": "{0}", {1}"expected": "{0}"}}\n'
    keys = ("France", "Peru")
    change.write("cases.jsonl", "".join(case.format(key, '"company": "Acme", ') for key in keys))
    entry = "suites: [{path: cases.jsonl, evaluators: [preset-contains]}]\n"
    target = f"target: {{type: command, command: ['{sys.executable}', agent.py], prompt_file: p.md}}\n"
    change.write("runevals.yaml", f"{entry}{target}")
    change.git("add", "-fA")
    change.git("commit", "-qm", "cases of a company")
    change.git("checkout", "-q", "-B", "change")
    change.write("cases.jsonl", "".join(case.format(key, "") for key in keys))
    change.write("p.md", "{{topic}}\nBe kind.\nAnswer nothing\n")
    change.git("commit", "-qam", "of no company")
    code, out, err = runevals("--base", "main", "-q")
    ended(code, 1, out + err, "2 cases lost: France, Peru", "  which line  runevals blame\n")
    code, out, err = runevals("blame")
    ended(code, 0, out + err, "p.md:3 lost France, Peru (put back: 0 of 16 → 16 of 16; ")
