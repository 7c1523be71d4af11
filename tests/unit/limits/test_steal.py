"""Time that the hypervisor gave to others."""

from __future__ import annotations

import os

import pytest

from sizer.limits import LimitsBackend
from sizer.limits.detection import backend_for
from sizer.limits.machine import Machine
from sizer.limits.surroundings import steal_core_seconds
from sizer.limits.tree import Tree
from sizer.records.study import Limits


def test_steal_is_that_of_all_cpus_in_seconds() -> None:
    """The first line sums the CPUs, in ticks."""
    ticks = os.sysconf("SC_CLK_TCK")
    assert steal_core_seconds(f"cpu  9 9 9 9 9 9 9 {ticks // 2} 0 0\ncpu0 9 9 9 9 9 9 9 7\n") == 0.5


@pytest.mark.parametrize("text", ["", "cpu  1 2 3 4 5 6 7\n", "intr 1 2 3 4 5 6 7 8 9\n"])
def test_a_kernel_that_does_not_tell_has_none(text: str) -> None:
    """Nothing told is not nothing stolen."""
    assert steal_core_seconds(text) is None


@pytest.mark.parametrize("host", ["v1_tree", "v2_tree"])
def test_it_is_accounted_where_the_kernel_tells(host: str, machine: Machine, request: pytest.FixtureRequest) -> None:
    """A column that is missing is not a zero."""
    tree: Tree = request.getfixturevalue(host)
    backend: LimitsBackend = backend_for(tree, machine)
    with backend.open("with", Limits()) as group:
        assert "steal_core_seconds" in group.accounted
    tree.path("/proc/stat").write_text("cpu  1 2 3 4\n")
    with backend.open("without", Limits()) as group:
        assert "steal_core_seconds" not in group.accounted
        assert group.sample(0.0).steal_core_seconds == 0.0
