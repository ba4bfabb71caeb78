"""Facts that end: each has a row, none is used after its end, and a run says when its models end."""

from __future__ import annotations

import importlib.util
import json
import re
import warnings
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from runevals.models import facts as of_package
from runevals.models.facts import end_of_model, ending, facts, model, with_models
from tests.docs.pages import ROOT

spec = importlib.util.spec_from_file_location("ci_facts", ROOT / ".ci" / "facts.py")
ci_facts = importlib.util.module_from_spec(spec)
spec.loader.exec_module(ci_facts)
FILES = ci_facts.shipped()
OLD = {"README.md": "runevals --target openai:gpt-5-mini --judge gpt-5"}


def test_every_row_says_where_and_when_it_was_read():
    rows = json.loads(Path(of_package.__file__).with_name("facts.json").read_text(encoding="utf-8"))["rows"]
    assert len(facts()) == len(rows)  # no name twice
    for row in facts().values():
        assert row.source.startswith("https://")
        assert row.read_on <= datetime.now(UTC).date()
        assert row.kind in ("model", "api", "protocol", "python", "action", "image", "peer")
        assert row.replacement is None or row.ends_on is not None


def test_every_name_in_what_we_ship_has_a_row():
    assert ci_facts.in_use(FILES)[1] == {}


def test_only_examples_name_a_model():
    """Defaults, help and templates take it from the facts; pages say MODEL."""
    looks = re.compile(ci_facts.LOOKS["model"])
    others = {name: text for name, text in FILES.items() if not name.startswith("examples/")}
    assert {name: found for name, text in others.items() if (found := looks.findall(text))} == {}


@pytest.mark.filterwarnings("default::UserWarning")
def test_nothing_that_we_use_has_ended():
    past, soon = ci_facts.ends(ci_facts.in_use(FILES)[0], datetime.now(UTC).date())
    for line in soon:
        warnings.warn(line, UserWarning, stacklevel=1)
    assert past == []


@pytest.mark.parametrize(
    ("today", "past", "soon"),
    [
        ("2026-10-01", 0, 0),
        ("2026-11-01", 0, 2),
        ("2026-12-11", 0, 2),
        ("2026-12-12", 2, 0),
    ],
)
def test_what_ends_is_said_45_days_before(today, past, soon):
    """Of a README that still names the models of 2025."""
    rows = ci_facts.in_use(OLD)[0] - set(of_package.used())
    said = ci_facts.ends(rows, date.fromisoformat(today))
    assert [len(lines) for lines in said] == [past, soon]
    assert all("openai:gpt-5" in line and "2026-12-11" in line for lines in said for line in lines)


@pytest.mark.parametrize(
    ("provider", "name", "sentence"),
    [
        ("openai", "gpt-5-mini", "gpt-5-mini ends on 2026-12-11; replacement gpt-6.1-terra"),
        ("openai", "gpt-5-mini-2025-08-07", "gpt-5-mini-2025-08-07 ends on 2026-12-11; replacement gpt-6.1-terra"),
        ("openai", "gpt-3.5-turbo", "gpt-3.5-turbo ended on 2026-10-23; replacement gpt-5.6-terra"),
        ("openai", "gpt-5.1", None),  # later than the notice
        ("openai", "gpt-6.1-terra", None),
        ("openrouter", "gpt-5-mini", None),
        ("command", None, None),
    ],
)
def test_the_sentence_on_a_model(provider, name, sentence):
    assert ending(provider, name, date(2026, 11, 27), timedelta(days=60)) == sentence


def test_placeholders_become_models():
    assert with_models("--judge {openai judge}, {other}") == f"--judge {model('openai judge')}, {{other}}"
    assert end_of_model("openai", model("openai")) is None
