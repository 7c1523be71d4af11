"""Reads the records of a file in a new order each epoch and digests each: what memory keeps need not be read again."""

from __future__ import annotations

import hashlib
import os
import random
import sys

RECORD = 128 << 10

file = os.open(sys.argv[1], os.O_RDONLY)
records = list(range(os.fstat(file).st_size // RECORD))
epoch = 0
while True:
    random.shuffle(records)
    for step, number in enumerate(records, start=1):
        data = os.pread(file, RECORD, number * RECORD)
        for _ in range(12):
            hashlib.blake2b(data).digest()
        print(f"epoch {epoch} step {step} of {len(records)}", flush=True)
    epoch += 1
