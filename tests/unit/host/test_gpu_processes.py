"""Whose the processes on a GPU are, where numbers are ours and where they are another namespace's."""

from __future__ import annotations

import os

from sizer.host.gpu_processes import GpuProcesses

OURS = os.getpid()
"""A process whose name can be read."""

STRANGER = 2**22 + 7
"""No process here: above the largest pid_max."""


def own(*pids: int) -> GpuProcesses:
    """Processes of which these are the run's, on a machine where numbers are ours."""
    found = GpuProcesses(certain=True)
    found.tell_own(lambda pid: pid in pids)
    return found


def test_another_process_is_named_once_it_was_there_twice() -> None:
    """One that is just starting, or has just ended, cannot be told from the run's own yet."""
    processes = own(10)
    assert processes.others({10, OURS}) == ()
    (name,) = processes.others({10, OURS})
    assert name.endswith(f"(pid {OURS})")
    assert processes.others({10}) == ()


def test_what_has_ended_stays_the_runs_own() -> None:
    """The driver lists it for a while, when nothing says any more whose it was."""
    alive = {10}
    processes = GpuProcesses(certain=True)
    processes.tell_own(lambda pid: pid in alive)
    processes.others({10})
    alive.clear()
    assert processes.others({10}) == ()
    assert processes.others({10}) == ()


def test_in_a_container_only_who_was_there_before_is_another_for_certain() -> None:
    """The numbers may be the machine's, so that the run's own process is not known by its number."""
    processes = GpuProcesses(certain=False)
    processes.others({STRANGER})
    processes.tell_own(lambda _: False)
    assert processes.others({STRANGER, 4711}) == (f"pid {STRANGER}",)
    assert processes.others({STRANGER, 4711}) == (f"pid {STRANGER}",)
    assert processes.own_bytes({STRANGER: 5, 4711: 7}) is None


def test_one_known_process_says_whose_numbers_they_are() -> None:
    """Then all others are somebody else's, and the memory of the run's own is known."""
    processes = GpuProcesses(certain=False)
    processes.tell_own(lambda pid: pid == 10)
    processes.others({10, STRANGER})
    assert processes.others({10, STRANGER}) == (f"pid {STRANGER}",)
    assert processes.own_bytes({10: 5, STRANGER: 7}) == 5
    assert processes.own_bytes({10: None, STRANGER: 7}) is None
