"""What several test modules share."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import DataSet, Demand, DiskCheck, Evidence, MemoryUse, Run, Step
from sizer.records.run_kinds import Outcome
from sizer.records.study import DiskTier, Limits, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.store.study_folder import StudyFolder

# Machines that run the tests are shared: how long a case takes says nothing about the software.
settings.register_profile(
    "shared machine", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("shared machine")

pytest_plugins = ["tests.described_hosts", "tests.modelled", "tests.reported_study"]


UNIT = Path(__file__).parent / "unit"
LONGEST = ("test_demonstration.py", "test_programs.py", "test_storing.py")
"""Files that take minutes: what begins last would be waited for alone."""

CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1


def pytest_configure() -> None:
    """A worker of xdist gets a network of its own: one sizer measures a host at a time, and it knows by the network."""
    if "PYTEST_XDIST_WORKER" not in os.environ or os.geteuid() != 0:
        return
    if ctypes.CDLL(None).unshare(CLONE_NEWNET) != 0:
        return  # A container may refuse it, and then sets no limits either.
    with socket.socket() as loopback:
        fcntl.ioctl(loopback, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An interpreter of this version without any package."""
    path = tmp_path / "bare"
    path.write_text(f'#!/bin/sh\nexec "{sys._base_executable}" -I -S "$@"\n')  # type: ignore[attr-defined]
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def _numbers_as_they_were() -> Iterator[None]:
    """Our PyTorch takes denormal numbers for 0, in the whole process; the next test here wants them again."""
    yield
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_flush_denormal(False)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each file has its turn, and a test that sets real limits is skipped, with its reason, for anybody but root."""
    turn = turns(item.path for item in items)
    items.sort(key=lambda item: turn[item.path])
    if os.geteuid() == 0:
        return
    for item in items:
        if item.get_closest_marker("root"):
            item.add_marker(pytest.mark.skip(reason="sets real limits, so it needs root"))


def turns(paths: Iterable[Path]) -> dict[Path, float]:
    """When each file comes, from 0 to 1: those that measure and mostly wait between those that compute.

    Workers that all wait at a time, or all compute, leave CPUs idle. What measures takes long, so it ends first.
    """
    files = list(dict.fromkeys(paths))
    measuring = [path for path in files if UNIT not in path.parents]
    measuring.sort(key=lambda path: path.name not in LONGEST)
    computing = [path for path in files if UNIT in path.parents]
    return {
        path: number / len(group) * share
        for group, share in ((measuring, 0.9), (computing, 1.0))
        for number, path in enumerate(group)
    }


@pytest.fixture
def first_version(tmp_path: Path) -> Path:
    """A study folder that schema 1 wrote, converted."""
    return _stored("version_1", tmp_path)


@pytest.fixture
def second_version(tmp_path: Path) -> Path:
    """The same of schema 2."""
    return _stored("version_2", tmp_path)


@pytest.fixture
def probed(tmp_path: Path) -> Path:
    """A study folder of a development version, converted, whose runs have corrections of their rates."""
    return _stored("version_2_probed", tmp_path)


@pytest.fixture
def unconverted(tmp_path: Path) -> Path:
    """A study folder as older versions wrote it: a run of schema 1, an imported one, notes in sentences, a probe."""
    return _stored("unconverted", tmp_path)


@pytest.fixture
def first_version_imported(tmp_path: Path) -> Path:
    """A study folder that the first version made of a table, converted, with what it predicted in predictions.json."""
    return _stored("version_1_imported", tmp_path)


def _stored(name: str, folder: Path) -> Path:
    """A stored study folder as a copy of this user's own, whoever made the checkout."""
    stored, copy = Path(__file__).parent / "stored" / name, folder / name
    for source in sorted(stored.rglob("*")):
        target = copy / source.relative_to(stored)
        target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        if source.is_file():
            target.write_bytes(source.read_bytes())
            target.chmod(0o644)
    return copy


@pytest.fixture
def make_spec() -> Callable[..., RunSpec]:
    """A RunSpec of a user's own command, with limits and measure as asked."""

    def make(*command: str, seconds: float = 2.0, timeout: float | None = None, **limits: float) -> RunSpec:
        workload = Workload("job", "command", command=command, device=Device())
        return RunSpec(workload, 8, Limits(**limits), Measure(1, seconds, 0.02, 1, timeout))  # type: ignore[arg-type]

    return make


@pytest.fixture
def make_steps() -> Callable[..., list[Step]]:
    """Steps from a list of durations in seconds."""

    def make(durations: list[float], samples: int = 8, epoch: int = 0, start: float = 100.0) -> list[Step]:
        steps, time = [], start
        for duration in durations:
            time += duration
            steps.append(Step(time, samples, 0.0, epoch))
        return steps

    return make


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Run]:
    """A Run as the model sees it: a rate at a configuration, with whatever else is known of it."""

    def make(
        rate: float | None,
        vcpus: float = 1.0,
        *,
        name: str = "train",
        memory: int = 8 * 2**30,
        capped: bool = False,
        disk: str = "host",
        batch: int = 32,
        repeat: int = 0,
        spread: float = 0.01,
        rates: DiskRates | None = None,
        demand: Demand | None = None,
        device: Device | None = None,
        kind: str = "image_training",
        cache: str = "cold",
        data: DataSet | None = None,
        anonymous: int | None = None,
        evidence: Evidence | None = None,
        outcome: Outcome = Outcome.COMPLETED,
    ) -> Run:
        workload = Workload(name, kind, device=device or Device(), cache=cache)
        return Run(
            spec=RunSpec(workload, batch, Limits(vcpus, memory if capped else None, disk), Measure(), repeat),
            outcome=outcome,
            configuration=Configuration(vcpus, memory, disk, batch),
            started_at="2026-11-21T00:00:00+00:00",
            wall_seconds=40.0,
            sample_unit="image",
            data_set=data,
            throughput=Estimate(rate, rate * (1 - spread), rate * (1 + spread)) if rate is not None else None,
            demand=demand,
            memory=MemoryUse(peak_anonymous_bytes=anonymous),
            evidence=evidence,
            disk=DiskCheck(DiskTier(disk, emulated=rates, disk_class="ssd"), DiskRates()) if rates else None,
        )

    return make


@pytest.fixture
def store_knee(make_run: Callable[..., Run]) -> Callable[[Path], Path]:
    """Stores a study, `s`, of a job, `train`, that stops getting faster at 4 of 16 vCPUs."""
    vcpus_to_rate = {1.0: 100.0, 2.0: 197.0, 4.0: 300.0, 8.0: 303.0, 16.0: 304.0}
    workload = Workload("train", "image_training", network="resnet50")
    plan = WorkloadPlan(workload, (32,), tuple(vcpus_to_rate))

    def store(folder: Path) -> Path:
        with StudyFolder.create(folder, Study("s", (plan,)), {"cpus": 16, "memory_bytes": 2**34}) as stored:
            for vcpus, rate in vcpus_to_rate.items():
                run = make_run(rate, vcpus)
                stored.add(replace(run, spec=RunSpec(workload, 32, Limits(vcpus), run.spec.measure)))
        return folder

    return store
