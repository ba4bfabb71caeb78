"""CPU of ours around an agent's attempt: `python benchmarks/agents.py`. Must stay within 60 ms an attempt.

The same program (it prints a recorded event stream of 200 tool calls) is run in a bare loop and as a target: a
fresh workspace of 200 files and 5 MB, its process, its stream read, changes and checks. The best of four rounds of
five counts: other load on the machine makes the kernel's part of a copy up to five times as long. `cp -r` of the
same folder stands beside our copy.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from runevals.evaluators.kinds import Subject
from runevals.evaluators.workspace.file_contains import FileContains
from runevals.evaluators.workspace.only_touches import OnlyTouches
from runevals.models.chat.prices import Prices
from runevals.records import Conversation, FileProbe, Verdict, Workspace
from runevals.records.agent import AgentSettings
from runevals.repository.fresh_copy import copy_folder
from runevals.run.workspaces.folders import Workspaces
from runevals.run.workspaces.target import WorkspaceTarget
from runevals.targets.agents import AGENTS
from runevals.targets.agents.target import AgentTarget
from runevals.targets.conversation_ids import ConversationIds

ROUNDS, RUNS, FILES, BYTES, CALLS = 4, 5, 200, 25_000, 200
CHECKS = (FileContains(path="d1/f1.txt", values=("more",)), OnlyTouches(paths=("d1",)))


def cpu_s() -> float:
    """Of this process and the programs that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def events() -> str:
    """What the agent prints."""
    told: list[object] = [{"type": "system", "subtype": "init", "session_id": "s", "model": "m"}]
    for number in range(CALLS):
        use = {"type": "tool_use", "id": str(number), "name": "Bash", "input": {"command": "x" * 200}}
        result = {"type": "tool_result", "tool_use_id": str(number), "content": "y" * 1000}
        told.append({"type": "assistant", "message": {"content": [use]}})
        told.append({"type": "user", "message": {"content": [result]}})
    told.append({"type": "result", "subtype": "success", "result": "Done.", "num_turns": CALLS})
    return "".join(json.dumps(event) + "\n" for event in told)


def prepared(folder: Path) -> tuple[Path, dict[str, str]]:
    """(a fixture, an environment with the agent's program)."""
    fixture = folder / "fixture"
    for number in range(FILES):
        file = fixture / f"d{number % 10}" / f"f{number}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("a line of text\n" * (BYTES // 15), encoding="utf-8")
    (folder / "events").write_text(events(), encoding="utf-8")
    program = folder / "claude"
    program.write_text(
        f"#!/bin/sh\necho more >> d1/f1.txt 2>/dev/null\ncat {folder / 'events'}\n", encoding="utf-8"
    )
    program.chmod(0o755)
    return fixture, {"PATH": f"{folder}:{os.environ['PATH']}"}


def per_attempt_ms(work: object) -> tuple[float, float]:
    """(CPU, time) of one attempt in milliseconds, in the best round."""
    rounds = []
    for number in range(ROUNDS):
        began, used = time.monotonic(), cpu_s()
        for attempt in range(RUNS):
            work(number * RUNS + attempt)  # type: ignore[operator]
        rounds.append(((cpu_s() - used) / RUNS * 1000, (time.monotonic() - began) / RUNS * 1000))
    return min(rounds)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fixture, environment = prepared(folder)
        target = AgentTarget(
            AGENTS["claude-code"],
            AgentSettings(),
            environment=environment,
            prices=Prices({}),
            sessions=ConversationIds(),
        )
        workspaces = Workspaces(environment, at_once=4)
        whole = WorkspaceTarget(target, workspaces)
        told = {"suite": "s", "case": "c", "turn": 1, "prompt": "?", "workspace": Workspace(folder=fixture)}
        probes = (FileProbe(path="d1/f1.txt"),)

        def ours(number: int) -> None:
            asked = Conversation(**told, attempt=number, thread=str(number), probes=probes)
            answer = whole.answer(asked)
            subject = Subject(prompt="?", response=answer)
            scored = [check.check(subject) for check in CHECKS]
            if not all(isinstance(verdict, Verdict) and verdict.score == 1.0 for verdict in scored):
                sys.exit(f"a check went wrong: {scored}")
            if answer.problem is not None or len(answer.workspace.changes) != 1 or len(answer.tool_calls) != CALLS:
                sys.exit(f"the attempt went wrong: {answer.problem}")

        def bare(_: int) -> None:
            subprocess.run([folder / "claude"], check=True, capture_output=True)

        def by_cp(number: int) -> None:
            subprocess.run(["cp", "-r", fixture, folder / f"cp{number}"], check=True)

        def copy(number: int) -> None:
            (folder / f"copy{number}").mkdir()
            copy_folder(fixture, folder / f"copy{number}")

        ours(0)
        rows = {
            name: per_attempt_ms(work)
            for name, work in (("bare loop", bare), ("as target", ours), ("copy", copy), ("cp -r", by_cp))
        }
        workspaces.close()
    for name, (cpu, wall) in rows.items():
        print(f"{name:10} {cpu:6.1f} ms CPU, {wall:6.1f} ms")
    over = rows["as target"][0] - rows["bare loop"][0]
    print(f"overhead   {over:6.1f} ms CPU an attempt (limit 60), a copy {rows['copy'][0]:.1f} (limit 20)")
    sys.exit(0 if over <= 60 and rows["copy"][0] <= 20 else 1)


if __name__ == "__main__":
    main()
