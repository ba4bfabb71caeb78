"""What evaluators must find: patterns as JavaScript reads them, and each assertion type of eval samples."""

from __future__ import annotations

from msgspec.structs import replace

from runevals.records import Response, ToolCall
from tests.evaluators.subjects import answering

# pattern, flags, text, matches: by Node 20; `tests/system/test_node_regex.py` asks the Node of this machine.
PATTERNS = [
    (r"^\d{4}-\d{2}-\d{2}$", "", "2024-01-15", True),
    (r"^\d{4}-\d{2}-\d{2}$", "", "2024-01-15\n", False),
    (r"^\d+$", "", "١٢٣", False),
    (r"^\w+$", "", "é", False),
    (r"(?<=\$)\d+", "", "costs $15", True),
    (r"(?<year>\d{4})-\k<year>", "", "2024-2024", True),
    (r"^\p{Script=Han}+$", "u", "首都", True),
    (r"^.$", "", "😀", False),
    (r"^.$", "u", "😀", True),
    (r"b", "y", "ab", False),
    (r"^b", "m", "a\nb", True),
    (r"a.b", "s", "a\nb", True),
    (r"paris", "i", "PARIS", True),
    (r"a\u0000b", "", "a\x00b", True),
    (r"\ud800", "", "x\ud800", True),
    (r"a{,2}", "", "a{,2}", True),
    (r"[^]", "", "\n", True),
]

CALLS = (
    ToolCall(name="search", input={"query": "Refund policy"}, output="30 days", mock="search:1"),
    ToolCall(name="mcp__docs__fetch", input={"path": "a.md", "depth": 2}, output="Straße 退款"),
)


def told(text="", **reported):
    return replace(answering(text), response=Response(text=text, **reported))


CALLED = told(tool_calls=CALLS)
UNTOLD = told(tool_calls=(ToolCall(name="search", output="y"), ToolCall(name="search", input=None)))


def ran(given, output=""):
    return told(tool_calls=(ToolCall(name="Bash", input=given, output=output),))


