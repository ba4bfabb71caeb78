"""What a reader can do next: commands that work as they stand, where the reader is."""

from __future__ import annotations

import glob
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import phrase
from runevals.records import FRESH, CaseReport, CauseGroup, Causes, Change, Comparison, Conclusion, State
from runevals.verdict.comparability import other_target
from runevals.verdict.headlines import strongest
from runevals.verdict.lost_together import is_in, to_accept
from runevals.verdict.matching import Key

# What a run of one case needs as well.
RUN_SETTINGS = ("config", "env", "target", "model", "judge", "evaluators", "no_judge", "trust")
FOLDER = "folder"  # where a run was made, among its settings: relative to the repository, if it is not its root
MOST_KEYS = 5  # that a command names
_PLAIN = re.compile(r"[\w./][\w ./@+=:#,?!'()&*<>{}\[\]-]{0,119}")
Step = tuple[str, str]  # what for, and the command


class Where(Struct, frozen=True, kw_only=True):
    """Where the commands are typed."""

    folder: str = ""  # relative to the repository; of a reader at its root, that of the run
    enter: str = ""  # how a reader who is not there gets there
    document: str = ""  # the results, if they are not in .evals/results

    def command(self, words: str) -> str:
        """What is typed, from the root of the repository or here."""
        return f"{phrase(self.enter and shlex.quote(one_line(self.enter, 500)), 'cd {} && ')}runevals {words}"

    def of_run(self, settings: Mapping[str, object]) -> Where:
        """Where a run with these settings is repeated: in its folder, if nothing else is known."""
        folder = str(settings.get(FOLDER, ""))
        return self if self.folder else replace(self, folder=folder or ".", enter=folder)


def next_steps(conclusion: Conclusion, causes: Sequence[Causes], where: Where | None) -> tuple[Step, ...]:
    """How to see a case again, find the line that lost it, and accept the loss; None: nothing can be typed."""
    run = conclusion.report.run
    if where is None or run.shard is not None or run.made_by == "function":
        return ()
    where = where.of_run(run.settings)
    return tuple((what, where.command(words)) for what, words in _steps(conclusion, causes, where))


def _steps(conclusion: Conclusion, causes: Sequence[Causes], where: Where) -> Iterator[Step]:
    run, comparison = conclusion.report.run, conclusion.comparison
    commit, model, source, changes = (None, None, "", ()) if comparison is None else _of_base(comparison)
    # A model that a flag names would answer for the base, too.
    base = None if run.target.type == "recorded" or run.settings.get("model", model) != model else commit
    proven = to_accept(conclusion)
    cases = {  # of which a run alone shows something, and whose names can be typed, and say nothing else
        (case.suite, case.key): case
        for case in conclusion.report.cases
        if not any((run.of_tool, case.quarantined, case.file == "inline"))
        and all(map(_PLAIN.fullmatch, (case.key, case.file)))
    }
    case = next(filter(None, map(cases.get, _to_see(conclusion, causes, proven))), None)
    if case is not None and (len(conclusion.report.cases) > 1 or "filter" not in run.settings):
        beside = commit if source.startswith(FRESH) else base  # answers of the base lie in its own checkout
        former = {(each.suite, each.key): each.base for each in changes}.get((case.suite, case.key))
        moved_from = {former.file} - {case.file} if former else set[str]()
        files = [case.file, *moved_from.intersection(each.file for each in cases.values())]
        against = phrase(former and beside, " --base {:.12}")
        yield "see one", _run_alone(case, files, run.settings, where.folder, against)
    if comparison is None or not proven or conclusion.verdict.outcome == "passed" or run.stopped:
        return
    lines_known = conclusion.blame is not None and any(case.hunks for case in conclusion.blame.cases)
    document = where.document and f" {shlex.quote(where.document)}"
    failed = {(case.suite, case.key) for case in conclusion.report.cases if case.any_failed}
    worse = {each.key for each in comparison.cases(State.WORSE)}
    searched = {"regressed": proven, "worse": proven, "edited": proven & failed & worse}
    lost_here = any((one.suite, one.key) in searched.get(one.change, ()) for one in comparison.changes)
    if lost_here and base is not None and not lines_known and not run.of_tool:
        code = "" if {text.by_code for text in conclusion.prompt_changes} == {False} else " --code"
        options = _options(run.settings, RUN_SETTINGS, where.folder)
        yield "which line", f"blame{document}{code}{options}"
    is_unlike = conclusion.verdict.outcome == "unmeasured" and other_target(conclusion.report, comparison.base)
    if is_unlike or any(gate.counts_accepted for gate in conclusion.gates):
        return
    options = _options(run.settings, ("config",), where.folder)
    groups = [group for each in causes if each.kind == "lost" for group in each.groups]
    yield "wanted?", f'accept {_accepted(groups, proven)}{phrase(document, " --results{}")}{options} --reason "…"'


