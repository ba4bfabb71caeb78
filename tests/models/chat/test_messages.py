"""What the Messages API is sent for messages and parameters of chat completions."""

from __future__ import annotations

import pytest

from runevals.models.chat.messages import body
from tests.wires import WIRES

ASKED = [{"role": "user", "content": "?"}]
CACHED = {"cache_control": {"type": "ephemeral"}}
TOOL = {"type": "function", "function": {"name": "f", "description": "Does.", "parameters": {"type": "object"}}}
SCHEMA = {"type": "object", "additionalProperties": False}


def sent(messages, parameters):
    """The body, which the vendor's own types describe."""
    made = body(messages, parameters)
    assert WIRES["messages"].fault({"model": "m", **made}) is None
    return made


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, {"max_tokens": 16_000}),
        ({"max_tokens": 5}, {"max_tokens": 5}),
        ({"max_completion_tokens": 5, "stop": "END"}, {"max_tokens": 5, "stop_sequences": ["END"]}),
        ({"stop": ["A", "B"]}, {"stop_sequences": ["A", "B"]}),
        ({"reasoning_effort": "low"}, {"output_config": {"effort": "low"}}),
        (
            {
                "reasoning_effort": "low",
                "response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}},
            },
            {"output_config": {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}}},
        ),
        ({"response_format": {"type": "json_object"}}, {}),
        ({"thinking": {"type": "adaptive"}}, {"thinking": {"type": "adaptive"}}),
        ({"tool_choice": "auto"}, {"tool_choice": {"type": "auto"}}),
        ({"tool_choice": "none"}, {"tool_choice": {"type": "none"}}),
        ({"tool_choice": "required"}, {"tool_choice": {"type": "any"}}),
        (
            {"tool_choice": {"type": "function", "function": {"name": "f"}}},
            {"tool_choice": {"type": "tool", "name": "f"}},
        ),
        ({"tool_choice": {"type": "any"}}, {"tool_choice": {"type": "any"}}),
        (
            {"tools": [{"type": "function", "function": {"name": "g"}}, TOOL]},
            {
                "tools": [
                    {"name": "g", "input_schema": {"type": "object"}},
                    {"name": "f", "description": "Does.", "input_schema": {"type": "object"}, **CACHED},
                ]
            },
        ),
    ],
)
def test_parameters_of_chat_completions_are_translated(parameters, expected):
    assert sent(ASKED, parameters) == {"max_tokens": 16_000, "messages": ASKED, **expected}


@pytest.mark.parametrize(
    ("messages", "system", "turns"),
    [
        pytest.param(
            [{"role": "system", "content": "Be kind.", "fixed": True}, *ASKED],
            [{"type": "text", "text": "Be kind.", **CACHED}],
            ASKED,
            id="a fixed system prompt is cached",
        ),
        pytest.param(
            [{"role": "system", "content": "Grade. 4711"}, *ASKED],
            [{"type": "text", "text": "Grade. 4711"}],
            ASKED,
            id="one that differs with each call, as a judge's, is not",
        ),
        pytest.param(
            [*ASKED, {"role": "assistant", "content": ""}, *ASKED],
            None,
            [*ASKED, *ASKED],
            id="a turn without content is left out, for it is refused",
        ),
        pytest.param(
            [*ASKED, {"role": "assistant", "content": None, "items": [{"type": "text", "text": "x"}]}],
            None,
            [*ASKED, {"role": "assistant", "content": [{"type": "text", "text": "x"}]}],
            id="what the model gave goes back as it was",
        ),
        pytest.param(
            [*ASKED, *({"role": "tool", "tool_call_id": n, "content": f"r{n}"} for n in "12"), *ASKED],
            None,
            [
                *ASKED,
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": n, "content": f"r{n}"} for n in "12"],
                },
                *ASKED,
            ],
            id="results of tools are one turn",
        ),
    ],
)
def test_turns_are_those_of_a_user_and_the_model(messages, system, turns):
    made = sent(messages, {"tools": [TOOL]})
    assert (made.get("system"), made["messages"]) == (system, turns)
    is_cached_with_system = system is not None and "cache_control" in system[0]
    assert ("cache_control" in made["tools"][0]) is not is_cached_with_system
