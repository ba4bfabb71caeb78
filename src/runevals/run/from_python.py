"""`runevals.evaluate`: cases and a function of a Python program → rows, and a verdict."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from runevals.lib.parsing.source import read_json
from runevals.models.http.throttle import Throttle
from runevals.records import CaseReport, Conclusion, FinalVerdict, Suite
from runevals.records.errors import InvalidSettings, InvalidSuite
from runevals.reports import console
from runevals.reports import html as page
from runevals.reports.publish import check_outputs, publish
from runevals.run import pipeline
from runevals.run.live import judges_of
from runevals.run.request import RunRequest
from runevals.settings.resolve import RawSettings, Settings, resolve
from runevals.suites.dialects import LoadOptions, eval_document
from runevals.suites.dialects.columns import fill
from runevals.suites.load import LoadedSuites
from runevals.targets.function import FunctionTarget, name_of
from runevals.targets.program import Repeated

Checks = Sequence[str] | Mapping[str, Mapping[str, Any]]
_LABELS = {"id": "testId", "category": "category", "tags": "tags"}
_PAGE_HEIGHT = 640  # pixels in a notebook


class Case(Struct, frozen=True, omit_defaults=True):
    """One question. Without an `id`, its key is made of the prompt. `checks` are added to those of all cases."""

    prompt: str
    expected: str | None = None
    id: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    checks: Mapping[str, Mapping[str, Any]] = {}


class Evaluation(Struct, frozen=True):
    """What `evaluate` found."""

    conclusion: Conclusion

    @property
    def verdict(self) -> FinalVerdict:
        """The outcome, its sentence, and the exit code that a run would have."""
        return self.conclusion.verdict

    @property
    def passed(self) -> bool:
        """Whether no gate failed and everything was measured."""
        return self.verdict.exit_code == 0

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One for each answer: case, attempt, prompt, expected, answer, passed, score, the score of each check, …

        They make a table: `pandas.DataFrame(evaluation.rows)`.
        """
        return [row for case in self.conclusion.report.cases for row in _rows(case)]

    def save(self, path: str | Path) -> None:
        """Writes a report in the format of the suffix; `.json` is a later `baseline`. Raises CannotWrite."""
        check_outputs([Path(path)])
        publish(self.conclusion, [Path(path)])

    def __str__(self) -> str:
        return console.render(self.conclusion).rstrip()

    def __repr__(self) -> str:
        return f"<Evaluation: {self.verdict.headline}>"

    def _repr_html_(self) -> str:
        """The page of a report, in a frame, for notebooks."""
        style = f"width:100%;height:{_PAGE_HEIGHT}px;border:1px solid #8884"
        return f'<iframe style="{style}" srcdoc="{html.escape(page.render(self.conclusion))}"></iframe>'


def evaluate(  # noqa: PLR0913 - what an evaluation consists of
    cases: Iterable[Case | Mapping[str, Any]],
    answer: Callable[..., Any],
    *,
    checks: Checks | None = None,
    baseline: Evaluation | str | Path | None = None,
    repeat: int = 1,
    deterministic: bool = False,
    judge: str | None = None,
    concurrency: int = 16,
) -> Evaluation:
    """Asks `answer` each case, checks what it returns, and compares it with `baseline`.

    `answer(prompt)`, or `answer(prompt, messages, case)`, may be async; it returns text, or a mapping with
    `output`. `cases` are `Case`s, or mappings with the columns of any data set, such as `question` and `answer`.
    `checks` are names of evaluators, or their options by name; by default PartialMatch with the expected text, and
    what a `judge` finds. `baseline` is an earlier evaluation, or the results document of one.

    Raises InvalidSuite for cases and checks, InvalidSettings, and ExternalError if a service is missing.
    """
    if not callable(answer):
        raise InvalidSettings(f"`answer` must be a function that takes a prompt, not {type(answer).__name__}")
    with TemporaryDirectory(prefix="runevals-") as folder:
        flags = {
            "target": f"python:{name_of(answer)}",
            "model": None,
            "judge": judge,
            "repeat": repeat,
            "concurrency": concurrency,
            "verify": "off",  # the function of the base is not here
            "against": "none",
            "baseline": _document(baseline, Path(folder)),
        }
        settings = resolve(RawSettings(flags=flags))
        assert settings.target is not None  # noqa: S101 - it was named
        settings = replace(settings, target=replace(settings.target, deterministic=deterministic))
        request = RunRequest(
            settings=settings,
            suites=LoadedSuites(suites=(_suite(cases, checks, settings),)),
            target=lambda: Repeated(FunctionTarget(answer, deterministic=deterministic), Throttle()),
            tell=lambda _: None,
        )
        return Evaluation(pipeline.run(request))


