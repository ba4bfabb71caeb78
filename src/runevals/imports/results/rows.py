"""Plain rows of any tool, as JSON Lines, JSON or CSV, with the usual names of columns or those of `--columns`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from runevals.imports.results.field_map import ENDS, MEASURED, PASSES, CheckMap, FieldMap, Limit, Paths, Words
from runevals.imports.results.fields import Json
from runevals.imports.results.opened import OpenedResults
from runevals.imports.results.records import ImportedRun
from runevals.lib.text.numbers import phrase
from runevals.lib.text.suggest import did_you_mean, known_names
from runevals.records import Outcome
from runevals.records.errors import InvalidDocument, InvalidSettings
from runevals.records.rules import AS_IT_SAYS, Reading

NAME, LANGSMITH = "rows", "langsmith"
FEEDBACK = "feedback."  # what LangSmith's columns with scores begin with
_USUAL: Mapping[str, tuple[str, ...]] = {
    "id": (
        "datasource_item_id",  # an output item of OpenAI Evals has an `id` of its run, too
        *("id", "case_id", "case", "test_id", "example_id", "sample_id", "task_id", "key", "name"),
    ),
    "suite": ("suite", "dataset", "benchmark"),
    "category": ("category",),
    "run": ("run", "trial", "attempt", "epoch", "repeat", "repetition", "iteration"),
    "status": ("status", "state", "outcome"),
    "error": ("error", "error_message"),
    "passed": ("passed", "pass", "success", "correct"),
    "score": ("score",),
    "prompt": ("input", "prompt", "question"),
    "expected": ("expected", "expected_output", "reference"),
    "output": ("output", "answer", "response"),
    "model": ("model",),
    "latency_s": ("latency_s", "duration_s", "execution_time"),
    "cost_usd": ("cost_usd", "cost"),
}
_LANGSMITH = {"prompt": "inputs.", "output": "outputs.", "expected": "reference."}  # how these columns begin
_CHOICE = re.compile(r"(?P<ours>[a-z_]+)=(?P<theirs>.+?)(?:\s*(?P<side>[<>]=?)\s*(?P<limit>\d+(?:\.\d+)?))?")
_LIMITS = {"score": ("<=", ">=")}
_ROWS = "rows are a list or lines of objects; runevals gate FILE --columns … -o FILE.json reads a side alone"
_FLAGS = {
    **dict.fromkeys(("true", "yes", "pass", "passed"), True),
    **dict.fromkeys(("false", "no", "fail", "failed"), False),
}
_COMMA = "; a column with a comma in its name is named in runevals.yaml, columns: [score=NAME]"
_NUMBERS = {"passed", "latency_s", "cost_usd"}
_NAMES = {"suite", "category", "run", "model"}


class Columns(Struct, frozen=True, kw_only=True):
    """Which column is what, and from or up to which value each score passes."""

    paths: Paths
    scores: Mapping[str, Limit | None]

    @classmethod
    def chosen(cls, choices: Sequence[str]) -> Columns:
        """What `--columns` says. Raises InvalidSettings."""
        paths, scores = {}, {}
        for choice in choices:
            match = _CHOICE.fullmatch(choice.strip())
            if (
                match is None
                or match["ours"] not in _USUAL
                or match["side"] not in (None, *_LIMITS.get(match["ours"], ()))
            ):
                known = did_you_mean(choice.partition("=")[0], _USUAL)
                raise InvalidSettings(
                    f"columns: {choice!r} is not OURS=THEIRS, such as id=case or 'score=wer<=0.2'; OURS is one of "
                    f"{', '.join(_USUAL)}{known}{phrase('=' not in choice, _COMMA)}"
                )
            if match["ours"] == "score":
                limit = None if match["limit"] is None else Limit(float(match["limit"]), match["side"] == "<=")
                scores[match["theirs"].strip()] = limit
            else:
                paths[match["ours"]] = match["theirs"].strip()
        return cls(paths=paths, scores=scores)

    def missing_in(self, file: OpenedResults) -> list[str]:
        """The chosen ones that no row has, be it as a path such as `scores.f1`."""
        others = {*self.paths.values(), *self.scores}.difference(names_in(file))
        return sorted(name for name in others if all(row.at(name).value is None for row in _rows(file)))

    def within(self, names: Sequence[str]) -> Columns:
        """These, with the usual names for what they leave out."""
        feedback = {name: None for name in names if name.startswith(FEEDBACK)}
        usual = {ours: [one for one in theirs if one in names] for ours, theirs in _USUAL.items()}
        if feedback:
            usual["id"] = [name for name in ("example_id",) if name in names] + usual["id"]
            usual |= {
                ours: [name for name in names if name.startswith(start)] for ours, start in _LANGSMITH.items()
            }
        first = {ours: theirs[0] for ours, theirs in usual.items() if theirs and ours != "score"}
        return Columns(
            paths={**first, **self.paths}, scores=self.scores or feedback or dict.fromkeys(usual["score"])
        )


def recognises(file: OpenedResults) -> bool:
    """Rows with an id, and a score, whether it passed or a status that says so, by the usual names."""
    rows = _rows(file)
    known = Columns(paths={}, scores={}).within(names_in(file))
    states = (str(row[known.paths.get("status", "")].value).lower() for row in rows)
    says = known.scores or "passed" in known.paths or not {*ENDS, *PASSES}.isdisjoint(states)  # others are errors
    return bool(rows) and "id" in known.paths and bool(says)


def read(file: OpenedResults, reading: Reading = AS_IT_SAYS) -> ImportedRun:
    """The rows. Raises InvalidDocument with the place, InvalidSettings for columns that no file can have."""
    rows, chosen = _rows(file), Columns.chosen(reading.columns)
    if not rows:
        raise InvalidDocument(f"{file.display_path} has no rows: objects in JSON Lines or a list, or lines of CSV")
    names = names_in(file)
    columns = chosen.within(names)
    for name in chosen.missing_in(file):
        raise InvalidDocument(f"{file.display_path} has no column {name!r}{known_names(name, names)}; {_ROWS}")
    if "id" not in columns.paths:
        raise InvalidDocument(f"{file.display_path}: no column is the id of a case; name one: --columns id=COLUMN")
    ends = {"passed", "status"} & columns.paths.keys()
    if not {*ends, *columns.scores}:
        raise InvalidDocument(f"{file.display_path}: no column says how a case ended: --columns score=COLUMN does")
    has_numbers = {
        name: limit
        for name, limit in columns.scores.items()
        if any(isinstance(_measure(row[name].value), int | float) for row in rows)
    }
    scores = chosen.scores or has_numbers or dict.fromkeys(() if ends else columns.scores)  # a text is an error
    numbers = [*scores, *(columns.paths[name] for name in _NUMBERS & columns.paths.keys())]
    words = [chosen.paths[name] for name in _NAMES & chosen.paths.keys()]
    tool = LANGSMITH if any(name.startswith(FEEDBACK) for name in names) else NAME
    typed = tuple(_typed(row, numbers, words, columns.paths.get("passed", "")) for row in rows)
    run = _map(columns.paths, scores, tool).read(
        OpenedResults(path=file.path, display_path=file.display_path, rows=typed)
    )
    turns = (attempt.turn for case in run.cases for attempt in case.attempts)
    if run.notices and (
        chosen.scores or not any(turn.error or any(one.outcome.measured for one in turn.results) for turn in turns)
    ):
        raise InvalidDocument(f"{file.display_path}: {'; '.join(run.notices)}")
    notices = [*run.notices]
    notices += [
        f"more of {name!r} is taken as better; if less is: --columns 'score={name}<=LIMIT'"
        for name, limit in chosen.scores.items()
        if limit is None
    ]
    notices += [f"{file.display_path} ends without a line break: is it the whole file?"] if file.is_cut else []
    return replace(run, notices=tuple(notices))


def _map(paths: Paths, scores: Mapping[str, Limit | None], name: str) -> FieldMap:
    judged = bool(scores) or "passed" in paths
    first = dict.fromkeys(("passed", "failed", "error", "skipped"))
    ends = {**first, **ENDS, **dict.fromkeys(PASSES, MEASURED if judged else Outcome.PASSED)}
    return FieldMap(
        NAME=name,
        marks=(),
        lines=True,
        case={**paths, "key": paths["id"]},
        number=paths.get("run", ""),
        end=Words(paths.get("status", ""), ends),
        passed=paths.get("passed", ""),
        alone="passed",
        follows_prompts=True,
        error=paths.get("error", ""),
        errors_decide=True,
        ungraded="the row has no score",
        turn=paths,
        checks=tuple(
            CheckMap(
                at=".",
                label=column.removeprefix(FEEDBACK),
                score=column,
                limit=limit or Limit(),
                scale="share" if limit is None else "limit",
            )
            for column, limit in scores.items()
        ),
        how_to_scale="; say what passes: --columns 'score=COLUMN>=LIMIT', or <= if lower is better",
    )


def _rows(file: OpenedResults) -> tuple[Json, ...]:
    rows = file.rows
    if rows is None and file.document is not None:
        rows = tuple(file.document.entries) if isinstance(file.document.value, list) else (file.document,)
    return rows if rows and all(isinstance(row.value, dict) for row in rows) else ()


def names_in(file: OpenedResults) -> list[str]:
    """The columns of a file, in their order."""
    return list(dict.fromkeys(name for row in _rows(file) for name in row.fields))


def _measure(value: object) -> object:
    """A number or a flag, also as the text of a cell; an empty one is null."""
    if not isinstance(value, str):
        return value
    text = value.strip().lower()
    if text in ("", "nan", "null", "none"):
        return None
    try:
        return _FLAGS[text] if text in _FLAGS else float(text)
    except ValueError:
        return value


def _typed(row: Json, columns: Sequence[str], words: Sequence[str], flag: str) -> Json:
    """The row with numbers, and words, in these columns, and a flag that may be 0 or 1. Raises InvalidDocument."""
    measures = {name: _measure(row.at(name).value) for name in columns}
    flags = {name: bool(value) for name, value in measures.items() if name == flag and value in (0, 1)}
    texts = {name: row.at(name).text for name in words if row.at(name).value not in (None, "")}
    return Json({**row.fields, **measures, **flags, **texts}, row.file, row.pointer)
