"""Every sentence that the verdict, the reports and the page can print, once, with sample values in its places."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "runevals"
FEWEST_WORDS = 3
_SHOWN = (ast.Constant, ast.JoinedStr, ast.IfExp, ast.BinOp, ast.Call)  # whose text is told
# What a function makes of its values; {} is the noun that it is given.
_CALLS = {
    "plural": "3 {}s",
    "percent": "92.5 %",
    "points": "−7.5 points",
    "p_value": "p = 0.0004",
    "seconds": "2.5 s",
    "money": "$0.12",
    "score": "4.50",
    "relative": "+12 %",
    "signed": "+0.25",
    "short_list": "KB-001, KB-002 and 4 more",
    "first_of": "KB-001, KB-002 and 4 more",
    "joined": "KB-001 and KB-002",
    "runs_passed": "1/3",
    "passing": "18 of 20 cases pass, 1 skipped",
    "len": "12",
    "sum": "12",
    "max": "12",
    "join": "KB-001, KB-002",
}
_NAMES = {
    "key": "KB-007",
    "name": "returns",
    "names": "KB-007, KB-009",
    "suite": "evals/evals.json",
    "source": "run 812 on main",
    "path": "prompts/support.md",
    "file": "evals/evals.json",
    "number": "12",
    "count": "12",
    "cases": "12",
    "total": "40",
    "runs": "3",
    "repeat": "3",
    "commit": "a1b2c3d",
    "model": "gpt-6.1-terra",
    "reason": "not found: 30 days",
    "check": "ExactMatch",
    "evaluator": "ExactMatch",
    "category": "returns",
    "label": "category",
    "limit": "0.9",
    "value": "0.85",
    "code": "target_timeout",
    "message": "no answer within 60 s",
}


def sentences() -> Iterator[str]:
    """One a line: the file it stands in, and the sentence."""
    for room in ("verdict", "reports"):
        for file in sorted((SRC / room).rglob("*.py")):
            for text in dict.fromkeys(_of_python(file)):
                yield f"{file.relative_to(SRC).as_posix()}: {text}"
    for file in sorted((SRC / "reports" / "page").glob("*.[hj]*")):
        for text in dict.fromkeys(_of_page(file.read_text(encoding="utf-8"))):
            yield f"{file.relative_to(SRC).as_posix()}: {text}"


def _of_python(file: Path) -> Iterator[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    inner: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inner.add(node.value)  # a docstring
        if isinstance(node, ast.JoinedStr):
            inner |= {part for value in node.values for part in ast.walk(value)}
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for scope in (tree, *functions.values()):
        render = _Renderer(scope, functions)
        for node in _own(scope):
            if node not in inner and isinstance(node, ast.JoinedStr | ast.Constant):
                text = " ".join(render(node).split())
                if _is_sentence(text):
                    yield text


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function or module, and not in a function in it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef):
            yield child
            yield from _own(child)


def _is_sentence(text: str) -> bool:
    words = re.findall(r"[A-Za-z]{2,}", text)
    return (
        len(words) >= FEWEST_WORDS
        and " " in text
        and not re.search(r"\\[a-z]|\(\?|[{}$<>=]|^\W*--|https?:|^\|", text)
    )


class _Renderer:
    """Values of one function as a reader sees them; a name has the value that is first assigned to it."""

    def __init__(self, scope: ast.AST, functions: Mapping[str, ast.FunctionDef], depth: int = 0) -> None:
        self._functions, self._depth = functions, depth
        self._values: dict[str, ast.expr] = {}
        for node in _own(scope):
            if isinstance(node, ast.Assign):
                self._assign(node.targets[0], node.value)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._values.setdefault(target.id, value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, its in zip(target.elts, value.elts, strict=False):
                self._assign(one, its)

    def __call__(self, node: ast.AST) -> str:
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Constant(value=value):
                return "" if value is None else str(value)
            case ast.JoinedStr(values=values):
                return "".join(map(self, values))
            case ast.FormattedValue(value=value, format_spec=spec):
                digits = re.search(r"\.(\d)[fg%]", "" if spec is None else self(spec))
                return f"{7.5:.{digits[1]}f}" if digits else self(value)
            case ast.IfExp(body=body, orelse=orelse):
                return self(body) or self(orelse)
            case ast.BoolOp(values=[first, *_]):
                return self(first)
            case ast.Call():
                return self._of_call(node)
            case ast.Subscript(value=value):
                return self(value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self(left) + self(right)
            case ast.Name(id=name) if isinstance(self._values.get(name), _SHOWN):
                value = self._values.pop(name)  # a name may be assigned from itself
                text = self(value)
                self._values[name] = value
                return text
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return self._sample(name)
        return "12"

    def _of_call(self, call: ast.Call) -> str:
        name = _name(call.func)
        if name == "phrase" and len(call.args) == 2:
            return re.sub(r"\{[^}]*\}", self(call.args[0]), self(call.args[1]))
        if name in _CALLS:
            noun = call.args[-1] if call.args else None
            return _CALLS[name].format(noun.value if isinstance(noun, ast.Constant) else "case")
        if name == "one_line" or name.startswith("inert"):
            return self(call.args[0])
        if name in self._functions and self._depth < 3:
            scope = self._functions[name]
            render = _Renderer(scope, self._functions, self._depth + 1)
            ends = [
                node.value
                for node in _own(scope)
                if isinstance(node, ast.Return) and isinstance(node.value, _SHOWN)
            ]
            return max(map(render, ends), key=len, default="") or self._sample(name)
        return self._sample(name)

    def _sample(self, name: str) -> str:
        return _NAMES.get(name.strip("_"), f"‹{name.strip('_').replace('_', ' ')}›")


def _name(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _of_page(source: str) -> Iterator[str]:
    """The texts of a script between quotes, and those of a template between tags and in titles."""
    noise = r"^\s*//[^\n]*$|\s//\s[^\n]*$|/\*.*?\*/|\b(class|d|placeholder): ?[\"`][^\"`\n]*[\"`]"
    code = re.sub(noise, "", source, flags=re.MULTILINE | re.DOTALL)
    for text in re.findall(r"\"((?:[^\"\\\n]|\\.)*)\"|`([^`\n]*)`|>([^<>{}\n]+)<", code):
        said = " ".join(re.sub(r"\$\{[^}]*\}", "12", "".join(text)).split())
        if _is_sentence(said) and not re.search(r"^[a-z]+ [a-z]+-|^\W|\w\.\w+\(", said):
            yield said
