"""Emulated tiers from 20 to 500 MB/s: what fio measures against what each declares.

    python benchmarks/limits/disk_tiers.py [--seconds 5]

Aim: every figure within 3 % of its declaration.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict

from sizer.files.own_folder import cache_folder
from sizer.limits.detection import detect
from sizer.records.device import DiskRates
from sizer.records.study import DiskTier
from sizer.storage.disk_check import Fio, check_disk, expected
from sizer.storage.disks import emulated_volume

MEGABYTES = (20, 60, 120, 200, 300, 400, 500)
IOPS_PER_MEGABYTE = 80
"""Keeps the IOPS limit below the bandwidth limit at 4 KiB (0.33 MB/s for each MB/s), so that both are seen."""

AIM = 0.03


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5)
    fio = Fio(parser.parse_args().seconds)
    worst = 0.0
    print("MB/s  figure                     declared     measured    ratio")
    with emulated_volume(cache_folder(os.environ) / "disks", 0) as volume:
        for megabytes in MEGABYTES:
            iops, rate = megabytes * IOPS_PER_MEGABYTE, megabytes * 1e6
            tier = DiskTier(f"{megabytes}", emulated=DiskRates(iops, rate, iops, rate))
            for figure, measured in asdict(check_disk(tier, volume, detect(), fio).measured).items():
                declared = expected(tier.emulated, figure)  # type: ignore[arg-type]
                ratio = measured / declared
                worst = max(worst, abs(ratio - 1))
                print(f"{megabytes:4d}  {figure:24s} {declared:12,.0f} {measured:12,.0f}   {ratio:6.4f}")
    print(f"worst: {worst:.1%} off (aim {AIM:.0%}): {'holds' if worst <= AIM else 'DOES NOT HOLD'}")
    return 0 if worst <= AIM else 1


if __name__ == "__main__":
    raise SystemExit(main())
