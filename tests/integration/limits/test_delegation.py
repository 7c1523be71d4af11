"""What an ordinary user can limit where root has delegated groups: real kernel, real user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sizer.limits.device import parse_mounts
from sizer.limits.interface import LimitsBackend
from tests import ROOT

pytestmark = [pytest.mark.root, pytest.mark.alone]

NOBODY = 65534

# The interpreter may lie where another user cannot start it: it changes its user when everything is imported.
AS_USER = f"""
import json, os, subprocess, sys
from dataclasses import asdict
from pathlib import Path
from sizer.limits.interface import Control
from sizer.limits.detection import detect
from sizer.records.study import Limits
joined = sys.argv[1]
if joined:
    Path(joined, "cgroup.procs").write_text(str(os.getpid()))
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
backend = detect()
found = {{"name": backend.name, "available": [c.control.value for c in backend.capabilities() if c.available]}}
limits = Limits(vcpus=0.5, memory_bytes=64 << 20)
if not backend.missing(limits):
    with backend.open("delegated", limits) as group:
        busy = ["/bin/sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"]
        found["status"] = subprocess.run(group.command(busy)).returncode
        found["sample"] = asdict(group.sample(0.0))
        found["limited_by"] = asdict(group.limited_by)
print(json.dumps(found))
"""


def as_user(joined: str = "") -> dict[str, Any]:
    path = os.pathsep.join([str(ROOT), *sys.path])
    shown = subprocess.run(
        [sys.executable, "-c", AS_USER, joined],
        env={**os.environ, "PYTHONPATH": path},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert shown.returncode == 0, shown.stderr
    answer: dict[str, Any] = json.loads(shown.stdout)
    return answer


def give(folder: Path, user: int) -> None:
    for path in [folder, *folder.iterdir()]:
        os.chown(path, user, -1)


@pytest.fixture
def v1_bases(real: LimitsBackend) -> Iterator[list[Path]]:
    """What root types once on a v1 host: a `sizer` group of the user's own for each controller."""
    if real.name != "cgroup v1":
        pytest.skip(f"this host limits by {real.name}")
    mounts = [mount for mount in parse_mounts(Path("/proc/self/mountinfo").read_text()) if mount.kind == "cgroup"]
    wanted = {"cpuset", "cpu", "cpuacct", "memory", "blkio", "freezer"}
    bases = [Path(mount.point, "sizer") for mount in mounts if wanted & set(mount.options)]
    for base in bases:
        base.mkdir(exist_ok=True)
        give(base, NOBODY)
    yield bases
    for base in bases:
        give(base, 0)
        with suppress(OSError):
            base.rmdir()


@pytest.fixture
def v2_scope(real: LimitsBackend) -> Iterator[Path]:
    """What systemd makes for `--scope -p Delegate=yes`: a group of the user's own, with controllers to hand on."""
    if real.name != "cgroup v2":
        pytest.skip(f"this host limits by {real.name}")
    root = Path("/sys/fs/cgroup")
    for controller in ("cpu", "memory"):
        (root / "cgroup.subtree_control").write_text(f"+{controller}")
    scope = root / "delegated.scope"
    scope.mkdir()
    for path in [scope, *(scope / f"cgroup.{file}" for file in ("procs", "threads", "subtree_control"))]:
        os.chown(path, NOBODY, -1)
    yield scope
    with suppress(OSError):
        (scope / "supervisor").rmdir()
    scope.rmdir()


def check(answer: dict[str, Any]) -> None:
    assert answer["status"] == 0
    assert answer["sample"]["core_seconds"] > 0
    assert (answer["limited_by"]["quota_vcpus"], answer["limited_by"]["memory_bytes"]) == (0.5, 64 << 20)


def test_a_user_limits_runs_in_delegated_v1_groups(v1_bases: list[Path]) -> None:
    """Every control works, and the delegated groups stay for the next time."""
    answer = as_user()
    check(answer)
    assert (answer["name"], len(answer["available"])) == ("cgroup v1", 4)
    assert all(base.is_dir() for base in v1_bases)


def test_a_user_limits_runs_in_a_delegated_v2_scope(v2_scope: Path) -> None:
    """Fractions and memory work, as the controllers that systemd hands to users allow; the disk does not."""
    answer = as_user(str(v2_scope))
    check(answer)
    assert answer["name"] == "cgroup v2"
    assert answer["available"][:3] == ["vcpus", "fractional_vcpus", "memory"]


def test_a_user_without_delegation_has_affinity(real: LimitsBackend) -> None:
    """Whole vCPUs and nothing else."""
    del real
    answer = as_user()
    assert (answer["name"], answer["available"]) == ("affinity", ["vcpus"])
