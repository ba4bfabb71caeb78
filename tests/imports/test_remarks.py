"""What a conversion says of what it could not keep."""

from __future__ import annotations


def test_what_differs_in_the_same_way_in_many_tests_is_one_line(project, runevals):
    tests = [{"vars": {"x": f"{n}"}, "assert": [{"type": "equals", "value": "a"}]} for n in range(40)]
    tests += [{"vars": {"x": "z"}, "assert": [{"type": "similar", "value": "a"}]}]
    project.write("p.json", {"prompts": ["{{x}}?"], "providers": ["openai:tiny"], "tests": tests})
    lines = [line for line in runevals("import", "promptfoo", "p.json")[2].splitlines() if "differs" in line]
    alike = "white space around the answer is not compared (40 places; this is the first)"
    assert lines == [
        f"differs: test 1, assertion 1 (equals): {alike}",
        "differs: test 41, assertion 1 (similar): a judge compares the meaning, 1–5, from 3; no embeddings are",
    ]
