"""`--base REF`: the base is run beside the head, in a real repository."""

from __future__ import annotations

import pytest

from tests.sample_suites import AGENT, SETTINGS, SUITE, WORSE


def test_an_unchanged_branch_is_green_and_leaves_nothing_behind(repository, runevals):
    code, out, _ = runevals("--base", "main", "-o", "out.json")
    assert code == 0, out
    assert out.startswith("✓ No regression shown in 2 cases")
    commit = repository.git("rev-parse", "main")
    assert repository.document()["comparison"]["source"] == f"a fresh run of {commit[:7]}"
    assert repository.git("worktree", "list").count("\n") == 0
    assert repository.git("status", "--porcelain") == "?? out.json"


def test_a_worse_agent_is_red_before_it_is_committed(repository, runevals):
    repository.write("agent.py", WORSE)
    code, out, _ = runevals("--base", "main")
    assert code == 1
    assert "− Paris" in out


def test_the_base_is_run_with_its_own_suite_and_settings(repository, runevals):
    repository.write("suites/new.json", SUITE)
    repository.write("runevals.yaml", SETTINGS.replace("evals.json", "suites/new.json"))
    (repository.path / "evals.json").unlink()
    code, out, _ = runevals("--base", "main")
    assert code == 0, out
    assert out.startswith("✓ No regression shown in 2 cases")


def test_commits_of_main_after_the_branch_began_do_not_count(repository, runevals):
    repository.git("checkout", "-q", "main")
    repository.write("agent.py", AGENT.replace("'Quito'", "'Lima'"))
    repository.git("commit", "-qam", "better on main")
    repository.git("checkout", "-q", "change")
    code, out, _ = runevals("--base", "main")
    assert code == 0, out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--base", "no-such-branch"], "git knows no such commit here"),
        (["--base", "--upload-pack=x"], "git knows no such commit here"),
        (["--base", "main", "--baseline", "x.json"], "do not also give --baseline"),
    ],
)
def test_bad_bases_are_told(repository, runevals, words, told):
    code, _, err = runevals(*words)
    assert code == 2
    assert told in err
