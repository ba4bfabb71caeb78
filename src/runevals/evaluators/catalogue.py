"""Every evaluator by the name users write, and how one is built from a suite's words."""

from __future__ import annotations

import dataclasses
import pkgutil
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from runevals.evaluators.format_names import INVERTED
from runevals.evaluators.kinds import Check, Composite, Evaluator, Judged, Member, Scripted, leaves
from runevals.lib.plugins import is_any_installed, plugins, unusable_plugin
from runevals.lib.record_from import record_from
from runevals.lib.text.suggest import did_you_mean
from runevals.records import EvaluatorSpec, Layer
from runevals.records.errors import InvalidOptions, UnknownEvaluator

E = typing.TypeVar("E", bound=type[Evaluator])


class BuiltCheck(Struct, frozen=True, kw_only=True):
    """A check ready to look at answers: its evaluator, and what its suite says of it."""

    id: str
    evaluator: Evaluator
    threshold: float | None  # on the evaluator's scale; None: pass or fail
    layer: Layer
    weight: float
    negated: bool


PLUGINS = "runevals.evaluators"  # their entry points
MOST_WEIGHT = 1e6
FAMILIES = (
    "text", "structure", "retrieval", "tools", "workspace", "limits", "judged", "presets", "scripted", "combined",
    "skill",
)  # fmt: skip
_registry: dict[str, type[Evaluator]] = {}
_aliases: dict[str, str] = {}


@typing.dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(dataclasses.field,))
def evaluator(name: str, *aliases: str) -> Callable[[E], E]:
    """Registers a class under its name and its aliases. One of ours becomes a dataclass; a plugin says it itself.

    Raises ValueError for a name that another has; of ours, no plugin can take one.
    """

    def register(cls: E) -> E:
        if _is_ours(cls):
            dataclasses.dataclass(frozen=True, kw_only=True)(cls)
        else:
            for key in (name, *aliases):
                _builtin(key)  # ours of these names are known before theirs
            find.cache_clear()  # the cell of a notebook may define it again
        for key in (name, *aliases):
            holder = _registry.get(_aliases.get(key, key))
            if holder is not None and holder.__module__ != cls.__module__:
                raise ValueError(f"the evaluator name '{key}' is already used in {holder.__module__}")
        cls.name = name
        _registry[name] = cls
        _aliases.update(dict.fromkeys(aliases, name))
        return cls

    return register


@contextmanager
def known_within(module: str) -> Iterator[None]:
    """The evaluators of a module of this name are unknown again afterwards."""
    try:
        yield
    finally:
        for name in [name for name, cls in _registry.items() if cls.__module__ == module]:
            del _registry[name]
        find.cache_clear()


@cache
def builtin_evaluators() -> Mapping[str, type[Evaluator]]:
    """Canonical name → class, for every built-in evaluator."""
    for modules in _modules().values():
        for module in modules:
            import_module(module)
    return {name: cls for name, cls in sorted(_registry.items()) if _is_ours(cls)}


@cache
def _modules() -> Mapping[str, tuple[str, ...]]:
    """A bare name → the modules of built-in evaluators with that name."""
    modules: dict[str, tuple[str, ...]] = {}
    for family in FAMILIES:
        package = import_module(f"runevals.evaluators.{family}")
        for module in pkgutil.iter_modules(package.__path__):
            bare = _bare(module.name)
            modules[bare] = (*modules.get(bare, ()), f"{package.__name__}.{module.name}")
    return modules


def _bare(name: str) -> str:
    """The name of an evaluator or of its module, without what differs between them."""
    return name.lower().removeprefix("preset-").replace("-", "").replace("_", "")


def _is_ours(cls: type[Evaluator]) -> bool:
    return cls.__module__.startswith("runevals.")


def is_builtin(evaluator: Evaluator) -> bool:
    """Whether it is not the evaluator of a plugin."""
    cls = type(evaluator)
    return _is_ours(cls) and _registry.get(evaluator.name) is cls


