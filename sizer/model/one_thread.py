"""Linear algebra on one thread.

The matrices of a model are small. By itself OpenBLAS, which comes with numpy, spreads each over all CPUs with threads
that spin: beside other processes, as where workloads are fitted side by side, most of the time goes there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

Given = ParamSpec("Given")
Result = TypeVar("Result")


def one_thread(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """The function; while it runs BLAS has one thread in this process, and afterwards as many as before."""
    alone: Callable[Given, Result] = threadpool_limits.wrap(limits=1, user_api="blas")(work)
    return alone
