"""Two processes that multiply matrices: each by itself, or with `--in-step` one step at a time."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from multiprocessing import get_context

context = get_context("fork")
barrier = context.Barrier(2)
made = context.Value("q", 0)


def multiply(in_step: bool, prints: bool) -> None:
    import numpy as np

    matrix = np.ones((160, 160))
    while True:
        for _ in range(10):
            matrix = matrix @ matrix / 160
        if in_step:
            barrier.wait()
        with made.get_lock() if not in_step or prints else nullcontext():
            made.value += 1
        if prints:
            print(f"step {made.value}", flush=True)


if __name__ == "__main__":
    in_step = sys.argv[1:] == ["--in-step"]
    context.Process(target=multiply, args=(in_step, False), daemon=True).start()
    multiply(in_step, True)
