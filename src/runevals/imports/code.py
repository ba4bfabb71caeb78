"""Code of assertions and transforms → files of `custom` assertions, in JavaScript or Python."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from runevals.imports.files import PREFIX, Files
from runevals.imports.templates import NotPlain, rendered, variables_of

CHECKS = "checks"
JAVASCRIPT = (".js", ".cjs", ".mjs")
_MODULES = frozenset({"collections", "difflib", "json", "math", "re", "__future__"})
_OF_TEXT = (
    "at|charAt|charCodeAt|codePointAt|concat|endsWith|includes|indexOf|lastIndexOf|length|localeCompare|match"
    "|matchAll|normalize|padEnd|padStart|repeat|replace|replaceAll|search|slice|split|startsWith|substr|substring"
    "|toLowerCase|toString|toUpperCase|trim|trimEnd|trimStart|valueOf"
)
_READS_FIELDS = re.compile(
    rf"\boutput\??\.(?!(?:{_OF_TEXT})\b)\w|\boutput(?:\?\.)?\[|\btypeof output\s*={{2,3}}\s*['\"]object"
    r"|\bisinstance\(output, *(?:dict|list)"
)
_LOGS = re.compile(r"(?m)^[^\S\n]*(?:console\.\w+|print)\(.*\);?[^\S\n]*$")
_OTHER = r"(?!(?:vars|config)\b)"  # fields of a context than those that a check here is given
_MORE_CONTEXT = re.compile(rf"\bcontext(?:\??\.{_OTHER}(?!get\()\w|\[['\"]{_OTHER}|\.get\(['\"]{_OTHER})")
_OUTSIDE = re.compile(r"\brequire\(|\bprocess\.|\bimport\(|(?m:^[^\S\n]*import\b)")
_TRIMS = re.compile(r"output(?:\.trim(?:Start|End)?\(\))?;?")


class NoEquivalent(Exception):
    """An assertion without an equivalent; the message says why."""


class AnswerShape(Struct, frozen=True, kw_only=True):
    """What promptfoo's provider makes of an answer before it is checked."""

    parsed: bool = False  # JSON, because the provider is asked for a schema
    calls: Literal["all", "first"] | None = None  # tool calls, if the model answers with these

    @property
    def is_text(self) -> bool:
        """Whether checks get the answer as it is."""
        return not self.parsed and self.calls is None


