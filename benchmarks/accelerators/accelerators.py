"""Published rates of accelerators as tests of what the catalogue tells of those that were not published.

Prints the table, each line beside its plain rivals, and ends with 1 where an aim is missed. With --fit: the constants
that the catalogue ships, from all tables.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from held_out_rates import (
    LeftOut,
    apart,
    batches_left_out,
    counts_left_out,
    covered_share,
    covering,
    growth,
    networks_left_out,
    relative,
    scaling_variances,
    transfer_variances,
    without_gpu,
)

from sizer.catalog.accelerator_rates import AcceleratorRate, shipped_rates
from sizer.catalog.gpu_transfer import published_steps, scaled_runs

MOST_OTHERS = 3
"""So many other networks on both GPUs are a table that says how they compare."""
COVERED = 0.85, 0.95
LINE = "{:<58}{:>5}{:>8.2%}{:>8.1%}{:>8}  {}"

LINEAR, NO_LOSS, RATIO, PEAK = (
    "rates linear in ln batch",
    "no loss beyond the most known",
    "median ratio",
    "peak TFLOP/s",
)
Part = tuple[str, Callable[[LeftOut], bool], tuple[float, float] | None]
"""What of those that were left out is a line of the table, and the aims for its median and 90th percentile."""

TABLE: tuple[tuple[Callable[[Sequence[AcceleratorRate]], list[LeftOut]], tuple[str, ...], tuple[Part, ...]], ...] = (
    (batches_left_out, (LINEAR,), (("every second batch size", lambda _: True, (0.02, 0.08)),)),
    (
        counts_left_out,
        (NO_LOSS,),
        (
            ("eight accelerators, all tables", lambda _: True, (0.05, 1.0)),
            ("  fewer of the table are known", lambda point: point.others > 0, None),
            ("  one alone is known", lambda point: point.others == 0, None),
        ),
    ),
    (
        networks_left_out,
        (RATIO, PEAK),
        (
            (
                f"a network on another GPU, {MOST_OTHERS} others on both",
                lambda e: e.others >= MOST_OTHERS,
                (0.08, 0.25),
            ),
            ("  any other on both", lambda _: True, (0.08, 0.25)),
        ),
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", action="store_true")
    asked = parser.parse_args()
    if asked.fit:
        _print_constants()
        return 0
    print(f"{'left out':<58}{'n':>5}{'median':>8}{'90 %':>8}{'covered':>8}")
    met = True
    for leave_out, rivals, parts in TABLE:
        left_out = leave_out(shipped_rates())
        for name, belongs, aims in parts:
            met = _shown(name, [point for point in left_out if belongs(point)], rivals, aims) and met
    return 0 if met else 1


def _shown(name: str, some: Sequence[LeftOut], rivals: Sequence[str], aims: tuple[float, float] | None) -> bool:
    """Print a line of the table with those of its rivals; whether the aims are met."""
    median, high = relative([rate.error for rate in some])
    held = covered_share(some)
    met = aims is None or (median <= aims[0] and high <= aims[1] and COVERED[0] <= held <= COVERED[1])
    verdict = "" if aims is None else ("met" if met else "MISSED")
    print(LINE.format(name, len(some), median, high, f"{held:.1%}", verdict))
    for at, rival in enumerate(rivals):
        print(LINE.format(f"    its rival: {rival}", len(some), *relative([rate.rivals[at] for rate in some]), "", ""))
    return met


def _print_constants() -> None:
    rates = shipped_rates()
    print(f"INTERPOLATION_90 = {covering(batches_left_out(rates)):.3f}")
    for name, same in (("SAME_FRAMEWORK_90", True), ("OTHER_FRAMEWORK_90", False)):
        print("{} = {:.3f} ({} pairs)".format(name, *apart(rates, same)))
    print("GROWTH, GROWTH_90 = {:.3f}, {:.3f}".format(*growth(rates)))
    print(scaling_variances(scaled_runs(rates)))
    print(transfer_variances(published_steps(rates)))
    print(f"TRANSFER_90 = {covering([*networks_left_out(rates), *without_gpu(rates)]):.2f}")


if __name__ == "__main__":
    sys.exit(main())
