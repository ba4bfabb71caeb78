"""`runevals.evaluate`: cases and a function of a Python program → rows, and a verdict."""

from __future__ import annotations

import html
import inspect
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from inspect import Parameter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from runevals.evaluators.catalogue import evaluator, known_within
from runevals.evaluators.kinds import Check, Evaluator, Subject
from runevals.lib.parsing.source import read_json
from runevals.lib.text.suggest import known_names
from runevals.models.http.throttle import Throttle
from runevals.records import LABELS, CaseReport, Conclusion, FinalVerdict, Message, Suite, Verdict
from runevals.records import Case as RunCase
from runevals.records.errors import InvalidSettings, InvalidSuite
from runevals.reports import console
from runevals.reports import html as page
from runevals.reports.publish import check_outputs, publish
from runevals.run import pipeline
from runevals.run.live import judges_of
from runevals.run.request import RunRequest
from runevals.sandbox.results import grade
from runevals.settings.resolve import RawSettings, Settings, resolve
from runevals.suites.dialects import LoadOptions, eval_document
from runevals.suites.dialects.columns import OURS, columns_of, fill, opening_of
from runevals.suites.dialects.parquet import for_json
from runevals.suites.dialects.rows import KEYS
from runevals.suites.fingerprint import case_fingerprints
from runevals.suites.load import LoadedSuites
from runevals.targets.function import FunctionTarget, name_of
from runevals.targets.program import Repeated
from runevals.verdict.score import of_five

_Function = Callable[..., Any]
OneCheck = _Function | type[Evaluator]
Checks = str | OneCheck | Sequence[str | OneCheck] | Mapping[str, Mapping[str, Any] | OneCheck]
_NAMES = {
    "input": "prompt", "expected": "expected_response", "id": "testId", "category": "category", "tags": "tags",
}  # fmt: skip
_OF_SUBJECT: Mapping[str, Callable[[Subject], Any]] = {  # what a check may ask for
    **dict.fromkeys(("answer", "output"), lambda subject: subject.response.text),
    **dict.fromkeys(("prompt", "input"), lambda subject: subject.prompt),
    "expected": lambda subject: subject.expected,
    "metadata": lambda subject: dict(subject.metadata),
}
_FIELDS = frozenset({  # of rows
    "case", "category", "attempt", "prompt", "expected", "answer", "passed", "score", "error", "latency_s",
    "cost_usd",
})  # fmt: skip
_OWN = "functions"  # the module of checks that are functions
_PAGE_HEIGHT = 640  # pixels in a notebook


class Case(Struct, frozen=True, omit_defaults=True):
    """One question. Without an `id`, its key is made of the prompt. `checks` are added to those of all cases."""

    prompt: str
    expected: str | None = None
    id: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    checks: Checks = ()


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
    columns: Mapping[str, str] | None = None,
    baseline: Evaluation | str | Path | None = None,
    repeat: int = 1,
    deterministic: bool = False,
    judge: str | None = None,
    concurrency: int = 16,
) -> Evaluation:
    """Asks `answer` each case, checks what it returns, and compares it with `baseline`.

    `answer(prompt)`, or `answer(prompt, messages, case)`, may be async; it returns text, or a mapping with
    `output`. `cases` are `Case`s, or mappings with the columns of any data set, such as `question` and `answer`;
    `columns` names others: `{"prompt": …, "expected": …, "id": …, "category": …}`.
    `checks` are evaluators by name, with options or without, classes with `@evaluator`, and functions of `answer`,
    `prompt`, `expected` and `metadata`, or of the answer alone, which return a bool or what a grader returns; by
    default PartialMatch with the expected text, and what a `judge` finds. `baseline`: an earlier one or its file.

    Raises InvalidSuite for cases and checks, InvalidSettings, and ExternalError if a service is missing.
    """
    if not callable(answer):
        raise InvalidSettings(f"`answer` must be a function that takes a prompt, not {type(answer).__name__}")
    with TemporaryDirectory(prefix="runevals-") as folder, known_within(_OWN):
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
            suites=LoadedSuites(suites=(_suite(cases, checks, columns or {}, settings, answer),)),
            target=lambda: Repeated(FunctionTarget(answer, deterministic=deterministic), Throttle()),
            tell=lambda _: None,
        )
        return Evaluation(pipeline.run(request))