class CodeFiles(Struct, frozen=True, kw_only=True):
    """Writes checks as files; the same check is the same file."""

    files: Files
    code: dict[str, str] = {}

    def javascript(
        self, check: str, shape: AnswerShape, transforms: tuple[str, ...] = (), threshold: float | None = None
    ) -> str:
        """A file whose function `check(output, context, expected)` is in the text `check` → its name."""
        functions = [check, *map(self.function, transforms, (f"transform{n or ''}" for n in range(9)))]
        value = _CALLS[shape.calls].format(_PARSED[shape.parsed])
        functions += [_FUNCTIONS[name] for name in ("calls", "read") if f"{name}(" in value]
        lines = [_CONTEXT, f"  let value = {value};"]
        lines += [f"  value = await transform{n or ''}(value, context);" for n in range(len(transforms))]
        limit = "value > 0" if threshold is None else f"value >= {json.dumps(threshold)}"
        text = _JAVASCRIPT.replace("LINES", "\n".join(lines)).replace("LIMIT", limit)
        return self._file("\n".join((*functions, text)), ".mjs")

    def python(self, check: str, shape: AnswerShape, threshold: float | None) -> str:
        """A file whose function `main(output, context)` is in the text `check` → its name."""
        if shape.calls is not None:
            raise NoEquivalent("a check in Python does not see tool calls; write it in JavaScript")
        limit, scored = "value > 0", ""
        if threshold is not None:
            limit, scored = f"value >= {threshold!r}", _PYTHON_SCORED.replace("LEAST", repr(threshold))
        text = _PYTHON.replace("VALUE", _PARSED[shape.parsed]).replace("LIMIT", limit).replace("SCORED", scored)
        return self._file(f"{check}\n\n\n{_PYTHON_READ if shape.parsed else ''}{text}", ".py")

    def function(self, source: str, name: str, values: Mapping[str, Any] = {}) -> str:
        """The JavaScript in `source`, or in the file that it names, as the function `name`."""
        if source.startswith(PREFIX):
            text, export = self._read(source, JAVASCRIPT)
            return _require_inside(_module(text, export, name))
        return _require_inside(f"function {name}(output, context) {{\n{_body(_filled(source, values))}\n}}\n")

    def python_function(self, source: str, values: Mapping[str, Any]) -> str:
        """The Python in `source`, or in the file that it names, with a function `main`."""
        if source.startswith(PREFIX):
            text, export = self._read(source, (".py",))
            text = _importable(text)
            if re.search(r"(?m)^def check\b", text):
                raise NoEquivalent("it defines check() itself; write it as a grader (docs/graders.md)")
            return _only_vars(f"{text.rstrip()}\n\n\nmain = {export or 'get_assert'}")
        lines = textwrap.indent(_filled(source, values).strip("\n").rstrip(), "    ")
        body = lines if "\n" in lines or re.match(r"return\b", lines.strip()) else f"    return {lines.strip()}"
        imports = "import json\n\n\n" if re.search(r"\bjson\b", body) else ""
        return _only_vars(_importable(f"{imports}def main(output, context):\n{body}"))

    def _read(self, reference: str, suffixes: tuple[str, ...]) -> tuple[str, str]:
        """A program's text and the function that is named after it. Raises NoEquivalent or UsageError."""
        path, _, export = reference.removeprefix(PREFIX).partition(":")
        if not path.endswith(suffixes):
            raise NoEquivalent(f"{reference} is a program; write it as a grader (docs/graders.md)")
        return self.files.text(self.files.referenced(path)[0]), export

    def _file(self, text: str, suffix: str) -> str:
        names = {code: name for name, code in self.code.items()}
        name = names.get(text, f"{CHECKS}/check-{len(self.code) + 1}{suffix}")
        self.code[name] = text
        return name


def reads_fields(code: str) -> bool:
    """Whether code treats the answer as an object."""
    return _READS_FIELDS.search(code) is not None


def is_trim(transform: str) -> bool:
    """Whether a transform leaves everything but white space around the answer."""
    return _TRIMS.fullmatch(transform.strip()) is not None


def _filled(code: str, values: Mapping[str, Any]) -> str:
    """Code with the variables of a test in it; two braces that are not one of them stay."""
    try:
        names = variables_of(code) if "{{" in code else ()
    except NotPlain:
        return code
    return rendered(code, values) if names and set(names) <= values.keys() else code


def _body(code: str) -> str:
    code = code.rstrip()
    if "\n" not in code and not re.search(r"\breturn\b", code):
        code = code.strip().rstrip(";")
        declarations, separator, last = code.rpartition(";")
        declares = separator and re.match(r"(?:const|let|var)\s", code)
        code = f"{declarations}; return {last.strip()}" if declares else f"return {code}"
    return "\n".join(f"  {line}" for line in code.splitlines())


def _module(text: str, export: str, name: str) -> str:
    """The text of a module, CommonJS or not, as a function. Raises NoEquivalent."""
    declared = re.findall(r"(?m)^export\s+(?:async\s+)?(?:function\s*\*?|const|let|var|class)\s*(\w+)", text)
    text = re.sub(r"(?m)^export\s+default\s+", "module.exports.default = ", text)
    text = re.sub(r"(?m)^export\s+(?=async|function|const|let|var|class)", "", text)
    lines = [*text.rstrip().splitlines(), *(f"module.exports.{one} = {one};" for one in declared)]
    exported = f"module.exports.{export}" if export else "module.exports.default ?? module.exports"
    inner = "\n".join(f"  {line}".rstrip() for line in lines)
    return (
        f"const {name} = (() => {{\n  const module = {{ exports: {{}} }};\n{inner}\n  return {exported};\n}})();\n"
    )


