"""A Ray cluster is sent the repository's own files, and writes none outside the folder that is theirs."""

from __future__ import annotations

import io
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest

from runevals.records.errors import InvalidSettings
from runevals.run.cluster.repository_archive import packed, unpack
from tests.attacks.conftest import photograph

SECRET = "shop-0123456789"


def sent(project) -> dict[str, bytes]:
    """Name → content of what leaves the machine."""
    with tarfile.open(fileobj=io.BytesIO(packed(project.path, {SECRET: "SHOP_TOKEN"}))) as tar:
        return {entry.name: (file.read() if (file := tar.extractfile(entry)) else b"") for entry in tar}


LINKS = {
    "absolute, outside": lambda path, around: path.symlink_to(around / "letter.txt"),
    "relative, outside": lambda path, around: path.symlink_to(f"../{around.name}/letter.txt"),
    "to a folder outside": lambda path, around: path.symlink_to(f"../{around.name}"),
    "to the folder above": lambda path, around: path.symlink_to(".."),
    "absolute, to a file that is sent": lambda path, around: path.symlink_to(path.parent / "agent.py"),
    "to a process": lambda path, around: path.symlink_to("/proc/self/environ"),
    "to a device": lambda path, around: path.symlink_to("/dev/zero"),
    "in a circle": lambda path, around: path.symlink_to(path.name),
    "to nothing": lambda path, around: path.symlink_to("nowhere"),
    "by another link": lambda path, around: (
        path.with_name("step").symlink_to(f"../{around.name}"),
        path.symlink_to("step/letter.txt"),
    ),
}


@pytest.mark.parametrize("way", LINKS)
def test_nothing_behind_a_link_is_sent(project, around, way):
    project.write("agent.py", "x = 1\n")
    LINKS[way](project.path / "linked", around)
    assert sent(project) == {"agent.py": b"x = 1\n"}


def test_a_link_among_the_files_is_sent(project):
    """The control: it is where a link leads that keeps it here."""
    project.write("agent.py", "x = 1\n")
    (project.path / "linked").symlink_to("agent.py")
    assert set(sent(project)) == {"agent.py", "linked"}


@pytest.mark.parametrize(
    "name", [".env", ".env.production", ".envrc", "deep/.env", "deep/er/prod.env", ".git/config", ".evals/runs/a"]
)
def test_files_of_secrets_are_not_sent(project, name):
    project.write("agent.py", "x = 1\n")
    project.write(name, "A=b\n")
    assert set(sent(project)) == {"agent.py"}


@pytest.mark.parametrize(
    "content",
    [
        f"token: {SECRET}",
        f"x\0\xff{SECRET}\0",
        "x" * 100_000 + SECRET,
        f"sk-{'a1B2' * 6}",
        f"ghp_{'a1B2' * 9}",
        f"line\nAuthorization: Bearer {SECRET}\n",
    ],
)
def test_a_file_with_a_secret_is_sent_nowhere(project, content):
    project.write("notes.md", content)
    with pytest.raises(InvalidSettings, match=r"the file notes\.md holds"):
        sent(project)


def entry(name, **more) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    for key, value in more.items():
        setattr(made, key, value)
    return made


def tar_of(*entries) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for made in entries:
            made.size = 4 if made.isreg() else 0
            tar.addfile(made, io.BytesIO(b"evil"))
    return content.getvalue()


def parcels(around):
    link = {"type": tarfile.SYMTYPE}
    return {
        "up": [entry(f"../{around.name}/new.txt")],
        "up within": [entry(f"a/../../{around.name}/new.txt")],
        "absolute": [entry(str(around / "new.txt"))],
        "over a file of another": [entry(str(around / "letter.txt"))],
        "through a link": [entry("a", **link, linkname=str(around)), entry("a/new.txt")],
        "through a relative link": [entry("a", **link, linkname=f"../{around.name}"), entry("a/new.txt")],
        "through two links": [
            entry("a", **link, linkname="."),
            entry("b", **link, linkname=f"a/../../{around.name}"),
            entry("b/new.txt"),
        ],
        "a link as file": [entry("a", **link, linkname=str(around / "letter.txt")), entry("a")],
        "a hard link": [entry("a", type=tarfile.LNKTYPE, linkname=f"../{around.name}/letter.txt"), entry("a")],
        "a device": [entry("a", type=tarfile.CHRTYPE, devmajor=1, devminor=5)],
        "a named pipe": [entry("a", type=tarfile.FIFOTYPE)],
        "a program of root": [entry("a", mode=0o6777, uid=0)],
    }


@pytest.mark.parametrize("trick", parcels(Path("outside")))
def test_nothing_is_written_outside_the_folder(project, around, trick):
    node = project.path / "node"
    node.mkdir()
    before = photograph(around)
    with suppress(tarfile.TarError):
        unpack(tar_of(*parcels(around)[trick]), node)
    assert photograph(around) == before
    for path in node.rglob("*"):
        assert path.resolve().is_relative_to(node)
        assert path.is_file() or path.is_dir()
        assert not path.stat().st_mode & 0o6022


def test_a_plain_parcel_is_unpacked(project):
    """The control."""
    unpack(tar_of(entry("deep/er/file.txt")), project.path)
    assert (project.path / "deep/er/file.txt").read_bytes() == b"evil"
