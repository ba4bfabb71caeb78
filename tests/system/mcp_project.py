"""A project whose prompts have addresses that MCP servers read."""

from __future__ import annotations

AGENT = "def answer(prompt):\n    return prompt\n"
SETTINGS = "target: python:agent.py:answer\nurl_fetch: {enabled: true, allow_hosts: [127.0.0.1]}\n"


def samples(project, **prompts):
    check = [{"type": "min_length", "value": 1}]
    told = [{"sample_id": key, "prompt": prompt, "assertions": check} for key, prompt in prompts.items()]
    project.write("eval-samples.json", told)


def written(project, servers, **prompts):
    project.write(".mcp.json", {"mcpServers": servers})
    project.write("runevals.yaml", SETTINGS)
    project.write("agent.py", AGENT)
    samples(project, **prompts)


def outputs(project):
    return {case["key"]: case["attempts"][0]["turns"][0]["output"] for case in project.document()["cases"]}


def errors(project):
    turns = {case["key"]: case["attempts"][0]["turns"][0] for case in project.document()["cases"]}
    assert {turn["error"]["code"] for turn in turns.values()} == {"fetch_failed"}
    return {key: turn["error"]["message"] for key, turn in turns.items()}
