"""What the tests of the study file share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from sizer.catalog.rate_estimate import Basis
from sizer.records.device import DiskRates
from sizer.records.messages import InputError
from sizer.records.study import Study
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize

HOST = HostSize(4, 16 * 2**30)


@dataclass(frozen=True)
class Published:
    """One figure of the small catalogue that these tests read."""

    gpu: str = "P100"
    samples_per_second: float = 219.0
    low: float = 150.0
    high: float = 320.0
    basis: Basis = Basis.PUBLISHED
    source: str = "a benchmark"
    disk_class: str = "ssd"

    def rates(self, size_bytes: int, *_: object) -> DiskRates:
        """30 IOPS and a third of a MB/s a GiB: no whole number of bytes."""
        return DiskRates(30 * size_bytes / 2**30, size_bytes / 3000, 30 * size_bytes / 2**30, size_bytes / 3000)


@dataclass(frozen=True)
class SmallCatalog:
    """A catalogue with one GPU and two disk tiers."""

    figure: Published = field(default_factory=Published)

    def accelerator_rate(self, mode: str, network: str, gpu: str, **_: object) -> Published:
        if (mode, network, gpu.upper()) != ("train", "resnet50", "P100"):
            raise InputError(f"no published rate to {mode} {network} on {gpu}")
        return self.figure

    def scaling_loss(self, mode: str, network: str, gpu: str, counts: Sequence[int]) -> tuple[float, str]:
        if (mode, network, gpu) != ("train", "resnet50", "P100") or 1 in counts:
            raise InputError(f"no published loss of {counts} {gpu}")
        return 0.08, self.figure.source

    def disk(self, name: str) -> Published:
        if name not in ("alibaba/cloud_ssd", "aws/gp3"):
            raise InputError(f"the catalogue has no disk tier `{name}`")
        return self.figure

    def gpu(self, name: str) -> str:
        if name.upper() != "P100":
            raise InputError(f"the catalogue knows no GPU `{name}`")
        return name.upper()


@pytest.fixture
def parse() -> Callable[..., Study]:
    """Parse a text as `study.yaml` on a host of 4 vCPUs, with a small catalogue."""

    def parsed(text: str, preset: str | None = None, where: str = "study.yaml", facts: HostSize = HOST) -> Study:
        return parse_study(text, where, preset, facts, SmallCatalog())

    return parsed