def _document(baseline: Evaluation | str | Path | None, folder: Path) -> str:
    if not isinstance(baseline, Evaluation):
        return "none" if baseline is None else str(baseline)
    baseline.save(folder / "baseline.json")
    return str(folder / "baseline.json")


def _suite(
    cases: Iterable[Any], checks: Checks | None, columns: Mapping[str, str], settings: Settings, answer: _Function
) -> Suite:
    """The cases as an eval document. Raises InvalidSuite, or InvalidSettings."""
    entries = [*cases]
    if wrong := [case for case in entries if not isinstance(case, Case | Mapping)]:
        raise InvalidSettings(
            f"each case must be a Case or a mapping, not {type(wrong[0]).__name__}; of a file they are "
            "list(csv.DictReader(file)) or json.load(file), of a data frame frame.to_dict('records')"
        )
    rows = [_plain(asdict(case) if isinstance(case, Case) else case) for case in entries]
    for part, column in columns.items():
        if part not in OURS:
            raise InvalidSettings(f"columns: '{part}' is none of {', '.join(map(repr, OURS))}")
        if not any(column in row for row in rows):
            raise InvalidSettings(f"columns: no case has '{column}'{known_names(column, columns_of(rows))}")
    theirs: set[str] = set()
    for kind in (Case, Mapping):  # a `Case` says which is the prompt
        alike = [row for row, case in zip(rows, entries, strict=True) if isinstance(case, kind)]
        theirs.update(fill(alike, LoadOptions(columns=columns)).values())
    if rows and not any("input" in row for row in rows):
        which = f"the columns are {', '.join(map(str, columns_of(rows)))}"
        raise InvalidSettings(f"no case has a prompt; {which}: say it by columns={{'prompt': …, 'expected': …}}")
    document = {
        "schemaVersion": eval_document.CURRENT_VERSION,
        "default_evaluators": _evaluators(checks, rows, settings),
        "items": [_item(row) for row in rows],
    }
    try:
        text = json.dumps(document)
    except (TypeError, ValueError) as error:
        raise InvalidSettings(f"checks must be what JSON can hold: {error}") from None
    options = LoadOptions(definitions=settings.load.definitions, root=settings.repository)
    suite = eval_document.load(read_json(text, "cases"), options)
    if errors := [error for error in suite.errors if error.rule != "no-expected"]:  # such checks are skipped
        raise InvalidSuite(errors)
    own = [one for _, one in _several(checks or ())]
    reads = any(map(_reads_columns, filter(callable, (answer, *own))))
    ignored = LABELS if reads else {*columns_of(rows)} - {"messages"}
    pairs = zip(suite.cases, rows, strict=True)
    return replace(suite, problems=(), cases=[_with_columns(*pair, theirs, ignored) for pair in pairs])


def _reads_columns(function: _Function) -> bool:
    """Whether it may be given what a row has beside its prompt and expected text."""
    kinds = {name: one.kind for name, one in _parameters(function).items()}
    asks = {"case", "metadata"} & kinds.keys()
    return bool(asks) or len(kinds) > 2 or Parameter.VAR_POSITIONAL in kinds.values()


