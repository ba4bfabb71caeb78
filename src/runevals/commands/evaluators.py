"""`runevals evaluators`: which there are, and what each does."""

from __future__ import annotations

import dataclasses
import inspect
import typing

import click


@click.command("evaluators")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the evaluators, or explain NAME with its options and an example.

    \b
    Example:
      runevals evaluators PartialMatch
    """
    from runevals.evaluators import catalogue

    if name is not None:
        click.echo(explain(name))
        return
    width = max(len(name) for name in catalogue.catalogue())
    for known, cls in catalogue.catalogue().items():
        aliases = "".join(f", also {alias}" for alias in catalogue.aliases_of(known))
        module = inspect.getmodule(cls)
        line = (inspect.getdoc(module) or "").splitlines()[0]
        click.echo(f"{known:<{width}}  {line}  [{cls.layer}{aliases}]")


def explain(name: str) -> str:
    """An evaluator's documentation. Raises UnknownEvaluator."""
    from runevals.evaluators import catalogue

    cls = catalogue.find(name)
    threshold = "none, passes or fails" if cls.default_threshold is None else f"{cls.default_threshold:g}"
    lines = [
        ", ".join((cls.name, *catalogue.aliases_of(cls.name))),
        "",
        inspect.getdoc(cls) or "",
        "",
        f"Layer: {cls.layer}. Scale: {cls.scale}. Default threshold: {threshold}."
        + (" Needs an expected response." if cls.needs_expected else ""),
    ]
    fields = catalogue.options_of(cls)
    if fields:
        hints = typing.get_type_hints(cls)
        lines += ["", "Defaults:"]
        for field in fields:
            required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            made = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
            default = "required" if required else repr(made)
            lines.append(f"    {field.name}: {_type(hints[field.name])} = {default}")
    return "\n".join(lines)


def _type(hint: object) -> str:
    if typing.get_args(hint):  # a list[str] has a name too, which says less
        return str(hint).replace("typing.", "").replace("collections.abc.", "")
    return getattr(hint, "__name__", None) or str(hint)
