"""Which limits a host has: its CPUs, its disks, and what is left without control groups."""

from __future__ import annotations

import os
import subprocess
import sys
from math import ceil
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.limits.backends.control_group import limited_by
from sizer.limits.backends.delegation import AS_ROOT, SCOPE, scope_command
from sizer.limits.detection import _own_quota, backend_for, detect
from sizer.limits.device import device_of, whole_disk
from sizer.limits.interface import Control, LimitsBackend, Rerun, Throttle
from sizer.limits.process_tree import _is_dead
from sizer.limits.supervised import JOIN_FAILED, join_command
from sizer.limits.topology import Machine, Topology, choose_cpus, format_cpus, parse_topology
from sizer.limits.tree import STEAL, Tree
from sizer.records.device import DiskRates
from sizer.records.messages import HostError
from sizer.records.study import Limits
from sizer.words.runs import limits_in_words
from sizer.words.terminal import topology_in_words
from tests.described_hosts import V2_FILES

# Which way of limiting a described host offers.


def test_v1_controllers_win_over_an_empty_v2_mount(v1_tree: Tree, machine: Machine) -> None:
    """A hybrid host limits by v1: a controller is in one of them only."""
    assert backend_for(v1_tree, machine).name == "cgroup v1"


def systemd(tree: Tree, *, manager: bool = True) -> Path:
    """A described host whose init is systemd; whether this user's manager runs there."""
    tree.path("/run/systemd/system").mkdir(parents=True)
    private = tree.path(f"/run/user/{os.geteuid()}/systemd/private")
    private.parent.mkdir(parents=True)
    if manager:
        private.touch()
    return private


