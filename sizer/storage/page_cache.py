"""The page cache of a data set: evict it before a run, and report how much of it is still there.

Residency is counted by cachestat (Linux 6.5), or by mincore on older kernels. A read that may not wait (RWF_NOWAIT)
looks like the simpler probe, but it starts readahead: on Linux 6.18 probing an evicted file of 64 MiB brought all of it
back into memory.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sizer.files.given_files import files_below

CACHESTAT = 451
"""System call number of cachestat, the same on every architecture (include/uapi/asm-generic/unistd.h)."""

UNOPENED = (FileNotFoundError, PermissionError)
"""A file of a data set may go while its run goes on, or be one that only others may read."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]


class _Range(ctypes.Structure):
    _fields_ = (("offset", ctypes.c_uint64), ("length", ctypes.c_uint64))


class _CacheStat(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("cached", "dirty", "writeback", "evicted", "recent"))


def files_of(path: Path) -> Iterator[Path]:
    """The regular files of a data set: the file itself and the `.idx` beside a `.rec`, or all files of a folder, also
    those behind links to folders, as loaders follow them."""
    if path.is_dir():
        yield from files_below(path)
        return
    yield path
    index = path.with_suffix(".idx")
    if path.suffix == ".rec" and index.exists():
        yield index


def evict(files: Iterable[Path]) -> None:
    """Drop the files' pages. Dirty pages cannot be dropped, so a file that has some is synced first; mapped pages stay.

    A sync flushes the device even where nothing is dirty, and a data set may be a million files. One that cannot be
    opened is passed over: it is gone, or not ours to read.
    """
    for path in files:
        with suppress(*UNOPENED), _opened(path) as descriptor:
            counted = _cachestat(descriptor)
            if counted.dirty or counted.writeback if counted else _is_ours(path, descriptor):
                os.fdatasync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def resident_bytes(files: Iterable[Path]) -> int | None:
    """How many bytes of the files are in the page cache, in whole pages; None where this user may not know.

    It answers root, a file's owner, and who may write to it (Linux 5.2 on); to others mincore says that all is there.
    A file that cannot be opened counts for none.
    """
    pages = 0
    for path in files:
        with suppress(*UNOPENED), _opened(path) as descriptor:
            counted = _cachestat(descriptor)
            if counted is None and not _is_ours(path, descriptor):
                return None
            pages += _mincore(descriptor) if counted is None else int(counted.cached)
    return pages * mmap.PAGESIZE


def _is_ours(path: Path, descriptor: int) -> bool:
    return os.geteuid() in (0, os.fstat(descriptor).st_uid) or os.access(path, os.W_OK, effective_ids=True)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _cachestat(descriptor: int) -> _CacheStat | None:
    """Pages of the file in the page cache, and those not written yet; None where the kernel has no cachestat."""
    whole_file, result = _Range(0, 0), _CacheStat()
    if _libc.syscall(CACHESTAT, descriptor, ctypes.byref(whole_file), ctypes.byref(result), 0) == 0:
        return result
    if ctypes.get_errno() in (errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM):
        return None
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _mincore(descriptor: int) -> int:
    """Pages of the file in the page cache, for whom the kernel reports it."""
    size = os.fstat(descriptor).st_size
    if size == 0:
        return 0
    address = _libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    try:
        states = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
        if _libc.mincore(address, size, states) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return sum(state & 1 for state in states.raw[: -(-size // mmap.PAGESIZE)])
    finally:
        _libc.munmap(address, size)
