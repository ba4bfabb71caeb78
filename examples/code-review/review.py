"""A code reviewer without a model: reads the request on stdin, writes its review on stdout."""

import json
import re
import sys

FINDINGS = (
    (
        r"(SELECT|INSERT|UPDATE|DELETE)\b[^\n]*['\"]\s*\+",
        "SQL injection: the query is put together from input. Use a parameterized query.",
    ),
    (r"\beval\(", "Code injection: eval runs whatever it is given. Parse the input instead."),
    (r"(?i)(password|api_key)\s*=\s*['\"]", "A secret stands in the code. Read it from the environment."),
)


def review(code):
    """What is wrong with the code, a line each."""
    return [advice for pattern, advice in FINDINGS if re.search(pattern, code)] or ["I found no problem."]


request = json.load(sys.stdin)
print("\n".join(review(request["prompt"])))
