"""The pytest plugin: cases of suites as tests, and a fixture to record answers for `runevals compare`.

Loaded whenever pytest starts: what it needs of runevals is imported when it is used.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from runevals.records import CaseReport

SUITES = "evals_suites"  # the setting of pytest that names suites
RECORDS = "runevals_records"  # the field of a pytest report that brings records from a worker
FIXTURE = "evals"
MOST = 1e12  # seconds, dollars or tokens of an answer


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--evals-output` and `evals_suites`."""
    text = "Write the answers that tests recorded with the fixture `evals` as a results document of runevals."
    parser.getgroup("runevals").addoption("--evals-output", metavar="FILE", help=text)
    parser.addini(SUITES, "Suites of runevals whose cases are collected as tests: paths or patterns.", type="args")


def pytest_configure(config: pytest.Config) -> None:
    """Prepares for records, in the process that writes them: those of an earlier session are not this one's.

    Suites outside of `testpaths` are collected too: they would be missing in a passing run.
    """
    if config.option.help or config.option.markers:
        return
    config.stash[_SUITES] = suites = _suites_of(config)
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        tested = [config.rootpath / name for name in config.args]
        config.args += [str(path) for path in sorted(suites) if not any(map(path.is_relative_to, tested))]
    output = config.getoption("--evals-output")
    if output and not hasattr(config, "workerinput") and not config.option.collectonly:
        from runevals.run.recorded_tests import remove_records

        try:
            remove_records(Path(output))
        except OSError as error:
            raise pytest.UsageError(f"--evals-output: {output}: {error.strerror}") from None
        config.pluginmanager.register(_Writer(config), "runevals-writer")


def _suites_of(config: pytest.Config) -> Collection[Path]:
    """The files of `evals_suites`, also in deeper folders, without those that pytest does not enter.

    Refuses a pattern without a file, and one whose files are all in such folders: named one by one, they are
    collected beside `testpaths`.
    """
    root = config.rootpath
    suites: set[Path] = set()
    folders = list(_folders_entered(config)) if config.getini(SUITES) else []
    for pattern in config.getini(SUITES):
        relative = not Path(pattern).is_absolute()
        named = {*root.glob(pattern)} if relative else set()
        below = folders if relative and not pattern.startswith("**") else ()
        matching = named | {path for folder in below for path in folder.glob(pattern)}
        files = {path for path in matching if path.is_file()}
        if not files:
            of_folder = f"{pattern!r} is a folder; name its files"
            why = of_folder if matching else f"no file in {root} matches {pattern!r}"
            raise pytest.UsageError(f"{SUITES}: {why}")
        entered = {path for path in files if _folder_not_entered(path, config) is None}
        by_name = set() if config.args_source is pytest.Config.ArgsSource.INVOCATION_DIR else files & named
        if not entered and not by_name:
            path = min(files)
            place = f"{path.relative_to(root)} is in {_folder_not_entered(path, config)}"
            raise pytest.UsageError(f"{SUITES}: {place}, which pytest does not enter (norecursedirs)")
        suites |= entered or by_name
    return suites


def _folders_entered(config: pytest.Config) -> Iterator[Path]:
    """The root and the folders below it that pytest enters: a checkout may have large others."""
    patterns = config.getini("norecursedirs")
    for folder, below, _ in os.walk(config.rootpath):
        below[:] = [name for name in below if not any(fnmatch(name, pattern) for pattern in patterns)]
        yield Path(folder)


def _folder_not_entered(path: Path, config: pytest.Config) -> str | None:
    folders = path.relative_to(config.rootpath).parent.parts
    patterns = config.getini("norecursedirs")
    return next((folder for folder in folders if any(fnmatch(folder, one) for one in patterns)), None)


