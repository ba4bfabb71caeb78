"""`runevals action`: the container's entry; inputs come as INPUT_* variables, outputs go to the runner's files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runevals.commands import finish

if TYPE_CHECKING:
    from runevals.records import Conclusion


@click.command("action", hidden=True)
def command() -> None:
    """Run as a step of a GitHub workflow."""
    finish(execute(os.environ, Path.cwd()))


def execute(environment: Mapping[str, str], workspace: Path) -> int:
    """One run from inputs to exit code; every file is written before the code is decided."""
    from runevals import loading
    from runevals.commands.base_side import base_side
    from runevals.commands.judging import Asked, judged
    from runevals.commands.merge import merged_conclusion
    from runevals.commands.telling import tell, warn
    from runevals.dotenv import environment as with_dotenv
    from runevals.errors import InvalidSettings
    from runevals.github.masking import mask_commands
    from runevals.publish import publish
    from runevals.reporters import REPORTERS, summary
    from runevals.settings import Told, resolve

    inputs = {name[6:].lower(): value for name, value in environment.items() if name.startswith("INPUT_")}
    told = Told(inputs=inputs, cwd=workspace, environment=with_dotenv(workspace, None, environment))
    settings = resolve(replace(told, base_side=base_side(told)))
    if environment.get("GITHUB_ACTIONS") == "true":  # elsewhere nobody would take these lines off the screen
        for line in mask_commands(environment, settings.key_names):
            click.echo(line)
    folder = (workspace / settings.output_dir).resolve()
    if not folder.is_relative_to(workspace.resolve()) or folder == workspace.resolve():
        raise InvalidSettings(f"output_dir: {settings.output_dir} is no folder inside the workspace")
    if settings.mode == "merge":
        conclusion = merged_conclusion([workspace / settings.shards], settings)
    else:
        loaded = loading.load_suites(settings)
        warn(loaded.problems)
        conclusion = judged(settings, loaded, Asked(ref=None, told=told, quiet=False))
    paths = {reporter.NAME: folder / reporter.FILENAME for reporter in REPORTERS}
    try:
        publish(conclusion, list(paths.values()))
    finally:  # a verdict that was paid for is told even where a file cannot be written
        _hand_over(folder, workspace)
        _tell_the_runner(environment, _outputs(conclusion, paths, workspace), summary.render(conclusion))
        tell(conclusion)
    return conclusion.verdict.exit_code


def _outputs(conclusion: Conclusion, paths: Mapping[str, Path], workspace: Path) -> dict[str, str]:
    totals, comparison = conclusion.report.totals, conclusion.comparison
    regressions = 0 if comparison is None else len(comparison.of_kind("regressed"))
    return {
        "verdict": conclusion.verdict.outcome,
        "exit_code": str(conclusion.verdict.exit_code),
        "pass_rate": "" if totals.pass_rate is None else f"{totals.pass_rate:.4f}",
        "regressions": str(regressions),
        "cost_usd": "" if totals.cost_usd is None else f"{totals.cost_usd:.6f}",
        **{f"{name}_path": path.relative_to(workspace.resolve()).as_posix() for name, path in paths.items()},
    }


def _tell_the_runner(environment: Mapping[str, str], outputs: Mapping[str, str], markdown: str) -> None:
    from runevals.github.file_commands import write_outputs, write_summary

    if path := environment.get("GITHUB_OUTPUT"):
        write_outputs(Path(path), outputs)
    path = environment.get("GITHUB_STEP_SUMMARY")
    if path and not write_summary(Path(path), markdown):
        click.echo(f"::warning::The summary is too large for the job page; it is in {outputs['summary_path']}")


def _hand_over(folder: Path, workspace: Path) -> None:
    """Gives what a root container wrote to the workspace's owner, so that later steps can change and delete it."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return
    owner = workspace.stat()
    top = workspace.resolve() / folder.relative_to(workspace.resolve()).parts[0]
    for path in [top, *top.rglob("*")]:
        if path.exists() and not path.is_symlink():
            os.chown(path, owner.st_uid, owner.st_gid)