# type, options, subject, passes (None: evidence is missing)
ASSERTIONS = [
    ("contains", {"value": "Refund"}, told("a refund"), True),
    ("contains", {"value": "refund"}, told("no"), False),
    ("contains", {"value": " refund"}, told("refund"), False),  # nothing is trimmed
    ("contains", {"value": "Refund", "case_sensitive": True}, told("a refund"), False),
    ("contains", {"value": "refund", "case_sensitive": True}, told("a refund"), True),
    ("contains", {"value": "\n"}, told("one\ntwo"), True),  # a line break is no blank: it asks for two lines
    ("contains", {"value": "\n"}, told("one"), False),
    ("starts_with", {"value": "dear", "case_sensitive": True}, told("Dear you"), False),
    ("starts_with", {"value": "Dear", "case_sensitive": True}, told("Dear you"), True),
    ("ends_with", {"value": "Regards", "case_sensitive": True}, told("kind regards"), False),
    ("ends_with", {"value": "regards", "case_sensitive": True}, told("kind regards"), True),
    ("contains", {"value": "退款"}, told("可以退款。"), True),
    ("contains_all", {"values": ["a", "B"]}, told("ab"), True),
    ("contains_all", {"values": ["a", "c"]}, told("ab"), False),
    ("contains_all", {"values": ["退", "款"]}, told("退款"), True),
    ("contains_any", {"values": ["x", "B"]}, told("ab"), True),
    ("contains_any", {"values": ["x", "y"]}, told("ab"), False),
    ("contains_any", {"values": ["x", "É"]}, told("café"), True),
    ("regex", {"pattern": "^A\\d$"}, told("a1"), True),  # case is ignored unless flags are given
    ("regex", {"pattern": "^A\\d$", "flags": ""}, told("a1"), False),
    ("regex", {"pattern": "a$"}, told("a\n"), False),  # $ is not before a final newline
    ("regex", {"pattern": "^\\p{Script=Han}+$", "flags": "u"}, told("退款"), True),
    ("min_length", {"value": 3}, told("abc"), True),
    ("min_length", {"value": 4}, told("abc"), False),
    ("min_length", {"value": 2}, told("👍🏽"), True),  # code points, not UTF-16 units
    ("max_length", {"value": 3}, told("abc"), True),
    ("max_length", {"value": 2}, told("abc"), False),
    ("max_length", {"value": 2}, told("👍🏽"), True),
    ("word_count_min", {"value": 2}, told("one\u3000two"), True),  # an ideographic space splits
    ("word_count_min", {"value": 3}, told("one two"), False),
    ("word_count_max", {"value": 2}, told(" one  two "), True),
    ("word_count_max", {"value": 3}, told("你好世界"), False),  # a CJK character is a word, as elsewhere
    ("word_count_max", {"value": 4}, told("你好，世界"), True),
    ("word_count_max", {"value": 3}, told("see 北京"), True),
    ("word_count_max", {"value": 2}, told("well-known –"), True),
    ("word_count_max", {"value": 0}, told(""), True),
    ("word_count_max", {"value": 1}, told("one two"), False),
    ("json_valid", {}, told(' {"a": [1, null]}\n'), True),
    ("json_valid", {}, told("{'a': 1}"), False),
    ("json_valid", {}, told("NaN"), False),
    ("json_valid", {}, told("```json\n[1]\n```"), False),
    ("json_valid", {"strip_fences": True}, told("```json\n[1]\n```"), True),
    ("json_valid", {}, told('"退款"'), True),
    ("json_schema", {"schema": {"type": "object", "required": ["a"]}}, told('{"a": 1}'), True),
    ("json_schema", {"schema": {"type": "object", "required": ["a"]}}, told("{}"), False),
    ("json_schema", {"schema": {"maxLength": 1}}, told('"退"'), True),
    ("equals", {"value": "Paris"}, told(" Paris\n"), True),
    ("equals", {"value": "Paris"}, told("paris"), False),
    ("equals", {"value": 42}, told("42"), True),
    ("equals", {"value": 42.0}, told("42"), True),
    ("equals", {"value": 0.00001}, told("0.00001"), True),
    ("equals", {"value": 1e-7}, told("1e-7"), True),  # as JavaScript writes them
    ("equals", {"value": 1.5e21}, told("1.5e+21"), True),
    ("equals", {"value": "退款"}, told("退款"), True),
    ("starts_with", {"value": "dear"}, told("Dear you"), True),
    ("starts_with", {"value": "Dear"}, told(" Dear"), False),
    ("starts_with", {"value": "退"}, told("退款"), True),
    ("ends_with", {"value": "REGARDS"}, told("kind regards"), True),
    ("ends_with", {"value": "regards"}, told("regards."), False),
    ("ends_with", {"value": "款"}, told("退款"), True),
    ("cost_max", {"value": 0.01}, told(cost_usd=0.01), True),
    ("cost_max", {"value": 0.01}, told(cost_usd=0.0101), False),
    ("cost_max", {"value": 0.01}, told(), None),
    ("latency_max", {"value": 100}, told(latency_s=0.1), True),
    ("latency_max", {"value": 100}, told(latency_s=0.1001), False),
    ("latency_max", {"value": 100}, told(), None),
    ("turns_min", {"value": 2}, told(turns=2), True),
    ("turns_min", {"value": 2}, told(turns=1), False),
    ("turns_min", {"value": 2}, told(), None),
    ("turns_max", {"value": 2}, told(turns=2), True),
    ("turns_max", {"value": 2}, told(turns=3), False),
    ("turns_max", {"value": 2}, told(), None),
    ("tools_called", {"values": ["Search", "fetch"]}, CALLED, True),  # its own name, or with its server's
    ("tools_called", {"values": ["mcp__docs__fetch"]}, CALLED, True),
    ("tools_called", {"values": ["search", "write"]}, CALLED, False),
    ("tools_called", {"values": ["sear"]}, CALLED, False),  # exact
    ("tools_called", {"values": ["search"]}, told(), None),
    ("tools_not_called", {"values": ["write"]}, CALLED, True),
    ("tools_not_called", {"values": ["write", "SEARCH"]}, CALLED, False),
    ("tools_not_called", {"values": ["write"]}, told(tool_calls=()), True),
    ("tools_not_called", {"values": ["write"]}, told(), None),
    ("tools_count_min", {"value": 2}, CALLED, True),
    ("tools_count_min", {"value": 3}, CALLED, False),
    ("tools_count_min", {"value": 0}, told(), None),
    ("tools_count_max", {"value": 2}, CALLED, True),
    ("tools_count_max", {"value": 1}, CALLED, False),
    ("tools_count_max", {"value": 1}, told(), None),
    ("tool_output_contains", {"value": "search:30 DAYS"}, CALLED, True),
    ("tool_output_contains", {"value": "fetch:退款"}, CALLED, True),
    ("tool_output_contains", {"value": "search:40"}, CALLED, False),
    ("mock_hit", {"value": " search:01"}, CALLED, True),
    ("tool_output_contains", {"value": "search:x"}, told(), None),
    ("tool_output_contains", {"value": "search:x"}, UNTOLD, None),  # it may have held anything
    ("tool_output_contains", {"value": "search:y"}, UNTOLD, True),
    ("tool_output_contains", {"value": "other:x"}, UNTOLD, False),
    ("tool_input_contains", {"value": "search:refund"}, CALLED, True),
    ("tool_input_contains", {"value": 'fetch:"depth": 2'}, CALLED, True),  # as JSON too, split at the first colon
    ("tool_input_contains", {"value": 'fetch:"depth":2'}, CALLED, True),  # however its JSON is spaced
    ("tool_input_contains", {"value": 'Bash:"force":true'}, ran({"force": True}), True),
    ("tool_input_contains", {"value": 'Bash:{"a":[1,{"force":true}]}'}, ran({"a": [1, {"force": True}]}), True),
    ("tool_input_contains", {"value": 'Bash:"force":true'}, ran({"force": False}), False),
    ("tool_input_contains", {"value": 'Bash:"force":true'}, ran('{ "force" : true }'), True),  # JSON in a text
    ("tool_input_contains", {"value": 'Bash:{ "force" :'}, ran('{ "force" : true }'), True),  # and as it stands
    ("tool_input_contains", {"value": 'Bash:"force":true'}, ran("force it"), False),
    ("tool_input_contains", {"value": 'Bash:"q":"退款"'}, ran({"q": "退款"}), True),
    ("tool_input_contains", {"value": 'Bash:"q": "\\u9000\\u6b3e"'}, ran({"q": "退款"}), True),  # escaped, too
    ("tool_input_contains", {"value": "Bash:\\u9000"}, ran({"q": "refund"}), False),
    ("tool_output_contains", {"value": 'Bash:"ok":true'}, ran(None, '{"ok": true, "q": "\\u9000"}'), True),
    ("tool_output_contains", {"value": "Bash:退"}, ran(None, '{"ok": true, "q": "\\u9000"}'), True),
    ("tool_output_contains", {"value": 'Bash:"ok":false'}, ran(None, '{"ok": true'), False),
    ("tool_input_contains", {"value": "fetch:refund"}, CALLED, False),
    ("tool_input_contains", {"value": "search:x"}, told(), None),
    ("tool_input_contains", {"value": "search:x"}, UNTOLD, None),
    ("mock_hit", {"value": "search:1"}, CALLED, True),
    ("mock_hit", {"value": "search:2"}, CALLED, False),
    ("mock_hit", {"value": "search:1"}, told(), None),
    ("max_steps", {"value": 2}, CALLED, True),
    ("max_steps", {"value": 1}, CALLED, False),
    ("max_steps", {"value": 1}, told(), None),
    ("rouge_n_min", {"reference": "the cat sat"}, told("the cat"), True),
    ("rouge_n_min", {"reference": "the cat sat on it"}, told("the dog ran"), False),
    ("rouge_n_min", {"reference": "a b", "n": 2}, told("a b"), True),
    ("rouge_n_min", {"reference": "北京是中国的首都"}, told("北京是中国首都"), True),
    ("bleu_min", {"reference": "the cat sat on the mat"}, told("the cat sat on a mat"), True),
    ("bleu_min", {"reference": "the cat sat on the mat"}, told("the cat"), False),
    ("bleu_min", {"reference": "北京是中国的首都"}, told("北京是中国首都"), True),
    ("levenshtein_max", {"reference": "30 days", "value": 2}, told("30 day"), True),
    ("levenshtein_max", {"reference": "30 days", "value": 0}, told("30 day"), False),
    ("levenshtein_max", {"reference": "退款", "value": 1}, told("退货"), True),
]

