import pytest

from runevals.evaluators.kinds import Subject
from runevals.evaluators.skill.no_forbidden_patterns import NoForbiddenPatterns
from runevals.records import Response


@pytest.mark.parametrize(
    ("forbidden", "result", "score"),
    [
        pytest.param("/etc/", "root:x:0:0 from /etc/passwd", 0.0, id="in a text"),
        pytest.param("/etc/", "no such file", 1.0, id="in none"),
        pytest.param('"admin": true', {"admin": True}, 0.0, id="in JSON"),
        pytest.param('"admin":true', {"admin": True}, 0.0, id="in JSON without spaces"),
        pytest.param("密码", {"q": "密码"}, 0.0, id="beyond ASCII"),
        pytest.param("\\u5bc6", {"q": "密码"}, 0.0, id="escaped"),
        pytest.param('}{"', {"a": 1}, 1.0, id="not across two ways of writing it"),
    ],
)
def test_forbidden_patterns_are_found_in_every_json_form_of_the_result(forbidden, result, score):
    subject = Subject(prompt="{}", response=Response(text="", value=result))
    assert NoForbiddenPatterns(forbidden=(forbidden,)).check(subject).score == score
