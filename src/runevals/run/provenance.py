"""The commit and the settings of a run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import cast

from msgspec.structs import replace

from runevals.lib.nullable import without_none
from runevals.lib.parsing.canonical import digest, fingerprint
from runevals.lib.text.numbers import phrase, short_list
from runevals.models.chat.prices import is_deprecated
from runevals.models.chat.providers import PROVIDERS
from runevals.models.facts import end_of_model, ending
from runevals.records import Provenance, RunInfo
from runevals.reports.next_steps import FOLDER
from runevals.repository.git import commit_of, names
from runevals.repository.git_changes import State, state_of
from runevals.run.baseline.dependencies import may_differ, settings_paths, workspace_commits
from runevals.run.live import judges_of
from runevals.settings.judge import JudgeSettings
from runevals.settings.resolve import Settings
from runevals.settings.table import SETTINGS
from runevals.suites.load import LoadedSuites
from runevals.targets.kind import TargetSettings

# Where target calls run changes no answer, and the name of a cluster's host should not be published.
_LEFT_OUT = frozenset(
    {"suites", "baseline", "executor", "ray_address", "ray_num_cpus", "ray_num_gpus", "ray_runtime_env"}
)


def provenance(settings: Settings, notices: tuple[str, ...], suites: LoadedSuites | None = None) -> Provenance:
    """The commit and the settings of a run in this checkout. Without its suites, it may read any file."""
    environment = settings.environment
    is_priced = any(one.is_model or one.type == "http" for one in endpoints(settings))  # by the model of the call
    return Provenance(
        commit=commit_here(settings),
        uncommitted=_uncommitted(settings, suites),
        ref=environment.get("GITHUB_REF") or settings.head.branch,
        settings=settings_given(settings),
        notices=(*_of_base(settings), *notices),
        prices=settings.measure.prices.source if is_priced else None,
    )


def of_this_checkout(info: RunInfo, settings: Settings) -> RunInfo:
    """The results of another tool as a run of the commit that is checked out, with these settings."""
    of = provenance(settings, info.notices)
    return replace(
        info, commit=of.commit, uncommitted=of.uncommitted, ref=of.ref, settings=of.settings, notices=of.notices
    )


def commit_here(settings: Settings) -> str | None:
    """The commit that is checked out, which need not be the event's; the image may have no git."""
    environment = settings.environment
    return settings.head.commit or environment.get("GITHUB_SHA") or environment.get("CI_COMMIT_SHA")


def unchanged_commit(settings: Settings, suites: LoadedSuites) -> str | None:
    """The commit that is checked out, if a run on one's own machine reads nothing that differs from it.

    None in CI, where a run of the same code as before is compared with that.
    """
    if settings.in_ci or _uncommitted(settings, suites if suites.suites else None) is not None:
        return None
    return settings.head.commit


def _of_base(settings: Settings) -> tuple[str, ...]:
    """Notices about the settings that decide over a change."""
    side = settings.base_side
    if side is None or side.unreadable is None:
        return ()
    decides = "what they would decide is at its default"
    return (f"the settings of the base {side.commit[:7]} cannot be read, so {decides}: {side.unreadable}",)


def _uncommitted(settings: Settings, suites: LoadedSuites | None) -> str | None:
    """A fingerprint of the tracked files, if one that the run may read differs from its commit.

    None in CI, and in a worktree of the base: what differs there the job changed, or `base_setup`,
    on every commit.
    """
    state = _changed_state(settings)
    if state is None:
        return None
    commit = state["commit"]
    differs = suites is None or not isinstance(commit, str) or may_differ(settings, suites, commit)
    return fingerprint(state)[:12] if differs else None


def _changed_state(settings: Settings) -> State | None:
    """The state of the tracked files if any differs from the commit; None in CI, and in a worktree of ours."""
    state = None if settings.in_ci or settings.not_from else state_of(settings.repository)
    return state if state is not None and _is_changed(state) else None


