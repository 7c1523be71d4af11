"""How fast one busy thread of this host is, by compressors whose rates are published for the CPUs of clouds.

The published text cannot come with sizer: words of random syllables, as frequent as Zipf says, with phrases that come
again are as easily compressed, and `script/speed_text.py` compares the rates of both.
"""

from __future__ import annotations

import bz2
import ctypes
import importlib
import itertools
import lzma
import math
import random
import threading
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from statistics import fmean

from sizer.records.device import REFERENCE, HostSpeed, Probe, Timed

TEXT_BYTES = 1_000_000
LEAST_SECONDS, MOST_SECONDS = 0.3, 2.0
"""Of the thread alone. At the least each compressor runs twice."""
SHARE = 0.01
"""Of the time that the runs are expected to take, what the thread alone may take."""

COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gzip1": lambda text: zlib.compress(text, 1),
    "bzip2_9": lambda text: bz2.compress(text, 9),
    "xz1": lambda text: lzma.compress(text, preset=1),
}
"""By the columns of the published rates; each lets other threads compute meanwhile."""
SYLLABLE = (("", *"bcdfghlmnprstw", "th", "st", "ch", "sh"), ("a", "e", "i", "o", "u", "ea"), ("", *"nrstdl", "", "ng"))
"""What the first, the second and the last part of one may be."""
OF_PUBLISHED = {"gzip1": 1.01, "bzip2_9": 0.945, "xz1": 1.07}
"""Rate on our text over that on the published one: `script/speed_text.py`, Zen 4, 2026-11-26."""
FLAGS = (("amx_tile", "amx"), ("avx512f", "avx512"), ("avx2", "avx2"), ("sve", "sve"), ("asimd", "neon"))
"""Flags of /proc/cpuinfo and what they mean, the widest first."""


@cache
def text(size: int = TEXT_BYTES) -> bytes:
    """So many bytes, the same each time."""
    choose = random.Random(2018)
    words = ["".join(map(choose.choice, choose.choice((1, 1, 2, 2, 3)) * SYLLABLE)) for _ in range(9000)]
    often = list(itertools.accumulate((rank + 2) ** -0.6 for rank in range(len(words))))
    phrases = [" ".join(choose.choices(words, cum_weights=often, k=choose.randint(2, 8))) for _ in range(12000)]
    by_rank = list(itertools.accumulate((rank + 5) ** -0.8 for rank in range(len(phrases))))
    parts, length = list[str](), 0
    while length < size:
        parts += choose.choices(words, cum_weights=often, k=9)
        parts.append(f"{choose.choice(' ,.;')} {choose.choices(phrases, cum_weights=by_rank)[0]}")
        length += sum(map(len, parts[-10:])) + 10
    return " ".join(parts).encode()[:size]


def seconds_for(expected: float) -> float:
    """How long the thread alone may compress beside runs of so many seconds."""
    return min(max(SHARE * expected, LEAST_SECONDS), MOST_SECONDS)


def probe(vcpus: int, seconds: float = MOST_SECONDS) -> Probe:
    """One thread alone, then one for each of so many vCPUs; about 1.5 x `seconds`."""
    text()  # before the clock runs
    alone = _log_rates(seconds)
    busy = [alone] if vcpus == 1 else _all_busy(vcpus, seconds / 2)
    per_vcpu = math.exp(fmean(fmean(logs[name] - alone[name] for name in alone) for logs in busy))
    indices = {name: math.exp(log) / OF_PUBLISHED[name] / REFERENCE[name] for name, log in alone.items()}
    timed = tuple(Timed(name, libraries()[name], index) for name, index in indices.items())
    return Probe(timed, per_vcpu, vcpus, datetime.now(timezone.utc).isoformat(timespec="seconds"))


def _all_busy(vcpus: int, seconds: float) -> list[dict[str, float]]:
    together = threading.Barrier(vcpus)

    def one() -> dict[str, float]:
        together.wait()
        return _log_rates(seconds)

    with ThreadPoolExecutor(vcpus) as threads:
        return [future.result() for future in [threads.submit(one) for _ in range(vcpus)]]


def _log_rates(seconds: float) -> dict[str, float]:
    """Ln of MB/s of each compressor, the best of as many rounds as fit, of two at the least.

    By CPU time: that others have the CPU is accounted run by run.
    """
    best = dict.fromkeys(libraries(), math.inf)
    end = time.perf_counter() + seconds
    for turn in itertools.count():
        if turn >= 2 and time.perf_counter() >= end:
            break
        for name in best:
            began = time.thread_time()
            COMPRESSORS[name](text())
            best[name] = min(best[name], time.thread_time() - began)
    return {name: math.log(len(text()) / 1e6 / took) for name, took in best.items()}


@cache
def libraries() -> dict[str, str]:
    """Each compressor with the version of its library; without a gzip whose library is another than the published
    rates are of: zlib-ng is several times as fast."""
    versions = {
        "gzip1": f"zlib {zlib.ZLIB_RUNTIME_VERSION}",
        "bzip2_9": f"bzip2 {_version('_bz2', 'BZ2_bzlibVersion')}",
        "xz1": f"xz {_version('_lzma', 'lzma_version_string')}",
    }
    return {name: library for name, library in versions.items() if "ng" not in library}


def _version(module: str, function: str) -> str:
    """What the C library says that a module of Python is linked with."""
    with suppress(OSError, AttributeError):
        says = getattr(ctypes.CDLL(getattr(importlib.import_module(module), "__file__", None)), function)
        says.restype = ctypes.c_char_p
        return str(says().decode()).partition(",")[0]
    return "?"


def host_speed(cpu_model: str, hyperthreads: bool, probes: tuple[Probe, ...]) -> HostSpeed:
    """What was probed, with what the CPU says of itself."""
    facts = cpuinfo()
    flags = set(f"{facts.get('flags', '')} {facts.get('Features', '')}".split())
    widest = next((name for flag, name in FLAGS if flag in flags), "")
    if "CPU part" in facts:
        number = f"ARM/{facts['CPU part'].removeprefix('0x')}"
    else:
        number = "/".join(facts.get(key, "") for key in ("vendor_id", "cpu family", "model", "stepping"))
    return HostSpeed(cpu_model, number, widest, hyperthreads, probes)


def cpuinfo(path: Path = Path("/proc/cpuinfo")) -> dict[str, str]:
    """What the first CPU says of itself; nothing where the kernel does not show it."""
    with suppress(OSError):
        lines = path.read_text().partition("\n\n")[0].splitlines()
        return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    return {}
