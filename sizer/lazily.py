"""What a package exports, imported when it is first asked for: a command loads what it needs and no more (PEP 562)."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module

EXPORT = re.compile(r"^    from (\S+) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)
"""An import under `if TYPE_CHECKING:`, where type checkers and linters read it."""
NAME = re.compile(r"(\w+)(?: as (\w+))?")


def exports(package: str, file: str) -> Callable[[str], object]:
    """The `__getattr__` of a package whose `__init__`, at `file`, imports what it exports under `if TYPE_CHECKING:`."""
    sources: dict[str, tuple[str, str]] = {}

    def found(name: str) -> object:
        if not sources:
            with open(file, encoding="utf-8") as source:
                for module, several, one in EXPORT.findall(source.read()):
                    for there, here in NAME.findall(several or one):
                        sources[here or there] = module, there
        if name not in sources:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, there = sources[name]
        if module == package:
            return import_module(f"{package}.{there}")
        value = getattr(import_module(module, package), there)
        setattr(sys.modules[package], name, value)
        return value

    return found
