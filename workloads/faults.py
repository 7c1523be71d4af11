"""What can go wrong for a person: one sentence each, and the exit code it ends the program with."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress

DESCRIPTOR_VARIABLE = "SIZER_EVENTS_FD"

ADVICE = {
    errno.ENOENT: "put it back",
    errno.EACCES: "let this user read and write it",
    errno.EPERM: "let this user read and write it",
    errno.ENOSPC: "make room there",
    errno.EDQUOT: "make room there",
    errno.EROFS: "give a folder that can be written",
    errno.EIO: "look after the disk under it",
}
"""What to do about what the system refuses."""

OPTIONAL_MODULES = frozenset({"cv2", "distutils", "lmdb", "mxnet", "numpy", "torch"})
"""Modules whose absence is a fact about the environment, not a fault of the program."""


class Fault(Exception):
    """One sentence: what is wrong, where, and what to type next."""

    exit_code = 71  # EX_OSERR of sysexits.h: the machine failed under us


class InputFault(Fault):
    """The command line or the data is wrong."""

    exit_code = 2


class Unavailable(Fault):
    """The framework or the device is not there."""

    exit_code = 69  # EX_UNAVAILABLE of sysexits.h


def run_program(name: str, main: Callable[[], None]) -> int:
    """Run `main` and return the exit code; a Fault becomes one sentence on stderr."""
    try:
        main()
    except Fault as fault:
        print(f"{name}: {fault}", file=sys.stderr)
        return fault.exit_code
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL_MODULES:
            raise
        print(f"{name}: {_missing_module(str(error.name))}", file=sys.stderr)
        return Unavailable.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our standard output (`| head`) has gone; Python would complain again at exit without this.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        advice = f": {ADVICE[error.errno]}" if error.errno in ADVICE else ""
        print(f"{name}: the system refused: {error.strerror or error}{where}{advice}", file=sys.stderr)
        return Fault.exit_code
    except Exception as error:
        place = place_refused(error)
        if place is None:
            raise
        _tell(place)
        of = "GPU memory" if place == "gpu" else "memory"
        reason = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        print(
            f"{name}: there is too little {of} for this ({reason}): give it more, or a smaller --batch-size",
            file=sys.stderr,
        )
        return Fault.exit_code
    return 0


def _tell(place: str) -> None:
    """Write the event `out_of_memory` for whoever measures this program, if anybody still reads."""
    descriptor = os.environ.get(DESCRIPTOR_VARIABLE, "")
    with suppress(OSError, ValueError):
        os.write(int(descriptor), f'{{"event": "out_of_memory", "where": "{place}"}}\n'.encode())


def _missing_module(module: str) -> str:
    packages = {"cv2": "opencv-python-headless", "distutils": "setuptools", "torch": "torch==2.13.0"}
    package = packages.get(module, module)
    return f"{sys.executable} has no module {module}: type `{sys.executable} -m pip install {package}`"


def unreadable_file(path: os.PathLike[str], error: OSError) -> str:
    """The sentence for a file of a data set that the system does not let be read."""
    if isinstance(error, FileNotFoundError):
        return f"{path} is no longer there: put it back"
    return f"{path} cannot be read ({error.strerror}): {ADVICE.get(error.errno or 0, 'remove it or replace it')}"


_OF_GPU = re.compile(r"out of memory", re.IGNORECASE)
_OF_HOST = re.compile(r"DefaultCPUAllocator|Failed to allocate CPU Memory")
"""PyTorch (c10/core/impl/alloc_cpu.cpp) and MXNet (src/storage/cpu_device_storage.h)."""


def place_refused(error: BaseException) -> str | None:
    """`gpu` for PyTorch's OutOfMemoryError and MXNet's failed cudaMalloc, `host` where the host's allocator refused;
    None for any other error."""
    if isinstance(error, MemoryError):
        return "host"
    kind, module, text = type(error).__name__, type(error).__module__.partition(".")[0], str(error)
    if module == "torch" and kind == "OutOfMemoryError":
        return "gpu"
    if module == "mxnet" and "cudaMalloc" in text and _OF_GPU.search(text):
        return "gpu"
    framework = module == "mxnet" or type(error) is RuntimeError  # PyTorch's own are those of Python
    return "host" if framework and _OF_HOST.search(text) else None
