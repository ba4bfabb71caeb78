"""Parameters of chat completions in the form of another API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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