def edits_not_in_workspaces(settings: Settings, suites: LoadedSuites) -> tuple[str, ...]:
    """A notice of the uncommitted edits that workspaces of the commit that is checked out do not have.

    Of tracked files; suites and settings are read with their edits. None in CI, as for `uncommitted`.
    """
    repository, refs = settings.repository, workspace_commits(suites)
    commit = settings.head.commit
    if commit is None or commit not in {commit_of(repository, ref) for ref in refs}:
        return ()
    if (state := _changed_state(settings)) is None:
        return ()
    staged = names(repository, "diff-index", "--cached", "--name-only", "-z", commit, "--") or ()
    changed = {*cast("dict[str, str | None]", state["changed"]), *staged}
    measured = {path.resolve() for path in settings_paths(settings, suites)}
    real = {name: (repository / name).resolve() for name in sorted(changed)}
    edited = [name for name, path in real.items() if measured.isdisjoint((path, *path.parents))]
    why = f"workspaces are of the commit {commit[:7]}, without uncommitted edits: {short_list(edited)}"
    return (why,) if edited else ()


def _is_changed(state: State) -> bool:
    inner = cast("dict[str, State]", state["submodules"])
    return bool(state["changed"]) or state["staged"] != digest("") or any(map(_is_changed, inner.values()))


def endpoints(settings: Settings) -> Iterator[TargetSettings | JudgeSettings]:
    """The target and the judges that a run asks."""
    if settings.target is not None and not settings.evaluate_only:
        yield settings.target
    yield from judges_of(settings)


def deprecations(settings: Settings) -> Iterator[str]:
    """A sentence on each model of target and judges that `genai-prices` marks as deprecated by its provider.

    It has no date, and a model that it does not know has none. Of a model whose end is known, the report says it.
    """
    deprecated = sorted(
        str(model)
        for kind, model in {(one.type, one.model) for one in endpoints(settings) if one.is_model}
        if end_of_model(kind, model) is None and is_deprecated(model, PROVIDERS[kind].prices or kind)
    )
    for model in deprecated:
        from importlib.metadata import version  # it loads all that reads mails

        by = f"genai-prices {version('genai-prices')}"
        yield f"{model} is deprecated by its provider, says {by}: it will be shut down; change to another in time"


def endings(settings: Settings) -> tuple[str, ...]:
    """A sentence on each model of target and judges whose end is announced."""
    today = datetime.now(UTC).date()
    models = dict.fromkeys((one.type, one.model) for one in endpoints(settings))
    return tuple(sentence for kind, model in models if (sentence := ending(kind, model, today)))


def settings_given(settings: Settings) -> dict[str, object]:
    """The settings that differ from their defaults; secrets and paths outside are left out."""
    plain: dict[str, object] = {}
    root = f"{settings.repository}{os.sep}"
    for setting in SETTINGS:
        value = settings.value_of(setting.name)
        if settings.origins.get(setting.name, "default") == "default" or setting.name in _LEFT_OUT:
            continue
        if isinstance(value, tuple):
            plain[setting.name] = [one.removeprefix(root) if isinstance(one, str) else one for one in value]
        elif isinstance(value, str | int | float | bool):
            plain[setting.name] = value
    return plain | _chosen(settings) | ({"evaluate_only": True} if settings.evaluate_only else {})


def _chosen(settings: Settings) -> dict[str, object]:
    """Folder, settings file, target and judge if they are not the default, as running a case again needs them."""
    path, root, here = settings.file_path, settings.repository.resolve(), settings.cwd.resolve()
    chosen: dict[str, object] = {} if here == root else {FOLDER: os.path.relpath(here, root)}
    chosen |= without_none(env=settings.env)
    if (
        path is not None
        and settings.origins["config"].startswith(("--", "input "))
        and path.resolve().is_relative_to(root)
    ):
        chosen["config"] = path.resolve().relative_to(root).as_posix()
    target = settings.target
    if settings.target_name is not None:
        chosen["target"] = settings.target_name
    if settings.origins["model"].startswith("--"):
        chosen["model"] = getattr(target, "model", None)
    if target is not None and settings.origins["target"].startswith("--"):
        of_kind = target.program if target.traits.is_program else target.model
        name = os.path.relpath(target.program, target.base) if target.word == "path" else of_kind
        if name or target.word == "model":  # an agent has one of its own
            chosen["target"] = target.type + phrase(name, ":{}")
    by_flag = any(settings.origins[name].startswith("--") for name in ("judge", "judge_model"))
    for judge in settings.judges if by_flag else ():
        name = judge.model if judge.file is None else os.path.relpath(judge.file, settings.cwd)
        chosen["judge"] = f"{judge.type}:{name}"
    return chosen