@pytest.mark.parametrize(("host", "fix"), [("v1_tree", "chown -R"), ("v2_tree", "systemd-run --user")])
def test_an_ordinary_user_gets_affinity_and_the_command_that_would_give_more(
    host: str, fix: str, machine: Machine, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a user without delegation can do, and how to get the rest."""
    tree = request.getfixturevalue(host)
    monkeypatch.setattr(type(tree), "writable", lambda *_: False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    systemd(tree)
    backend = backend_for(tree, machine)
    assert backend.name == "affinity"
    memory, disk = backend.missing(Limits(memory_bytes=1 << 28, disk="slow"))
    assert memory.control is Control.MEMORY
    assert fix in (memory.fix or "")
    assert "unified" not in (memory.fix or ""), "pressure is accounting: it is not asked of root"
    assert disk.remedy == AS_ROOT, "a throttled disk needs a loop device, which nobody delegates"


def test_the_command_for_a_delegated_scope_works_where_it_is_typed(v2_tree: Tree) -> None:
    """In a session as it is; where the manager's socket is not told, or no manager runs, that comes first."""
    private = systemd(v2_tree)
    user = os.geteuid()
    assert scope_command(v2_tree, user, {"XDG_RUNTIME_DIR": f"/run/user/{user}"}) == SCOPE
    command = f"XDG_RUNTIME_DIR=/run/user/{user} {SCOPE.prefix}"
    assert scope_command(v2_tree, user, {}) == Rerun(command)
    private.unlink()
    assert scope_command(v2_tree, user, {}) == Rerun(f"sudo systemctl start user@{user} && {command}")


def test_a_user_uses_the_v1_groups_that_root_delegated(
    v1_tree: Tree, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the controllers that were delegated; the delegated base stays when the run is over."""
    bases = [v1_tree.path(f"/sys/fs/cgroup/{controller}/sizer") for controller in ("cpu", "cpuacct")]
    for base in bases:
        v1_tree.make(base)
    monkeypatch.setattr(type(v1_tree), "writable", lambda _, path: any(path.is_relative_to(base) for base in bases))
    backend = backend_for(v1_tree, machine)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with backend.open("mine", Limits(vcpus=0.5)) as group:
        assert limits_in_words(group.limited_by).startswith("cgroup v1: affinity to CPUs ")
        assert "core_seconds" in group.accounted
        assert not {"memory_bytes", "cpu_stall"} & group.accounted
    assert all(base.is_dir() for base in bases)
    assert [limit.control for limit in backend.missing(Limits(0.5, 1 << 28, "slow"))] == [Control.MEMORY, Control.DISK]


def test_a_host_without_cgroups_still_detects(tmp_path: Path) -> None:
    """An empty root is a host where only affinity is left."""
    assert detect(tmp_path).name == "affinity"


def how(backend: LimitsBackend) -> str:
    return str(next(capability.how for capability in backend.capabilities() if capability.control is Control.VCPUS))


def test_a_containers_quota_is_told_under_v2(v2_tree: Tree, machine: Machine) -> None:
    """`max` is no quota."""
    quota = v2_tree.path("/sys/fs/cgroup/cpu.max")
    quota.write_text("max 100000\n")
    assert how(backend_for(v2_tree, machine)) == "cpuset"
    quota.write_text("50000 100000\n")
    assert how(backend_for(v2_tree, machine)) == "cpuset; but a parent group has a quota of 0.5 vCPU"


@pytest.mark.parametrize("host", ["v1_tree", "v2_tree"])
def test_without_groups_it_is_the_quota_that_the_process_has(
    host: str, machine: Machine, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run by affinity stays in the group of sizer; a container may see a path that is only in the host."""
    tree: Tree = request.getfixturevalue(host)
    top, file, quota = (
        ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "200000")
        if host == "v1_tree"
        else ("/sys/fs/cgroup", "cpu.max", "200000 100000")
    )
    tree.path("/proc/self/cgroup").write_text("3:cpu,cpuacct:/docker/abc\n0::/docker/abc\n")
    tree.path(f"{top}/{file}").write_text(quota)
    monkeypatch.setattr(type(tree), "writable", lambda *_: False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert how(backend_for(tree, machine)) == "CPU affinity; but a parent group has a quota of 2 vCPU"


def stolen(text: str) -> float | None:
    return STEAL.fields["steal_core_seconds"](STEAL.parse(text))


def test_steal_is_that_of_all_cpus_in_seconds() -> None:
    """The first line sums the CPUs, in ticks."""
    ticks = os.sysconf("SC_CLK_TCK")
    assert stolen(f"cpu  9 9 9 9 9 9 9 {ticks // 2} 0 0\ncpu0 9 9 9 9 9 9 9 7\n") == 0.5


@pytest.mark.parametrize("text", ["", "cpu  1 2 3 4 5 6 7\n", "intr 1 2 3 4 5 6 7 8 9\n"])
def test_a_kernel_that_does_not_tell_has_none(text: str) -> None:
    """What is not known is not nothing stolen."""
    assert stolen(text) is None


# Which CPUs a number of vCPUs means on hosts of several shapes.


def host(name: str) -> Topology:
    """What `lscpu -p=CPU,CORE,SOCKET,NODE` of util-linux 2.38.1 printed for a host."""
    return parse_topology((Path(__file__).parent / "lscpu" / f"{name}.txt").read_text())


# The first four were printed by lscpu over a sysfs described with the numbering that was published for the host, the
# last two on the host itself.
ONE_SOCKET = host("one_socket_smt")
"""Intel i7-2600: an `lscpu -p` listing in RHCA 442 course notes ("Hardware(442-5)")."""
TWO_SOCKETS = host("two_sockets_numa")
"""Two Xeon E5-2660 v2, node 0 CPUs 0-9,20-29 and node 1 CPUs 10-19,30-39: https://faichou.com/posts/lscpu/."""
EIGHT_NODES = host("eight_nodes")
"""Two AMD EPYC 7451 of four nodes each: util-linux's own test, tests/expected/lscpu/lscpu-x86_64-epyc_7451."""
NO_SMT = host("no_smt")
"""Google t2a-standard-4, ARM Neoverse N1: https://gist.github.com/Manouchehri/e3a714d1113fc37162dd557c80fd3045."""
VIRTUAL_MACHINE = host("virtual_machine")
"""Linux 6.1 in QEMU with `-smp 8,sockets=1,cores=4,threads=2`: guests number siblings side by side."""
THIS_HOST = host("this_host")
"""The machine that the figures of docs/limits.md come from: a virtual machine that hides its hyperthreads."""

HOSTS = (ONE_SOCKET, TWO_SOCKETS, EIGHT_NODES, NO_SMT, VIRTUAL_MACHINE, THIS_HOST)


def described(*rows: str) -> Topology:
    return parse_topology("# CPU,Core,Socket,Node\n" + "\n".join(rows))


TWO_SMALL_SOCKETS = described(*(f"{cpu},{cpu % 4},{cpu % 4 // 2},{cpu % 4 // 2}" for cpu in range(8)))


def every(topology: Topology) -> frozenset[int]:
    return frozenset(processor.cpu for processor in topology.processors)


@pytest.mark.parametrize(
    ("topology", "vcpus", "expected"),
    [
        (ONE_SOCKET, 1, "0"),
        (ONE_SOCKET, 2, "0,4"),
        (ONE_SOCKET, 3, "0-1,4"),
        (ONE_SOCKET, 4, "0-1,4-5"),
        (ONE_SOCKET, 1.25, "0,4"),
        (ONE_SOCKET, 8, "0-7"),
        (TWO_SOCKETS, 2, "0,20"),
        (TWO_SOCKETS, 20, "0-9,20-29"),
        (TWO_SOCKETS, 21, "0-10,20-29"),
        (TWO_SOCKETS, 22, "0-10,20-30"),
        (EIGHT_NODES, 12, "0-5,48-53"),
        (EIGHT_NODES, 13, "0-6,48-53"),
        (EIGHT_NODES, 48, "0-23,48-71"),
        (NO_SMT, 1, "0"),
        (NO_SMT, 0.25, "0"),
        (NO_SMT, 3, "0-2"),
        (VIRTUAL_MACHINE, 1, "0"),
        (VIRTUAL_MACHINE, 2, "0-1"),
        (VIRTUAL_MACHINE, 3, "0-2"),
        (VIRTUAL_MACHINE, 2.5, "0-2"),
        (THIS_HOST, 1, "0"),
        (THIS_HOST, 1.5, "0-1"),
    ],
)
def test_vcpus_are_whole_cores_of_one_node_first(topology: Topology, vcpus: float, expected: str) -> None:
    """Siblings go in pairs however they are numbered, a node is filled before the next is touched, and a fraction takes
    a whole CPU.
    """
    assert format_cpus(choose_cpus(topology, vcpus, every(topology))) == expected


@pytest.mark.parametrize("topology", HOSTS)
def test_every_size_takes_the_fewest_cores_and_nodes(topology: Topology) -> None:
    """On a host all to itself a run of any size has half as many cores as vCPUs where there are hyperthreads, one core
    more for an odd one, and no more nodes than hold them.
    """
    whole = len(topology.processors)
    threads = 2 if topology.hyperthreads else 1
    per_node = whole // len({processor.node for processor in topology.processors})
    for vcpus in range(1, whole + 1):
        chosen = choose_cpus(topology, vcpus, every(topology))
        used = [processor for processor in topology.processors if processor.cpu in chosen]
        assert len(used) == vcpus
        assert len({cpu.core for cpu in used}) == ceil(vcpus / threads)
        assert len({cpu.node for cpu in used}) == ceil(vcpus / per_node)


@pytest.mark.parametrize(
    ("topology", "vcpus", "expected"),
    [
        (ONE_SOCKET, 2, "cpuset 0,4 (1 core, 1 with both hyperthreads)"),
        (ONE_SOCKET, 3, "cpuset 0-1,4 (2 cores, 1 with both hyperthreads)"),
        (TWO_SOCKETS, 21, "cpuset 0-10,20-29 (11 cores, 10 with both hyperthreads)"),
        (VIRTUAL_MACHINE, 1, "cpuset 0 (1 core)"),
        (VIRTUAL_MACHINE, 4, "cpuset 0-3 (2 cores, 2 with both hyperthreads)"),
        (NO_SMT, 2, "cpuset 0-1"),
        (THIS_HOST, 2, "cpuset 0-1"),
    ],
)
def test_the_record_says_how_many_cores_have_both_hyperthreads(topology: Topology, vcpus: int, expected: str) -> None:
    """Two vCPUs of a host with hyperthreads are one core; a host that shows none leaves nothing to say."""
    cpus = choose_cpus(topology, vcpus, every(topology))
    limited = limited_by("any", Limits(vcpus=vcpus), cpus, topology, None, by_cpuset=True)
    assert limits_in_words(limited).startswith(f"any: {expected}, memory")


def test_more_than_is_allowed_is_an_error_with_the_largest_number() -> None:
    """The sentence says how many there are."""
    with pytest.raises(HostError, match="ask for at most 2 vCPUs"):
        choose_cpus(ONE_SOCKET, 3, {0, 4})


def test_a_topology_is_described_in_words() -> None:
    """The line that doctor and the page show."""
    assert topology_in_words(TWO_SOCKETS.counts) == "2 sockets, 2 NUMA nodes, 20 cores, 40 CPUs with hyperthreads"
    assert topology_in_words(EIGHT_NODES.counts) == "2 sockets, 8 NUMA nodes, 48 cores, 96 CPUs with hyperthreads"
    assert topology_in_words(THIS_HOST.counts) == "1 socket, 1 NUMA node, 2 cores, 2 CPUs without hyperthreads"


@given(st.integers(1, 8), st.sets(st.integers(0, 7)))
def test_the_choice_has_the_size_asked_for_and_only_what_is_allowed(vcpus: int, allowed: set[int]) -> None:
    """However odd the set of allowed CPUs."""
    if vcpus > len(allowed):
        with pytest.raises(HostError):
            choose_cpus(TWO_SMALL_SOCKETS, vcpus, allowed)
    else:
        chosen = choose_cpus(TWO_SMALL_SOCKETS, vcpus, allowed)
        assert len(chosen) == vcpus == len(set(chosen))
        assert set(chosen) <= allowed


# The disk under a path.


def test_a_partition_counts_as_its_disk(tmp_path: Path) -> None:
    """The kernel throttles whole disks alone."""
    tree = Tree(tmp_path)
    partition = tree.path("/sys/block/vda/vda1")
    partition.mkdir(parents=True)
    (partition / "partition").write_text("1")
    (partition.parent / "dev").write_text("254:0\n")
    links = tree.path("/sys/dev/block")
    links.mkdir(parents=True)
    (links / "254:1").symlink_to(partition)
    (links / "254:0").symlink_to(partition.parent)
    assert [whole_disk(device, tree) for device in ("254:1", "254:0", "0:44")] == ["254:0", "254:0", None]


def test_a_path_that_is_not_there_yet_counts_as_its_parent(tmp_path: Path) -> None:
    """A study's scratch folder is made later."""
    try:
        expected = device_of(tmp_path)
    except HostError:
        pytest.skip("the temporary folder lies on no disk")
    assert device_of(tmp_path / "a" / "b") == expected


def described_disk(root: Path, mount: str) -> Tree:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mountinfo").write_text(mount)
    return Tree(root)


@pytest.mark.parametrize(
    "mount",
    [
        "",
        "31 23 0:28 / / rw - tmpfs tmpfs rw",
        "31 23 0:28 / / rw - btrfs /dev/null rw",
        "31 23 0:28 / / rw - overlay overlay rw,upperdir=/nowhere/at/all",
    ],
)
def test_a_folder_in_memory_is_on_no_disk(mount: str, tmp_path: Path) -> None:
    """Nothing can limit it, and the sentence says how to list what can be."""
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(HostError, match="is not on a disk that can be limited"):
        device_of(folder, described_disk(tmp_path / "host", mount))


def test_a_limit_without_a_remedy_is_to_be_left_out(
    v2_tree: Tree, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be typed, only another study or another host helps; nothing is silently unlimited."""
    monkeypatch.delitem(V2_FILES["io"], "io.max")
    backend = backend_for(v2_tree, machine)
    with pytest.raises(HostError, match=r"io\.max.*larger host"):
        backend.open("a", Limits(disk="slow"), Throttle("7:0", DiskRates(read_iops=100)))
    with backend.open("b", Limits(vcpus=1)) as group:
        assert group.limited_by.rates is None


def test_a_limit_with_a_remedy_says_what_to_type(v2_tree: Tree, machine: Machine) -> None:
    """A kernel that keeps memory off can be started with it."""
    v2_tree.path("/sys/fs/cgroup/cgroup.controllers").write_text("cpuset cpu pids")
    with pytest.raises(HostError, match=r"type: .*cgroup_enable=memory"):
        backend_for(v2_tree, machine).open("a", Limits(memory_bytes=1 << 30))


def test_a_host_without_groups_has_no_quota(tmp_path: Path) -> None:
    """There is no folder to look in."""
    assert _own_quota(Tree(tmp_path), "cpu", None) is None


def test_a_process_that_is_gone_is_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may end between being listed and being asked; this one lives."""
    ours = psutil.Process()
    assert not _is_dead(ours)

    def gone(self: psutil.Process) -> str:
        raise psutil.NoSuchProcess(self.pid)

    monkeypatch.setattr(psutil.Process, "status", gone)
    assert _is_dead(ours)


# What affinity counts of processes that the kernel keeps in no group.


BURN = "import time\nend = time.process_time() + {seconds}\nwhile time.process_time() < end: pass\n"


def test_the_program_has_the_cpus_of_its_limit(affinity: LimitsBackend) -> None:
    """nproc counts the CPUs that a process may run on."""
    with affinity.open("one", Limits(vcpus=1)) as group:
        assert (
            limits_in_words(group.limited_by) == f"affinity: CPUs {group.cpus[0]}, memory not limited, disk not limited"
        )
        assert subprocess.run(group.command(["nproc"]), capture_output=True, text=True, timeout=200).stdout == "1\n"


def test_the_time_of_children_that_ended_is_kept(affinity: LimitsBackend) -> None:
    """A worker that its parent waited for counts with its parent."""
    program = (
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BURN.format(seconds=0.2)!r}])\n"
        "print('done', flush=True)\nsys.stdin.read()"
    )
    with affinity.open("children", Limits()) as group:
        child = subprocess.Popen(
            group.command([sys.executable, "-c", program]), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        child.stdout.readline()
        during = group.sample(0.0).core_seconds
        child.communicate(timeout=200)
        after = group.sample(1.0).core_seconds
    assert during >= 0.2
    assert after >= during


def test_a_daemon_that_left_session_and_parent_is_killed(affinity: LimitsBackend) -> None:
    """The mark in its environment stays."""
    program = (
        "import os, time\n"
        "if os.fork() == 0:\n os.setsid()\n if os.fork(): os._exit(0)\n"
        " print(os.getpid(), flush=True); time.sleep(60)\n"
        "os.wait(); os._exit(0)"
    )
    with affinity.open("daemon", Limits()) as group:
        child = subprocess.Popen(group.command([sys.executable, "-c", program]), stdout=subprocess.PIPE)
        daemon = int(child.stdout.readline())
        child.wait(timeout=200)
        group.kill()
        assert b"State:\tZ" in _status(daemon) or _status(daemon) == b""
        child.stdout.close()


def _status(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            return file.read()
    except OSError:
        return b""


def test_a_join_that_fails_is_reported_where_no_program_writes() -> None:
    """What a program prints, and its exit status, may be the same; one that runs reports nothing."""
    for affinity, reported in (((4095,), b"CPUs 4095\n"), ((), b"")):
        read_end, write_end = os.pipe()
        argv = join_command(["sh", "-c", "exit 125"], affinity=affinity, report=write_end)
        assert subprocess.run(argv, pass_fds=(write_end,), timeout=200).returncode == JOIN_FAILED
        os.close(write_end)
        assert os.read(read_end, 100) == reported
        os.close(read_end)
