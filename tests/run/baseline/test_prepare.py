"""The base's worktree has what its settings share with it and set up in it, and says its own error without."""

from __future__ import annotations

import sys
import time

import pytest

from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.sample_suites import AGENT, EXACT, SETTINGS, numbered

NEEDING = "import answers\n\ndef answer(prompt):\n return answers.OF.get(prompt, 'Quito')\n"
ANSWERS = "OF = {'Capital of France?': 'Paris'}\n"
COMMAND = f"suites: [evals.json]\ntarget: {{type: command, command: [{sys.executable}, agent.py]}}\n"
STOCHASTIC = SETTINGS.replace(", deterministic: true", "")
PROGRAM = "import answers, json, sys\nprint(answers.OF.get(json.load(sys.stdin)['prompt'], 'Quito'))\n"


@pytest.fixture
def needing(repository):
    """An agent that needs a module which git ignores; `on_base` changes the base's settings."""

    def on_base(settings="", *, start=SETTINGS, agent=NEEDING, **files):
        repository.git("checkout", "-q", "main")
        repository.write(".gitignore", "deps/\nout.json\n.evals/\n")
        repository.write("agent.py", f"import sys\nsys.path.insert(0, 'deps')\n{agent}")
        repository.write("runevals.yaml", start + settings)
        for name, text in files.items():
            repository.write(name.replace("_py", ".py"), text)
        repository.git("add", "-A")
        repository.git("commit", "-qm", "base", "--allow-empty")
        repository.git("checkout", "-qB", "change")
        repository.write("deps/answers.py", ANSWERS)
        return repository.git("rev-parse", "--short=7", "main")

    repository.on_base = on_base
    return repository


def caveats(repository):
    return "\n".join(repository.document()["comparison"]["caveats"])


HOW_TO_PREPARE = "its worktree has only what git has, and what `share` and `base_setup` put there"


def against_main(runevals):
    return runevals("--base", "main", "-q", "-o", "out.json")


def test_a_base_that_cannot_start_says_its_own_error_before_anything_is_spent(needing, runevals):
    commit = needing.on_base()
    code, out, err = against_main(runevals)
    told = f"the base {commit} cannot be run: the python target agent.py:answer cannot be loaded"
    ended(code, 3, out + err, told, "No module named 'answers'", HOW_TO_PREPARE, without=["run again"])


def test_a_base_whose_every_call_fails_says_its_own_error_too(needing, runevals):
    commit = needing.on_base(start=COMMAND, agent=PROGRAM)
    code, out, err = against_main(runevals)
    told = f"the base {commit} cannot be run: it measured 0 of 2 cases: "
    ended(code, 3, out + err, told, "No module named 'answers'", HOW_TO_PREPARE, without=["too few values"])


