"""Parameters of chat completions in the form of another API, and its replies as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from runevals.models.http.throttle import CallFailed

T = TypeVar("T")
Forms = Mapping[str, Callable[[Any], object]]


def translated(parameters: Mapping[str, Any], names: Mapping[str, str], forms: Forms) -> dict[str, Any]:
    """The parameters where the other API has them, each in its form there; one whose form is None is left out.

    A name `a.b` is the key `b` of the object `a`.
    """
    sent: dict[str, Any] = {}
    for name, value in parameters.items():
        outer, _, inner = names.get(name, name).partition(".")
        form = forms[name](value) if name in forms else value
        if form is not None:
            sent[outer] = {**sent.get(outer, {}), inner: form} if inner else form
    return sent


def read_json(content: bytes, read: Callable[[Any], T], *, what: str) -> T:
    """What `read` makes of the JSON in a body. Raises what it raises, and CallFailed if it is not `what`."""
    try:
        return read(json.loads(content))
    except KeyError as error:
        raise CallFailed("unparseable", f"the answer is not {what} (it has no {error})") from None
    except (AttributeError, IndexError, TypeError, ValueError, RecursionError) as error:
        raise CallFailed("unparseable", f"the answer is not {what} ({error})") from None
