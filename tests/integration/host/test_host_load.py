"""A busy host is said before a study starts."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from sizer.host.findings import BusyBy
from sizer.limits.detection import detect
from sizer.runner.sampling import busiest, busy_by, host_load
from sizer.words.terminal import busy_host_in_words

BURN = "while True: pass"


def _said(load: BusyBy | None) -> str:
    return "" if load is None else busy_host_in_words(load)


def test_other_load_is_said_with_what_makes_it() -> None:
    """One sentence with the cores, the programs, and what becomes of the runs; stolen time alone is a busy host, and a
    few percent of a core are what every host does for itself. New processes count, ended and idle ones do not."""
    assert busy_by(0.05, 0.05, (("systemd", 0.03),)) is busy_by(None, None, ()) is None
    sentence = _said(busy_by(0.81, 0.2, (("firefox", 0.62), ("python3", 0.19))))
    assert "other programs use 0.81 cores (firefox 0.62, python3 0.19)" in sentence
    assert "the hypervisor gives 0.20 cores to others" in sentence
    assert "`contended` or `stolen`" in sentence
    stolen = _said(busy_by(0.0, 0.06, ()))
    assert stolen
    assert "other programs" not in stolen
    before = {1: ("init", 5.0), 2: ("web", 10.0), 3: ("web", 4.0), 4: ("gone", 1.0)}
    after = {1: ("init", 5.01), 2: ("web", 10.5), 3: ("web", 4.5), 5: ("make", 1.5)}
    assert busiest(before, after, 2.0) == (("make", 0.75), ("web", 0.5))


@pytest.mark.root
@pytest.mark.alone
def test_a_burning_process_is_seen_and_named() -> None:
    """What a program uses on this host is found by the kernel's accounting and by its name.

    In one of five looks: the host may hold it up, or give its CPU to others.
    """
    loads = []
    with subprocess.Popen([sys.executable, "-c", BURN]) as burning:
        try:
            while len(loads) < 5 and not (loads and _is_seen(loads[-1])):
                loads.append(host_load(detect()))
        finally:
            burning.kill()
    assert _is_seen(loads[-1]), loads


def _is_seen(load: BusyBy | None) -> bool:
    return (
        load is not None
        and (load.other_cores or 0.0) > 0.4
        and re.search(r"\(.*python[\d.]* \d", _said(load)) is not None
    )
