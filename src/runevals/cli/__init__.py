"""The command line: the list of commands, and the handling of failures."""

from __future__ import annotations

import gc
import io
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

import click
from click.shell_completion import CompletionItem

from runevals.cli.help import ShortHelp
from runevals.records.errors import INTERNAL_ERROR, INTERRUPTED, USAGE_ERROR, RunevalsError, as_run_error
from runevals.version import __version__

REPORT_TO = "the issue tracker of runevals"
LONGEST_LINE = 2000  # of a message

# name → its line in `--help`; see `_PLACES` for the functions
COMMANDS: Mapping[str, str] = {
    "run": "Run suites against the target and judge the result.",
    "init": "Write a first suite, settings and workflow, and run it once.",
    "compare": "Compare two results documents.",
    "gate": "Compare the results of another tool with those of the base.",
    "blame": "Find the changed lines that lost the cases of a failing run.",
    "ablate": "Find the lines of a passing prompt that change nothing.",
    "merge": "Merge the results of all shards.",
    "accept": "Accept losses of this change, if a reviewer agrees.",
    "validate": "Check suites without running anything.",
    "view": "Open an HTML report in a browser.",
    "report": "Write a results document in another format.",
    "history": "Show pass rate and score of past runs.",
    "plan": "Show what would run.",
    "evaluators": "List the evaluators, or explain one.",
    "strength": "Ask the checks about wrong answers: how many would be noticed?",
    "schema": "Print the JSON Schema of a suite format, or of the settings.",
    "import": "Convert the configuration of another tool, or a log, into a suite.",
    "upgrade": "Convert suites of an older format to the current one.",
    "comment": "Post a results document as a comment on a pull request.",
    "models": "Show when the models of target and judge end, and what replaces them.",
    "settings": "Show every setting and where it came from.",
    "completion": "Print what makes a shell complete the words of runevals.",
    "doctor": "Check what a run needs, and how to fix what is missing.",
    "judge": "Compare the judge with people, or attack it.",
    "cache-info": "Show what is cached, and where.",
    "cache-clear": "Delete everything in the cache.",
    "cache-dir": "Print the folder of the cache.",
    "action": "The entry of the container action.",
}
_PUBLIC = {name: line for name, line in COMMANDS.items() if name != "action"}
WITHOUT_CURSOR = ("dumb", "unknown")  # values of TERM: terminals that only show text
# The module and the function of a command, if they are not NAME and `command`.
_PLACES = {
    "import": ("import_", "command"),
    "init": ("init.command", "command"),
    "cache-info": ("cache", "info"),
    "cache-clear": ("cache", "clear"),
    "cache-dir": ("cache", "folder"),
}


