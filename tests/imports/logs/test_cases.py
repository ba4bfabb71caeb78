"""Conversations as cases: without secrets, near-duplicates once, and no more turns than a case may have."""

from __future__ import annotations

from tests.ending import ended
from tests.imports.logs.samples import ANSWER, lines

KEY = "sk-abcdefghijklmnop1234"


def test_secrets_and_patterns_are_removed_and_near_duplicates_folded(project, runevals):
    project.write("runevals.yaml", {"version": 1, "redact": {"patterns": ["[a-z]+@example\\.org"]}})
    texts = [
        f"My key is {KEY}, why is it refused?",
        "Please change the address of my account to ann@example.org",
        "Please change the address of my account to ben@example.org",
        "please change the address of my account to bob@example.org!",
        "Where is order 4711?",
        "Where is order 4712?",
    ]
    project.write(
        "log.jsonl", lines(*({"messages": [{"role": "user", "content": text}, ANSWER]} for text in texts))
    )
    code, out, err = runevals("import", "openai-log", "log.jsonl", "-o", "cases.json", "--expected")
    ended(code, 0, out + err, "4 cases from 6 conversations", "Folded: 2 near-duplicates")
    text = (project.path / "cases.json").read_text(encoding="utf-8")
    assert KEY not in text
    assert "@example.org" not in text
    items = project.document("cases.json")["items"]
    assert items[1]["notes"] == "From log.jsonl:2; 2 more like it"
    assert all(item["expected_response"] == item["response"] == "30 days." for item in items)


def test_a_conversation_of_more_turns_than_a_case_may_have_is_cut_and_says_so(project, runevals):
    messages = [{"role": role, "content": f"{role} {n}"} for n in range(25) for role in ("user", "assistant")]
    project.write("log.jsonl", lines({"messages": messages}))
    assert runevals("import", "openai-log", "log.jsonl")[0] == 0
    (item,) = project.document("evals/imported.json")["items"]
    assert len(item["turns"]) == 20
    assert "the first 20 of 25 turns" in item["notes"]


def test_a_key_in_a_long_tool_call_and_half_a_character_are_not_written(project, runevals):
    call = {"function": {"name": "post", "arguments": "x " * 95 + KEY}}
    messages = [
        {"role": "user", "content": "Hi \ud83d?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
    ]
    project.write("log.jsonl", lines({"messages": messages}))
    assert runevals("import", "openai-log", "log.jsonl")[0] == 0
    (item,) = project.document("evals/imported.json")["items"]
    assert item["prompt"] == "Hi ??"
    assert "sk-" not in item["notes"]
