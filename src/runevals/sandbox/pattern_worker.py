"""A worker for patterns and schemas, which contain no code: it is isolated once and answers many calls.

Started as `pattern_worker.py KIND FOLDER…` with an empty environment and without site-packages; what it imports
beside the standard library lies in the folders. JSON requests on stdin, JSON answers on stdout, one a line.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - without pathlib

import lock

MEMORY_BYTES = 128 * 1024 * 1024
_FOR_LIBRARIES = 6 * MEMORY_BYTES  # address space; the engine's own limit is exact


def main() -> None:
    kind, *folders = sys.argv[1:]
    sys.path.extend(folders)
    os.dup2(1, lock.ANSWER_FD)
    answers = os.fdopen(lock.ANSWER_FD, "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _load(kind)
    answers.write(json.dumps({"mode": _locked()}) + "\n")
    answers.flush()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            answer: dict[str, object] = {"value": _KINDS[request["kind"]](request["code"], request["arguments"])}
        except _Refused as refusal:
            answer = dict(zip(("error", "reason"), refusal.args, strict=True))
        except MemoryError:
            answer = {"error": "evaluator_memory", "reason": "more than 128 MB of memory were needed"}
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this call's and not the worker's
            answer = {"error": "evaluator_crashed", "reason": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


class _Refused(Exception):
    """The code of an error, and the reason."""


def _locked() -> str:
    """Drops every right that matching does not need → the level of isolation."""
    try:
        filter_ = lock.Lock(read_fd=0)
    except OSError:
        filter_ = None
    lock.drop_user()
    in_use = lock.memory_in_use()
    lock.limit(memory_bytes=in_use + _FOR_LIBRARIES if in_use else None, cpu_s=None)
    if filter_ is None:
        return "reduced"
    lock.drop_file_access()
    lock.hide()
    with suppress(OSError):
        filter_.put_on()
        return "strict"
    return "reduced"


# null for one that is refused.
_TEST_MANY = """(call) => JSON.stringify(call.calls.map(([pattern, flags, text]) => {
  try { return new RegExp(pattern, flags).test(text); } catch { return null; }
}))"""

# Earlier redactions stay unchanged; an empty match removes nothing.
_REDACT = r"""(call) => {
  const mark = "\\[redacted(?: (?:key|[A-Za-z]\\w*_(?:KEY|TOKEN|SECRET|PASSWORD)))?\\]";
  const marks = new RegExp(`^${mark}$`, "u");
  const found = call.patterns.map((pattern) => new RegExp(`${mark}|(?:${pattern})`, "gu"));
  const replaced = (match) => (match === "" || marks.test(match) ? match : "[redacted]");
  return JSON.stringify(call.texts.map((text) => {
    const made = found.reduce((sofar, pattern) => sofar.replace(pattern, replaced), text);
    return made === text ? null : made;
  }));
}"""


@cache
def _javascript() -> tuple[Any, Mapping[str, Callable[[Any], Any]]]:
    import quickjs  # loaded when the first pattern comes

    context = quickjs.Context()
    context.set_memory_limit(MEMORY_BYTES)
    exec_ = "(call) => JSON.stringify(new RegExp(call.pattern, call.flags).exec(call.text))"
    test = "(call) => new RegExp(call.pattern, call.flags).test(call.text)"
    return context, {
        name: context.eval(code)
        for name, code in (("exec", exec_), ("test", test), ("test_many", _TEST_MANY), ("redact", _REDACT))
    }


def javascript_test(pattern: str, flags: str, text: str) -> bool:
    """`new RegExp(pattern, flags).test(text)`, by QuickJS."""
    return bool(_run_javascript("test", pattern, flags, text))


def _run_javascript(what: str, pattern: str, flags: str, text: str) -> Any:
    return _ask(what, {"pattern": pattern, "flags": flags, "text": text}, f"{pattern}/{flags}")


def _ask(what: str, call: Mapping[str, object], pattern: str) -> Any:
    import quickjs

    context, functions = _javascript()
    try:
        # As JSON, because the binding does not take lone surrogates as text.
        return functions[what](context.parse_json(json.dumps(call)))
    except quickjs.JSException as error:
        message = str(error).splitlines()[0]
        if message.startswith("SyntaxError"):
            raise _Refused("evaluator_syntax", f"/{pattern}: {message}") from None
        if message == "null":
            raise _Refused("evaluator_memory", "more than 128 MB of memory were needed") from None
        raise _Refused("evaluator_crashed", message) from None


def _redact(code: str, arguments: dict[str, Any]) -> object:
    """Each text without the matches of the patterns; None if there is no match."""
    patterns = json.loads(code)
    for pattern in patterns:  # compiled separately first: inside the group, an invalid pattern might be valid
        javascript_test(pattern, "u", "")
    return json.loads(_ask("redact", {"patterns": patterns, "texts": arguments["texts"]}, "/".join(patterns)))


def _json_schema(code: str, arguments: dict[str, str]) -> object:
    """The validation errors as `path: message`, at most 50, sorted."""
    errors = []
    for error in _validator(code).iter_errors(json.loads(arguments["text"])):
        errors.append(f"{error.json_path}: {error.message[:500]}")
        if len(errors) == 50:
            break
    return sorted(errors)


@cache
def _validator(code: str) -> Any:
    from jsonschema import Draft7Validator, FormatChecker, validators  # loaded when the first schema comes
    from jsonschema.exceptions import ValidationError
    from jsonschema_specifications import REGISTRY

    def pattern(_validator: Any, value: str, instance: object, _schema: object) -> Any:
        if isinstance(instance, str) and not javascript_test(value, "u", instance):
            yield ValidationError(f"{instance!r} does not match {value!r}")

    def pattern_properties(validator: Any, patterns: Any, instance: Any, _schema: Any) -> Any:
        for expression, subschema in patterns.items() if isinstance(instance, dict) else ():
            for name in instance:
                if javascript_test(expression, "u", name):
                    yield from validator.descend(instance[name], subschema, path=name, schema_path=expression)

    def additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Any:
        patterns = schema.get("patternProperties", {})
        for name in instance if isinstance(instance, dict) else ():
            if name in schema.get("properties", {}) or any(javascript_test(p, "u", name) for p in patterns):
                continue
            if allowed is False:
                yield ValidationError(f"{name!r} is not allowed here")
            else:
                yield from validator.descend(instance[name], allowed, path=name)

    schema = json.loads(code)
    base = validators.validator_for(schema, default=Draft7Validator)
    extend: Any = validators.extend
    cls = extend(
        base,
        {
            "pattern": pattern,
            "patternProperties": pattern_properties,
            "additionalProperties": additional_properties,
        },
    )
    checker = FormatChecker(())
    checker.checkers = {**base.FORMAT_CHECKER.checkers, **_strict_formats()}
    # The registry holds the published drafts and fetches nothing.
    return cls(schema, format_checker=checker, registry=REGISTRY)


def _strict_formats() -> dict[str, Any]:
    """The formats that jsonschema needs a package each for; these are right by its own test suite."""
    from jsonschema_rs import Draft202012Validator

    def check(name: str) -> Any:
        return Draft202012Validator({"format": name}, validate_formats=True).is_valid, UnicodeEncodeError

    return {name: check(name) for name in _STRICT}


_STRICT = (
    *("date-time", "duration", "hostname", "iri", "iri-reference", "json-pointer", "relative-json-pointer"),
    *("time", "uri", "uri-reference", "uri-template"),
)
FORMATS = (*_STRICT, "color", "date", "email", "idn-email", "idn-hostname", "ipv4", "ipv6", "regex", "uuid")


def _load(kind: str) -> None:
    """Imports everything calls of one kind need: imports do not count for their time limit or fail later."""
    javascript_test("a", "", "a")
    if kind == "json_schema":
        for name in ("idna", "stringprep", "encodings.idna", "unicodedata"):
            with suppress(ImportError):
                __import__(name)
        every_format = [{"format": name} for name in FORMATS]
        for schema in (
            {"anyOf": every_format},
            {"$ref": "#/definitions/a", "definitions": {"a": {"type": "null"}}},
        ):
            _json_schema(json.dumps(schema), {"text": '"2026-01-01T00:00:00Z"'})


_KINDS: dict[str, Callable[[str, dict[str, Any]], object]] = {
    "regex": lambda code, sent: javascript_test(code, sent["flags"], sent["text"]),
    "regex_many": lambda _, sent: json.loads(_ask("test_many", {"calls": sent["calls"]}, "many patterns")),
    # The whole match and its groups, None for one that took no part; None if nothing matches.
    "regex_groups": lambda code, sent: json.loads(_run_javascript("exec", code, "", sent["text"])),
    "redact": _redact,
    "json_schema": _json_schema,
}

if __name__ == "__main__":
    main()
