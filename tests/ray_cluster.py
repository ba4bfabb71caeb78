"""A real Ray cluster on loopback: as many nodes as asked for, each with its own raylet and one CPU."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # has Ray listen, and look for others, there only
OBJECT_STORE_BYTES = 80_000_000  # the least that Ray takes


@dataclass
class RayCluster:
    """`raylets` has the process id of each node's raylet, the head's first."""

    address: str
    raylets: list[int]

    def kill_node(self, number: int) -> None:
        """As power loss would: everything that runs on the node, at once."""
        raylet = self.raylets[number]
        for pid in (*children(raylet), raylet):
            os.kill(pid, signal.SIGKILL)

    def wait_for_call(self, number: int, url: str) -> None:
        """Until a process of the node has a connection to `url`: under load, it may join late."""
        port = f":{urlsplit(url).port:04X}"
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            lines = (line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines())
            sockets = {f"socket:[{fields[9]}]" for fields in lines if fields[2].endswith(port)}
            if any(sockets & _open_files(pid) for pid in children(self.raylets[number])):
                return
            time.sleep(0.01)
        raise TimeoutError(f"the node {number} has not called {url}")


def _open_files(pid: int) -> set[str]:
    try:
        return {str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir()}
    except FileNotFoundError:  # has ended, or closes one
        return set()


def children(parent: int) -> list[int]:
    """The processes that this one started."""
    listed = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
    return [int(pid) for pid in listed.split()]


@contextmanager
def ray_cluster(nodes: int, folder: str, **environment: str) -> Iterator[RayCluster]:
    """Starts a cluster whose nodes have this `environment`; its processes are gone afterwards."""
    told = {**os.environ, **environment, "RAY_USAGE_STATS_ENABLED": "0"}
    told |= {**LOOPBACK, "RAY_TMPDIR": folder}
    holder = subprocess.Popen(
        [sys.executable, __file__, str(nodes)],
        env=told,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield RayCluster(**json.loads(holder.stdout.readline()))
    finally:
        holder.stdin.close()
        holder.wait(60)
        holder.stdout.close()


@contextmanager
def growing_cluster(folder: str) -> Iterator[str]:
    """The address of a cluster without any CPU, whose autoscaler starts nodes with one each, at most two."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    address = f"127.0.0.1:{port}"
    kinds = {
        "head": {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0},
        "worker": {"resources": {"CPU": 1}, "node_config": {}, "min_workers": 0, "max_workers": 2},
    }
    alone = {"use_node_id_as_ip": True, "disable_node_updaters": True, "disable_launch_config_check": True}
    lists = ("initialization", "setup", "head_setup", "worker_setup", "head_start_ray", "worker_start_ray")
    config = {
        "cluster_name": "growing",
        "max_workers": 2,
        "upscaling_speed": 1.0,
        "idle_timeout_minutes": 5,
        "provider": {"type": "fake_multinode", "gcs_address": address, **alone},
        "auth": {"ssh_user": "nobody"},
        "available_node_types": kinds,
        "head_node_type": "head",
        "file_mounts": {},
        "file_mounts_sync_continuously": False,
        "docker": {},
        **{f"{name}_commands": [] for name in lists},
        **{name: [] for name in ("cluster_synced_files", "rsync_exclude", "rsync_filter")},
    }
    Path(folder, "autoscaler.yaml").write_text(json.dumps(config), encoding="utf-8")
    told = {**os.environ, **LOOPBACK, "RAY_TMPDIR": folder, "RAY_USAGE_STATS_ENABLED": "0"}
    told |= {"RAY_FAKE_CLUSTER": "1", "AUTOSCALER_UPDATE_INTERVAL_S": "1"}
    words = [
        "--head",
        f"--port={port}",
        "--node-ip-address=127.0.0.1",
        "--num-cpus=0",
        "--include-dashboard=false",
    ]
    words += [f"--object-store-memory={OBJECT_STORE_BYTES}", "--autoscaling-config=autoscaler.yaml"]
    try:
        ray = [sys.executable, "-m", "ray.scripts.scripts", "start", *words]
        subprocess.run(ray, cwd=folder, env=told, check=True, timeout=180, capture_output=True)
        yield address
    finally:
        _end_all(f"RAY_TMPDIR={folder}".encode())


def _end_all(variable: bytes) -> None:
    """Kills all processes that have this in their environment."""
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if variable in environ.read_bytes().split(b"\0"):
                os.kill(int(environ.parent.name), signal.SIGKILL)


def main(nodes: int) -> None:
    """Holds a cluster until stdin ends."""
    (Path(os.environ["RAY_TMPDIR"]) / "ray").mkdir()
    from ray.cluster_utils import Cluster

    sizes = {"num_cpus": 1, "object_store_memory": OBJECT_STORE_BYTES}
    head = {**sizes, "include_dashboard": False}
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(nodes - 1):
        cluster.add_node(**sizes)
    cluster.wait_for_nodes()
    raylets = [node.all_processes["raylet"][0].process.pid for node in cluster.list_all_nodes()]
    told.write(json.dumps({"address": cluster.address, "raylets": raylets}) + "\n")
    told.flush()
    sys.stdin.read()
    cluster.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]))
