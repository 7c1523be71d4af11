"""Data-parallel training: a process for each device, which exchange gradients after each step.

The program is rank 0: it starts the others as itself, counts the steps and ends them. None outlives it, and one that
ends by itself ends the program.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ..faults import DESCRIPTOR_VARIABLE, Fault, Unavailable
from ..options import Options
from ..process import die_with_parent, leave_to_parent
from ..progress import Extent

RANK_VARIABLE, STORE_VARIABLE = "SIZER_WORKLOAD_RANK", "SIZER_WORKLOAD_STORE"


@dataclass(frozen=True)
class Rank:
    """Which of the processes this one is; they find each other by the file `store`, None for a single one."""

    number: int = 0
    count: int = 1
    store: Path | None = None


@contextmanager
def joined(options: Options) -> Iterator[tuple[Options, Rank]]:
    """The options of this process and its rank; the other ranks run meanwhile, where devices are not emulated.

    Raises Unavailable for several devices of a framework that has no data-parallel training here.
    """
    if options.gpu_count == 1 or options.device == "emulated" or options.input == "replay":
        yield options, Rank()
        return
    if options.framework != "pytorch":
        raise Unavailable(f"several devices train together by pytorch, not {options.framework}: use it, or one device")
    own = replace(options, threads=max(1, options.threads // options.gpu_count))
    number = int(os.environ.get(RANK_VARIABLE, "0"))
    if number:
        _follow()
        kind, _, index = own.device.partition(":")
        device = f"{kind}:{int(index) + number}" if index else own.device
        store = Path(os.environ[STORE_VARIABLE])
        yield replace(own, extent=Extent(), device=device), Rank(number, own.gpu_count, store)
        return
    with tempfile.TemporaryDirectory(prefix="sizer-ranks-") as folder:
        store = Path(folder) / "store"
        with _started(range(1, own.gpu_count), store):
            yield own, Rank(0, own.gpu_count, store)


def _follow() -> None:
    """Only rank 0 decides when to stop, and this process ends with it."""
    parent = os.getppid()
    die_with_parent()
    if os.getppid() != parent:
        raise Fault("the process that started this one has ended: start it again")
    leave_to_parent()


@contextmanager
def _started(numbers: Sequence[int], store: Path) -> Iterator[None]:
    """The other ranks, watched, and killed at the end: what they compute then is of no step that counts."""
    kept = {name: value for name, value in os.environ.items() if name != DESCRIPTOR_VARIABLE}
    begun: dict[int, subprocess.Popen[bytes]] = {}
    ending = threading.Event()
    try:
        for number in numbers:
            begun[number] = subprocess.Popen(
                [sys.executable, *sys.orig_argv[1:]],
                env={**kept, RANK_VARIABLE: str(number), STORE_VARIABLE: str(store)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
            threading.Thread(target=_watch, args=(number, begun, ending), daemon=True).start()
        yield
    finally:
        ending.set()
        _kill(begun)


def _watch(number: int, begun: dict[int, subprocess.Popen[bytes]], ending: threading.Event) -> None:
    """End the program if this rank ends first: the others would wait for its gradients for ever."""
    code = begun[number].wait()
    if ending.is_set():
        return
    ending.set()
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    print(f"the process of device {number} of 0 to {len(begun)} {how}, so this program ends, too", file=sys.stderr)
    _kill(begun)
    os._exit(code if code > 0 else Fault.exit_code)


def _kill(begun: dict[int, subprocess.Popen[bytes]]) -> None:
    for process in list(begun.values()):
        process.kill()
    for process in list(begun.values()):
        process.wait()
