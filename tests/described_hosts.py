"""Hosts that tests describe in a folder, with the rules of the kernel that the code relies on."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path

import pytest

from sizer.limits.backends.affinity import AffinityBackend
from sizer.limits.detection import backend_for, detect
from sizer.limits.interface import LimitsBackend
from sizer.limits.topology import Machine, read_machine
from sizer.limits.tree import Tree
from sizer.records.messages import Message

ELSEWHERE = {"time", "sizer_core_seconds", "accelerator_busy", "gpus"}
"""What of a Sample the groups do not count."""

V1_FILES = {
    "cpuset": {"cpuset.cpus": "", "cpuset.mems": ""},
    "cpu": {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "-1", "cpu.stat": "nr_periods 0\nnr_throttled 0\n"},
    "cpuacct": {"cpuacct.usage": "0"},
    "pids": {"pids.max": "max", "pids.events": "max 0\n"},
    "memory": {
        "memory.limit_in_bytes": "9223372036854771712",
        "memory.memsw.limit_in_bytes": "9223372036854771712",
        "memory.swappiness": "60",
        "memory.usage_in_bytes": "0",
        "memory.max_usage_in_bytes": "0",
        "memory.kmem.usage_in_bytes": "0",
        "memory.stat": "total_cache 0\ntotal_rss 0\ntotal_shmem 0\ntotal_swap 0\ntotal_swapcached 0\ntotal_dirty 0\n",
        "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
    },
    "blkio": {
        **{f"blkio.throttle.{way}_{what}_device": "" for way in ("read", "write") for what in ("bps", "iops")},
        "blkio.throttle.io_service_bytes": "Total 0\n",
        "blkio.throttle.io_serviced": "Total 0\n",
    },
    "freezer": {"freezer.state": "THAWED"},
}

V2_FILES = {
    "cpuset": {"cpuset.cpus": "", "cpuset.cpus.effective": "0-3"},
    "cpu": {"cpu.max": "max 100000"},
    "memory": {
        "memory.max": "max",
        "memory.swap.max": "max",
        "memory.oom.group": "0",
        "memory.current": "0",
        "memory.peak": "0",
        "memory.swap.current": "0",
        "memory.stat": "anon 0\nfile 0\nkernel 0\nsock 0\nshmem 0\nswapcached 0\n",
        "memory.events": "oom 0\noom_kill 0\n",
    },
    "io": {"io.max": "", "io.stat": ""},
    "pids": {"pids.max": "max", "pids.events": "max 0\n"},
}
V2_CORE = {
    "cgroup.procs": "",
    "cgroup.threads": "",
    "cgroup.kill": "",
    "cpu.stat": "usage_usec 0\nnr_periods 0\nnr_throttled 0\n",
}

QUIET = "".join(f"{which} avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" for which in ("some", "full"))
PRESSURE = {f"{resource}.pressure": QUIET for resource in ("cpu", "memory", "io")}


STATISTICS = "cpu  10 0 10 900 0 0 0 0 0 0\ncpu0 10 0 10 900 0 0 0 0 0 0\nintr 7\n"


class FakeTree(Tree):
    """Control groups as plain files."""

    def describe(self, directory: Path, files: dict[str, str]) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (directory / name).write_text(text)

    def make(self, directory: Path) -> None:
        super().make(directory)
        parts = directory.relative_to(self.path("/sys/fs/cgroup")).parts
        if parts[0] in V1_FILES:
            self.describe(directory, {"cgroup.procs": "", "tasks": "", **V1_FILES[parts[0]]})
        else:
            enabled = (directory.parent / "cgroup.subtree_control").read_text().split()
            files = {name: text for controller in enabled for name, text in V2_FILES[controller].items()}
            control = {"cgroup.controllers": " ".join(enabled), "cgroup.subtree_control": "", "cgroup.type": "domain"}
            self.describe(directory, {**V2_CORE, **PRESSURE, **control, **files})

    def write(self, file: Path, value: str) -> None:
        if file.name == "cgroup.subtree_control":
            self._enable(file, value.lstrip("+"))
        elif file.name == "cgroup.kill":
            for pid in self.processes(file.parent):
                os.kill(pid, signal.SIGKILL)
        elif file.name.endswith("_device") or file.name == "io.max":
            self._set_device(file, value)
        elif file.name == "cgroup.procs":
            source = file.parent.parent / file.name
            source.write_text("\n".join(pid for pid in source.read_text().split() if pid != value))
            file.write_text(f"{file.read_text()}\n{value}".strip())
        else:
            file.write_text("")
            super().write(file, value)

    def _enable(self, file: Path, controller: str) -> None:
        if controller not in (file.parent / "cgroup.controllers").read_text().split():
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        kind = file.parent / "cgroup.type"
        if kind.exists() and (file.parent / "cgroup.procs").read_text():
            if controller not in ("cpu", "cpuset", "pids"):
                raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
            kind.write_text("domain threaded")
        elif kind.exists() and "threaded" in kind.read_text() and controller not in ("cpu", "cpuset", "pids"):
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        file.write_text(f"{file.read_text()} {controller}".strip())
        for group in file.parent.iterdir():
            if group.is_dir():
                offered = (group / "cgroup.controllers").read_text()
                control = {"cgroup.controllers": f"{offered} {controller}".strip()}
                self.describe(group, {**control, **V2_FILES[controller]})

    def _set_device(self, file: Path, value: str) -> None:
        device, _, rates = value.partition(" ")
        kept = [line for line in file.read_text().splitlines() if not line.startswith(f"{device} ")]
        file.write_text("\n".join([*kept, *([value] if rates != "0" else [])]))

    def processes(self, directory: Path) -> set[int]:
        return {pid for pid in super().processes(directory) if _alive(pid)}

    def remove(self, directory: Path) -> None:
        if any(entry.is_dir() for entry in directory.iterdir()):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
        for entry in directory.iterdir():
            entry.unlink()
        super().remove(directory)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _machine() -> Machine:
    """Described with this host's CPUs, because the processes of the contract are real."""
    real = read_machine(Tree())
    return Machine(real.topology, real.allowed, memory_bytes=8 << 30)