class Evals:
    """What a test records; its outcome is that of the test."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.outcome, self.reason = "passed", ""  # of the phases before teardown
        self.handed_over = False  # something of this run of the test, to a report

    def started(self) -> None:
        """The test runs, again maybe."""
        self.outcome, self.reason, self.handed_over = "passed", "", False

    def taken(self, outcome: str) -> list[dict[str, Any]]:
        """What was recorded since the last time: a test that is run again must not bring its old answers again."""
        taken = [{**record, "outcome": outcome} for record in self.records]
        self.records.clear()
        self.handed_over |= bool(taken)
        return taken

    def record(  # noqa: PLR0913 - what may be known of an answer
        self,
        key: str,
        output: str,
        *,
        prompt: str = "",
        tool_calls: Sequence[Mapping[str, object]] = (),
        latency_s: float | None = None,
        cost_usd: float | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
    ) -> None:
        """One answer of the case `key`; again with the same key, another attempt at it.

        `tool_calls` have a `name`, and may have `input` and `output`. Raises TypeError, ValueError for what no
        report can hold: an output that is not text, a number below 0 or not finite, also in a tool call.
        """
        for name, text in (("key", key), ("output", output), ("prompt", prompt)):
            if not isinstance(text, str):
                raise TypeError(f"{name} must be text, not {type(text).__name__}")
        amounts = {"latency_s": latency_s, "cost_usd": cost_usd}
        counts = {"input_tokens": input_tokens, "output_tokens": output_tokens}
        numbers = {name: number for name, number in {**amounts, **counts}.items() if number is not None}
        for name, number in numbers.items():
            if isinstance(number, bool) or not isinstance(number, int if name in counts else int | float):
                raise TypeError(f"{name} must be a {'whole ' * (name in counts)}number, not {number!r}")
            if not 0 <= number <= MOST:
                raise ValueError(f"{name} must be from 0 to {MOST:g}, not {number!r}")
        calls = [dict(call) for call in tool_calls]
        record = {"key": key, "output": output, "prompt": prompt, "tool_calls": calls, **numbers}
        self.records.append(json.loads(json.dumps(record, default=str, allow_nan=False)))


_EVALS = pytest.StashKey[Evals]()
_SUITES = pytest.StashKey[Collection[Path]]()


@pytest.fixture
def evals(request: pytest.FixtureRequest) -> Evals:
    """Records answers: `evals.record("refund", answer)`. `--evals-output FILE` writes them."""
    recorded: Evals = request.node.stash.setdefault(_EVALS, Evals())
    return recorded


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Hands the records of a test over with its report: a worker's reports are sent to the main process.

    A test that fails before it has recorded anything is a case without an answer, not one that is gone.
    """
    result = yield
    report = result.get_result()  # type: ignore[attr-defined]
    uses_it = FIXTURE in getattr(item, "fixturenames", ()) or _EVALS in item.stash  # by its name, or on demand
    if not item.config.getoption("--evals-output") or not uses_it:
        return
    recorded = item.stash.setdefault(_EVALS, Evals())
    if call.when == "setup":
        recorded.started()
    outcome = "failed" if report.skipped and hasattr(report, "wasxfail") else report.outcome
    if call.when != "teardown" and outcome != "passed":
        recorded.outcome, recorded.reason = outcome, _reason(report)
    records = []
    if call.when != "setup":  # what a fixture records belongs to the test
        records = recorded.taken(outcome if call.when == "call" else recorded.outcome)
    if call.when == "teardown" and recorded.outcome == "failed" and not recorded.handed_over:
        nothing = {"key": item.nodeid, "output": "", "prompt": "", "tool_calls": [], "error": True}
        records = [{**nothing, "outcome": "failed", "reason": recorded.reason}]
    if records:  # as ASCII: half of an emoji cannot be sent by a worker
        setattr(report, RECORDS, json.dumps(records))


