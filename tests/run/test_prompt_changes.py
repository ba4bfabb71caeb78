"""What changed in the texts that a target reads, since the base's commit."""

from __future__ import annotations

import pytest

from runevals.run.prompt_changes import LONGEST_LINE, MOST_BYTES, MOST_COMPARED, MOST_LINES
from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.reports.parsed_page import Page

PROGRAM = "print('Paris.')"
SETTINGS = (
    "suites: [cases.json]\ntarget: {type: command, command: [python3, main.py], system_prompt_file: system.md}\n"
)
CASES = [
    {
        "sample_id": "C1",
        "prompt": "Capital of France?",
        "assertions": [{"type": "contains", "value": "Paris"}],
    }
]
GOOD, BAD = "Be kind.\nName the capital.\nBe brief.\n", "Be kind.\nSay nothing.\nBe brief.\n"
RUN = ("--base", "main", "-q", "-o", "out.json")


@pytest.fixture
def change(repository):
    repository.git("checkout", "-q", "main")
    files = {"main.py": PROGRAM, "runevals.yaml": SETTINGS, "system.md": GOOD, "cases.json": {"samples": CASES}}
    for name, content in files.items():
        repository.write(name, content)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "base")
    repository.git("checkout", "-q", "-B", "change")
    return repository


def changes(repository, runevals, *words):
    runevals(*RUN, *words)
    return {found["path"]: found["diff"] for found in repository.document().get("prompt_changes", [])}


def test_the_changed_lines_and_one_beside_them_are_shown(change, runevals):
    change.write("system.md", BAD)
    diff = "@@ -1,3 +1,3 @@\n Be kind.\n-Name the capital.\n+Say nothing.\n Be brief."
    assert changes(change, runevals) == {"system.md": diff}


def test_a_file_that_was_renamed_is_compared_with_what_it_was(change, runevals):
    change.write("system.md", GOOD * 3)
    change.git("commit", "-qam", "longer")
    change.git("branch", "-f", "main")
    change.git("mv", "system.md", "prompt.md")
    change.write("runevals.yaml", SETTINGS.replace("system.md", "prompt.md"))
    change.write("prompt.md", GOOD * 2 + BAD)
    change.git("commit", "-qam", "rename")
    assert "\n-Name the capital.\n+Say nothing.\n" in changes(change, runevals)["prompt.md"]


def test_without_a_changed_text_nothing_is_shown(change, runevals):
    change.write("main.py", f"# A comment\n{PROGRAM}")  # a program is no prompt
    assert changes(change, runevals) == {}


def test_a_line_and_a_diff_that_are_too_long_are_cut_with_a_word(change, runevals):
    change.write("system.md", "x" * 2 * LONGEST_LINE + "\n" + "new\n" * 2 * MOST_LINES)
    lines = changes(change, runevals)["system.md"].splitlines()
    assert len(lines) == MOST_LINES + 1
    assert lines[-1].startswith("… and ")
    assert max(map(len, lines)) == LONGEST_LINE + 1


def test_a_file_that_is_too_large_to_compare_is_left_out(change, runevals):
    change.write("system.md", "x" * (MOST_BYTES + 1))
    assert changes(change, runevals) == {}


def test_a_file_of_too_many_lines_to_compare_is_left_out(change, runevals):
    change.write("system.md", "new\n" * (MOST_COMPARED + 1))
    assert changes(change, runevals) == {}


def test_a_changed_settings_file_is_shown_too(change, runevals):
    change.git("checkout", "-q", "main")
    change.write("runevals.yaml", SETTINGS.replace("system.md}", "system.md}\n# before"))
    change.git("commit", "-qam", "settings")
    change.git("checkout", "-q", "-B", "change")
    change.write("runevals.yaml", SETTINGS)
    change.write("main.py", "print('Rome.')")
    change.write("system.md", BAD)
    code, out, _ = runevals(*RUN, "-o", "out.md", "-o", "out.html")
    ended(code, 1, out, "What changed in the settings  runevals.yaml", "What changed in the prompt  system.md")
    shown = Page((change.path / "out.html").read_text()).data("overview")["prompts"]
    assert ("What changed in the settings", "runevals.yaml") in [(one["title"], one["path"]) for one in shown]
    assert "**What changed in the settings** <code>runevals" in (change.path / "out.md").read_text()
    assert changes(change, runevals)["runevals.yaml"].splitlines()[-1] == "-# before"