def _pressure(tree: FakeTree) -> None:
    tree.describe(tree.path("/proc/pressure"), dict.fromkeys(("cpu", "memory", "io"), QUIET))
    tree.describe(tree.path("/proc"), {"stat": STATISTICS})


def _disks(tree: FakeTree) -> None:
    for name, number, carried_by in (("vda", "254:0", ""), ("loop0", "7:0", ""), ("dm-0", "253:0", "vda")):
        tree.describe(tree.path(f"/sys/block/{name}"), {"dev": f"{number}\n"})
        if carried_by:
            tree.describe(tree.path(f"/sys/block/{name}/slaves"), {carried_by: ""})


@pytest.fixture
def machine() -> Machine:
    return _machine()


@pytest.fixture
def v1_tree(tmp_path: Path) -> FakeTree:
    """A host with each v1 controller mounted by itself and an empty cgroup2 mount beside them."""
    tree = FakeTree(tmp_path / "host")
    _disks(tree)
    _pressure(tree)
    lines = ["40 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw"]
    for number, controller in enumerate(V1_FILES):
        tree.describe(
            tree.path(f"/sys/fs/cgroup/{controller}"), {"cgroup.procs": "", "tasks": "", **V1_FILES[controller]}
        )
        lines.append(f"{number} 31 0:{number} / /sys/fs/cgroup/{controller} rw - cgroup cgroup rw,{controller}")
    tree.describe(tree.path("/sys/fs/cgroup/cpuset"), {"cpuset.cpus": "0-3", "cpuset.mems": "0"})
    control = {"cgroup.controllers": "", "cgroup.subtree_control": ""}
    tree.describe(tree.path("/sys/fs/cgroup/unified"), {**V2_CORE, **PRESSURE, **control})
    tree.describe(tree.path("/proc/self"), {"mountinfo": "\n".join(lines)})
    return tree


@pytest.fixture
def v2_tree(tmp_path: Path) -> FakeTree:
    """A host with cgroup v2 alone, where nothing is handed to groups yet."""
    tree = FakeTree(tmp_path / "host")
    _disks(tree)
    _pressure(tree)
    control = {"cgroup.controllers": "cpuset cpu io memory pids", "cgroup.subtree_control": ""}
    tree.describe(tree.path("/sys/fs/cgroup"), {**V2_CORE, **PRESSURE, **control})
    tree.path("/sys/fs/cgroup/cgroup.kill").unlink()
    mount = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate"
    tree.describe(tree.path("/proc/self"), {"mountinfo": mount, "cgroup": "0::/user.slice/run.scope\n"})
    return tree


@pytest.fixture
def v1(v1_tree: FakeTree, machine: Machine) -> LimitsBackend:
    return backend_for(v1_tree, machine)


@pytest.fixture
def v2(v2_tree: FakeTree, machine: Machine) -> LimitsBackend:
    return backend_for(v2_tree, machine)


@pytest.fixture
def affinity() -> LimitsBackend:
    return AffinityBackend(_machine(), Message("no cgroups here"), {})


@pytest.fixture
def real() -> LimitsBackend:
    """The kernel's own groups on this host."""
    backend = detect()
    if backend.name == "affinity":
        reasons = {str(capability.how) for capability in backend.capabilities() if not capability.available}
        pytest.skip(f"needs writable cgroups: {', '.join(reasons)}")
    return backend


@pytest.fixture(params=["v1", "v2", "affinity", pytest.param("real", marks=pytest.mark.root)])
def backend(request: pytest.FixtureRequest) -> LimitsBackend:
    """Every way of limiting: two on described hosts, two on this one."""
    fixture = request.getfixturevalue(request.param)
    assert isinstance(fixture, LimitsBackend)
    return fixture
