"""The CPUs of a host, which of them a limit of some vCPUs means, which threads are there, and what else a backend
needs to know of the machine.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from sizer.limits.tree import Tree
from sizer.records.messages import HostError


@dataclass(frozen=True)
class Processor:
    """One logical CPU and where it sits; `core` is unique in the host."""

    cpu: int
    core: int
    socket: int
    node: int


@dataclass(frozen=True)
class CpuCounts:
    """How many sockets, NUMA nodes, cores and CPUs a host has; more CPUs than cores are hyperthreads."""

    sockets: int
    nodes: int
    cores: int
    cpus: int


@dataclass(frozen=True)
class Topology:
    """Every CPU that is online."""

    processors: tuple[Processor, ...]

    @property
    def hyperthreads(self) -> bool:
        """Whether some core shows more than one CPU."""
        return len({processor.core for processor in self.processors}) < len(self.processors)

    def pairing(self, cpus: Collection[int]) -> tuple[int, int]:
        """How many cores these CPUs use alone, and how many by two siblings: `n_single` and `n_paired`."""
        used = Counter(processor.core for processor in self.processors if processor.cpu in cpus)
        paired = sum(1 for count in used.values() if count > 1)
        return len(used) - paired, paired

    @property
    def counts(self) -> CpuCounts:
        """What there is of each."""
        return CpuCounts(
            sockets=len({processor.socket for processor in self.processors}),
            nodes=len({processor.node for processor in self.processors}),
            cores=len({processor.core for processor in self.processors}),
            cpus=len(self.processors),
        )


def parse_topology(text: str) -> Topology:
    """The topology from the output of `lscpu -p=CPU,CORE,SOCKET,NODE`.

    An empty cell is a thing the kernel does not report: without its core a CPU counts as a core of its own, without
    socket or node as part of the first. A line without CPU says nothing (lscpu 2.38 on a RISC-V board prints `,,,`).
    """
    rows = [line.split(",")[:4] for line in text.splitlines() if line and not line.startswith("#")]
    numbers = [[int(cell) if cell.isdecimal() else None for cell in row] for row in rows]
    cores = [core for _, core, *_ in numbers if core is not None]
    own = max(cores, default=-1) + 1
    return Topology(
        tuple(
            Processor(cpu, own + cpu if core is None else core, socket or 0, node or 0)
            for cpu, core, socket, node in numbers
            if cpu is not None
        )
    )


def read_topology() -> Topology:
    """This host's topology; where lscpu does not answer, every CPU counts as a core of its own."""
    try:
        listing = subprocess.run(
            ["lscpu", "-p=CPU,CORE,SOCKET,NODE"], capture_output=True, text=True, check=True, timeout=10, cwd="/"
        ).stdout
    except (OSError, subprocess.SubprocessError):
        listing = ""
    topology = parse_topology(listing)
    if topology.processors:
        return topology
    return Topology(tuple(Processor(cpu, cpu, 0, 0) for cpu in sorted(os.sched_getaffinity(0))))


def choose_cpus(topology: Topology, vcpus: float, allowed: Collection[int]) -> tuple[int, ...]:
    """The `ceil(vcpus)` CPUs that a cloud machine of that size would have: whole cores with both hyperthreads, from as
    few NUMA nodes as will hold them; of nodes that do equally well, the smallest. HostError if fewer are allowed.
    """
    count = ceil(vcpus)
    usable = [processor for processor in topology.processors if processor.cpu in allowed]
    if count > len(usable):
        raise HostError(
            "{vcpus} vCPUs were asked for, and this host allows {usable}; ask for at most {usable} vCPUs.",
            vcpus=f"{vcpus:g}",
            usable=len(usable),
        )
    nodes = defaultdict(list)
    for processor in usable:
        nodes[processor.node].append(processor)

    def cores(node: int) -> int:
        """How many cores the choice would take in that node: whole ones are fewer."""
        core_of = {processor.cpu: processor.core for processor in nodes[node]}
        return len({core_of[cpu] for cpu in _by_core(nodes[node])[:count]})

    # One node that holds all of them keeps memory local; where none does, the largest nodes need the fewest.
    fitting = [node for node in nodes if len(nodes[node]) >= count]
    if fitting:
        order = [min(fitting, key=lambda node: (cores(node), len(nodes[node]), node))]
    else:
        order = sorted(nodes, key=lambda node: (-len(nodes[node]), cores(node), node))
    chosen = [cpu for node in order for cpu in _by_core(nodes[node])]
    return tuple(sorted(chosen[:count]))


