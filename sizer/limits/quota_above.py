"""CPU quotas of the groups that ours lie in, a container's for example: they hold runs back and no run counts them."""

from __future__ import annotations

from pathlib import Path

from sizer.limits.tree import Tree


def quota_above(tree: Tree, group: Path, top: Path) -> float | None:
    """The smallest quota from this group, or the nearest above it that exists, up to `top`; in vCPUs, None for none."""
    on_the_way = [group, *group.parents]
    if top in on_the_way:
        on_the_way = on_the_way[: on_the_way.index(top) + 1]
    quotas = [quota for each in on_the_way if (quota := quota_of(tree, each)) is not None]
    return min(quotas, default=None)


def quota_of(tree: Tree, group: Path) -> float | None:
    """One group's own quota in vCPUs: `cpu.max` of cgroup v2 or `cpu.cfs_*_us` of v1; None where it has none."""
    words = tree.text(group / "cpu.max").split() or [
        tree.text(group / f"cpu.cfs_{file}_us").strip() for file in ("quota", "period")
    ]
    if len(words) != 2 or not all(word.isdecimal() and int(word) for word in words):
        return None  # `max` and -1 are no quota.
    return int(words[0]) / int(words[1])


def below_quota(how: str, quota: float | None) -> str:
    """`how` vCPUs are limited, with the quota that limits them further."""
    return how if quota is None else f"{how}; but a quota of {quota:g} vCPU lies above it"
