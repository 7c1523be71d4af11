"""What a run may use: vCPUs, memory and disk, set on this host and read back.

Nothing outside this package asks how the limits are set: cgroup v1, cgroup v2 or, for ordinary users, CPU affinity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.limits.delegation import AS_ROOT
    from sizer.limits.detection import detect
    from sizer.limits.device import Mount, device_of, mount_of, mounts_below, parse_mounts
    from sizer.limits.identity import is_of_this_world, is_owned, owned_name, owner_is_dead
    from sizer.limits.interface import Capability, Control, Group, LimitsBackend, Throttle
    from sizer.limits.process_tree import MARK, end_left
    from sizer.limits.supervised import Supervised
    from sizer.limits.topology import CpuCounts
    from sizer.limits.users import ME, NOBODYS_GROUP, OWN_MOUNTS, RunUser, has_own_mounts, run_user
else:
    __getattr__ = exports(__name__, __file__)

__all__ = [
    "AS_ROOT",
    "MARK",
    "ME",
    "NOBODYS_GROUP",
    "OWN_MOUNTS",
    "Capability",
    "Control",
    "CpuCounts",
    "Group",
    "LimitsBackend",
    "Mount",
    "RunUser",
    "Supervised",
    "Throttle",
    "detect",
    "device_of",
    "end_left",
    "has_own_mounts",
    "is_of_this_world",
    "is_owned",
    "mount_of",
    "mounts_below",
    "owned_name",
    "owner_is_dead",
    "parse_mounts",
    "run_user",
]
