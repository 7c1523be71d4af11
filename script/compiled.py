"""Compiles catalogues: a `.mo` beside each `.po` that is given.

`pybabel compile` would do the same, but takes `90 % interval` for a format of Python's `%`, and fails where a language
writes it otherwise. It also writes the English singular for every plural form that is not translated yet.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po


def read_translations(path: Path) -> Catalog:
    """The messages of a `.po` that have all forms that its language has; the others are said in English."""
    with path.open("rb") as source:
        translations = read_po(source)
    for message in list(translations):
        forms = [message.string] if isinstance(message.string, str) else message.string
        if message.id and not all(forms):
            translations.delete(message.id)
    return translations


def compiled(path: Path) -> bytes:
    """What the `.mo` beside a `.po` holds."""
    made = io.BytesIO()
    write_mo(made, read_translations(path), use_fuzzy=True)
    return made.getvalue()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).with_suffix(".mo").write_bytes(compiled(Path(name)))
