"""The settings of targets that are programs, started here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from msgspec.structs import replace

from runevals.lib.text.numbers import phrase, short_list
from runevals.lib.text.secret_variables import SECRET_NAMES
from runevals.models.chat.prices import Prices
from runevals.models.http.throttle import CallFailed, Throttle, TryAgain, final_failure
from runevals.records import Conversation, Problem, Response
from runevals.records.diagnosis import Diagnosis
from runevals.records.errors import KeyRefused, TargetRefused
from runevals.targets import Target, TargetAround
from runevals.targets.chat_settings import unanswered
from runevals.targets.kind import NOT_TAKEN, Making, Section, TargetSettings


class SaysItsLack(TargetAround):
    """A program whose error says which variable it lacks, if it names one: a failure of its key."""

    def __init__(self, target: Target, environment: Mapping[str, str], has: Mapping[str, str]) -> None:
        super().__init__(target)
        self._variables = environment, has

    def answer(self, conversation: Conversation) -> Response:
        """The program's. Raises TargetRefused."""
        from runevals.targets.environment import lack

        try:
            response = self._target.answer(conversation)
        except TargetRefused as refused:
            if text := lack(str(refused), *self._variables):
                raise KeyRefused(text) from refused
            raise
        text = "" if response.problem is None else lack(response.problem.message, *self._variables)
        return replace(response, problem=Problem(code="target_auth", message=text)) if text else response


class Repeated(TargetAround):
    """A program that says with which HTTP status a server failed it: temporary failures are tried again."""

    def __init__(self, target: Target, throttle: Throttle) -> None:
        super().__init__(target)
        self._throttle = throttle

    def answer(self, conversation: Conversation) -> Response:
        """The program's; after the first call, where a call leaves changes in a folder. Raises TargetRefused."""
        try:
            if conversation.workspace is None:
                return self._throttle.call(partial(self._target.answer, conversation), final_failure)
            return self._target.answer(conversation)
        except (TryAgain, CallFailed) as failure:
            return unanswered(final_failure(failure) if isinstance(failure, TryAgain) else failure)


class Priced(TargetAround):
    """A program that says its model and the tokens, of which the cost is known by their price."""

    def __init__(self, target: Target, prices: Prices) -> None:
        super().__init__(target)
        self._prices = prices

    def answer(self, conversation: Conversation) -> Response:
        """The program's. Raises TargetRefused."""
        response = self._target.answer(conversation)
        if response.cost_usd is not None:
            return response
        tokens = response.input_tokens, response.output_tokens
        return replace(response, cost_usd=self._prices.cost_usd(response.model, *tokens))


class ProgramSettings(TargetSettings, frozen=True, kw_only=True):
    """A target whose program is started here, and may export what it does."""

    variables: tuple[str, ...] | None = None  # that it is given, besides the harmless ones; None: all but tokens
    trace: Literal["otlp"] | None = None  # how it exports what it does

    alone = False
    refuses = dict.fromkeys(("mcp",), NOT_TAKEN)

    @classmethod
    def own_fields(cls, section: Section) -> dict[str, Any]:
        """Its variables."""
        return {"variables": section.variables}

    def build(self, making: Making) -> Target:
        """The target, with the evidence of its trace."""
        from runevals.targets.environment import cleaned  # not for a comparison of results

        repeated = Repeated(self.start(making), making.throttles["what the target calls"])
        target = SaysItsLack(repeated, making.environment, cleaned(making.environment, self.variables))
        if self.trace is None:
            return Priced(target, making.prices)
        from runevals.targets.traced import TracedTarget

        return TracedTarget(target, making.prices, making.environment)

    def start(self, making: Making) -> Target:
        """The target without its trace. Raises InvalidSettings for what the environment lacks."""
        raise NotImplementedError

    @property
    def key_names(self) -> tuple[str, ...]:
        """The variables that it is given, too."""
        return (self.api_key_env, *(self.variables or ()))

    def diagnosis(self, environment: Mapping[str, str]) -> Diagnosis:
        """With the keys that it is not given."""
        from runevals.targets.environment import cleaned

        plain, has = super().diagnosis(environment), cleaned(environment, self.variables)
        keys = [name for name in cleaned(environment) if name.endswith(SECRET_NAMES) and name not in has]
        return replace(plain, text=f"{plain.text}{phrase(short_list(keys), '; withheld from it: {}')}")

    def stays_here_for(self) -> str | None:
        """Its trace is received here."""
        return "target.trace: traces are received on this machine" if self.trace is not None else None