@cache
def catalogue() -> Mapping[str, type[Evaluator]]:
    """Canonical name → class, for every evaluator there is. Raises UnusablePlugin."""
    return {**builtin_evaluators(), **plugin_evaluators()}


@cache
def plugin_evaluators() -> Mapping[str, type[Evaluator]]:
    """The evaluators of plugins. Raises UnusablePlugin.

    A plugin of any kind may define evaluators: the names of ours must be in use before it is imported.
    """
    if not is_any_installed():
        return {}
    classes: dict[str, type[Evaluator]] = {}
    for name, plugin in plugins(PLUGINS, frozenset((*builtin_evaluators(), *_aliases))).items():
        kinds = (Check, Judged, Scripted, Composite)
        if not (isinstance(plugin, type) and issubclass(plugin, kinds)):
            reason = "it is not a class of one of the four kinds of evaluator"
        elif plugin.name != name:
            reason = f"it is registered as '{plugin.name}'; write @evaluator(\"{name}\") above its class"
        else:
            classes[name] = plugin
            continue
        raise unusable_plugin(PLUGINS, name, reason)
    return classes


def names() -> tuple[str, ...]:
    """Every name that a suite can use."""
    return tuple(sorted((*catalogue(), *_aliases)))


def aliases_of(name: str) -> tuple[str, ...]:
    """The other names of the evaluator with this canonical name."""
    return tuple(sorted(alias for alias, target in _aliases.items() if target == name))


@cache
def find(name: str) -> type[Evaluator]:
    """The class behind a name or alias. Raises UnknownEvaluator with the nearest known name."""
    cls = _builtin(name) or catalogue().get(_aliases.get(name, name)) or _registry.get(name)  # of the program
    if cls is None:
        raise UnknownEvaluator(
            f"there is no evaluator '{name}'{did_you_mean(name, (*names(), *INVERTED))} "
            "(`runevals evaluators` lists them all)"
        )
    return cls


def _builtin(name: str) -> type[Evaluator] | None:
    """The class of a built-in evaluator, without importing the others; None if its module has another name."""
    if name not in _registry and name not in _aliases:
        for module in _modules().get(_bare(name), ()):
            import_module(module)
    cls = _registry.get(_aliases.get(name, name))
    return cls if cls is not None and _is_ours(cls) else None


@cache
def options_of(cls: type[Evaluator]) -> tuple[dataclasses.Field[object], ...]:
    """The options an evaluator takes, as dataclass fields."""
    return tuple(field for field in dataclasses.fields(cls) if field.name != "members")


def layer_of(evaluator: Evaluator) -> Layer:
    """Its layer; for a composite, the layer of its leaves, or behavior if they differ."""
    layers = {leaf.layer for leaf in leaves(evaluator)}
    return layers.pop() if len(layers) == 1 else Layer.BEHAVIOR


def build(spec: EvaluatorSpec) -> BuiltCheck:
    """A suite's words → a check; each spec is built once.

    Raises UnknownEvaluator, or InvalidOptions with every problem: unknown or missing option, wrong type,
    threshold outside the scale, weight not above 0.
    """
    built = spec.built
    if not isinstance(built, BuiltCheck):
        evaluator, threshold = _built(spec, is_valid=spec.valid)
        built = BuiltCheck(
            id=spec.id or spec.name,
            evaluator=evaluator,
            threshold=threshold,
            layer=layer_of(evaluator),
            weight=spec.weight,
            negated=spec.negated,
        )
        force_setattr(spec, "built", built)
    return built


def _built(spec: EvaluatorSpec, *, is_valid: bool) -> tuple[Evaluator, float | None]:
    cls = find(spec.name)
    if cls.threshold_option is not None and spec.threshold is not None:
        options = {**spec.options, cls.threshold_option: spec.threshold}
        spec = replace(spec, options=options, threshold=None)
    if not is_valid and (problems := list(_spec_problems(cls, spec))):
        raise InvalidOptions(problems)
    lists = _list_options(cls)
    options = {n: tuple(v) if n in lists and isinstance(v, list) else v for n, v in spec.options.items()}
    if issubclass(cls, Composite):
        options["members"] = tuple(record_from(Member, build(one), negated=one.negated) for one in spec.children)
    instance = cls(**options)
    if not is_valid and (problems := list(instance.problems())):
        raise InvalidOptions(problems)
    return instance, cls.default_threshold if spec.threshold is None else spec.threshold


