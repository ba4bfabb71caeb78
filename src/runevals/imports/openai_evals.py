"""OpenAI's hosted Evals: what its API says of an eval, its runs and their items → a configuration of promptfoo.

So does the export of its dashboard; the graders that promptfoo has no equal of are left to it to be called lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from runevals.imports.results.fields import Json
from runevals.imports.results.opened import read_opened
from runevals.lib.nullable import without_none
from runevals.records.errors import UsageError
from runevals.suites.dialects.columns import OF_QUESTION

NAME = "openai-evals"
_ITEM = re.compile(r"\{\{\s*item\.([\w.]+)\s*\}\}")
_ANSWER = re.compile(r"\{\{\s*sample\.output_(?:text|json)\s*\}\}")
_STRING_CHECKS = {"eq": "equals", "ne": "not-equals", "like": "contains", "ilike": "icontains"}
_SIMILARITIES = {"cosine": "similar", "bleu": "bleu", "rouge_1": "rouge-n"}
_AS_THERE = ("temperature", "top_p", "seed", "reasoning_effort", "response_format", "tools")
_SAMPLING = {**{name: name for name in _AS_THERE}, "max_completions_tokens": "max_completion_tokens"}


def configuration(path: Path) -> dict[str, Any]:
    """The configuration. Raises InvalidDocument, or UsageError for what is no export of the API."""
    objects = list(_objects(path))
    criteria = [one for of in objects for one in of["testing_criteria"].entries]
    sources = [run["data_source"] for run in objects if run["object"].value == "eval.run"]
    items = list(_items(objects, sources))
    prompts = list(dict.fromkeys(prompt for source in sources if (prompt := _prompt(source))))
    if not criteria or not items:
        lacks = "testing criteria: add the eval itself" if not criteria else "items: add its runs, or the data"
        raise UsageError(f"{path} has no {lacks}; it is a line for each object of the Evals API")
    question = next((name for name in OF_QUESTION if name in items[0]), "")
    if not prompts and not question:
        raise UsageError(f"{path} says no prompt: add a run of the eval that has its messages")
    return {
        "description": next((of["name"].name_or_empty for of in objects if of["testing_criteria"].value), ""),
        "prompts": prompts or [f"{{{{{question}}}}}"],
        "providers": list(_providers(sources)),
        "defaultTest": {"assert": [_assertion(one) for one in criteria]},
        "tests": [{"vars": item} for item in items],
    }


def _objects(path: Path) -> Iterator[Json]:
    """The objects of a file: its lines, its list, the data of a page, or itself."""
    file = read_opened(path, str(path))
    for one in file.rows or (() if file.document is None else (file.document,)):
        yield from (one if isinstance(one.value, list) else one.at("data|.")).each


def _items(objects: Sequence[Json], sources: Sequence[Json]) -> Iterator[Mapping[str, Any]]:
    """Each item once: of the data of runs, of what they put out, or of the lines of a data file."""
    rows = [row for source in sources for row in source.at("source.content").entries]
    texts = set()
    for row in (*rows, *objects):
        item = row.at("item|datasource_item")
        text = json.dumps(item.value, sort_keys=True)
        if isinstance(item.value, dict) and text not in texts:
            texts.add(text)
            yield item.value


def _prompt(source: Json) -> str:
    """The messages of a run as promptfoo writes a chat; empty if they are in the items."""
    parts = source.at("input_messages.template").entries
    names = {"developer": "system"}
    messages = [
        {"role": names.get(one["role"].text, one["role"].text), "content": _text(one["content"])} for one in parts
    ]
    if [one["role"] for one in messages] == ["user"]:
        return messages[0]["content"]
    return json.dumps(messages, ensure_ascii=False) if messages else ""


def _text(content: Json) -> str:
    """A text, or the text of a part, with the variables of promptfoo."""
    return _ITEM.sub(r"{{\1}}", content.at("text|.").text_or_none or "")


def _providers(sources: Sequence[Json]) -> Iterator[dict[str, Any]]:
    for model, source in {source["model"].name_or_empty: source for source in sources}.items():
        wire = "responses" if source["type"].value == "responses" else "chat"
        params = source["sampling_params"].fields
        config = {own: params[name] for name, own in _SAMPLING.items() if params.get(name) is not None}
        if model:
            yield {"id": f"openai:{wire}:{model}", "config": config}


def _assertion(grader: Json) -> dict[str, Any]:
    """A grader; one without an equal keeps its own type, which promptfoo does not have."""
    kind, name = grader["type"].text, grader["name"].name_or_empty
    looks_at_answer = _ANSWER.fullmatch(str(grader["input"].value).strip()) is not None
    limit = without_none(threshold=grader["pass_threshold"].value)
    reference = _text(grader["reference"])
    if kind == "string_check" and looks_at_answer and (own := _STRING_CHECKS.get(str(grader["operation"].value))):
        return {"type": own, "value": reference, "metric": name}
    if kind == "text_similarity" and looks_at_answer:
        metric = str(grader["evaluation_metric"].value)
        return {"type": _SIMILARITIES.get(metric, f"{kind}:{metric}"), "value": reference, "metric": name, **limit}
    if kind in ("label_model", "score_model"):
        return {"type": "llm-rubric", "value": _rubric(grader), "metric": name, **limit}
    return {"type": f"{kind} grader {name}", "metric": name}


def _rubric(grader: Json) -> str:
    """What a model is asked of an answer, and which of its labels pass."""
    question = "\n\n".join(_ANSWER.sub("(the answer)", _text(one["content"])) for one in grader["input"].entries)
    labels, passing = (
        ", ".join(one.text for one in grader[name].entries) for name in ("labels", "passing_labels")
    )
    return (
        f"{question}\n\nOf the labels {labels}, the answer must deserve one of: {passing}."
        if passing
        else question
    )
