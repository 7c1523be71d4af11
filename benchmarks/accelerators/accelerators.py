"""Published rates of accelerators as tests of what the catalogue tells of those that were not published.

Prints the tables, each beside its plain rival, and ends with 1 where an aim is missed. With --fit: the constants that
the catalogue ships, from all tables. With --whole: whole publishers and whole GPUs left out, which has no aim.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import held_out_batches
import held_out_counts
import held_out_networks
import held_out_sources
import numpy as np
from held_out_networks import LeftOut, Transferred, covered, covering, relative

from sizer.catalog.accelerator_rates import shipped_rates
from sizer.catalog.gpu_scaling import scaled_runs
from sizer.catalog.gpu_transfer import TRANSFER_90, published_steps
from sizer.catalog.rate_estimate import Basis

MOST_OTHERS = 3
"""So many other networks on both GPUs are a table that says how they compare."""


@dataclass(frozen=True)
class Row:
    """One line of the table: errors as shares, how many intervals of 90 % held, the aims and whether they are met."""

    what: str
    count: int
    median: float
    high: float
    covered: float | None = None
    aims: tuple[float, float] | None = None

    @property
    def met(self) -> bool:
        """Whether both errors, and the share that is covered, are as they should be."""
        held = self.covered is None or 0.85 <= self.covered <= 0.95
        return self.aims is None or (self.median <= self.aims[0] and self.high <= self.aims[1] and held)

    def __str__(self) -> str:
        held = "" if self.covered is None else f"{self.covered:.1%}"
        aim = "" if self.aims is None else ("met" if self.met else "MISSED")
        return f"{self.what:<58}{self.count:>5}{self.median:>8.2%}{self.high:>8.1%}{held:>8}  {aim}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--whole", action="store_true", help="leave out whole publishers and whole GPUs instead")
    asked = parser.parse_args()
    if asked.fit:
        _print_constants()
        return 0
    rows = [*_publishers(), *_gpus()] if asked.whole else [*_batches(), *_counts(), *_networks()]
    print(f"{'left out':<58}{'n':>5}{'median':>8}{'90 %':>8}{'covered':>8}")
    print("\n".join(map(str, rows)))
    return 0 if all(row.met for row in rows) else 1


def _batches() -> list[Row]:
    found = held_out_batches.left_out(shipped_rates())
    lines = [np.log(each.straight / each.true) for each in found]
    sources = {each.source for each in found}
    halves = {
        source: np.quantile([abs(each.error) for each in found if each.source != source], 0.9) for source in sources
    }
    held = float(np.mean([abs(each.error) <= halves[each.source] for each in found]))
    return [
        Row("every second batch size", len(found), *relative([each.error for each in found]), held, (0.02, 0.08)),
        Row("  its rival: rates linear in ln batch", len(found), *relative(lines)),
    ]


def _counts() -> list[Row]:
    found = held_out_counts.left_out(shipped_rates())
    rows = []
    for name, some in (
        ("eight accelerators, all tables", found),
        ("  fewer of the table are known", [each for each in found if each.had_fewer]),
        ("  one alone is known", [each for each in found if not each.had_fewer]),
    ):
        true = [each.run.efficiency for each in some]
        errors = [np.log(each.told / at) for each, at in zip(some, true, strict=True)]
        same = [np.log(each.same_as_fewer / at) for each, at in zip(some, true, strict=True)]
        held = float(np.mean([each.low <= at <= each.high for each, at in zip(some, true, strict=True)]))
        aims = (0.05, 1.0) if some is found else None
        rows.append(Row(name, len(some), *relative(errors), held, aims))
        rows.append(Row("    its rival: no loss beyond the most that is known", len(some), *relative(same)))
    return rows


def _networks() -> list[Row]:
    found = held_out_networks.transferred(shipped_rates())
    most = [each for each in found if each.others >= MOST_OTHERS]
    rows = []
    for name, some in (
        (f"a network on another GPU, {MOST_OTHERS} others on both", most),
        ("  any other on both", found),
    ):
        rows.append(Row(name, len(some), *relative([each.error for each in some]), covered(some), (0.08, 0.25)))
        rows += _rivals(some)
    return rows


def _rivals(some: Sequence[Transferred]) -> list[Row]:
    ratios = [each.by_median_ratio - each.asked.log_rate for each in some]
    peaks = [each.by_arithmetic - each.asked.log_rate for each in some]
    return [
        Row("    its rival: median ratio of the others", len(some), *relative(ratios)),
        Row("    its rival: peak TFLOP/s", len(some), *relative(peaks)),
    ]


def _publishers() -> list[Row]:
    found = held_out_sources.without_source(shipped_rates())
    rows = []
    for name, some in (
        ("a whole publisher, told by the others", found),
        ("  published by another, too", [each for each in found if each.basis is Basis.PUBLISHED]),
        (
            "  between or beyond its batch sizes",
            [each for each in found if each.basis in (Basis.INTERPOLATED, Basis.EXTRAPOLATED)],
        ),
        ("  transferred from another GPU", [each for each in found if each.basis is Basis.TRANSFERRED]),
    ):
        held = float(np.mean([each.covered for each in some]))
        rows.append(Row(name, len(some), *relative([each.error for each in some]), held))
    return rows


def _gpus() -> list[Row]:
    found = held_out_sources.without_gpu(shipped_rates())
    apart = held_out_sources.ratios_apart(shipped_rates())
    held = float(np.mean([abs(each.error) <= TRANSFER_90 * each.deviation for each in found]))
    return [
        Row("a whole GPU, by its data sheet alone", len(found), *relative([each.error for each in found]), held),
        Row("    its rival: peak TFLOP/s", len(found), *relative([each.by_arithmetic for each in found])),
        Row("two publishers on how one GPU compares with another", len(apart), *relative(apart)),
    ]


def _print_constants() -> None:
    rates = shipped_rates()
    batches = held_out_batches.left_out(rates)
    print(f"INTERPOLATION_90 = {np.quantile([abs(each.error) for each in batches], 0.9):.3f}")
    for name, same in (("SAME_FRAMEWORK_90", True), ("OTHER_FRAMEWORK_90", False)):
        print("{} = {:.3f} ({} pairs)".format(name, *held_out_sources.apart(rates, same)))
    print("GROWTH, GROWTH_90 = {:.3f}, {:.3f}".format(*held_out_batches.growth(rates)))
    print(held_out_counts.variances(scaled_runs(rates)))
    print(held_out_networks.variances(published_steps(rates)))
    left_out: list[LeftOut] = [*held_out_networks.transferred(rates), *held_out_sources.without_gpu(rates)]
    print(f"TRANSFER_90 = {covering(left_out):.2f}")


if __name__ == "__main__":
    sys.exit(main())
