"""Full disks, folders that cannot be written, files that rot: a clear word, and never a wrong result."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import subprocess
import sys
import threading
from collections import Counter

import pytest

from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.sample_reports import without_times
from tests.sample_suites import EXACT, numbered
from tests.serving import CallBarrier

CASES = 40
LONG = "so " * 1500
SUITE = {**EXACT, "items": numbered(CASES, "yes")}
FLAGS = ("--target", "openai:tiny", "--cache", "none", "--concurrency", "4", "-q")


@pytest.fixture
def paid(project, monkeypatch):
    """A project whose model gives long answers; `project.asked` counts what it was asked."""
    project.asked, project.barrier = Counter(), CallBarrier()
    lock = threading.Lock()

    def answer(body, number):
        key = body["messages"][-1]["content"].partition("Question ")[2].partition("?")[0]
        with lock:
            project.asked[key] += 1
        project.barrier.call()
        return Reply(("yes " if int(key) % 7 else "no ") + LONG + key)

    project.write("evals.json", SUITE)
    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield project


def mounted(project, script, size="120k"):
    """Runs a script in a folder of its own, `small`, of this size; $R is the command line."""
    folder = project.path / "small"
    folder.mkdir()
    head = f"mount -t tmpfs -o size={size} tmpfs {folder} && cp evals.json small && cd small && mkdir .git"
    command = f"{sys.executable} -m runevals"
    return subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", f"{head}\n{script}"],
        cwd=project.path,
        env={**os.environ, "R": command},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.needs("mounts")
def test_a_disk_that_fills_up_costs_neither_the_verdict_nor_the_last_report(paid, runevals):
    """What could be kept until then is not asked again, once there is room."""
    assert runevals(*FLAGS, "-o", "whole.json")[0] == 0
    paid.asked.clear()
    done = mounted(
        paid,
        f"""
        echo '"of the last run"' > out.json
        $R {" ".join(FLAGS)} -o out.json
        echo "first: $?"; cat out.json; ls -A > ../there
        mount -o remount,size=64m tmpfs $PWD
        $R run --resume -q
        echo "second: $?"; cp out.json ../resumed.json; ls .evals/runs | wc -l
        """,
    )
    out = done.stdout + done.stderr
    assert "no more answers are stored: " in done.stderr, out
    assert "answers.log: [Errno 28] No space left on device" in done.stderr
    assert "Error: cannot write out.json: No space left on device" in done.stderr
    assert done.stdout.startswith("✓ 34 of 40 cases pass"), out
    assert 'first: 3\n"of the last run"\n' in done.stdout, out
    assert (paid.path / "there").read_text().split() == [".evals", ".git", "evals.json", "out.json"]
    assert "second: 0\n" in done.stdout, out
    assert done.stdout.endswith("\n0\n")
    assert without_times(paid.document("resumed.json")) == without_times(paid.document("whole.json"))
    assert CASES < sum(paid.asked.values()) < 2 * CASES, "some answers were kept, and some were not"
    assert "Traceback" not in out


@pytest.mark.needs("mounts")
def test_a_folder_that_cannot_be_written_is_told_before_anything_is_sent(paid):
    done = mounted(paid, f"mount -o remount,ro tmpfs $PWD ; $R {' '.join(FLAGS)}; echo $?")
    assert done.stdout == "2\n", done.stderr
    assert ".evals/results" in done.stderr
    assert "is not a writable folder" in done.stderr
    assert not paid.asked


@pytest.mark.needs("mounts")
def test_where_only_the_report_can_be_written_the_run_is_made_and_says_what_it_lacks(paid, runevals):
    assert runevals(*FLAGS, "-o", "whole.json")[0] == 0
    done = mounted(paid, f"mount -o remount,ro tmpfs $PWD ; $R {' '.join(FLAGS)} -o ../out.json; echo $?")
    assert done.stdout.endswith("\n0\n"), done.stdout + done.stderr
    assert "Warning: this run cannot be resumed: " in done.stderr
    assert without_times(paid.document()) == without_times(paid.document("whole.json"))


@pytest.fixture
def killed(paid, runevals):
    """A run that was killed halfway → its folder; beside it the document of an undisturbed one."""
    assert runevals(*FLAGS, "-o", "whole.json")[0] == 0
    paid.asked.clear()
    paid.barrier.after(CASES // 2)
    run = subprocess.Popen([sys.executable, "-m", "runevals", *FLAGS, "-o", "out.json"])
    paid.barrier.wait_until_reached()
    run.kill()
    run.wait(timeout=60)
    paid.barrier.after(None)
    [folder] = (paid.path / ".evals" / "runs").iterdir()
    return folder


def cut(content, chance):
    return content[: chance.randrange(len(content))]


def overwritten(content, chance):
    at = chance.randrange(len(content))
    return content[:at] + chance.randbytes(min(4096, len(content) - at)) + content[at + 4096 :]


def speckled(content, chance):
    rotten = bytearray(content)
    for _ in range(40):
        rotten[chance.randrange(len(rotten))] ^= 1 << chance.randrange(8)
    return bytes(rotten)


def believable(content, chance):
    return content.replace(b'"yes ', b'"no! ')


def test_a_journal_that_rots_changes_no_result(paid, runevals, killed):
    whole = without_times(paid.document("whole.json"))
    spare = paid.path / "spare"
    shutil.copytree(killed, spare)
    for rot, seed in itertools.product((cut, overwritten, speckled, believable), range(6)):
        shutil.rmtree(paid.path / ".evals" / "runs")
        shutil.copytree(spare, killed)
        journal = killed / "answers.log"
        journal.write_bytes(rot(journal.read_bytes(), random.Random(f"{seed}/{rot.__name__}")))
        paid.asked.clear()
        code, out, err = runevals("run", "--resume", "-q")
        assert code == 0, out + err
        assert without_times(paid.document()) == whole, f"{rot.__name__}, seed {seed}"
        assert set(paid.asked.values()) <= {1}
        assert "Traceback" not in err
        assert not killed.exists()


def test_what_a_run_was_told_that_rots_is_named(paid, runevals, killed):
    typed = b'{"options": 3, "paths": [], "version": 1, "code": []}'
    for content in (b"", b"{", b"[]", b"\xff\xfe", typed):
        (killed / "options.json").write_bytes(content)
        code, _, err = runevals("run", "--resume", "-q")
        ended(code, 2, err, "options.json cannot be read")