def test_without_depends_on_the_changed_texts_that_look_like_prompts_are_shown(change, runevals):
    prompts = ["agent/prompt.md", "instructions.txt"]
    others = [
        "README.md",
        "docs/agent.md",
        ".github/note.md",
        "requirements-dev.txt",
        "evals/file.md",
        "data.json",
    ]
    change.git("checkout", "-q", "main")
    change.write("evals/cases.json", {"samples": CASES})
    change.write(
        "runevals.yaml", "suites: [evals/cases.json]\ntarget: {type: command, command: [python3, main.py]}\n"
    )
    for name in (*prompts, *others):
        change.write(name, GOOD)
    change.git("add", "-A")
    change.git("commit", "-qm", "prompts")
    change.git("checkout", "-q", "-B", "change")
    for name in (*prompts, *others):
        change.write(name, BAD)
    assert [*changes(change, runevals)] == prompts


def test_reports_that_an_earlier_run_wrote_are_no_prompt(change, runevals):
    runevals(*RUN, "-o", "summary.md", "-o", "other.md")
    assert changes(change, runevals, "-o", "summary.md") == {}


def test_changed_texts_that_depends_on_names_are_shown_for_a_program_that_reads_them(change, runevals, tmp_path):
    change.git("checkout", "-q", "main")
    change.write("prompts/a.md", GOOD)
    change.write("prompts/code.py", "")
    change.write("prompts/more/b.md", GOOD)
    change.write("notes.md", GOOD)
    change.write("runevals.yaml", SETTINGS + "depends_on: [prompts/**, cases.json, '*.md']\n")
    change.git("add", "-A")
    change.git("commit", "-qm", "prompts")
    change.git("checkout", "-q", "-B", "change")
    for name, content in {"prompts/a.md": BAD, "prompts/code.py": "1", "report.md": BAD}.items():
        change.write(name, content)
    change.write("cases.json", {"samples": [{**CASES[0], "prompt": "And of France?"}]})
    change.git("rm", "-qr", "prompts/more")
    (tmp_path / "b.md").write_text("of another folder")
    (change.path / "prompts" / "more").symlink_to(tmp_path)
    assert [*changes(change, runevals)] == ["prompts/a.md"]


@pytest.mark.parametrize("recorded_again", [False, True])
def test_recorded_answers_are_said_to_show_nothing_of_a_changed_skill(repository, runevals, recorded_again):
    """They are those of the skill as it was."""
    case = {"id": "first", "prompt": "Greet Ann", "assertions": [{"type": "contains", "value": "hello"}]}
    skill = "---\nname: greet\ndescription: Greets.\n---\n- Say hello.\n"
    repository.git("checkout", "-q", "main")
    repository.write("greet/SKILL.md", skill)
    repository.write("greet/evals/evals.json", {"skill_name": "greet", "evals": [case]})
    repository.write("answers.jsonl", '{"case": "first", "output": "hello Ann"}\n')
    repository.write("runevals.yaml", "suites: [greet/evals/evals.json]\ntarget: recorded:answers.jsonl\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "base")
    repository.git("checkout", "-q", "-B", "change")
    repository.write("greet/SKILL.md", skill.replace("hello", "nothing"))
    if recorded_again:
        repository.write("answers.jsonl", '{"case": "first", "output": "hello, Ann"}\n')
    code, out, err = runevals("--base", "main", "-q", "-o", "out.json")
    ended(code, 0, out + err, "No regression shown in 1 case")
    assert ("recorded, and show nothing of what changed in greet/SKILL.md" in out) is not recorded_again, out
    changed = {one["path"] for one in repository.document("out.json")["prompt_changes"]}
    assert changed == {"greet/SKILL.md"}, "the answers are no prompt"


@pytest.mark.parametrize(
    ("sent", "changed", "said"),
    [
        pytest.param(
            "", "prompts/a.md", "read from prompts/a.md, which changed; `system_prompt_file` names", id="no"
        ),
        pytest.param("prompts/a.md", "prompts/a.md", "", id="sent"),
        pytest.param("", "docs/prompts.md", "", id="documentation"),
        pytest.param("", "other/prompts/a.md", "", id="of another project"),
    ],
)
def test_a_changed_prompt_that_is_not_sent_is_named(change, runevals, monkeypatch, sent, changed, said):
    change.git("checkout", "-q", "main")
    change.write(changed, GOOD)
    change.write("other/runevals.yaml", "version: 1\n")
    with chat_server(lambda body, n: Reply("Paris.")) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        of_target = {"type": "openai", "model": "m", "base_url": server.base_url}
        settings = {
            "suites": ["cases.json"],
            "target": of_target | {"system_prompt_file": sent} if sent else of_target,
        }
        change.write("runevals.yaml", settings)
        change.git("add", "-A")
        change.git("commit", "-qm", "a chat model")
        change.git("checkout", "-q", "-B", "change")
        change.write(changed, BAD)
        code, out, err = runevals(*RUN)
    ended(code, 0, out + err, "No regression shown in 1 case", said)
    assert bool(said) == ("that is sent is read from" in out), out