def _by_core(processors: Iterable[Processor]) -> list[int]:
    cores = defaultdict(list)
    for processor in processors:
        cores[processor.core].append(processor.cpu)
    whole_first = sorted(cores, key=lambda core: (-len(cores[core]), core))
    return [cpu for core in whole_first for cpu in sorted(cores[core])]


def format_cpus(cpus: Collection[int]) -> str:
    """CPUs as the kernel writes a list of them: `0-2,5`."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][-1] + 1:
            runs[-1].append(cpu)
        else:
            runs.append([cpu])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def parse_cpus(text: str) -> tuple[int, ...]:
    """CPUs from a list as the kernel writes it; empty text is no CPU."""
    cpus: list[int] = []
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            cpus.extend(range(int(first), int(last or first) + 1))
    return tuple(cpus)


@dataclass(frozen=True)
class Machine:
    """A machine as seen from this process; sizes in bytes. `uncounted` are the counters that its kernel leaves at 0."""

    topology: Topology
    allowed: frozenset[int]
    memory_bytes: int | None = None
    swap_bytes: int = 0
    uncounted: frozenset[str] = frozenset()


def read_machine(tree: Tree) -> Machine:
    """This machine."""
    # proc(5): meminfo says kB and means KiB.
    sizes = dict(line.split(":", 1) for line in tree.text(tree.path("/proc/meminfo")).splitlines() if ":" in line)
    kibibytes = {key: int(value.split()[0]) for key, value in sizes.items() if value.split()}
    total = kibibytes.get("MemTotal")
    return Machine(
        topology=read_topology(),
        allowed=frozenset(os.sched_getaffinity(0)),
        memory_bytes=None if total is None else total * 1024,
        swap_bytes=kibibytes.get("SwapTotal", 0) * 1024,
        uncounted=uncounted(tree.text(tree.path("/proc/cmdline"))),
    )


def uncounted(command_line: str) -> frozenset[str]:
    """The counters that a kernel started so leaves at 0: with `nokmem` its own memory is neither counted nor capped."""
    words = [word.partition("=") for word in command_line.split()]
    off = any(name == "cgroup.memory" and "nokmem" in value.split(",") for name, _, value in words)
    return frozenset({"kernel_bytes"} if off else ())


THE_DEAD = frozenset("ZX")
"""States of a thread that has ended (proc(5)): it is in no group any more."""


def threads_of(processes: Collection[int]) -> dict[int, int]:
    """The process of each of their living threads."""
    threads = {}
    for process in processes:
        with suppress(OSError):
            for thread in map(int, os.listdir(f"/proc/{process}/task")):
                status = Path(f"/proc/{process}/task/{thread}/stat").read_text()
                if status.rpartition(")")[2].split()[0] not in THE_DEAD:
                    threads[thread] = process
    return threads


def named(processes: Collection[int]) -> str | None:
    """`4711 (python3)`: the first of the processes that still live; None where none does."""
    for process in sorted(processes):
        with suppress(OSError):
            return f"{process} ({Path(f'/proc/{process}/comm').read_text().rstrip()})"
    return None


def beyond(cpus: Collection[int], threads: Collection[int]) -> frozenset[int]:
    """The threads that may run on another CPU than these."""
    outside = set()
    for thread in threads:
        with suppress(OSError):
            if not os.sched_getaffinity(thread) <= set(cpus):
                outside.add(thread)
    return frozenset(outside)
