"""`--interactive`: one prompt at a time, with its answer and scores, and an offer to save it as a case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import replace

from runevals.cli.answers import answer_lines
from runevals.cli.init import templates as starter
from runevals.lib.nullable import without_none
from runevals.lib.parsing.source import read_json
from runevals.lib.terminal import at_terminal, say
from runevals.records import Suite, TurnReport
from runevals.records.errors import INTERRUPTED, InvalidSettings, InvalidSuite
from runevals.run.live import judges_of
from runevals.run.pipeline import run
from runevals.run.request import RunRequest
from runevals.run.world.build import no_target
from runevals.settings.resolve import Settings
from runevals.suites.append_case import read_document, save
from runevals.suites.dialects import LoadOptions, eval_document
from runevals.suites.dialects.checking import needs_expected, spec_of
from runevals.suites.load import LoadedSuites


class Exchange(Struct, frozen=True, kw_only=True):
    """One prompt, its expected response if known, and the response."""

    prompt: str
    expected: str | None
    turn: TurnReport


def interact(request: RunRequest) -> None:
    """Asks until an empty prompt or the end of input. Raises InvalidSettings without a terminal."""
    if not at_terminal():
        raise InvalidSettings('--interactive needs a terminal, and no CI; try one prompt with --prompts "…"')
    settings = request.settings
    if settings.target is None:
        raise no_target(settings)
    settings = settings.with_baseline(None).repeated(1, cached=True)
    settings = replace(settings, no_judge=not judges_of(settings))
    request, defaults = replace(request, settings=settings), _defaults(settings)
    say("An empty prompt ends this. Without an expected response, evaluators that need one are skipped.")
    try:
        while prompt := input("\nPrompt: ").strip():
            expected = input("Expected response (may be empty): ").strip() or None
            exchange = _answered(prompt, expected, defaults, request)
            say("\n".join(("", *answer_lines(exchange.turn))).rstrip())
            if exchange.turn.error is None:
                _offer(exchange, defaults, settings)
    except EOFError:
        say()


def _defaults(settings: Settings) -> Mapping[str, Any]:
    """The evaluators that the case will have once it is saved."""
    try:
        document = read_document(settings.cwd / starter.SUITE, starter.SUITE.as_posix())
    except InvalidSuite:
        document = None  # reported when a case is saved there
    of_file: Mapping[str, Any] | None = (document or {}).get("default_evaluators")
    if of_file is not None:
        return of_file
    no_judge = document is None and settings.no_judge
    return eval_document.WITHOUT_A_JUDGE if no_judge else eval_document.SYSTEM_DEFAULTS


def _answered(prompt: str, expected: str | None, defaults: Mapping[str, Any], request: RunRequest) -> Exchange:
    suite = _suite(prompt, expected, defaults, request.settings)
    conclusion = run(replace(request, suites=LoadedSuites(suites=(suite,))))
    if conclusion.verdict.exit_code == INTERRUPTED:
        raise KeyboardInterrupt
    [case] = conclusion.report.cases
    return Exchange(prompt=prompt, expected=expected, turn=case.attempts[0].turns[0])


def _suite(prompt: str, expected: str | None, defaults: Mapping[str, Any], settings: Settings) -> Suite:
    usable = {
        name: options
        for name, options in defaults.items()
        if expected is not None or not needs_expected(spec_of(name, options, settings.load.definitions))
    }
    item = without_none(prompt=prompt, expected_response=expected)
    document = {"schemaVersion": eval_document.CURRENT_VERSION, "default_evaluators": usable, "items": [item]}
    suite = eval_document.load(read_json(eval_document.as_text(document), "inline"), _options(settings))
    if suite.errors:
        raise InvalidSuite(suite.errors)
    return suite


def _options(settings: Settings) -> LoadOptions:
    return LoadOptions(definitions=settings.load.definitions, root=settings.repository)


def _offer(exchange: Exchange, defaults: Mapping[str, Any], settings: Settings) -> None:
    """Saves the exchange on request; without an expected response, the answer becomes it."""
    path = starter.SUITE.as_posix()
    as_expected = "" if exchange.expected else ", the answer as its expected response"
    if not click.confirm(f"Save it as a case of ./{path}{as_expected}?"):
        return
    item = {"prompt": exchange.prompt, "expected_response": exchange.expected or exchange.turn.output or ""}
    chosen = None if defaults is eval_document.SYSTEM_DEFAULTS else defaults
    try:
        say(save(settings.cwd / starter.SUITE, path, item, chosen, _options(settings)))
    except InvalidSuite as error:
        say(f"Not saved:\n{error}", err=True)
