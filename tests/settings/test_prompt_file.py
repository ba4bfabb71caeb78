"""Files of prompt templates: what they hold, and what is wrong with them."""

from __future__ import annotations

import pytest

from runevals.records import Message
from runevals.records.errors import InvalidSettings, InvalidSuite, UsageError
from runevals.settings.file import read_settings_file
from runevals.settings.prompt_file import read_prompt_file
from runevals.settings.resolve import RawSettings, resolve

CHAT = '[{"role": "system", "content": "In {{language}}."}, {"role": "user", "content": "{{question}}"}]'


@pytest.fixture
def read(tmp_path):
    def reading(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode())
        return read_prompt_file(path, name)

    return reading


@pytest.mark.parametrize("text", ["\nOne line,\nand {{two}}.\n\n", "\ufeffOne line,\r\nand {{two}}.\r\n"])
def test_a_text_is_the_users_message_without_the_blank_lines_around_it(read, text):
    template = read("p.md", text)
    assert (template.display_path, template.messages) == (
        "p.md",
        (Message(role="user", content="One line,\nand {{two}}."),),
    )


@pytest.mark.parametrize("name", ["p.json", "p.yaml", "p.yml"])
def test_a_list_of_messages_is_a_chat(read, name):
    assert read(name, CHAT).messages == (
        Message(role="system", content="In {{language}}."),
        Message(role="user", content="{{question}}"),
    )


def test_a_prompt_yml_is_its_messages_and_what_is_not_used_of_it_is_said(read, capfd):
    text = f"name: x\nmodel: openai/gpt-4.1\nmodelParameters: {{temperature: 0.7}}\nmessages: {CHAT}"
    assert read("p.prompt.yml", text).messages == read("p.json", CHAT).messages
    assert capfd.readouterr().err == "p.prompt.yml: model, modelParameters not used; the target's settings are\n"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("p.txt", " \n", "p.txt:1:1: is empty: it must hold the prompt"),
        ("p.txt", "Hi\n  {{ name | upper }}!", "p.txt:2:3: has a filter or an expression, '{{ name | upper }}!'"),
        ("p.txt", "Hi {% if x %}", "p.txt:1:4: has a tag, '{% if x %}'; only {{name}} is filled in, without fil"),
        ("p.json", CHAT.replace("question", "question + 1"), "p.json:1:"),
        ("p.json", '{"messages": []}', "p.json:1:14: /messages has no entry; at least 1 is needed"),
        ("p.json", '{"prompt": "Hi"}', "'messages' is missing"),
        ("p.json", "[]", "p.json:1:1: has no entry; at least 1 is needed"),
        ("p.json", "[{'role'", "is not JSON"),
        ("p.yaml", "- {role: usr, content: Hi}", "p.yaml:1:10: /0/role must be one of"),
        ("p.yaml", "- {role: user, contents: Hi}", "unknown key 'contents'; did you mean 'content'?"),
        ("p.yaml", "- {role: system, content: Hi}", "/0/role the last message must be the user's"),
    ],
)
def test_what_is_no_template_is_refused_where_it_stands(read, name, content, told):
    with pytest.raises(InvalidSuite) as caught:
        read(name, content)
    assert told in str(caught.value)


FRONT = "---\nmodel: m\ninputs:\n  question: {kind: string}\n---\n"