class _Writer:
    """Collects the records of all tests, and writes them at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._path = Path(config.getoption("--evals-output"))
        self._rows: list[dict[str, Any]] = []
        self._stopped = ""
        self._again: set[str] = set()  # the tests that are run again

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        suite = report.nodeid.partition("::")[0]
        if report.when == "teardown" and report.failed:
            for row in self._rows:
                if row["test"] == report.nodeid and row["passed"]:
                    row.update(passed=False, reason=_reason(report))
        if report.when not in ("setup", "call", "teardown"):
            self._stopped = f"a worker of pytest crashed in {report.nodeid}"
        if report.when == "setup":
            self._again.discard(report.nodeid)
        if str(report.outcome) == "rerun":  # of pytest-rerunfailures
            self._again.add(report.nodeid)
        for record in json.loads(getattr(report, RECORDS, "[]")):
            if record.get("error") and report.nodeid in self._again:
                continue
            outcome = record.pop("outcome")
            passed = report.passed and outcome == "passed"
            error = record.get("error") or outcome == "skipped"
            reason = record.get("reason") or ("" if passed else _reason(report))
            row = {
                **record,
                "suite": suite,
                "test": report.nodeid,
                "passed": passed,
                "reason": reason,
                "error": error,
            }
            self._rows.append(row)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._rows:
            from runevals.records.errors import RunevalsError
            from runevals.run.recorded_tests import write_records

            stopped = str(session.shouldfail or session.shouldstop or "")
            try:
                write_records(self._rows, self._path, stopped="pytest ended early" if stopped else self._stopped)
            except RunevalsError as error:
                pytest.exit(f"--evals-output: {error}", returncode=error.exit_code)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._stopped = f"pytest cannot collect {report.nodeid}"

    def pytest_internalerror(self) -> None:
        self._stopped = "pytest ended with an internal error"

    def pytest_keyboard_interrupt(self) -> None:
        self._stopped = "pytest was interrupted"


def _reason(report: pytest.TestReport) -> str:
    """The line of the assertion or error; of what has none, such as a broken fixture, the end of pytest's text."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])  # of a skip: file, line and what was said
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None or not crash.message:
        return report.longreprtext[-2000:]
    return f"{crash.message.splitlines()[0][:1000]} ({Path(crash.path).name}:{crash.lineno})"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> EvalSuite | None:
    """A suite that `evals_suites` names."""
    if file_path not in parent.config.stash[_SUITES]:
        return None
    suite: EvalSuite = EvalSuite.from_parent(parent, path=file_path)
    return suite


class EvalSuite(pytest.File):
    """A suite file, whose cases are tests."""

    def collect(self) -> Iterator[EvalCase]:
        from runevals import load_suites
        from runevals.lib.terminal import terminal_text
        from runevals.lib.text.escape import one_line
        from runevals.records.errors import RunevalsError

        try:
            suites = load_suites(self.path, cwd=self.config.rootpath).suites
        except RunevalsError as error:
            raise self.CollectError(terminal_text(str(error))) from error
        for suite in suites:
            for case in suite.cases:
                yield EvalCase.from_parent(self, name=terminal_text(one_line(case.key)), key=case.key)


class CaseNotPassed(Exception):
    """The case ran, and did not pass."""


class EvalCase(pytest.Item):
    """One case, run as `runevals --filter KEY` runs it, without a base."""

    def __init__(self, *, key: str, **others: Any) -> None:
        super().__init__(**others)
        self.key = key  # the name is what a log can show of it

    def runtest(self) -> None:
        import glob

        from runevals import RunRequest, run_suites

        pattern = glob.escape(self.key).replace(",", "?")
        request = RunRequest.of(
            self.path, cwd=self.config.rootpath, filter=[pattern], baseline="none", against="none"
        )
        cases = [case for case in run_suites(request).report.cases if case.key == self.key]
        for case in cases:
            if case.status != "passed":
                raise CaseNotPassed("\n".join(_reasons(case)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What failed, without the traceback of the plugin, as a log may show it."""
        from runevals.lib.terminal import terminal_text
        from runevals.records.errors import RunevalsError

        if isinstance(excinfo.value, CaseNotPassed | RunevalsError):
            return terminal_text(str(excinfo.value))
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """For the summary and for editors."""
        return self.path, None, self.name


def _reasons(case: CaseReport) -> Iterator[str]:
    passed = sum(attempt.status == "passed" for attempt in case.attempts)
    yield f"{case.key}: {case.status}, {passed} of {len(case.attempts)} attempts passed"
    for attempt in case.attempts:
        for turn in attempt.turns:
            if turn.error is not None:
                yield f"  {turn.error.code}: {turn.error.message}"
            yield from (
                f"  {one.id}: {one.reason}" for one in turn.results if one.outcome in ("failed", "errored")
            )
            if attempt.status != "passed":
                yield f"  answer: {turn.output}"