def _parameters(function: _Function) -> Mapping[str, Parameter]:
    try:
        return inspect.signature(function).parameters
    except ValueError:  # of some that are built in
        return {}


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as a file would have it; NaN is an empty cell. Raises InvalidSettings."""
    cells = {}
    for name, value in row.items():
        try:
            text = None if name == "checks" else json.dumps(value, default=for_json)
        except (TypeError, ValueError) as error:
            raise InvalidSettings(f"cases must be what JSON can hold: {name!r}: {error}") from None
        cells[str(name)] = value if text is None else json.loads(text, parse_constant=lambda _: None)
    return cells


def _item(row: Mapping[str, Any]) -> dict[str, Any]:
    item = {theirs: row[ours] for ours, theirs in _NAMES.items() if row.get(ours)}
    return {"prompt": "", **item, **({"evaluators": _by_name(row["checks"])} if row.get("checks") else {})}


def _with_columns(
    case: RunCase, row: Mapping[str, Any], theirs: Collection[str], ignored: Collection[str]
) -> RunCase:
    """The case with the other columns of its row, as those of a file have them; of some no change counts."""
    known = {*KEYS, "checks", "prompt", *theirs}
    others = {name: row[name] for name in row if name not in known and row[name] is not None}
    opening = tuple(Message(role=one["role"], content=one["content"]) for one in opening_of(row))
    fingerprints = case_fingerprints(case.turns, others, ignored)
    return replace(case, metadata=others, opening=opening, critical=bool(row.get("critical")), **fingerprints)


def _evaluators(checks: Checks | None, rows: Sequence[Mapping[str, Any]], settings: Settings) -> Mapping[str, Any]:
    if checks is not None:
        return _by_name(checks)
    judged = eval_document.SYSTEM_DEFAULTS if judges_of(settings) else {}
    compared = eval_document.WITHOUT_A_JUDGE if any(row.get("expected") is not None for row in rows) else {}
    return {**compared, **judged}


def _by_name(checks: Checks) -> Mapping[str, Any]:
    """The options of each check by its name, which is that of the catalogue. Raises InvalidSettings."""
    pairs = [(_known(name, one), one) for name, one in _several(checks)]
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InvalidSettings(f"two checks are called {twice[0]!r}: checks={{'NAME': FUNCTION, …}} names them")
    return {name: one if isinstance(one, Mapping) else {} for name, one in pairs}


def _several(checks: Any) -> Iterator[tuple[Any, Any]]:
    """(name, check) of each: of one alone, of names with their options or functions, and of a list of these."""
    if isinstance(checks, Mapping):
        yield from checks.items()
    elif isinstance(checks, str) or callable(checks) or not isinstance(checks, Iterable):
        yield getattr(checks, "__name__", checks), checks
    else:
        for one in checks:
            yield from _several(one)


def _known(name: Any, check: Any) -> str:
    """The name of a check; a function is in the catalogue. Raises InvalidSettings."""
    if isinstance(check, type) and issubclass(check, Evaluator):
        return check.name
    if callable(check):
        _register(name, check)
    if str(name) in _FIELDS:
        raise InvalidSettings(f"a check cannot be called {name!r}, as a column of `rows` is")
    if not isinstance(check, str | Mapping) and not callable(check):
        which = "a name, a function, or a class with @evaluator above it"
        raise InvalidSettings(f"each check must be {which}, not {type(check).__name__}")
    return str(name)


def _register(name: str, function: _Function) -> None:
    parameters = _parameters(function)
    required = [name for name, one in parameters.items() if one.default is one.empty]
    unknown = [name for name in required if name not in _OF_SUBJECT]
    if unknown and len(required) > 1:
        which = f"the answer alone, or some of {', '.join(map(repr, _OF_SUBJECT))}"
        raise InvalidSettings(f"{name}: a check takes {which}; not '{unknown[0]}'")
    names = [] if unknown else [name for name in parameters if name in _OF_SUBJECT]

    class OwnCheck(Check):
        """A function of the program; what it returns is read as what a grader returns."""

        needs_expected = "expected" in required  # then a case without is skipped

        def check(self, subject: Subject) -> Verdict:
            values = {name: _OF_SUBJECT[name](subject) for name in names}
            value = function(**values) if names else function(subject.response.text)
            value = value.tolist() if hasattr(value, "tolist") else value  # of numpy
            answer = grade(dict(value) if isinstance(value, Mapping) else {"passed": value})
            if isinstance(answer, str):
                raise TypeError(f"{answer}; a check returns a bool, or {{'passed': …, 'score': …}}")
            score = float(bool(answer.passed)) if answer.score is None else answer.score
            return Verdict(score, answer.reason, answer.details, passed=answer.passed)

    OwnCheck.__module__ = _OWN
    try:
        evaluator(name)(OwnCheck)
    except ValueError as error:
        raise InvalidSettings(str(error)) from None


def _rows(case: CaseReport) -> Iterable[dict[str, Any]]:
    for attempt in case.attempts:
        for turn in attempt.turns:
            errors = filter(None, (turn.error, *(result.error for result in turn.results)))
            yield {
                "case": case.key,
                "category": case.category,
                "attempt": attempt.attempt,
                "prompt": turn.prompt,
                "expected": turn.expected,
                "answer": turn.output,
                "passed": {"passed": True, "failed": False}.get(attempt.status.value),
                "score": of_five(attempt.value),
                "error": next((error.message for error in errors), None),
                "latency_s": turn.latency_s,
                "cost_usd": turn.cost_usd,
                **{result.id: result.score for result in turn.results},
                **{f"{result.id} reason": result.reason for result in turn.results},
            }