@pytest.mark.parametrize("front", ["", FRONT, "# licence\n\n" + FRONT, "---\n---\n", FRONT.replace("\n", "\r\n")])
@pytest.mark.parametrize(
    ("name", "text", "messages"),
    [
        ("p.prompty", "system:\nBe brief.\n\nuser:\n{{question}}\n", ["system: Be brief.", "user: {{question}}"]),
        ("p.prompty", "Be brief.\n# User:\nHi: ho\n", ["system: Be brief.", "user: Hi: ho"]),
        ("p.prompty", 'user[name="a"]:\nA\nassistant:\nB\n USER :\nC', ["user: A", "assistant: B", "user: C"]),
        ("p.prompt", "Hello {{name}}!\n", ["user: Hello {{name}}!"]),
        ("p.prompt", "user:\nHello", ["user: user:\nHello"]),
        (
            "p.prompt",
            "{{role \"system\"}}\nA {{b}}\n{{ role 'model' }}B{{role 'user'}}\nC",
            ["system: A {{b}}", "assistant: B", "user: C"],
        ),
    ],
)  # fmt: skip
def test_prompty_and_dotprompt_say_who_says_what_and_their_front_matter_is_not_sent(
    read, front, name, text, messages, capfd
):
    found = read(name, front + text).messages
    assert ("its front matter is not used" in capfd.readouterr().err) is bool(front)
    assert [f"{message.role}: {message.content}" for message in found] == messages


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("p.prompty", "Only this.", "p.prompty:1:1: /0/role the last message must be the user's"),
        (
            "p.prompty",
            "system:\nA\nuser:\n{{q}}\nassistant:\nSo",
            "p.prompty:1:1: /2/role the last message must",
        ),
        ("p.prompty", "tool:\nA\nuser:\n{{q}}", "/0/role must be one of"),
        ("p.prompty", "user:\n{% for a in b %}", "p.prompty:7:1: has a tag"),
        ("p.prompt", "Hi\n {{#each b}}", "p.prompt:7:2: has a filter or an expression"),
        ("p.prompt", '{{#role "user"}}Hi{{/role}}', "p.prompt:6:1: has a filter or an expression"),
        ("p.prompt", "{{media url=x}}", "has a filter or an expression"),
        ("p.prompt", "", "is empty"),
    ],
)
def test_what_is_no_chat_of_prompty_or_dotprompt_is_refused_where_it_stands(read, name, text, told):
    with pytest.raises(InvalidSuite) as caught:
        read(name, FRONT + text)
    assert told in str(caught.value)


def settled(tmp_path, target):
    (tmp_path / ".git").mkdir(exist_ok=True)
    (tmp_path / "runevals.yaml").write_text(f"target: {{{target}}}\n", encoding="utf-8")
    told = RawSettings(cwd=tmp_path, environment={})
    return resolve(told, read_settings_file(tmp_path, tmp_path, None)).target


@pytest.mark.parametrize("named", ["../outside.md", "/etc/passwd", "link.md", "folder", "gone.md"])
def test_it_lies_inside_the_repository(tmp_path, named):
    (tmp_path.parent / "outside.md").write_text("x", encoding="utf-8")
    (tmp_path / "link.md").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match=r"target\.prompt_file"):
        settled(tmp_path, f"type: openai, model: m, prompt_file: {named}")


def test_it_is_a_file_of_the_target(tmp_path):
    (tmp_path / "p.md").write_text("{{prompt}}", encoding="utf-8")
    target = settled(tmp_path, "type: command, command: agent, prompt_file: p.md")
    assert target.files == (tmp_path / "p.md",)
    assert target.reads_other_files


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("type: skill, prompt_file: p.md", "a skill is called with its input"),
        ("type: a2a, url: 'http://a.example', prompt_file: c.json", "an a2a agent is sent one text"),
        (
            "type: http, url: 'http://a.example', body: {text: '{{prompt}}'}, prompt_file: c.json",
            "target.prompt_file: c.json has messages before the last one, but target.body has no {{messages}}",
        ),
    ],
)
def test_a_target_that_cannot_be_asked_so_is_refused(tmp_path, target, told):
    (tmp_path / "p.md").write_text("{{prompt}}", encoding="utf-8")
    (tmp_path / "c.json").write_text(CHAT, encoding="utf-8")
    with pytest.raises(InvalidSettings, match=r"target\.prompt_file") as caught:
        settled(tmp_path, target)
    assert told in str(caught.value)


def test_an_endpoint_that_is_sent_the_conversation_takes_a_chat(tmp_path):
    (tmp_path / "c.json").write_text(CHAT, encoding="utf-8")
    url = "type: http, url: 'http://a.example'"
    assert settled(tmp_path, f"{url}, prompt_file: c.json").prompt is not None
    assert settled(tmp_path, f"{url}, body: {{m: '{{{{messages}}}}'}}, prompt_file: c.json").prompt is not None


def test_another_prompt_is_another_question_to_a_deployed_agent(tmp_path):
    url = "type: http, url: 'http://a.example'"
    found = []
    for text in ("{{prompt}}", "Kindly: {{prompt}}", "{{prompt}}\n"):
        (tmp_path / "p.md").write_text(text, encoding="utf-8")
        found.append(settled(tmp_path, f"{url}, prompt_file: p.md"))
    first, other, same = found
    assert not first.is_deployed_as(other)
    assert first.is_deployed_as(same)
