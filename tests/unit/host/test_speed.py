"""The speed of a host: compressors on one text, published for the CPUs of clouds."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.files.codec import from_json, to_json
from sizer.host import speed
from sizer.records.device import HostSpeed, Probe, Timed


def probed(factor: float, per_vcpu: float = 1.0) -> Probe:
    """Of a host so many times as fast as AWS c6i."""
    timed = tuple(Timed(name, "1.0", factor) for name in speed.COMPRESSORS)
    return Probe(timed, per_vcpu, 4, "2026-11-26T17:00:00+00:00")


def test_the_text_is_the_same_each_time() -> None:
    """What is compressed must not differ from host to host; it shrinks about as the published one does."""
    assert speed.text(20_000) == speed.text.__wrapped__(20_000)
    assert len(speed.text()) == speed.TEXT_BYTES
    shares = [len(compress(speed.text())) / speed.TEXT_BYTES for compress in speed.COMPRESSORS.values()]
    assert shares == pytest.approx([0.45, 0.275, 0.36], rel=0.1)


def test_a_probe_is_short_and_says_each_compressor() -> None:
    """Studies of a second or two, as in tests, are not to wait for it."""
    began = time.process_time()
    probe = speed.probe(2, speed.seconds_for(2.0))
    assert time.process_time() - began < 4.0
    assert {timed.compressor for timed in probe.timed} == set(speed.libraries())
    assert all(0.05 < timed.index < 5 for timed in probe.timed)


@pytest.mark.parametrize(("expected", "seconds"), [(1.0, 0.3), (100.0, 1.0), (10_000.0, 2.0)])
def test_long_studies_are_probed_longer(expected: float, seconds: float) -> None:
    assert speed.seconds_for(expected) == seconds


def test_the_index_of_two_probes_is_their_mean() -> None:
    """What moved between them is its uncertainty; of hyperthreads two are a core."""
    host = HostSpeed("AMD EPYC", "AuthenticAMD/25/17/1", "avx512", True, (probed(0.5), probed(0.6)))
    assert from_json(HostSpeed, to_json(host), "host.json") == host
    assert host.processor.index == pytest.approx(0.3**0.5)
    assert host.processor.deviation == pytest.approx(0.091, abs=0.001)
    assert (host.processor.cores, replace(host, hyperthreads=False).processor.cores) == (2, 4)
    assert host.interval == pytest.approx((0.5, 0.6))


def test_what_a_cpu_computes_with_is_read(tmp_path: Path) -> None:
    """ARM has a part number instead of a model."""
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nFeatures\t: fp asimd sve\nCPU part\t: 0xd40\n\nprocessor: 1\n")
    assert speed.cpuinfo(tmp_path / "cpuinfo")["CPU part"] == "0xd40"
    assert speed.cpuinfo(tmp_path / "none") == {}
