"""The addresses of target and judge, and their answers to one short question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from runevals.lib.nullable import if_known
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import money, phrase, seconds
from runevals.models.chat.chat import ChatFailed
from runevals.models.http.throttle import Throttles
from runevals.records import Conversation
from runevals.records.errors import ExternalError, RunevalsError
from runevals.records.judgement import Question
from runevals.run.live import judges_of
from runevals.run.world import World
from runevals.run.world.build import real_world
from runevals.settings.judge import JudgeSettings
from runevals.settings.resolve import Settings
from runevals.targets.chat_settings import ModelSettings, chat_of

_QUESTION = "Reply with the word: ready"


def answers_of(settings: Settings) -> Iterator[tuple[str, str | RunevalsError]]:
    """Asks each one short question → (name, its answer or why there is none)."""
    try:
        with real_world(settings, ()) as world:
            yield _answer(world, settings)
            if any(not judge.is_recorded for judge in judges_of(settings)):
                yield _judgement(world)
    except RunevalsError as error:
        yield "answers", error


def shutdowns_of(endpoints: Iterable[ModelSettings], settings: Settings) -> Iterator[str]:
    """A sentence on each chat model whose end its provider has announced in its list of models."""
    for endpoint in endpoints:
        what = "judge" if isinstance(endpoint, JudgeSettings) else "target"
        with suppress(RunevalsError, ChatFailed):
            day = chat_of(endpoint, settings.environment, Throttles(), what=what).shutdown_date()
            if day is not None:
                yield f"{endpoint.model} ends on {one_line(day, 40)}, says its provider; change it in time"


def _answer(world: World, settings: Settings) -> tuple[str, str | RunevalsError]:
    if settings.target is not None and settings.target.traits.runs_skills:
        return "answer", f"the {settings.target.type} target is not asked a question of ours"
    conversation = Conversation(suite="doctor", case="doctor", attempt=1, turn=1, prompt=_QUESTION)
    try:
        response = world.target.answer(conversation)
    except RunevalsError as error:
        return "answer", error
    if response.problem is not None:
        return "answer", ExternalError(f"the target does not answer: {one_line(response.problem.message)}")
    cost = phrase(if_known(money, response.cost_usd), ", {}")
    return "answer", f"“{one_line(response.text, 60)}” after {seconds(response.latency_s)}{cost}"


def _judgement(world: World) -> tuple[str, str | RunevalsError]:
    assert world.judge is not None  # noqa: S101 - only called for settings that have one
    question = Question(
        evaluator="doctor",
        instructions="Score 5 where the answer is the word ready, else 1.",
        parts=(("answer", "ready"),),
    )
    try:
        judgement = world.judge.ask(question, case="doctor", turn=1, attempt=1)
    except RunevalsError as error:
        return "judgement", error
    if judgement.problem is not None or judgement.score is None:
        why = getattr(judgement.problem, "message", "it gave no score")
        return "judgement", ExternalError(f"the judge does not answer: {one_line(why)}")
    return "judgement", f"{judgement.score:g} of 5: {one_line(judgement.reason, 60)}"
