"""The job's own tokens, which are read once and removed from the environment, and what its log masks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping

from runevals.lib.text.secrets import remember, secret_values

_OF_THE_JOB = ("INPUT_GITHUB_TOKEN", "GITHUB_TOKEN", "GH_TOKEN")
_FOR_ACTIONS = "ACTIONS_"  # ACTIONS_RUNTIME_TOKEN, ACTIONS_ID_TOKEN_REQUEST_TOKEN and whatever there will be


def without_tokens(environment: MutableMapping[str, str]) -> dict[str, str]:
    """All of `environment`, from which the tokens are then removed: they are passed on explicitly.

    They are still taken out of all that is printed.
    """
    whole = dict(environment)
    tokens = {
        name: value
        for name, value in whole.items()
        if name in _OF_THE_JOB or (name.startswith(_FOR_ACTIONS) and name.endswith("_TOKEN"))
    }
    remember(tokens)
    for name in tokens:
        del environment[name]
    return whole


def mask_commands(environment: Mapping[str, str], more_names: Iterable[str] = ()) -> Iterator[str]:
    """One `::add-mask::` line for each value of a variable named like a secret, or in `more_names`."""
    for value in secret_values(environment, more_names):
        yield f"::add-mask::{value.replace('%', '%25')}"
