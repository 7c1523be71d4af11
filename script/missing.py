"""Lists the sentences of a template that a catalogue has no translation of; exits with 1 if there are any."""

from __future__ import annotations

import sys
from pathlib import Path

from babel.messages.pofile import read_po
from compiled import read_translations

template, catalogue = map(Path, sys.argv[1:])
if not catalogue.is_file():
    sys.exit(f"there is no {catalogue}; begin one with script/words --add LANGUAGE")
with template.open("rb") as source:
    collected = [message for message in read_po(source) if message.id]
translations = read_translations(catalogue)
missing = [message.id for message in collected if translations.get(message.id) is None]
for sentence in missing:
    print(sentence if isinstance(sentence, str) else " | ".join(sentence))
sys.exit(1 if missing else 0)