def _document(baseline: Evaluation | str | Path | None, folder: Path) -> str:
    if not isinstance(baseline, Evaluation):
        return "none" if baseline is None else str(baseline)
    baseline.save(folder / "baseline.json")
    return str(folder / "baseline.json")


def _suite(cases: Iterable[Case | Mapping[str, Any]], checks: Checks | None, settings: Settings) -> Suite:
    """The cases as an eval document. Raises InvalidSuite."""
    rows = [to_builtins(case) if isinstance(case, Case) else case for case in cases]
    if wrong := [row for row in rows if not isinstance(row, Mapping)]:
        raise InvalidSettings(
            f"each case must be a Case or a mapping, not {type(wrong[0]).__name__}; of a file they are "
            "list(csv.DictReader(file)) or json.load(file), of a data frame frame.to_dict('records')"
        )
    rows = [dict(row) for row in rows]
    fill(rows, LoadOptions())
    document = {
        "schemaVersion": eval_document.CURRENT_VERSION,
        "default_evaluators": _evaluators(checks, rows, settings),
        "items": [_item(row) for row in rows],
    }
    try:
        text = json.dumps(document)
    except (TypeError, ValueError) as error:
        raise InvalidSettings(f"cases and checks must be what JSON can hold: {error}") from None
    options = LoadOptions(definitions=settings.load.definitions, root=settings.repository)
    suite = eval_document.load(read_json(text, "cases"), options)
    if suite.errors:
        raise InvalidSuite(suite.errors)
    return suite


def _item(row: Mapping[str, Any]) -> dict[str, Any]:
    labels = {theirs: row[ours] for ours, theirs in _LABELS.items() if row.get(ours)}
    return {
        "prompt": row.get("input", ""),
        **({} if row.get("expected") is None else {"expected_response": row["expected"]}),
        **labels,
        **({"evaluators": _by_name(row["checks"])} if row.get("checks") else {}),
    }


def _evaluators(checks: Checks | None, rows: Sequence[Mapping[str, Any]], settings: Settings) -> Mapping[str, Any]:
    if checks is not None:
        return _by_name(checks)
    judged = eval_document.SYSTEM_DEFAULTS if judges_of(settings) else {}
    compared = eval_document.WITHOUT_A_JUDGE if any(row.get("expected") is not None for row in rows) else {}
    return {**compared, **judged}


def _by_name(checks: Checks) -> Mapping[str, Any]:
    return checks if isinstance(checks, Mapping) else {name: {} for name in checks}


def _rows(case: CaseReport) -> Iterable[dict[str, Any]]:
    for attempt in case.attempts:
        for turn in attempt.turns:
            yield {
                "case": case.key,
                "category": case.category,
                "attempt": attempt.attempt,
                "prompt": turn.prompt,
                "expected": turn.expected,
                "answer": turn.output,
                "passed": {"passed": True, "failed": False}.get(attempt.status.value),
                "score": attempt.composite,
                "error": None if turn.error is None else turn.error.message,
                "latency_s": turn.latency_s,
                "cost_usd": turn.cost_usd,
                **{result.id: result.score for result in turn.results},
                **{f"{result.id} reason": result.reason for result in turn.results},
            }
