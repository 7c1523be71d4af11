"""The interpreters that a study file names for frameworks. Whether they are there is asked when they are to be used."""

from __future__ import annotations

from sizer.records.study import FrameworkPython
from sizer.study.document import Document, Key


def read_frameworks(document: Document) -> tuple[FrameworkPython, ...]:
    """Each framework of the file with its interpreter: a path from the file's folder, or a name to be found in PATH."""
    found = []
    for framework in document.data.get("frameworks", {}):
        key: Key = ("frameworks", framework, "python")
        text = document.texts[key]
        python = document.locate(text) if "/" in text or text.startswith("~") else text
        found.append(FrameworkPython(framework, python, document.where, document.lines[key]))
    return tuple(found)