def _only_vars(code: str) -> str:
    """Raises NoEquivalent for code that needs more of its context than variables; what it only logs is empty."""
    plain = _LOGS.sub("", code)
    if (more := _MORE_CONTEXT.search(plain)) is not None:
        raise NoEquivalent(
            f"it reads more of its context than vars and config: {plain[more.start() :].split()[0][:40]}"
        )
    return code


def _require_inside(code: str) -> str:
    """Raises NoEquivalent for JavaScript that needs more than the answer and the variables."""
    if _OUTSIDE.search(code) is not None:
        raise NoEquivalent("it reaches outside; write it as a grader (docs/graders.md)")
    return _only_vars(code)


def _importable(code: str) -> str:
    """Python that imports only what a grader may; imports for annotations are left out. Raises NoEquivalent."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NoEquivalent("it is not Python that can be read") from None
    for_annotations: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or "."] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
            if names == ["typing"] and isinstance(node, ast.ImportFrom) and node in tree.body:
                for_annotations |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            elif other := [name for name in names if name.partition(".")[0] not in _MODULES]:
                raise NoEquivalent(f"it imports {other[0]}, which a grader may not (docs/graders.md)")
    if not for_annotations:
        return code
    lines = [line for number, line in enumerate(code.splitlines(), start=1) if number not in for_annotations]
    return "\n".join(("from __future__ import annotations", *lines))


_CONTEXT = '  const context = { vars: sample.vars, prompt: "", config: assertion.config ?? {} };'
_PARSED = ("output", "read(output)")  # by whether it is
_CALLS: Mapping[str | None, str] = {
    None: "{}",
    "all": "calls({}, toolCalls)",
    "first": "calls({}, toolCalls, true)",
}
_FUNCTIONS = {
    "read": """function read(output) {
  try {
    return JSON.parse(output);
  } catch {
    return output;
  }
}
""",
    "calls": """function calls(output, toolCalls, first = false) {
  const all = (toolCalls ?? []).map(({ name, input }) => {
    const text = JSON.stringify(input);
    const call = { name, arguments: text };
    return { type: "function", ...call, function: call, functionCall: { name, args: input } };
  });
  if (all.length === 0) return output;
  if (output) return { content: output, tool_calls: all };
  return first ? all[0] : all;
}
""",
}
# In promptfoo, a check that throws has failed, negated or not; what this engine lacks is an error.
_JAVASCRIPT = """export default async function (output, { sample, assertion, toolCalls }) {
LINES
  try {
    value = await check(value, context, assertion.value);
  } catch (error) {
    if (error instanceof ReferenceError || assertion.not) throw error;
    return { pass: false, message: String(error) };
  }
  if (typeof value === "number") return LIMIT;
  if (typeof value === "boolean") return value;
  return { pass: value.pass, message: value.reason };
}
"""
_PYTHON_READ = """def read(output):
    import json

    try:
        return json.loads(output)
    except ValueError:
        return output


"""
_PYTHON = """def check(output, sample, assertion):
    try:
        context = {"vars": sample.get("vars", {}), "prompt": "", "config": assertion.get("config", {})}
        value = main(VALUE, context)
        if isinstance(value, str):
            import json

            value = json.loads(value if value.startswith("{") else value.lower())
    except Exception as error:
        if isinstance(error, (NameError, ImportError)) or assertion.get("not"):
            raise
        return {"pass": False, "message": f"{type(error).__name__}: {error}"}
    if isinstance(value, dict):SCORED
        return {"pass": bool(value.get("pass", value.get("pass_"))), "message": str(value.get("reason", ""))}
    if isinstance(value, bool):
        return value
    return LIMIT
"""
_PYTHON_SCORED = """
        score = value.get("score", 0)
        if score < LEAST:
            return {"pass": False, "message": f"score {score} is below LEAST. {value.get('reason', '')}"}"""