def _to_see(conclusion: Conclusion, causes: Sequence[Causes], proven: Set[Key]) -> Iterator[Key]:
    """The cases that are worth a look, the best first: lost, blocking, of the part that fell, failing."""
    examples = {
        each.kind: [(one.suite, one.key) for group in each.groups for row in group.rows for one in row.examples]
        for each in causes
        if each.kind not in ("better", conclusion.report.run.stopped and "unmeasured")
    }
    yield from examples.get("lost", ())
    yield from (key for case in conclusion.report.cases if (key := (case.suite, case.key)) in proven)
    if (comparison := conclusion.comparison) and (part := strongest(comparison.parts(State.WORSE))):
        failed = filter(None, (change.head for change in comparison.of_kind("regressed")))
        yield from ((case.suite, case.key) for case in failed if is_in(case, part))
    yield from chain(*examples.values())


def _of_base(comparison: Comparison) -> tuple[str | None, str | None, str, Sequence[Change]]:
    of_base = comparison.base.run
    commit = None if comparison.base_error else of_base.commit
    return commit, of_base.target.model, comparison.source, comparison.changes


def _accepted(lost: Sequence[CauseGroup], proven: Set[Key]) -> str:
    """The lost cases as `runevals accept` takes them: by key if they are few, by category, or all."""
    keys = sorted({key for _, key in proven})
    categories = [group.name for group in lost if group.label == "category"]
    by_category = len(categories) == len(lost) and sum(group.cases for group in lost) == len(proven)
    for flag, names, is_whole in (("", keys, len(keys) <= MOST_KEYS), ("--category ", categories, by_category)):
        if is_whole and all(map(_PLAIN.fullmatch, names)):
            return " ".join(f"{flag}{shlex.quote(name)}" for name in names)
    return "--all"


def again(case: CaseReport, settings: Mapping[str, object]) -> str | None:
    """The command that runs this case alone; None if it has no file."""
    if case.file in ("", "inline"):
        return None
    where = Where().of_run(settings)
    return where.command(_run_alone(case, [case.file], settings, where.folder))


def _run_alone(
    case: CaseReport, files: Iterable[str], settings: Mapping[str, object], folder: str, against: str = ""
) -> str:
    """The words that run this case alone: of its file, and of the one that it was in on the base."""
    paths = (os.path.relpath(one_line(file, 500), folder) for file in files)
    words = " ".join(shlex.quote(f"./{path}" if path.startswith("-") else path) for path in paths)
    pattern = glob.escape(one_line(case.key, 500)).replace(",", "?")  # a comma would separate two patterns
    words = f"{phrase(settings.get('evaluate_only'), '--evaluate-only ')}{words}{against}"
    return f"run {words} --filter={shlex.quote(pattern)}{_options(settings, RUN_SETTINGS, folder)}"


def _options(settings: Mapping[str, object], names: Sequence[str], folder: str) -> str:
    """These of the settings as flags, for a reader in `folder`."""
    values = {name: settings[name] for name in names if settings.get(name)}
    if "config" in values:
        values["config"] = os.path.relpath(str(values["config"]), folder)
    return "".join(f" --{name.replace('_', '-')}{_value(value)}" for name, value in values.items())


def _value(value: object) -> str:
    """What stands behind a flag; nothing if it has no value."""
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return "" if value is True else f"={shlex.quote(one_line(text, 500))}"
