"""Which CPUs a number of vCPUs means on hosts of several shapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.errors import HostError
from sizer.limits import Topology, choose_cpus, parse_topology
from sizer.limits.topology import format_cpus, parse_cpus


def described(*rows: str) -> Topology:
    return parse_topology("# CPU,Core,Socket,Node\n" + "\n".join(rows))


# Linux numbers the first thread of every core before the second threads.
ONE_SOCKET_SMT = described(*(f"{cpu},{cpu % 4},0,0" for cpu in range(8)))
TWO_SOCKETS_SMT = described(*(f"{cpu},{cpu % 4},{cpu % 4 // 2},{cpu % 4 // 2}" for cpu in range(8)))
NO_SMT = described(*(f"{cpu},{cpu},0,0" for cpu in range(4)))
TWO_CPUS = described("0,0,0,0", "1,1,0,0")
EVERY = range(8)


@pytest.mark.parametrize(
    ("topology", "vcpus", "expected"),
    [
        (ONE_SOCKET_SMT, 1, (0,)),
        (ONE_SOCKET_SMT, 2, (0, 4)),
        (ONE_SOCKET_SMT, 3, (0, 1, 4)),
        (ONE_SOCKET_SMT, 4, (0, 1, 4, 5)),
        (ONE_SOCKET_SMT, 1.25, (0, 4)),
        (TWO_SOCKETS_SMT, 4, (0, 1, 4, 5)),
        (TWO_SOCKETS_SMT, 6, (0, 1, 2, 4, 5, 6)),
        (NO_SMT, 2, (0, 1)),
        (NO_SMT, 0.25, (0,)),
        (TWO_CPUS, 1.5, (0, 1)),
    ],
)
def test_vcpus_are_whole_cores_of_one_node_first(topology: Topology, vcpus: float, expected: tuple[int, ...]) -> None:
    """Siblings go in pairs, a node is filled before the next is touched, and a fraction takes a whole CPU."""
    assert choose_cpus(topology, vcpus, EVERY) == expected


def test_a_node_that_holds_them_all_is_taken_before_one_that_does_not() -> None:
    """With most of node 0 in use by others, four vCPUs come from node 1."""
    assert choose_cpus(TWO_SOCKETS_SMT, 4, {0, 2, 3, 6, 7}) == (2, 3, 6, 7)


def test_a_whole_core_is_taken_before_half_of_one() -> None:
    """Two vCPUs are two siblings where any core has both to give."""
    assert choose_cpus(ONE_SOCKET_SMT, 2, {0, 1, 5}) == (1, 5)


def test_more_than_is_allowed_is_an_error_with_the_largest_number() -> None:
    """The sentence says how many there are."""
    with pytest.raises(HostError, match="ask for at most 2 vCPUs"):
        choose_cpus(ONE_SOCKET_SMT, 3, {0, 4})


def test_pairing_counts_cores_used_by_one_and_by_two() -> None:
    """The model's n_single and n_paired."""
    assert ONE_SOCKET_SMT.pairing((0, 1, 4)) == (1, 1)
    assert NO_SMT.pairing((0, 1)) == (2, 0)


def test_a_topology_is_described_in_words() -> None:
    """The one line that stands in host.json."""
    assert TWO_SOCKETS_SMT.describe() == "2 sockets, 2 NUMA nodes, 4 cores, 8 CPUs with hyperthreads"
    assert TWO_CPUS.describe() == "1 socket, 1 NUMA node, 2 cores, 2 CPUs without hyperthreads"


def test_an_empty_column_counts_as_zero() -> None:
    """Some virtual machines tell no NUMA node."""
    assert parse_topology("0,0,0,\n1,1,0,").processors[1].node == 0


@given(st.sets(st.integers(0, 300)))
def test_cpu_lists_read_back_as_they_were_written(cpus: set[int]) -> None:
    """`parse_cpus` undoes `format_cpus`."""
    assert parse_cpus(format_cpus(cpus)) == tuple(sorted(cpus))


@given(st.integers(1, 8), st.sets(st.integers(0, 7)))
def test_the_choice_has_the_size_asked_for_and_only_what_is_allowed(vcpus: int, allowed: set[int]) -> None:
    """However odd the set of allowed CPUs."""
    if vcpus > len(allowed):
        with pytest.raises(HostError):
            choose_cpus(TWO_SOCKETS_SMT, vcpus, allowed)
    else:
        chosen = choose_cpus(TWO_SOCKETS_SMT, vcpus, allowed)
        assert len(chosen) == vcpus == len(set(chosen))
        assert set(chosen) <= allowed
