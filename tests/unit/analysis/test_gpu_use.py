"""What a run used of its GPUs, from samplings of every second."""

from __future__ import annotations

import pytest

from sizer.analysis.accounting import gpu_uses, peaks
from sizer.records.device import ClockReason, GpuSample, GpuUse
from sizer.records.run import Sample

GPU = GpuUse(0, "V100", "GPU-aaaa", 16 << 30)


def sampled(*gpus: GpuSample) -> tuple[Sample, ...]:
    return tuple(Sample(time=float(second), gpus=(gpu,)) for second, gpu in enumerate(gpus))


def test_figures_are_medians_and_costs_of_a_sample() -> None:
    """Over the steady state alone: the first two seconds are warm-up, and 100 samples are counted in the rest."""
    seen = sampled(
        *(
            GpuSample(
                busy=max(0, second - 2) * 0.9,
                memory_bytes=(20 - second) << 20,
                own_memory_bytes=(10 - second) << 20,
                watts=100.0 + second,
                sm_hertz=1e9,
                joules=second * 50.0,
                sent_bytes=second * 1_000.0,
                received_bytes=second * 2_000.0,
            )
            for second in range(7)
        )
    )
    (use,) = gpu_uses(peaks([GPU], seen), seen, 2.0, 6.0, 100)
    assert (use.name, use.uuid, use.memory_bytes) == ("V100", "GPU-aaaa", 16 << 30)
    assert use.busy == pytest.approx(0.9)
    assert (use.peak_memory_bytes, use.own_peak_memory_bytes) == (20 << 20, 10 << 20)
    assert (use.watts, use.sm_hertz, use.memory_hertz) == (104.0, 1e9, None)
    assert (use.joules, use.sent_bytes, use.received_bytes) == (2.0, 40.0, 80.0)


def test_shares_of_the_time_by_reason_and_of_others() -> None:
    """A sampling at which the driver did not say counts for neither side."""
    cap, hot = (ClockReason.POWER_CAP,), (ClockReason.POWER_CAP, ClockReason.THERMAL)
    seen = sampled(
        GpuSample(held_back=cap),
        GpuSample(held_back=hot, others=("Xorg (pid 7)",)),
        GpuSample(held_back=None),
        GpuSample(held_back=(), others=("python (pid 9)", "Xorg (pid 7)")),
        GpuSample(held_back=()),
    )
    (use,) = gpu_uses([GPU], seen, 0.0, 4.0, 10)
    assert use.held_back == {"power_cap": 0.5, "thermal": 0.25}
    assert (use.shared, use.others) == (0.4, ("Xorg (pid 7)", "python (pid 9)"))
