"""What an agent is given of a skill."""

from __future__ import annotations

import subprocess

import pytest

from runevals.records.errors import InvalidSettings
from runevals.targets.agents.skills import installed_skills


def skill(folder, *, name="haiku"):
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\n---\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("written", "name"), [("haiku", "haiku"), ("'haiku'", "haiku"), ("../up", "clone-7"), ("A Haiku", "clone-7")]
)
def test_it_is_put_into_a_folder_of_its_own_name(tmp_path, written, name):
    """A checkout of the base has another name of its folder; a name cannot lead elsewhere."""
    [one] = installed_skills([skill(tmp_path / "clone-7", name=written)])
    assert one.name == name
    assert one.names == {"clone-7", written.strip("'")}
    one.install(tmp_path, "home/skills")
    assert [path.name for path in (tmp_path / "home/skills").iterdir()] == [name]


def test_of_one_that_is_a_whole_repository_what_git_ignores_is_left_out(tmp_path):
    folder = skill(tmp_path / "repository")
    for path in ("scripts/a.py", ".env", "node_modules/b/c.js", "evals/evals.json"):
        (folder / path).parent.mkdir(exist_ok=True, parents=True)
        (folder / path).write_text("x", encoding="utf-8")
    (folder / ".gitignore").write_text(".env\nnode_modules\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", folder], check=True)
    [before] = installed_skills([folder])
    before.install(tmp_path, "skills")
    copied = tmp_path / "skills/haiku"
    assert {path.name for path in copied.iterdir()} == {"SKILL.md", "scripts", ".gitignore"}
    (folder / ".env").write_text("other", encoding="utf-8")
    (folder / "evals/evals.json").write_text("other", encoding="utf-8")
    assert installed_skills([folder]) == (before,)


def test_an_agent_cannot_read_what_is_expected_of_it_beside_the_skill(tmp_path):
    """Suites and results may lie in the skill's folder itself; below it, such names are the skill's own."""
    folder = skill(tmp_path / "haiku")
    measured = ("evals.json", "trigger-evals.json", "eval_queries.json", "grading.json", "benchmark.json")
    own = ("references/evals.json", "forms.json", "metrics.json")
    (folder / "references").mkdir()
    (folder / ".evals/results").mkdir(parents=True)
    for path in (*measured, *own, ".evals/results/2026.json"):
        (folder / path).write_text("[]", encoding="utf-8")
    [before] = installed_skills([folder])
    before.install(tmp_path, "skills")
    copied = tmp_path / "skills/haiku"
    files = {path.relative_to(copied).as_posix() for path in copied.rglob("*") if path.is_file()}
    assert files == {"SKILL.md", *own}
    for path in measured:
        (folder / path).write_text("[1]", encoding="utf-8")
    assert installed_skills([folder]) == (before,)


def test_what_cannot_be_installed_is_a_usage_error(tmp_path):
    one = skill(tmp_path / "one")
    with pytest.raises(InvalidSettings, match=r"two skills are called haiku: .*one and .*two"):
        installed_skills([one, skill(tmp_path / "two")])
    (one / "out").symlink_to("/etc/passwd")
    with pytest.raises(InvalidSettings, match="cannot be installed: the link out leads out of its folder"):
        installed_skills([one])
