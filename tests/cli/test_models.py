"""`runevals models`."""

from __future__ import annotations

import pytest

from runevals.models.facts import facts


@pytest.mark.parametrize("flags", [(), ("--replacement",)])
def test_the_end_of_each_model_and_its_replacement(runevals, project, flags):
    project.write("runevals.yaml", "target: openai:gpt-5-mini\njudge: gpt-6-luna\n")
    code, out, _ = runevals("models", *flags)
    row = facts()["model", "openai:gpt-5-mini"]
    end = f"ends on 2026-12-11 (read on {row.read_on}: {row.source}); replacement gpt-6.1-terra"
    lines = [f"openai:gpt-5-mini  {end}", "openai:gpt-6-luna  no end is announced"]
    assert (code, out.splitlines()) == (0, ["gpt-6.1-terra"] if flags else lines)
