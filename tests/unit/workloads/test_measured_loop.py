from __future__ import annotations

from typing import Any

from workloads.accelerator import EmulatedAccelerator
from workloads.measured_loop import Loop, emulated
from workloads.page_cache import CacheState


class Batches:
    """Three batches an epoch."""

    def __init__(self) -> None:
        self.given = 0

    def next_batch(self) -> Any:
        self.given += 1
        return None if self.given % 4 == 0 else object()

    def restart(self) -> None:
        """The next epoch begins by itself."""

    def close(self) -> None:
        """Holds nothing."""


class Steps:
    """Keeps the steps, and is over after `most` of them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.found: list[tuple[int, int]] = []

    @property
    def over(self) -> bool:
        return len(self.found) >= self.most

    def step(self, samples: int, _input_wait: float, epoch: int, *_times: object) -> None:
        self.found.append((samples, epoch))


def test_a_step_of_several_accelerators_counts_all_their_batches() -> None:
    """Two batches of 8 are a step of 16 samples; what an epoch leaves over begins the next one's first step."""
    source, steps = Batches(), Steps(3)
    accelerator = EmulatedAccelerator(1e6, count=2)
    Loop(source, emulated(accelerator, 8), CacheState((), "warm"), 16, report_latency=False).run(steps)  # type: ignore[arg-type]
    assert steps.found == [(16, 0), (16, 1), (16, 1)]