class _Commands(ShortHelp, click.Group):
    """Loads a command's module when it is called; other words are arguments of `run`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        being_completed = ctx.resilient_parsing and not args  # then the next word may be a command
        if args and not ctx.resilient_parsing:
            _require_meaning(args[0])
        return super().parse_args(ctx, args if being_completed else rewritten(args))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        run = self.get_command(ctx, "run")
        assert run is not None  # noqa: S101 - it is in COMMANDS
        items = [*super().shell_complete(ctx, incomplete), *run.shell_complete(ctx, incomplete)]
        return items or [CompletionItem(incomplete, type="file")]

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, function = _PLACES.get(cmd_name, (cmd_name, "command"))
        command: click.Command = getattr(import_module(f"runevals.cli.{module}"), function)
        return command

    def most_important(self, ctx: click.Context) -> tuple[str, list[tuple[str, str]]]:  # noqa: ARG002
        return "Commands", list(COMMANDS.items())

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([*_PUBLIC.items()])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`runevals` alone is `runevals run`. Exit codes: 0 gates passed, 1 a gate failed, 2 usage error, "
    "3 could not measure, 4 internal error, 130 interrupted.",
)
@click.version_option(__version__, "-V", "--version", message="runevals %(version)s")
def commands() -> None:
    """CI for prompts, agents and skills: did this change make it worse, really?

    \b
    Examples:
      runevals init
      runevals
      runevals --base main
    """


def main(arguments: Sequence[str]) -> NoReturn:
    """Runs the command line and exits with its code.

    At once: calls still under way are not waited for, and nothing is freed object by object, which would take
    a tenth of a second.
    """
    from runevals.programs import processes

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    threading.excepthook = _thread_failed
    gc.set_threshold(1_000_000, 20, 20)  # what is loaded stays: there is nothing to be found in it
    processes.adopt()
    code = call(arguments)
    processes.end_all(for_good=True)
    with suppress(OSError, ValueError, AttributeError):  # closed or missing
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def call(arguments: Sequence[str]) -> int:
    """Runs one command → exit code; failures are reported on stderr."""
    try:
        result = commands.main(list(arguments), prog_name="runevals", standalone_mode=False, color=coloured())
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        return _report_failure(_in_words(error), USAGE_ERROR)
    except (KeyboardInterrupt, click.Abort):
        return _report_failure("Interrupted.", INTERRUPTED)
    except SystemExit:  # click raises it when the reader of the output has gone
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - every failure is reported
        return explained(error)
    return int(result or 0)


def explained(error: Exception) -> int:
    """Reports on stderr why a command failed, and what to do → its exit code."""
    error = as_run_error(error)
    if isinstance(error, RunevalsError):
        return _report_failure(f"Error: {_without_long_lines(str(error))}", error.exit_code)
    where = f"This is a bug in runevals {__version__}. Please report it with the lines above to {REPORT_TO}."
    return _report_failure(f"{''.join(traceback.format_exception(error))}{where}", INTERNAL_ERROR)


def _without_long_lines(text: str) -> str:
    """A message may quote a value of a file, of any length."""
    from runevals.lib.text.secrets import beginning

    lines = text.splitlines()
    lines = [line if len(line) <= LONGEST_LINE else f"{beginning(line, LONGEST_LINE)}…" for line in lines]
    return "\n".join(lines)


def _thread_failed(failure: threading.ExceptHookArgs) -> None:
    """Prints the traceback of a background thread."""
    lines = traceback.format_exception(failure.exc_type, failure.exc_value, failure.exc_traceback)
    _report_failure("".join(lines), INTERNAL_ERROR)


def _report_failure(text: str, code: int) -> int:
    """Prints a failure to stderr → its exit code. The text may contain untrusted content."""
    from runevals.lib.terminal import say

    with suppress(OSError):
        say(text, err=True)
    return code


_OTHER_TOOLS = {"--case": "--filter", "-k": "--filter", "--threshold": "--min-pass-rate", "--trials": "--repeat"}

_RUN_NOTHING = {"gate": "; `gate` runs nothing: it reads results, those of several projects from one folder"}


def _in_words(error: click.ClickException) -> str:
    """The message that click would print."""
    if isinstance(error, click.NoSuchOption) and (ctx := error.ctx) is not None:
        run = commands.get_command(ctx, "run")
        assert run is not None  # noqa: S101 - it is in COMMANDS
        known, of_run = ({word for one in each.params for word in one.opts} for each in (ctx.command, run))
        if (ours := _OTHER_TOOLS.get(error.option_name)) in known:
            error = click.UsageError(f"{error.message} Did you mean '{ours}'?", ctx)
        elif error.option_name in of_run:
            instead = _RUN_NOTHING.get(ctx.command.name or "", "")
            error = click.UsageError(f"{error.message} `runevals run` has it{instead}.", ctx)
    lines = io.StringIO()
    error.show(lines)
    return lines.getvalue().removesuffix("\n")


def coloured() -> bool | None:
    """False if colours are off (NO_COLOR) or unsupported; True if FORCE_COLOR; None: on if there is a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") != "0":
        return True
    return False if os.environ.get("TERM") in WITHOUT_CURSOR else None


def _require_meaning(word: str) -> None:
    """Raises UsageError for a first word that is neither a command nor a file, but similar to a command."""
    if not re.fullmatch("[A-Za-z][A-Za-z-]*", word) or word in COMMANDS or os.path.lexists(word):
        return
    from runevals.lib.text.suggest import did_you_mean

    hint = did_you_mean(word, _PUBLIC)
    if hint:
        raise click.UsageError(f"there is no command or file '{word}'{hint}")


def rewritten(arguments: Sequence[str]) -> list[str]:
    """The arguments with `run` as the default command, and one option for each text of a multi-word option."""
    words = list(arguments)
    if not words or (words[0] not in COMMANDS and words[0] not in ("-h", "--help", "-V", "--version")):
        words.insert(0, "run")
    return _split_multi_word_options(words)


def finish(exit_code: int) -> NoReturn:
    """Ends a command with this exit code."""
    raise click.exceptions.Exit(exit_code)


_MULTI_WORD = ("--prompts", "--expected")


def _split_multi_word_options(words: Sequence[str]) -> list[str]:
    """`--prompts one two` → `--prompts=one --prompts=two`, which click has no option type for."""
    out: list[str] = []
    option: str | None = None
    for word, next_word in zip(words, [*words[1:], "--"], strict=True):
        if re.fullmatch(r"(?s)--.*|-.", word):
            option = word if word in _MULTI_WORD else None
            if option is None or next_word.startswith("--"):  # click reports a missing text
                out.append(word)
        else:
            out.append(word if option is None else f"{option}={word}")
    return out
