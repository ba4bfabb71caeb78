"""What suite formats call our evaluators."""

from __future__ import annotations

# Types that are another one, inverted.
INVERTED = {
    "not_contains": "contains",
    "not_contains_any": "contains_any",
    "not_equals": "equals",
    "not_regex": "regex",
    "tool_input_not_contains": "tool_input_contains",
}
TYPES = (
    *("contains", "contains_all", "contains_any", "regex", "json_valid", "json_schema", "equals"),
    *("starts_with", "ends_with", "min_length", "max_length", "word_count_min", "word_count_max"),
    *("cost_max", "latency_max", "turns_min", "turns_max", "tools_called", "tools_not_called"),
    *("tools_count_min", "tools_count_max", "tool_output_contains", "tool_input_contains", "mock_hit"),
    *("tool_sequence", "tool_arguments", "tool_count", "max_steps", "skill_triggered", "statement"),
    *("rouge_n_min", "bleu_min", "levenshtein_max", "custom", "assert-set"),
    *("faithfulness", "answer_relevancy", "context_recall", "semantic_similarity"),
    *INVERTED,
)


# In a dataset these words mean the presets; `contains` of other formats ignores case.
PRESETS = {
    "exact_match": "preset-exact-match",
    "contains": "preset-contains",
    "regex": "preset-regex",
    "json_schema": "preset-json-schema",
    "similarity": "preset-similarity",
}
