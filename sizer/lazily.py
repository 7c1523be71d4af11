"""What a package exports, imported when it is first asked for: a command loads what it needs and no more (PEP 562)."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module

EXPORT = re.compile(r"^    from (\S+) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)
"""An import under `if TYPE_CHECKING:`, where type checkers and linters read it."""


def exports(package: str, file: str) -> Callable[[str], object]:
    """The `__getattr__` of a package whose `__init__`, at `file`, imports what it exports under `if TYPE_CHECKING:`."""
    modules: dict[str, str] = {}

    def found(name: str) -> object:
        if not modules:
            with open(file, encoding="utf-8") as source:
                for module, several, one in EXPORT.findall(source.read()):
                    modules.update(dict.fromkeys(re.findall(r"\w+", several or one), module))
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if modules[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return found