def _spec_problems(cls: type[Evaluator], spec: EvaluatorSpec) -> Iterator[tuple[str | None, str]]:
    yield from _option_problems(cls, spec.options)
    if spec.threshold is not None and cls.default_threshold is None:
        yield "threshold", f"{cls.name} passes or fails; it takes no threshold"
    elif spec.threshold is not None and not cls.scale.holds(spec.threshold):
        yield "threshold", f"threshold is {spec.threshold:g}, but {cls.name} scores from {cls.scale}"
    if not 0 < spec.weight <= MOST_WEIGHT:
        yield "weight", f"weight is {spec.weight:g}; it must be above 0 and at most {MOST_WEIGHT:,.0f}"


# Types of options, with those of the values that fit, and in words.
_PLAIN: Mapping[object, tuple[tuple[type, ...], str]] = {
    types.NoneType: ((types.NoneType,), "null"),
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "text"),
    object: ((object,), "anything"),
}


@cache
def _simple_types(cls: type[Evaluator]) -> Mapping[str, tuple[type, ...]]:
    """Option → the types of values that fit whatever they are; none for an option that needs a closer look."""

    def of(hint: object) -> tuple[type, ...]:
        if typing.get_origin(hint) in (typing.Union, types.UnionType):
            return tuple(kind for member in typing.get_args(hint) for kind in of(member))
        return _PLAIN.get(hint, ((), ""))[0]

    return {field.name: of(_hints(cls)[field.name]) for field in options_of(cls)}


@cache
def _required(cls: type[Evaluator]) -> frozenset[str]:
    """The options without a default."""
    missing = dataclasses.MISSING
    return frozenset(f.name for f in options_of(cls) if f.default is missing and f.default_factory is missing)


@cache
def _list_options(cls: type[Evaluator]) -> frozenset[str]:
    """The options that are tuples, from the lists of a file."""
    return frozenset(name for name, hint in _hints(cls).items() if typing.get_origin(hint) is tuple)


@cache
def _hints(cls: type[Evaluator]) -> Mapping[str, object]:
    return typing.get_type_hints(cls)


def _option_problems(cls: type[Evaluator], options: Mapping[str, object]) -> Iterable[tuple[str | None, str]]:
    simple = _simple_types(cls)
    if all(type(options[name]) in simple.get(name, ()) for name in options) and _required(cls) <= options.keys():
        return
    fields = {field.name: field for field in options_of(cls)}
    hints = _hints(cls)
    for name, value in options.items():
        if name not in fields:
            takes = f"it takes {', '.join(fields)}" if fields else "it takes none"
            yield name, f"{cls.name} has no option '{name}'{did_you_mean(name, fields)} ({takes})"
        elif (complaint := _mismatch(value, hints[name])) is not None:
            yield name, f"{name} must be {complaint}"
    for name in fields:
        if name in _required(cls) and name not in options:
            yield None, f"{cls.name} needs the option '{name}'"


def _mismatch(value: object, hint: object) -> str | None:
    """None if `value` fits the annotation, otherwise what it must be."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        complaints = [_mismatch(value, argument) for argument in arguments]
        if None in complaints:
            return None
        return " or ".join(complaint for complaint in complaints if complaint not in (None, "null"))
    if origin is typing.Literal:
        return None if value in arguments else f"one of {', '.join(map(str, arguments))}, not {value!r}"
    if origin is tuple:
        if isinstance(value, list) and value and all(_mismatch(item, arguments[0]) is None for item in value):
            return None
        each = _mismatch(None, arguments[0])
        return "a list with at least one entry" + ("" if each is None else f", each {each}")
    kinds, words = _PLAIN.get(hint, ((dict,), "an object"))
    return None if isinstance(value, kinds) and not (isinstance(value, bool) and int in kinds) else words
