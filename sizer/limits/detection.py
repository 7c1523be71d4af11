"""Which way of limiting this host offers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sizer.limits.backends import delegation, v1, v2
from sizer.limits.backends.affinity import AffinityBackend
from sizer.limits.backends.v1 import PRESSURE
from sizer.limits.device import Mount, parse_mounts
from sizer.limits.interface import Control, LimitsBackend, Remedy
from sizer.limits.topology import Machine, read_machine
from sizer.limits.tree import Tree, quota_above
from sizer.records.messages import Message

LIMITING = frozenset({"cpuset", "cpu", "memory", "blkio"})
"""The v1 controllers that limit something. A host that mounts one of them keeps it from v2, so v1 it is."""


def detect(root: Path = Path("/")) -> LimitsBackend:
    """The backend for this host: cgroup v1 or v2 where we may make groups, else CPU affinity."""
    tree = Tree(root)
    return backend_for(tree, read_machine(tree))


def backend_for(tree: Tree, machine: Machine) -> LimitsBackend:
    """The backend for the host that `tree` shows."""
    mounts = parse_mounts(tree.text(tree.path("/proc/self/mountinfo")))
    controllers = v1_mounts(tree, mounts)
    unified = next((tree.path(mount.point) for mount in mounts if mount.kind == "cgroup2"), None)
    if LIMITING & controllers.keys():
        if unified is not None:
            controllers[PRESSURE] = unified
        if LIMITING & v1.usable_bases(tree, controllers).keys():
            return v1.V1Backend(tree, machine, controllers)
        quota = _own_quota(tree, "cpu", controllers.get("cpu"))
        fixes: dict[Control, Remedy] = dict.fromkeys(Control, v1.delegating(controllers))
        fixes[Control.DISK] = delegation.AS_ROOT
        return _affinity(machine, Message("cgroup v1 is root's alone"), fixes, quota)
    if unified is None:
        return _affinity(machine, Message("no cgroups are mounted"), {}, None)
    parent = v2.usable_parent(tree, unified)
    if parent is not None:
        return v2.V2Backend(tree, machine, unified, parent)
    quota = _own_quota(tree, "", unified)
    return _affinity(machine, Message("no cgroup is delegated to this user"), delegation.fixes(tree), quota)


def v1_mounts(tree: Tree, mounts: tuple[Mount, ...]) -> dict[str, Path]:
    """Where each v1 controller is mounted."""
    controllers: dict[str, Path] = {}
    for mount in mounts:
        if mount.kind == "cgroup":
            controllers.update({option: tree.path(mount.point) for option in mount.options if option in v1.CONTROLLERS})
    return controllers


def _own_quota(tree: Tree, controller: str, top: Path | None) -> float | None:
    """The CPU quota of the group that this process is in; `controller` is empty for the unified hierarchy."""
    if top is None:
        return None
    for line in tree.text(tree.path("/proc/self/cgroup")).splitlines():
        _, controllers, group = line.split(":", 2)
        # A container may see its group's path in the host, where it has but the group itself: at `top`.
        if controller in controllers.split(","):
            return quota_above(tree, top / group.lstrip("/"), top)
    return quota_above(tree, top, top)


def _affinity(machine: Machine, why: Message, fixes: Mapping[Control, Remedy], quota: float | None) -> AffinityBackend:
    if os.geteuid() == 0:
        # Only a container leaves root without: its cgroups are mounted read-only.
        container = "docker run --privileged --cgroupns=private IMAGE"
        why = Message("{why}, or read-only in this container", why=why)
        return AffinityBackend(machine, why, dict.fromkeys(Control, container), quota)
    return AffinityBackend(machine, why, fixes, quota)
