"""Which runs use a Ray cluster, and what is sent to its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from runevals.lib.parsing.source import read_source
from runevals.lib.terminal import notice
from runevals.lib.text.secrets import redacted, redactor, secret_values
from runevals.records.errors import InvalidSettings
from runevals.run.live import live_target
from runevals.run.world.budget import Stop
from runevals.settings.resolve import Settings
from runevals.targets import Target


def on_cluster(settings: Settings) -> bool:
    """Whether the nodes of a cluster call the target."""
    target = live_target(settings)
    return settings.measure.executor == "ray" and target is not None and not target.traits.stays_here


@contextmanager
def cluster_target(settings: Settings, stop: Stop) -> Iterator[Target]:
    """The target, built on every node of the cluster.

    Raises InvalidSettings, ExternalError without a cluster, TargetRefused if a node lacks something.
    """
    from runevals.run.cluster.connect import connected
    from runevals.run.cluster.node import NodeSpec
    from runevals.run.cluster.node_pool import Nodes, RayOptions
    from runevals.run.cluster.repository_archive import packed
    from runevals.run.cluster.target import ClusterTarget

    target = settings.target
    assert target is not None  # noqa: S101 - on_cluster
    if settings.measure.cache_target:
        raise InvalidSettings("--cache-target keeps answers that this machine asked for; leave out --executor ray")
    if (why := target.stays_here_for()) is not None:
        raise InvalidSettings(f"{why}; leave out --executor ray")
    if redacted(target, redactor(settings.environment, settings.key_names)) is not target:
        raise InvalidSettings("`target:` holds the value of a secret, and would be sent to the Ray cluster")
    shipment = NodeSpec(
        target=target,
        prices=settings.measure.prices,
        not_from=settings.not_from,
        keys=tuple(name for name in target.key_names if settings.environment.get(name)),
        repository=(settings.repository, settings.repository.resolve()),
    )
    options = RayOptions(
        num_cpus=settings.measure.ray_num_cpus,
        num_gpus=settings.measure.ray_num_gpus,
        runtime_env=_runtime_env(settings),
    )
    secrets = secret_values(settings.environment, settings.key_names)
    parcel = packed(settings.repository, secrets) if target.traits.needs_files else None
    with connected(settings.measure.ray_address, settings.environment):
        nodes = Nodes(shipment, parcel, options, at_once=settings.measure.concurrency, say=notice)
        stop.when_asked(nodes.stop)
        yield ClusterTarget(nodes)


def _runtime_env(settings: Settings) -> Mapping[str, object] | None:
    """Ray's description of an environment, from a JSON or YAML file. Raises InvalidSettings."""
    name = settings.measure.ray_runtime_env
    if name is None:
        return None
    source = read_source(settings.cwd / name, name)
    if not isinstance(source.value, dict):
        raise InvalidSettings(f"--ray-runtime-env {name}: this is not an object of `env_vars`, `pip`, `conda` …")
    return source.value
