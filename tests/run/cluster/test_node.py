"""What one node does, as the process on it would: no cluster is needed for that."""

from __future__ import annotations

import pickle

import pytest

from runevals import __version__
from runevals.models.chat.prices import Prices
from runevals.records import Conversation
from runevals.run.cluster.node import Node, NodeSpec
from runevals.run.cluster.repository_archive import packed
from runevals.settings.resolve import RawSettings, resolve
from runevals.targets.kind import TargetSettings
from runevals.targets.openai import ModelTargetSettings
from runevals.targets.python import PythonSettings
from tests.json_server import Answer, json_server


def shipment(told: TargetSettings, repository, keys=()) -> bytes:
    return pickle.dumps(NodeSpec(target=told, prices=Prices(), keys=tuple(keys), repository=(repository,)))


def asked(turn: int, **more) -> Conversation:
    return Conversation(suite="s", case="k", attempt=1, turn=turn, prompt=f"turn {turn}", thread="s#k#1", **more)


@pytest.fixture
def node():
    made = Node()
    yield made
    made.close()


def test_a_conversation_goes_on_where_the_node_of_its_first_turn_was_lost(project, node):
    def answer(request, number):
        return Answer({"answer": "ok", "conversation_id": "c-7"})

    with json_server(answer) as server:
        told = resolve(
            RawSettings(flags={"target": f"http:{server.url}"}, cwd=project.path, environment={})
        ).target
        sent = shipment(told, project.path)
        assert node.prepare(__version__, sent, None).problem == ""
        first = node.answer(asked(1), None)
        other = Node()
        other.prepare(__version__, sent, None)
        other.answer(asked(2), first.conversation_id)
        other.close()
        assert [request.body.get("conversation_id") for request in server.requests] == [None, "c-7"]


def test_a_node_with_another_version_says_so_before_it_reads_anything(node):
    problem = node.prepare("0.0.1", b"no pickle", None).problem
    assert problem == f"runevals {__version__} is installed there, and 0.0.1 here"


def test_a_variable_that_is_not_set_on_the_node_is_named(project, node):
    told = ModelTargetSettings(type="openai", base=project.path, model="tiny", api_key_env="NODE_KEY")
    problem = node.prepare(__version__, shipment(told, project.path, ["NODE_KEY"]), None).problem
    assert "the environment variable NODE_KEY is not set there" in problem
    assert "ray start" in problem


def test_code_of_the_repository_runs_from_the_files_that_were_sent(project, node):
    code = "from words import WORD\n\ndef answer(prompt):\n    return f'{WORD} {__file__}'\n"
    project.write("agent/answer.py", code)
    project.write("agent/words.py", "WORD = 'hello'\n")
    told = PythonSettings(type="python", base=project.path / "agent", function="answer.py:answer", files=None)
    assert node.prepare(__version__, shipment(told, project.path), packed(project.path, {})).problem == ""
    word, file = node.answer(asked(1), None).response.text.split(" ")
    assert word == "hello"
    assert file.endswith("/agent/answer.py")
    assert not file.startswith(str(project.path))
