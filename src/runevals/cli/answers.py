"""The answers to prompts of the command line, with what their checks found."""

from __future__ import annotations

from collections.abc import Iterator

from runevals.cli.progress import OUTCOME_MARKS
from runevals.lib.terminal import say, terminal_text
from runevals.lib.text.numbers import money, seconds
from runevals.records import Conclusion, TurnReport
from runevals.verdict.wording import because


def answer_lines(turn: TurnReport) -> Iterator[str]:
    """The answer, a line for each check, and what it took."""
    if turn.error is not None:
        yield terminal_text(f"! not answered: {turn.error.message}")
        return
    yield f"{terminal_text(turn.output or '')}\n"
    for result in turn.results:
        why = result.error.message if result.error is not None else because(result)
        yield terminal_text(f"{OUTCOME_MARKS[result.outcome]} {result.id}  {why}")
    spent = ((turn.latency_s, seconds), (turn.cost_usd, money))
    yield "  " + " · ".join(text_of(value) for value, text_of in spent if value is not None) + "\n"


def show_answers(conclusion: Conclusion) -> bool:
    """Prints the answer to each prompt → whether that is all: each has one, and nothing was to check them."""
    turns = [turn for case in conclusion.report.cases for attempt in case.attempts[:1] for turn in attempt.turns]
    for turn in turns:
        if len(turns) > 1:
            say(f"> {terminal_text(turn.prompt or '')}")
        say("\n".join(answer_lines(turn)))
    is_all = bool(turns) and not any(turn.results or turn.error is not None for turn in turns)
    if is_all:
        say("Not checked: --expected TEXT compares an answer, --judge MODEL grades it")
    return is_all
