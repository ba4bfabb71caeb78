"""The rows of `tests/seeds`: read, written as suites and settings, and printed as a page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]
FOLDER = Path(__file__).parent
SEEDS = {
    "002": "Eval samples of omk (000 is the same text in Chinese)",
    "001": "Eval documents of Microsoft's runevals",
    "003": "Skill cases with replay, regression and redteam",
    "004": "Rows and evaluators of one's own",
}
HEAD = """# The original documents, statement by statement

Each row is a statement of a document that runevals was built from, an input that tests it, and what happens. The
rows are in [tests/seeds](../tests/seeds), and CI runs each of them. *Differs* says where runevals does something
else, and why.
"""


def rows() -> list[Row]:
    """All rows, each with an `id` of its own that is also the key of its case."""
    return [
        {**json.loads(line), "seed": seed, "id": f"s{seed}-{number:03}"}
        for seed in SEEDS
        for number, line in enumerate((FOLDER / f"{seed}.jsonl").read_text("utf-8").splitlines(), start=1)
    ]


def of_kind(kind: str) -> list[Row]:
    return [row for row in rows() if row["kind"] == kind]


def document_of(row: Row) -> Any:
    """The suite file of a row: its case in the format that the statement is about."""
    case, key = row.get("case", {}), row["id"]
    match row["form"]:
        case "samples":
            return [{"sample_id": key, "prompt": "Question?", **case}]
        case "items":
            item = {"testId": key, **({} if "turns" in case else {"prompt": "Question?"}), **case}
            return {"schemaVersion": "1.2.0", **row.get("head", {}), "items": [item]}
        case "rows":
            return {**row.get("head", {}), "rows": [{"id": key, "input": "Question?", **case}]}
        case "skill":
            return {"id": key, "timeout_ms": 1000, **case}
        case "whole":
            return row["document"]
    raise AssertionError(row["form"])


def path_of(row: Row) -> str:
    """Where its file is; skill cases are in the folder of their category."""
    if row["form"] == "skill":
        return f"data/eval/{row['case'].get('category', 'replay')}/{row['id']}.json"
    return f"{row['form']}/{row['id']}.json"


def answers_of(row: Row) -> Iterator[Row]:
    """Its recorded answers, one for each turn."""
    written = row.get("answer", "")
    for turn, answer in enumerate(written if isinstance(written, list) else [written], start=1):
        fields = answer if isinstance(answer, dict) else {"output": answer}
        yield {"suite": path_of(row), "case": row["id"], "turn": turn, **fields}


def judgements_of(row: Row) -> Iterator[Row]:
    """What the judge says of it."""
    for name, score in row.get("judge", {}).items():
        evaluator, _, turn = name.partition("@")
        yield {"case": row["id"], "evaluator": evaluator, "turn": int(turn or 1), "score": score}


def page() -> str:
    """`docs/seeds.md`."""
    lines = [HEAD, *_counts()]
    for seed, title in SEEDS.items():
        lines += [f"\n## {title}\n"]
        part = None
        for row in (row for row in rows() if row["seed"] == seed):
            if row["part"] != part:
                part = row["part"]
                lines += [f"\n### {part}\n", "| statement | input | outcome |", "|---|---|---|"]
            lines.append(f"| {_cell(row['statement'])} | {_input(row)} | {_outcome(row)} |")
    lines += ["\n## Not run as rows\n", "| seed | statement | why |", "|---|---|---|"]
    lines += [
        f"| {one['seed']} | {_cell(one['statement'])} | {_cell(one['why'])} |"
        for one in map(json.loads, (FOLDER / "not-run.jsonl").read_text("utf-8").splitlines())
    ]
    return "\n".join(lines) + "\n"


def _counts() -> Iterator[str]:
    yield "| document | statements | as it says | differs |"
    yield "|---|--:|--:|--:|"
    everything = rows()
    for seed, title in [*SEEDS.items(), (None, "**all**")]:
        count = Counter("differs" in row for row in everything if seed in (None, row["seed"]))
        yield f"| {title} | {count.total()} | {count[False]} | {count[True]} |"


def _input(row: Row) -> str:
    if row["kind"] == "command":
        return _code(" ".join(["runevals", *row["arguments"]]))
    shown = row["document"] if row["form"] == "whole" else {**row.get("head", {}), **row.get("case", {})}
    parts = [_code(json.dumps(one, ensure_ascii=False)) for one in [*row.get("evaluators", ()), shown] if one]
    if "answer" in row:
        answer = row["answer"]
        is_plain = isinstance(answer, str) and answer == answer.strip() != ""
        parts.append(f"→ {_code(answer if is_plain else json.dumps(answer, ensure_ascii=False))}")
    if "judge" in row:
        parts.append(f"judge {_code(json.dumps(row['judge']))}")
    return " ".join(parts)


def _outcome(row: Row) -> str:
    told = [f"exit {row['exit']}"] if "exit" in row else []
    told += [row["outcome"]] if "outcome" in row else []
    told += [f"composite {row['composite']:g}"] if "composite" in row else []
    told += [_code(words) for words in row.get("says", ())]
    differs = f" *Differs*: {_cell(row['differs'])}" if "differs" in row else ""
    return f"{', '.join(told)}{differs}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("{{", "{&#123;").replace("\n", " ")


def _code(text: str) -> str:
    short = text if len(text) <= 160 else f"{text[:150]} …"
    inside = " ".join(short.replace("|", "\\|").split()) or " "
    return f"`` {inside} ``" if "`" in inside else f"`{inside}`"
