"""The core rules of YAML 1.2 on PyYAML's safe C loader: `no`, dates and `12:30` stay text."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

import yaml

try:
    from yaml import CSafeLoader as _FastLoader
except ImportError:  # a PyYAML built without libyaml
    from yaml import SafeLoader as _FastLoader  # type: ignore[assignment]

JsonPath = tuple[str | int, ...]


class CoreLoader(_FastLoader):
    """Types only null, true/false and decimal numbers."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own


_RULES = (
    ("tag:yaml.org,2002:null", r"~|null|Null|NULL|", "~nN"),
    ("tag:yaml.org,2002:bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("tag:yaml.org,2002:int", r"[-+]?[0-9]+", "-+0123456789"),
    ("tag:yaml.org,2002:float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
)
for _tag, _pattern, _first in _RULES:
    CoreLoader.add_implicit_resolver(_tag, re.compile(f"^(?:{_pattern})$"), list(_first))
CoreLoader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile("^$"), [""])


def construct(
    root: yaml.Node | None, max_nodes: int
) -> tuple[object, dict[JsonPath, tuple[int, int]], list[tuple[JsonPath, int, str]]]:
    """Node tree → (values, JSON path → (key offset, offset), problems).

    Aliases are expanded, at most to `max_nodes` values; an alias inside what it names is a problem.
    """
    builder = _Builder(max_nodes)
    value = None if root is None else builder.build(root, (), root.start_mark.index)
    return value, builder.marks, builder.problems


def _finite(number: float) -> float:
    """A number as a float. Raises OverflowError if it is too large."""
    if not isfinite(float(number)):
        raise OverflowError
    return number


def _is_list(node: yaml.Node) -> bool:
    return isinstance(node, yaml.SequenceNode)


def _is_merge(key: yaml.Node, value: yaml.Node) -> bool:
    """Whether an entry is `<<: *base`, which YAML 1.1 had, and which people and js-yaml still use."""
    mappings = value.value if _is_list(value) else [value]
    is_plain = isinstance(key, yaml.ScalarNode) and key.value == "<<" and not key.style
    return is_plain and bool(mappings) and all(isinstance(one, yaml.MappingNode) for one in mappings)


class _Builder:
    def __init__(self, max_nodes: int) -> None:
        self.nodes_left = max_nodes
        self.max_nodes = max_nodes
        self.marks: dict[JsonPath, tuple[int, int]] = {}
        self.problems: list[tuple[JsonPath, int, str]] = []
        self._open: set[int] = set()

    def build(self, node: yaml.Node, json_path: JsonPath, key_offset: int) -> object:
        offset = node.start_mark.index
        self.nodes_left -= 1
        if self.nodes_left < 0:
            raise yaml.YAMLError(f"aliases expand to more than {self.max_nodes} values")
        self.marks[json_path] = (key_offset, offset)
        if id(node) in self._open:
            self.problems.append((json_path, offset, "an alias refers to a value that contains it"))
            return None
        self._open.add(id(node))
        try:
            return self._value(node, json_path)
        finally:
            self._open.discard(id(node))

    def _value(self, node: yaml.Node, json_path: JsonPath) -> object:
        if isinstance(node, yaml.SequenceNode):
            return [
                self.build(item, (*json_path, index), item.start_mark.index)
                for index, item in enumerate(node.value)
            ]
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, json_path)
        return self._scalar(node, json_path)

    def _mapping(self, node: yaml.MappingNode, json_path: JsonPath) -> dict[str, object]:
        merges = [value for key, value in node.value if _is_merge(key, value)]
        merged = self._merged(merges, json_path) if merges else {}
        mapping: dict[str, object] = {}
        for key_node, value_node in node.value:
            offset = key_node.start_mark.index
            if merges and _is_merge(key_node, value_node):
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                self.problems.append((json_path, offset, "a key must be plain text"))
                continue
            key = str(key_node.value)
            if key in mapping:
                self.problems.append(((*json_path, key), offset, f"duplicate key '{key}'; remove one of them"))
            mapping[key] = self.build(value_node, (*json_path, key), offset)
        return {**merged, **mapping}

    def _merged(self, nodes: list[yaml.Node], json_path: JsonPath) -> dict[str, object]:
        """What `<<` merges; of several mappings, the first that has a key decides."""
        place = self.marks[json_path]
        mappings = [one for node in nodes for one in (node.value if _is_list(node) else [node])]
        values = [self.build(one, json_path, one.start_mark.index) for one in reversed(mappings)]
        self.marks[json_path] = place
        return {key: value for each in values if isinstance(each, dict) for key, value in each.items()}

    def _scalar(self, node: yaml.Node, json_path: JsonPath) -> object:
        value: Any = node.value
        try:
            match node.tag.rpartition(":")[2]:
                case "null":
                    return None
                case "bool":
                    return str(value).lower() == "true"
                case "int":
                    return _finite(int(value))
                case "float":
                    return _finite(float(value))
                case "str":
                    return str(value)
                case _:
                    problem = f"the tag {node.tag} is not read here; a file of another tool is run by that tool"
        except ValueError:
            problem = "is not a number, as its tag requires"
        except OverflowError:
            problem = "is a number that is too large"
        self.problems.append((json_path, node.start_mark.index, problem))
        return None
