"""What a disk tier really gives: fio's figures beside those it declares."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from sizer.limits.interface import LimitsBackend, Throttle
from sizer.records.device import DiskRates
from sizer.records.messages import HostError
from sizer.records.run import DiskCheck
from sizer.records.study import DiskTier, Limits
from sizer.storage.disks import FOLDER_PREFIX, Volume
from sizer.storage.held_folders import held_folder
from sizer.storage.subprograms import Standstill, complete, never

TOLERANCE = 0.10
"""Share by which a tier may miss its declared figure before it is marked."""

FILE_BYTES = 256 * 2**20

SMALL, LARGE = 4096, 2**20
"""Bytes of one I/O: the block that providers quote IOPS for, and one that shows bandwidth."""

FIO_GRACE_SECONDS = 300.0
"""For fio beyond the time it was asked to measure: its file takes as long on a disk of 1 MB/s."""

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


def check_disk(
    tier: DiskTier, volume: Volume, backend: LimitsBackend, fio: Fio = Fio(), stop: Callable[[], bool] = never
) -> DiskCheck:
    """Measure the tier on its volume.

    Raises HostError when fio is missing, fails or does not end, Interrupted when `stop` says so.
    """
    if shutil.which("fio") is None:
        raise HostError("No disk can be checked without fio; type: apt-get install fio")
    with ExitStack() as stack:
        try:
            # A fresh folder of our own: in one that others may write to, such as /tmp, a name that can be guessed may
            # be a link that somebody put there.
            folder = stack.enter_context(held_folder(volume.folder.absolute(), FOLDER_PREFIX))
        except OSError as error:
            raise HostError(
                "{folder} cannot be written ({reason}); give a folder that you may write to.",
                folder=volume.folder,
                reason=error.strerror or error,
            ) from error
        run = partial(_fio, folder=folder, patience=fio.seconds + FIO_GRACE_SECONDS, stop=stop)
        run(["--rw=write", f"--bs={LARGE}", "--end_fsync=1"])
        measured = {
            figure: _measure(figure, _options(figure, fio.seconds), volume.throttle(tier), backend, run)
            for figure in fio.figures
        }
    return judge(tier, DiskRates(**measured))


def judge(tier: DiskTier, measured: DiskRates) -> DiskCheck:
    """Pure: compare what was measured with what the tier declares."""
    check = DiskCheck(tier, measured)
    return replace(check, deviates=bool(deviations(check)))


def deviations(check: DiskCheck) -> dict[str, tuple[float, float]]:
    """Pure: what was measured and what should have been, by the name of each figure that the tier misses."""
    declared = check.tier.emulated or DiskRates()
    pairs = {name: (measured, expected(declared, name)) for name, measured in asdict(check.measured).items()}
    return {
        name: (measured, should)
        for name, (measured, should) in pairs.items()
        if measured is not None and should is not None and abs(measured - should) > TOLERANCE * should
    }


def expected(declared: DiskRates, figure: str) -> float | None:
    """The figure that fio should find: small I/O can meet the bandwidth limit first, large I/O the IOPS limit."""
    side = "read" if figure.startswith("read") else "write"
    iops: float | None = getattr(declared, f"{side}_iops")
    bandwidth: float | None = getattr(declared, f"{side}_bytes_per_second")
    if figure.endswith("iops"):
        limits = [iops, bandwidth / SMALL if bandwidth is not None else None]
    else:
        limits = [bandwidth, iops * LARGE if iops is not None else None]
    rates = [limit for limit in limits if limit is not None]
    return min(rates) if rates else None


def _options(figure: str, seconds: float) -> list[str]:
    kind, block, depth = KIND_OF[figure]
    # In milliseconds: fio 3.33 cuts a fraction of a second off, and with 0 it goes on until the whole file is done.
    runtime = ["--time_based", f"--runtime={seconds * 1000:.0f}ms"]
    options = [f"--rw={kind}", f"--bs={block}", f"--iodepth={depth}", *runtime, "--randrepeat=0", "--norandommap"]
    return [*options, "--readonly" if kind.endswith("read") else "--overwrite=1"]


def _measure(
    figure: str,
    options: list[str],
    throttle: Throttle | None,
    backend: LimitsBackend,
    run: Callable[..., dict[str, float]],
) -> float:
    """The figure in bytes or I/Os a second, over a time in which sizer did not stand still; measured again once."""
    for _ in range(2):
        standstill = Standstill()
        result = _measured_once(figure, options, throttle, backend, partial(run, standstill=standstill))
        if not standstill.longest:
            return result
    raise HostError(
        "sizer itself stood still for {seconds} s while fio measured, twice: it was stopped or suspended, or the host "
        "had no CPU time for it; type the same again.",
        seconds=f"{standstill.longest:.1f}",
    )


def _measured_once(
    figure: str,
    options: list[str],
    throttle: Throttle | None,
    backend: LimitsBackend,
    run: Callable[..., dict[str, float]],
) -> float:
    if throttle is None:
        side = run(options)
    else:
        with backend.open(f"fio-{figure.replace('_', '-')}", Limits(), throttle) as group:
            side = run(options, wrap=group.command)
    return float(side["iops" if figure.endswith("iops") else "bw_bytes"])


def _fio(
    options: list[str],
    folder: Path,
    patience: float,
    stop: Callable[[], bool],
    wrap: Callable[[list[str]], list[str]] = list,
    standstill: Standstill | None = None,
) -> dict[str, float]:
    # By its name alone: fio takes a colon in a path for the beginning of a second file.
    argv = ["fio", "--name=sizer", "--filename=fio.bin", f"--size={FILE_BYTES}", "--direct=1", "--ioengine=libaio"]
    argv = wrap([*argv, *options, "--output-format=json"])
    done = complete(argv, folder=folder, stop=stop, patience=patience, standstill=standstill)
    start = done.stdout.find("{")
    try:
        job = json.loads(done.stdout[start:])["jobs"][0]
    except (ValueError, KeyError, IndexError) as error:
        raise HostError(
            "fio failed on {folder}: {output}", folder=folder.parent, output=(done.stderr or done.stdout).strip()[-300:]
        ) from error
    if done.returncode != 0 or job["error"]:
        raise HostError(
            "fio failed on {folder}: {output}", folder=folder.parent, output=done.stderr.strip()[-300:] or job["error"]
        )
    side: dict[str, float] = job["read"] if job["read"]["total_ios"] else job["write"]
    return side