def test_of_a_model_that_does_not_answer_the_worktree_is_not_to_blame(needing, runevals, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with chat_server(lambda body, n: Reply(status=404, error={"message": "no such model"})) as server:
        start = f"suites: [evals.json]\ntarget: {{type: openai, model: m, base_url: '{server.base_url}'}}\n"
        commit = needing.on_base(start=start)
        code, out, err = against_main(runevals)
    ended(code, 3, out + err, f"the base {commit} cannot be run: ", "no such model", without=[HOW_TO_PREPARE])


@pytest.mark.parametrize(("rule", "expected"), [("", 3), ("on_unknown: pass\n", 0)])
def test_a_change_that_repairs_the_target_passes_if_the_settings_of_the_base_let_it(
    needing, runevals, rule, expected
):
    """The base that it repairs measures nothing."""
    commit = needing.on_base(rule, agent="def answer(prompt):\n    raise KeyError('all')\n")
    needing.write("agent.py", AGENT)
    code, out, err = against_main(runevals)
    told = f"the base {commit} cannot be run: it measured 0 of 2 cases"
    ended(code, expected, out + err, told)
    assert (
        "compare with another commit (--base REF) or a stored result (--baseline FILE), or let it pass" in err
    ) is bool(expected)


def test_what_git_ignores_is_shared_with_the_base(needing, runevals):
    needing.on_base("share: [deps]\n")
    code, out, err = against_main(runevals)
    ended(code, 0, out + err)
    assert out.startswith("✓ No regression shown in 2 cases")
    assert (needing.path / "deps/answers.py").read_text() == ANSWERS


def test_a_setup_makes_what_the_base_needs(needing, runevals, monkeypatch):
    """In the base's own worktree, without the job's tokens."""
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    setup = (
        "import os, pathlib\nassert 'GITHUB_TOKEN' not in os.environ\npathlib.Path('deps').mkdir()\n"
        f"pathlib.Path('deps/answers.py').write_text({ANSWERS!r})\n"
    )
    needing.on_base(f"base_setup: [{sys.executable}, setup.py]\n", setup_py=setup)
    code, out, err = against_main(runevals)
    ended(code, 0, out + err)
    assert out.startswith("✓ No regression shown in 2 cases")


def test_a_setup_that_fails_says_its_exit_code_and_last_lines(needing, runevals):
    program = "import sys; print('one'); sys.exit('two\\nthree')"
    commit = needing.on_base(f"base_setup: [{sys.executable}, setup.py]\n", setup_py=program)
    code, out, err = against_main(runevals)
    told = f"the base {commit} cannot be run: base_setup ({sys.executable} setup.py)"
    ended(code, 3, out + err, f"{told} ended with exit code 1: two / three")


def test_a_limit_of_the_run_ends_a_setup(needing, runevals):
    needing.on_base(f"base_setup: [{sys.executable}, setup.py]\n", setup_py="import time; time.sleep(60)")
    started = time.monotonic()
    code, out, err = runevals("--base", "main", "-q", "-o", "out.json", "--max-duration", "4")
    ended(code, 3, out + err, "base_setup was stopped: the run took longer than --max-duration 4 s")
    assert time.monotonic() - started < 30


def test_a_program_that_is_not_there_is_named(needing, runevals):
    needing.on_base("base_setup: [no-such-program]\n")
    code, out, err = against_main(runevals)
    ended(
        code, 3, out + err, "base_setup (no-such-program) cannot be started: No such file or directory (install it"
    )


def test_a_path_that_must_not_be_shared_is_told(needing, runevals):
    needing.on_base("share: [agent.py]\n")
    code, out, err = against_main(runevals)
    ended(code, 2, out + err, "share: git does not ignore agent.py")


@pytest.mark.parametrize("of_base", ["", None], ids=["without a word of it", "without settings"])
def test_a_change_prepares_no_base(needing, runevals, of_base):
    """Its settings would decide what the base answers."""
    needing.on_base("")
    if of_base is None:
        needing.git("checkout", "-q", "main")
        needing.git("rm", "-q", "runevals.yaml")
        needing.git("commit", "-qm", "no settings")
        needing.git("checkout", "-qB", "change")
    needing.write("runevals.yaml", f"{SETTINGS}share: [deps]\nbase_setup: [{sys.executable}, -c, 'open(\"x\")']\n")
    target = () if of_base is not None else ("--target", "python:agent.py:answer")
    code, out, err = runevals("--base", "main", "-q", "-o", "out.json", *target)
    ended(code, 3, out + err, "No module named 'answers'")


def test_the_environment_can_prepare_a_base(needing, runevals, monkeypatch):
    """It is the word of whoever starts the run."""
    needing.on_base("")
    monkeypatch.setenv("RUNEVALS_SHARE", "deps")
    code, out, err = against_main(runevals)
    ended(code, 0, out + err)


PARTLY = """
def answer(prompt, messages, case):
    if int(case["key"][1:]) % 2:
        open("deps/answers.py").close()
    return "Paris"
"""


def twenty(repository):
    """Twenty cases, of which PARTLY can answer half without what git ignores."""
    repository.write("evals.json", {**EXACT, "items": numbered(20, "Paris")})
    repository.git("commit", "-qam", "twenty", "--allow-empty")
    repository.git("branch", "-f", "main")
    return repository.git("rev-parse", "--short=7", "main")


def test_a_base_that_can_measure_only_a_part_says_its_own_error(needing, runevals):
    needing.on_base(agent=PARTLY)
    commit = twenty(needing)
    code, out, err = against_main(runevals)
    told = f"the base {commit} cannot be run: it measured 10 of 20 cases: target_failed: FileNotFoundError"
    ended(code, 3, out + err, told, "– no_regression")


def test_a_loss_that_half_a_base_proves_blocks(needing, runevals):
    """What that base could not measure may hide another loss, and hides none of these."""
    needing.on_base(agent=PARTLY)
    twenty(needing)
    needing.write("agent.py", PARTLY.replace("'Paris'", "'Rome'").replace('"Paris"', '"Rome"'))
    code, out, err = against_main(runevals)
    ended(code, 1, out + err, "✗ 3 of 10 cases regressed: k0, k2, k4; 17 more may have")


def test_a_base_that_shards_can_measure_only_in_part_is_not_known_either(needing, runevals):
    needing.on_base(agent=PARTLY)
    commit = twenty(needing)
    needing.write("agent.py", "def answer(prompt):\n    return 'Paris'\n")
    for part in (1, 2):
        runevals("--shard", f"{part}/2", "-q", "-o", f"{part}.json")
    code, out, err = runevals("merge", "1.json", "2.json", "--base", "main", "-o", "out.json")
    told = f"the base {commit} cannot be run: it measured 10 of 20 cases"
    ended(code, 3, out + err, told, "– no_regression")


def test_a_case_that_the_base_cannot_measure_is_not_known_if_it_fails_now(needing, runevals):
    """However many runs are made; a reviewer may accept it."""
    needing.on_base(agent=PARTLY.replace("% 2", "== 7"))
    twenty(needing)
    error = "target_failed: FileNotFoundError"
    needing.write("agent.py", "def answer(prompt):\n    return 'Paris'\n")
    code, out, _ = against_main(runevals)
    lacks = f"the base's run could not measure 1 of 20 cases: {error}"
    ended(code, 0, out, "✓ No regression shown in 19 cases", lacks)
    only_this = "def answer(prompt, messages, case):\n    return 'Rome' if case['key'] == 'k7' else 'Paris'\n"
    needing.write("agent.py", only_this)
    code, out, _ = against_main(runevals)
    why = f"⚠ Not known – k7 may be lost: not measured on the base: {error}"
    ended(code, 3, out, why, "runevals accept k7", without=["fresh_runs"])


def test_a_failing_verdict_that_half_a_base_cannot_verify_says_its_error(needing, runevals):
    needing.on_base(start=STOCHASTIC, agent=PARTLY)
    commit = twenty(needing)
    assert runevals("--baseline", "none", "-q", "-o", ".evals/base.json")[0] == 0
    needing.write("agent.py", AGENT.replace("'Paris'", "'Rome'"))
    code, out, err = runevals("--baseline", ".evals/base.json", "-q", "-o", "out.json")
    ended(code, 1, out + err)
    assert f"the base {commit} cannot be run: it measured 10 of 20 cases: " in caveats(needing)


def test_a_case_that_half_a_base_can_answer_is_confirmed_on_fresh_runs_of_it(needing, runevals):
    needing.on_base(start=STOCHASTIC, agent=PARTLY)
    critical = {"extensions": {"runevals": {"critical": True}}}
    first, *others = numbered(20, "Paris")
    needing.write("evals.json", {**EXACT, "items": [{**first, **critical}, *others]})
    needing.git("commit", "-qam", "one critical")
    assert runevals("--baseline", "none", "-q", "-o", ".evals/base.json")[0] == 0
    needing.write("agent.py", AGENT.replace("'Paris'", "'Rome'"))
    code, out, err = runevals("--baseline", ".evals/base.json", "-q", "-o", "out.json")
    ended(code, 1, out + err)
    [found] = [one for one in needing.document()["comparison"]["findings"] if one["name"] == "k0"]
    assert (found["state"], found["reason"]) == ("worse", "proven")
    assert found["base"] is not None


def test_a_lost_case_is_no_pass_where_every_call_of_the_base_fails_and_its_error_is_told(needing, runevals):
    """One of ten cases is lost: fresh runs of a base that lacks a module neither clear nor confirm it."""
    start = COMMAND + "repeat: 3\n"
    needing.on_base(start=start, agent=PROGRAM)
    needing.write("evals.json", {**EXACT, "items": numbered(10, "Paris")})
    needing.git("commit", "-qam", "ten")
    needing.git("branch", "-f", "main")
    commit = needing.git("rev-parse", "--short=7", "main")
    needing.write("deps/answers.py", "OF = {f'Question {n}?': 'Paris' for n in range(10)}\n")
    assert runevals("--baseline", "none", "-q", "-o", ".evals/base.json")[0] == 0
    needing.write("deps/answers.py", "OF = {f'Question {n}?': 'Paris' for n in range(1, 10)}\n")
    code, out, err = runevals("--baseline", ".evals/base.json", "-q", "-o", "out.json")
    ended(
        code,
        3,
        out + err,
        "Not known – k0 may be lost",
        f"the base {commit} cannot be run: ",
        "No module named 'answers'",
    )


@pytest.mark.parametrize(("settings", "reason"), [("", "exact"), ("share: [deps]\n", "proven")])
def test_a_failing_verdict_is_verified_on_a_prepared_base(needing, runevals, settings, reason):
    """A stored result leads to a fresh run of the base, whose error is told where it cannot be made."""
    needing.on_base(settings, start=STOCHASTIC, agent=NEEDING)
    commit = twenty(needing)
    needing.write("deps/answers.py", "OF = {f'Question {n}?': 'Paris' for n in range(20)}\n")
    assert runevals("--baseline", "none", "-q", "-o", ".evals/base.json")[0] == 0
    needing.write("agent.py", AGENT.replace("'Paris'", "'Rome'"))
    code, out, err = runevals("--baseline", ".evals/base.json", "-q", "-o", "out.json")
    ended(code, 1, out + err)
    comparison = needing.document()["comparison"]
    assert (comparison["findings"][0]["state"], comparison["findings"][0]["reason"]) == ("worse", reason)
    assert (commit in comparison["fresh"]) == (reason == "proven")
    assert (f"the base {commit} cannot be run: " in caveats(needing)) == (reason == "exact")
    assert ("No module named 'answers'" in caveats(needing)) == (reason == "exact")


@pytest.mark.parametrize(
    "where", ["import os\nKEY = os.environ['BOT_KEY']\n", "import os\n"], ids=["load", "call"]
)
def test_a_key_that_the_base_lacks_is_set_first_as_the_change_lacks_it_too(needing, runevals, where):
    commit = needing.on_base(agent=f"{where}\ndef answer(prompt):\n    return os.environ['BOT_KEY']\n")
    code, out, err = against_main(runevals)
    told = ("BOT_KEY is not set here: set it", "mend that first: the change needs the same key")
    no_way = (HOW_TO_PREPARE, "--baseline FILE")  # no other base has the key
    ended(code, 3, out + err, f"the base {commit} cannot be run: ", *told, without=no_way)


def test_a_key_that_a_server_refuses_is_no_lack_of_the_worktree(needing, runevals):
    error = "class Refused(Exception):\n    status_code = 401\n"
    needing.on_base(agent=f"{error}\ndef answer(prompt):\n    raise Refused('invalid api key')\n")
    code, out, err = against_main(runevals)
    ended(code, 3, out + err, "invalid api key", "mend that first", without=[HOW_TO_PREPARE, "--baseline FILE"])
