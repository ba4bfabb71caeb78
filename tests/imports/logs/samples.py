"""Small logs in the form that each tool writes, of one conversation."""

from __future__ import annotations

import json

SYSTEM = {"role": "system", "content": "Be brief."}
FIRST = {"role": "user", "content": "How long can I return shoes?"}
ANSWER = {"role": "assistant", "content": "30 days."}
CALL = {"type": "function", "id": "c1", "function": {"name": "policy", "arguments": '{"of": "shoes"}'}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "30 days"}
SECOND = {"role": "user", "content": [{"type": "text", "text": "And boots?"}]}
TURNS = [("How long can I return shoes?", "30 days."), ("And boots?", "14 days.")]


def response(message):
    return {"id": "x", "object": "chat.completion", "choices": [{"index": 0, "message": message}]}


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


OPENAI = lines(
    {"request": {"model": "m", "messages": [SYSTEM, FIRST]}, "response": response(CALLING)},
    {"request": {"model": "m", "messages": [SYSTEM, FIRST, CALLING, RESULT]}, "response": response(ANSWER)},
    {
        "request": {"model": "m", "messages": [SYSTEM, FIRST, CALLING, RESULT, ANSWER, SECOND]},
        "response": response({"role": "assistant", "content": "14 days."}),
    },
)
BLOCKS = [{"type": "tool_use", "id": "t", "name": "policy", "input": {"of": "shoes"}}]
CLAUDE = lines(
    {"type": "summary", "summary": "Shoes", "leafUuid": "u"},
    *(
        {"type": role, "sessionId": "s", "isSidechain": False, "message": {"role": role, "content": content}}
        for role, content in (
            ("user", "<command-name>/clear</command-name>"),
            ("user", FIRST["content"]),
            ("assistant", [{"type": "thinking", "thinking": "hm"}]),
            ("assistant", BLOCKS),
            ("user", [{"type": "tool_result", "tool_use_id": "t", "content": "30 days"}]),
            ("assistant", [{"type": "text", "text": "30 days."}]),
            ("user", SECOND["content"]),
            ("assistant", [{"type": "text", "text": "14 days."}]),
        )
    ),
    {"type": "user", "sessionId": "s", "isSidechain": True, "message": {"role": "user", "content": "Sub task"}},
)
LANGFUSE = json.dumps(
    [
        {
            "id": "o2",
            "traceId": "t",
            "type": "GENERATION",
            "input": json.dumps([SYSTEM, FIRST, CALLING, RESULT, ANSWER, SECOND]),
            "output": {"role": "assistant", "content": "14 days."},
        },
        {
            "id": "o1",
            "traceId": "t",
            "type": "GENERATION",
            "input": {"messages": [SYSTEM, FIRST]},
            "output": "30 days.",
        },
        {"id": "o0", "traceId": "t", "type": "SPAN", "input": "a step", "output": None},
    ]
)


def genai(messages):
    """Messages in the conventions: parts in place of content."""
    found = []
    for message in messages:
        calls = message.get("tool_calls") or ()
        content = message["content"]
        text = content if isinstance(content, str | None) else content[0]["text"]
        parts = [{"type": "text", "content": text}] if text else []
        parts += [{"type": "tool_call", "id": "c1", "name": "policy", "arguments": {"of": "shoes"}} for _ in calls]
        found.append({"role": message["role"], "parts": parts})
    return found


def span(number, messages, answer):
    texts = {
        "gen_ai.input.messages": json.dumps(genai(messages)),
        "gen_ai.output.messages": json.dumps(genai([answer])),
    }
    texts |= {"gen_ai.operation.name": "chat"}
    attributes = [{"key": key, "value": {"stringValue": text}} for key, text in texts.items()]
    return {"traceId": "aa", "spanId": f"0{number}", "startTimeUnixNano": str(number), "attributes": attributes}


SPANS = [
    span(1, [SYSTEM, FIRST], CALLING),
    span(2, [SYSTEM, FIRST, CALLING, RESULT, ANSWER, SECOND], {"role": "assistant", "content": "14 days."}),
]
OTLP = {"resourceSpans": [{"scopeSpans": [{"spans": SPANS}]}]}
SAMPLES = {
    "openai-log": OPENAI,
    "claude-transcript": CLAUDE,
    "langfuse": LANGFUSE,
    "otlp": json.dumps(OTLP),
}
