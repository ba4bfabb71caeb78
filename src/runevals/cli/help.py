"""`--help` of a command with many options, in groups."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import shorten

import click

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Suites": (
        *("prompts_file", "prompts", "expected", "interactive", "all", "all_projects", "category", "tag"),
        *("filter", "shard", "evaluators", "config", "env_name"),
    ),
    "Target": (
        *("target", "model", "repeat", "concurrency", "cache_target", "evaluate_only", "mcp_config", "sandbox"),
        *("columns", "trust", "deterministic", "parameters_are_attempts"),
    ),
    "Judge": ("judge", "judge_model", "no_judge", "judge_concurrency", "cache", "rejudge"),
    "Comparison": (
        *("baseline", "base", "verify", "verify_repeats", "alpha", "min_effect", "max_base_age", "mark"),
        *("against", "margin", "on_unknown", "changed_only", "depends_on"),
    ),
    "Gates": ("min_pass_rate", "fail_on", "quarantine"),
    "Limits": ("max_cost", "max_tokens", "max_calls", "max_duration"),
    "Reports": ("output", "form", "suite", "opened", "redact"),
    "The run": (
        *("executor", "ray_address", "ray_num_cpus", "ray_num_gpus", "ray_runtime_env", "resume"),
        *("dry_run", "init_only", "watched", "call", "quiet", "verbose", "log_level"),
    ),
}
REST = "Help"
_PLACES = {name: (title, place) for title, names in GROUPS.items() for place, name in enumerate(names)}


MOST_LINES = 30  # of the short help
# What most people need, the most important first.
NEEDED = (
    *("prompts", "target", "model", "judge", "no_judge", "base", "baseline", "repeat", "filter", "tag"),
    *("category", "output", "config", "max_cost", "min_pass_rate", "fail_on", "deterministic", "call", "all"),
    *("watched", "resume", "dry_run", "verbose"),
)


def _show_short(ctx: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's
    if value and not ctx.resilient_parsing and isinstance(ctx.command, ShortHelp):
        click.echo(ctx.command.short_help_text(ctx), color=ctx.color)
        ctx.exit()


_SHORT = click.Option(
    ["-h", "short"], is_flag=True, is_eager=True, expose_value=False, callback=_show_short, help="The short help."
)


class ShortHelp(click.Command):
    """A command with a long `--help`, and a short `-h`."""

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        return [name for name in super().get_help_option_names(ctx) if name != "-h"]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), _SHORT]

    def short_help_text(self, ctx: click.Context) -> str:
        """Usage, examples, and as many of the most important rows as MOST_LINES leave place for."""
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        head = formatter.getvalue().rstrip("\n").splitlines()
        title, rows = self.most_important(ctx)
        place = MOST_LINES - len(head) - 4  # for the title, the last line, and the blank ones between
        width = max((len(name) for name, _ in rows), default=0)
        lines = [
            f"  {name:<{width}}  {shorten(text, formatter.width - width - 4, placeholder='…')}"
            for name, text in rows[:place]
        ]
        return "\n".join((*head, "", f"{title}:", *lines, "", f"All of them: {ctx.command_path} --help"))

    def most_important(self, ctx: click.Context) -> tuple[str, list[tuple[str, str]]]:
        """A title, and rows of a name and what it does."""
        options = {option.name: option for option in self.params if isinstance(option, click.Option)}
        records = [options[name].get_help_record(ctx) for name in NEEDED if name in options]
        return "Options", [(one, text.partition(". ")[0].removesuffix(".")) for one, text in filter(None, records)]


class GroupedCommand(ShortHelp):
    """A command whose options are listed in groups, the most important first."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The text, with today's models in its examples."""
        from runevals.models.facts import with_models

        self.help = with_models(self.help or "")
        super().format_help_text(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, list[tuple[int, tuple[str, str]]]] = {title: [] for title in (*GROUPS, REST)}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record is not None and isinstance(option, click.Option):
                title, place = _PLACES.get(option.name or "", (REST, 0))
                rows[title].append((place, record))
        for title, lines in rows.items():
            if lines:
                with formatter.section(title):
                    formatter.write_dl([record for _, record in sorted(lines)])