# type, options, what is told of them
BAD_OPTIONS = [
    ("contains", {"value": ""}, "value is empty"),
    ("contains", {"value": "  "}, "value is blank; write the text, or look for spaces with regex"),
    ("contains_all", {"values": ["a", "\u3000"]}, "values has a blank text"),
    ("contains_any", {"values": ["a", "\u00a0"]}, "values has a blank text"),
    ("starts_with", {"value": " "}, "value is blank"),
    ("ends_with", {"value": " "}, "value is blank"),
    ("tools_called", {"values": ["search", ""]}, "values holds a blank name"),
    ("tools_not_called", {"values": [" "]}, "values holds a blank name"),
    ("tool_output_contains", {"value": "search: "}, "it must be Tool:text"),
    ("tool_input_contains", {"value": "search: "}, "it must be Tool:text"),
    ("contains_all", {}, "contains_all needs the option 'values'"),
    ("contains_all", {"values": []}, "values must be a list with at least one entry"),
    ("contains_any", {"values": ["a", ""]}, "values has the empty text"),
    ("regex", {"pattern": 5}, "pattern must be text"),
    ("min_length", {"value": "3"}, "value must be a whole number"),
    ("min_length", {"value": -1}, "value is -1; it must not be negative"),
    ("max_length", {}, "max_length needs the option 'value'"),
    ("word_count_min", {"value": 1.5}, "value must be a whole number"),
    ("word_count_max", {"value": True}, "value must be a whole number"),
    ("json_schema", {"schema": {"type": "nothing"}}, "is not a JSON Schema"),
    ("equals", {"value": None}, "value must be text or a number"),
    ("starts_with", {"value": ""}, "value is empty"),
    ("ends_with", {"value": ""}, "value is empty"),
    ("cost_max", {"value": -0.1}, "must not be negative"),
    ("latency_max", {"value": "1s"}, "value must be a number"),
    ("turns_min", {"value": -1}, "must not be negative"),
    ("turns_max", {"value": -1}, "must not be negative"),
    ("tools_called", {"values": "x"}, "values must be a list"),
    ("tools_not_called", {}, "needs the option 'values'"),
    ("tools_count_min", {"value": "1"}, "value must be a whole number"),
    ("tools_count_max", {}, "needs the option 'value'"),
    ("tool_output_contains", {"value": "search"}, "it must be Tool:text"),
    ("max_steps", {"value": -1}, "must not be negative"),
    ("statement", {"statement": " "}, "statement is blank"),
    ("tool_input_contains", {"value": ":x"}, "it must be Tool:text"),
    ("mock_hit", {"value": "search:0"}, "it must be Tool:N"),
    ("rouge_n_min", {}, "needs the option 'reference'"),
    ("rouge_n_min", {"reference": "x", "n": 0}, "n is 0; it must be at least 1"),
    ("rouge_n_min", {"reference": "hi", "n": 2}, "reference has 1 word, but ROUGE-2 compares runs of 2"),
    ("rouge_n_min", {"reference": "?!"}, "reference has 0 words, but ROUGE-1 compares runs of 1"),
    ("bleu_min", {"reference": "Rome is old"}, "reference has 3 words, but BLEU-4 compares runs of 4"),
    ("bleu_min", {}, "needs the option 'reference'"),
    ("levenshtein_max", {"reference": "x", "value": -1}, "must not be negative"),
    ("semantic_similarity", {}, "needs the option 'reference'"),
    ("json_valid", {"strip_fences": "yes"}, "strip_fences must be true or false"),
    ("faithfulness", {"reference": 5}, "reference must be text"),
    ("context_recall", {"reference": 5}, "reference must be text"),
    ("answer_relevancy", {"reference": "x"}, "it takes none"),
]
