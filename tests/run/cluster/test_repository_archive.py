"""Which files are sent to other machines, and which never are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runevals.records.errors import InvalidSettings
from runevals.run.cluster import repository_archive as parcel


def sent(project, tmp_path_factory):
    folder = tmp_path_factory.mktemp("node")
    parcel.unpack(parcel.packed(project.path, {}), folder)
    return folder, sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def filled(project):
    project.write("agent.py", "x = 1\n")
    project.write("tool/run.sh", "#!/bin/sh\n").chmod(0o755)
    project.write(".env.local.user", "OPENAI_API_KEY=secret\n")
    project.write("env/.env.dev", "OPENAI_API_KEY=secret\n")
    project.write("env/prod.env", "OPENAI_API_KEY=secret\n")
    project.write(".envrc", "export OPENAI_API_KEY=secret\n")
    project.write(".evals/runs/journal", "answers")
    (project.path / "inside").symlink_to("agent.py")
    (project.path / "outside").symlink_to("/etc/hostname")
    (project.path / "up").symlink_to("../..")


def test_dotenv_files_results_and_links_that_lead_outside_stay_here(project, tmp_path_factory):
    filled(project)
    folder, names = sent(project, tmp_path_factory)
    assert names == ["agent.py", "inside", "tool/run.sh"]
    assert os.access(folder / "tool" / "run.sh", os.X_OK)
    assert (folder / "inside").read_text(encoding="utf-8") == "x = 1\n"


def test_what_git_ignores_stays_here_and_what_is_not_yet_committed_goes(repository, tmp_path_factory):
    filled(repository)
    repository.write(".gitignore", "data/\n")
    repository.write("data/large.bin", "x")
    _, names = sent(repository, tmp_path_factory)
    assert names == [".gitignore", "agent.py", "evals.json", "inside", "runevals.yaml", "tool/run.sh"]


def test_a_repository_that_is_too_large_is_refused(project):
    with (project.path / "model.bin").open("wb") as file:
        file.truncate(parcel.MOST_BYTES + 1)
    with pytest.raises(InvalidSettings, match="more than 256 MiB of files"):
        parcel.packed(project.path, {})


def test_a_file_that_holds_a_secret_is_not_sent(project):
    project.write("notes/deploy.md", "curl -H 'token: shop-0123456789'\n")
    with pytest.raises(InvalidSettings, match=r"the file notes/deploy\.md holds the value of SHOP_TOKEN"):
        parcel.packed(project.path, {"shop-0123456789": "SHOP_TOKEN"})


def test_neither_is_one_that_holds_a_key_of_nobody_knows_whom(project):
    project.write("notes/deploy.md", f"curl -H 'token: sk-{'a1B2' * 6}'\n")
    with pytest.raises(InvalidSettings, match=r"the file notes/deploy\.md holds what has the shape of a key"):
        parcel.packed(project.path, {})


def test_a_secret_that_is_no_utf_8_is_found_in_files(project):
    (project.path / "notes").write_bytes(b"\xff\xfe-secret\n")
    with pytest.raises(InvalidSettings, match="holds the value of SHOP_TOKEN"):
        parcel.packed(project.path, {os.fsdecode(b"\xff\xfe-secret"): "SHOP_TOKEN"})


def test_paths_of_the_repository_are_those_of_the_node_however_they_were_named(tmp_path):
    moved = parcel.PathMap(before=(Path("/home/ana/shop"), Path("/data/ana/shop")), now=tmp_path)
    assert moved.path(Path("/home/ana/shop/agent")) == tmp_path / "agent"
    assert moved.path(Path("/data/ana/shop")) == tmp_path
    assert moved.path(Path("/usr/bin")) == Path("/usr/bin")
