"""Compiles catalogues: a `.mo` beside each `.po` that is given.

`pybabel compile` would do the same, but takes `90 % interval` for a format of Python's `%`, and fails where a language
writes it otherwise.
"""

from __future__ import annotations

import sys
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

for name in sys.argv[1:]:
    with Path(name).open("rb") as source, Path(name).with_suffix(".mo").open("wb") as made:
        write_mo(made, read_po(source), use_fuzzy=True)
