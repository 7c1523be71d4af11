"""A job of one thread: tokens are counted line by line, as many a step as take some milliseconds."""

from __future__ import annotations

import re
from collections import Counter

LINE = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness"
WORDS = re.compile(r"\w+")

counts: Counter[str] = Counter()
step = 0
while True:
    for _ in range(800):
        counts.update(WORDS.findall(LINE))
    step += 1
    print(f"step {step}", flush=True)
