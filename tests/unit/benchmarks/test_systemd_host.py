"""The benchmark of a systemd host: what it puts into the machine, and what it holds to be met."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from systemd_debian import requirements, sources
from systemd_guest import DELEGATED, THROTTLED
from systemd_host import RATES, judge, limits_held

from sizer.catalog.catalog import Catalog
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize

BURNS = {
    "workload": "burns",
    "vcpus": 0.5,
    "outcome": "completed",
    "cores": 0.5,
    "limited_by": {"kind": "sizer", "backend": "cgroup v2", "cpus": "0", "by_cpuset": False, "quota_vcpus": 0.5},
    "inside": {"cpu.max": "50000 100000", "memory.max": str(64 << 20), "memory.swap.max": "0", "cpus": [0]},
}


def met(**changed: Any) -> list[bool]:
    return [row.met for row in limits_held({**BURNS, **changed})]


def test_a_limit_that_was_not_held_is_an_aim_missed() -> None:
    """3 % beside its vCPUs, a cap that the program does not read, a record that names another way, a guest that could
    not boot."""
    assert met() == [True, True, True]
    assert met(cores=0.52) == met(cores=None, outcome="crashed") == [False, True, True]
    assert met(inside={**BURNS["inside"], "memory.max": "max"}) == [True, False, True]
    affinity = {"kind": "sizer", "backend": "affinity", "cpus": "0", "by_cpuset": False}
    assert met(limited_by=affinity) == [True, True, False]
    assert [row.met for row in judge({})] == [False]


def test_the_machine_gets_what_it_needs_and_studies_in_form() -> None:
    """sizer's own requirements from PyPI, its own files from here, and what sizer reads."""
    names = {line.split("<")[0].split(">")[0].lower() for line in requirements()}
    assert {"numpy", "scipy", "psutil", "jinja2"} <= names
    assert not {"mxnet", "opencv-python-headless", "pytest"} & names
    targets = {target for _, target in sources()}
    assert {"sizer/limits/backends/v2.py", "sizer/api/demo.yaml"} <= targets
    for text in (DELEGATED, THROTTLED):
        study = parse_study(text, "study.yaml", None, HostSize(2, 1 << 30), Catalog.load())
    (tier,) = study.disks
    assert tier.emulated is not None
    assert asdict(tier.emulated) == RATES
