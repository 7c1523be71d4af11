"""What a disk tier really gives: fio's figures beside those it declares."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from sizer.disks import Volume
from sizer.errors import HostError
from sizer.limits import LimitsBackend
from sizer.records import DiskCheck, DiskRates, DiskTier, Limits
from sizer.subprograms import complete

TOLERANCE = 0.10
"""Share by which a tier may miss its declared figure before it is marked."""

FILE_BYTES = 256 * 2**20

SMALL, LARGE = 4096, 2**20
"""Bytes of one I/O: the block that providers quote IOPS for, and one that shows bandwidth."""

KIND_OF = {
    "read_bytes_per_second": ("read", LARGE, 4),
    "read_iops": ("randread", SMALL, 32),
    "write_bytes_per_second": ("write", LARGE, 4),
    "write_iops": ("randwrite", SMALL, 32),
}
"""fio's rw, block size in bytes and queue depth for each figure."""


@dataclass(frozen=True)
class Fio:
    """How long one figure is measured; a throttle works in slices of 0.1 s, so a second or more."""

    seconds: float = 3.0
    figures: tuple[str, ...] = tuple(KIND_OF)


def check_disk(tier: DiskTier, volume: Volume, backend: LimitsBackend, fio: Fio = Fio()) -> DiskCheck:
    """Measure the tier on its volume. Raises HostError when fio is missing or fails."""
    if shutil.which("fio") is None:
        raise HostError("fio is not installed, so no disk can be checked; type: apt-get install fio")
    path = volume.folder / f"sizer-fio-{os.getpid()}.bin"
    try:
        _fio(["--rw=write", f"--bs={LARGE}", "--end_fsync=1"], path)
        measured = {figure: _measure(figure, tier, path, volume, backend, fio.seconds) for figure in fio.figures}
    finally:
        path.unlink(missing_ok=True)
    return judge(tier, DiskRates(**measured))


def judge(tier: DiskTier, measured: DiskRates) -> DiskCheck:
    """Pure: compare what was measured with what the tier declares."""
    misses = []
    for figure, found in asdict(measured).items():
        declared = expected(tier.emulated or DiskRates(), figure)
        if found is not None and declared is not None and abs(found - declared) > TOLERANCE * declared:
            misses.append(f"{figure.replace('_', ' ')} {found:.3g} where {declared:.3g} is declared")
    return DiskCheck(tier, measured, bool(misses), "; ".join(misses) or None)


def expected(declared: DiskRates, figure: str) -> float | None:
    """The figure that fio should find: small I/O can meet the bandwidth limit first, large I/O the IOPS limit."""
    side = "read" if figure.startswith("read") else "write"
    iops: float | None = getattr(declared, f"{side}_iops")
    bandwidth: float | None = getattr(declared, f"{side}_bytes_per_second")
    if figure.endswith("iops"):
        limits = [iops, bandwidth / SMALL if bandwidth is not None else None]
    else:
        limits = [bandwidth, iops * LARGE if iops is not None else None]
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def _measure(figure: str, tier: DiskTier, path: Path, volume: Volume, backend: LimitsBackend, seconds: float) -> float:
    kind, block, depth = KIND_OF[figure]
    options = [f"--rw={kind}", f"--bs={block}", f"--iodepth={depth}", "--time_based", f"--runtime={seconds}"]
    options += ["--randrepeat=0", "--norandommap"]
    options += ["--readonly"] if kind.endswith("read") else ["--overwrite=1"]
    throttle = volume.throttle(tier)
    if throttle is None:
        side = _fio(options, path)
    else:
        with backend.open(f"fio-{figure.replace('_', '-')}", Limits(), throttle) as group:
            side = _fio(options, path, group.command)
    return float(side["iops" if figure.endswith("iops") else "bw_bytes"])


def _fio(options: list[str], path: Path, wrap: Callable[[list[str]], list[str]] = list) -> dict[str, float]:
    argv = ["fio", "--name=sizer", f"--filename={path}", f"--size={FILE_BYTES}", "--direct=1", "--ioengine=libaio"]
    done = complete(wrap([*argv, *options, "--output-format=json"]))
    start = done.stdout.find("{")
    try:
        job = json.loads(done.stdout[start:])["jobs"][0]
    except (ValueError, KeyError, IndexError) as error:
        raise HostError(f"fio failed on {path.parent}: {(done.stderr or done.stdout).strip()[-300:]}") from error
    if done.returncode != 0 or job["error"]:
        raise HostError(f"fio failed on {path.parent}: {done.stderr.strip()[-300:] or job['error']}")
    side: dict[str, float] = job["read"] if job["read"]["total_ios"] else job["write"]
    return side
