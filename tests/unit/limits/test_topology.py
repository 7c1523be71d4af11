"""Which CPUs a number of vCPUs means on hosts of several shapes."""

from __future__ import annotations

from math import ceil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.limits.backends.control_group import limited_by
from sizer.limits.topology import Topology, choose_cpus, format_cpus, parse_topology
from sizer.records.messages import HostError
from sizer.records.study import Limits
from sizer.words.runs import limits_in_words
from sizer.words.terminal import topology_in_words


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
        assert len({each.core for each in used}) == ceil(vcpus / threads)
        assert len({each.node for each in used}) == ceil(vcpus / per_node)


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
    found = limited_by("any", Limits(vcpus=vcpus), cpus, topology, None, by_cpuset=True)
    assert limits_in_words(found).startswith(f"any: {expected}, memory")


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
