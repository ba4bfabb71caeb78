"""Whether a change in a job without secrets is measured, skipped or neither: as its base says."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.github.without_secrets import not_measured
from runevals.run.baseline.protected_side import ChangeEvent, protected_side
from runevals.settings.resolve import RawSettings, resolve
from tests.against_base import on_main
from tests.sample_suites import SETTINGS

PAID = "suites: [evals.json]\ntarget: {type: openai, model: gpt-5}\n"


@pytest.mark.parametrize(
    ("of_base", "of_change", "environment", "outcome"),
    [
        pytest.param(SETTINGS, SETTINGS, {}, None, id="no key is needed"),
        pytest.param(PAID, PAID, {"OPENAI_API_KEY": "sk-x"}, None, id="the key is there"),
        pytest.param(PAID, PAID, {}, "skipped", id="both need one"),
        pytest.param(PAID, SETTINGS, {}, "skipped", id="the base needs one"),
        pytest.param(PAID + "require_credentials: true\n", PAID, {}, "unmeasured", id="the base requires it"),
        pytest.param(PAID, PAID + "require_credentials: true\n", {}, "skipped", id="the change would"),
        pytest.param(SETTINGS, PAID, {}, "unmeasured", id="the change needs one"),
        pytest.param(SETTINGS, SETTINGS + "judge: gpt-5\n", {}, "unmeasured", id="its judge does"),
        pytest.param(SETTINGS, SETTINGS, {"AGENT_KEY": ""}, None, id="a program may need a secret"),
    ],
)
def test_the_base_decides(repository, of_base, of_change, environment, outcome):
    on_main(repository, "runevals.yaml", of_base)
    repository.write("runevals.yaml", of_change)
    told = RawSettings(cwd=repository.path, environment=environment)
    side = protected_side(told, ChangeEvent(untrusted=True, base=repository.git("rev-parse", "main")))
    found = not_measured(resolve(replace(told, base_side=side)), told)
    assert (None if found is None else found.verdict.outcome) == outcome


PROMPT = """\
name: towns
model: gpt-5
testData: [{input: Rome, expected: "yes"}]
messages: [{role: user, content: "{{input}}?"}]
evaluators: [{name: says so, string: {contains: "{{expected}}"}}]
"""
TOWNS = "suites: [towns.prompt.yml]\n"


@pytest.mark.parametrize(
    ("of_base", "of_change", "environment", "outcome"),
    [
        pytest.param(TOWNS, TOWNS, {}, "skipped", id="both name a model"),
        pytest.param(TOWNS, TOWNS, {"OPENAI_API_KEY": ""}, "skipped", id="the secret is empty"),
        pytest.param(TOWNS, TOWNS, {"OPENAI_API_KEY": "sk-x"}, None, id="the key is there"),
        pytest.param(TOWNS, SETTINGS, {}, "skipped", id="the change names none any more"),
        pytest.param(SETTINGS, TOWNS, {}, "unmeasured", id="the change alone names one"),
        pytest.param(TOWNS + "require_credentials: true\n", TOWNS, {}, "unmeasured", id="the base requires it"),
    ],
)
def test_a_model_that_a_prompt_file_names_needs_a_key_as_one_of_the_settings(
    repository, of_base, of_change, environment, outcome
):
    on_main(repository, "towns.prompt.yml", PROMPT)
    on_main(repository, "runevals.yaml", of_base)
    repository.write("runevals.yaml", of_change)
    told = RawSettings(cwd=repository.path, environment=environment)
    side = protected_side(told, ChangeEvent(untrusted=True, base=repository.git("rev-parse", "main")))
    found = not_measured(resolve(replace(told, base_side=side)), told)
    assert (None if found is None else found.verdict.outcome) == outcome
