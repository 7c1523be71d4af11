"""Replays on a throttled tier: the reads of a loader alone come as fast as the tier gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizer.api.demonstration import DEMO_FIO
from sizer.api.preparing import Preparation, SetUp, prepare_data
from sizer.api.studies import MeasuringHost
from sizer.host.machine import facts
from sizer.limits.detection import detect
from sizer.plan.configurations import isolating_runs
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.runner.watching import UNWATCHED
from sizer.storage.disks import missing_for_emulation
from sizer.storage.placement import Placement, room_on_emulated
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize

pytestmark = [pytest.mark.root, pytest.mark.slow]

STUDY = """
isolate: true
workloads:
  - {name: infer, kind: image_inference, axes: {disk: megabytes}}
  - {name: prepare, kind: imagenet_preprocessing}
disks:
  megabytes: {emulate: {read_iops: 5000, read_mbps: 8}}
  requests: {emulate: {read_iops: 60, read_mbps: 200}}
axes: {vcpus: 1, disk: [megabytes, requests]}
embedded_images: 192  # whole batches of 32: what fills up a last one is in memory already
measure: {repeats: 1, seconds: 3, precision: 0.01}
"""


Runs = dict[tuple[str, str], list[Run]]


@pytest.fixture(scope="module")
def replays(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The replays of two workloads on two tiers, by workload and tier.

    Each is made up to three times, until one is as fast as its tier and read what it used: the host's own disk may be
    slower for a moment, and what was read ahead while the host stood still belongs to no sample of three seconds.
    """
    if missing_for_emulation() is not None:
        pytest.skip("no disk can be emulated here")
    folder, backend = tmp_path_factory.mktemp("replays"), detect()
    host = facts(backend)
    here = HostSize(host.cpus, host.memory_bytes)
    study = parse_study(STUDY, "study.yaml", None, here, None)
    specs = [spec for plan in study.workloads for spec in isolating_runs(plan, study, here) if spec.stage == "disk"]
    data = prepare_data(study, specs, folder / "cache", print, lambda: False, SetUp())
    with Placement(folder / "cache", room_on_emulated(study, specs, data.sets), print) as places:
        preparation = Preparation(study, MeasuringHost(host, backend, folder / "cache", DEMO_FIO), data, places)
        preparation.prepare(specs, print, lambda: False)
        by_place: Runs = {}
        for spec in specs:
            runs = by_place[spec.workload.name, str(spec.limits.disk)] = []
            while len(runs) < 3 and not (runs and share_of_tier(runs[-1]) > 0.85 and reads_what_it_asks(runs[-1])):
                runs.append(preparation.launch(spec, Path(folder / spec.id), UNWATCHED))
        return by_place


def share_of_tier(run: Run) -> float:
    """How fast it was, as a share of what its tier declares over the bytes and IOs that a sample took."""
    assert run.outcome is Outcome.COMPLETED, run.error
    assert run.demand.read_bytes
    assert run.demand.read_ios
    declared = run.disk.tier.emulated
    assert declared.read_bytes_per_second
    assert declared.read_iops
    given = min(declared.read_bytes_per_second / run.demand.read_bytes, declared.read_iops / run.demand.read_ios)
    return run.throughput.value / given


def reads_what_it_asks(run: Run) -> bool:
    """To 15 %."""
    return run.demand.read_bytes == pytest.approx(run.demand.asked_bytes, rel=0.15)


@pytest.mark.parametrize(("name", "tier"), [("infer", "megabytes"), ("prepare", "megabytes"), ("prepare", "requests")])
def test_a_replay_is_as_fast_as_the_tier(replays: Runs, name: str, tier: str) -> None:
    """To 15 %: never faster than the tier, and as fast in one of three."""
    shares = [share_of_tier(run) for run in replays[name, tier]]
    assert max(shares) < 1.15
    assert shares[-1] > 0.85


def test_a_replay_reads_all_of_its_data(replays: Runs) -> None:
    """No byte from memory, hardly one too many, in one of three; the CPU has little to do, an accelerator nothing."""
    for *_, run in replays.values():
        assert reads_what_it_asks(run), run.demand
        assert run.demand.core_seconds is not None
        assert run.demand.core_seconds < 0.002, "usually 0.0001, and 0.0018 where an image is decoded, too"
        assert run.demand.written_bytes == pytest.approx(0, abs=0.05 * run.demand.read_bytes)
        assert run.evidence.bottleneck.value.startswith("disk")
