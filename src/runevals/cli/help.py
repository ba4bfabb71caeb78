"""`--help` of a command with many options, in groups."""

from __future__ import annotations

from collections.abc import Mapping

import click

from runevals.lib.facts import with_models

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Suites": (
        *("prompts_file", "prompts", "expected", "interactive", "all", "all_projects", "category", "tag"),
        *("filter", "shard", "evaluators", "config", "env_name"),
    ),
    "Target": (
        *("target", "model", "repeat", "concurrency", "cache_target", "evaluate_only", "mcp_config", "sandbox"),
        *("deterministic", "parameters_are_attempts"),
    ),
    "Judge": ("judge", "judge_model", "no_judge", "judge_concurrency", "cache", "rejudge"),
    "Comparison": (
        *("baseline", "base", "verify", "verify_repeats", "alpha", "min_effect", "max_base_age", "mark"),
        *("against", "margin"),
        *("on_incomparable", "on_inconclusive", "changed_only", "depends_on"),
    ),
    "Gates": ("min_pass_rate", "fail_on", "quarantine"),
    "Limits": ("max_cost", "max_tokens", "max_calls", "max_duration"),
    "Reports": ("output", "form", "suite", "opened", "redact"),
    "The run": (
        *("executor", "ray_address", "ray_num_cpus", "ray_num_gpus", "ray_runtime_env", "resume"),
        *("dry_run", "init_only", "watched", "call", "quiet", "verbose"),
        "log_level",
    ),
}
REST = "Help"
_PLACES = {name: (title, place) for title, names in GROUPS.items() for place, name in enumerate(names)}


class GroupedCommand(click.Command):
    """A command whose options are listed in groups, the most important first."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The text, with today's models in its examples."""
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
