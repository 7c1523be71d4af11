"""Many cases judged by several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from multiprocessing import get_context
from typing import Any, TypeVar

Judged = TypeVar("Judged")


def in_processes(judge: Callable[..., Judged], cases: Iterable[tuple[Any, ...]], processes: int) -> list[Judged]:
    """What `judge` says of the arguments of each case, in their order."""
    if processes == 1:
        return [judge(*case) for case in cases]
    with get_context("fork").Pool(processes) as pool:
        return pool.starmap(judge, cases, chunksize=1)
