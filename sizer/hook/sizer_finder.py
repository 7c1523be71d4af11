"""Waits for a framework to be imported. Every Python that a command starts loads this, so it loads nothing itself."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
"""As of `typing`, whose import takes a third of the interpreter's start."""

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

FRAMEWORKS = ("torch", "mxnet")


class Finder:
    """Sees a module being imported, lets it be found as ever, and has its watcher called once it is there."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._watchers: dict[str, Callable[[ModuleType], None]] | None = None

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """None for all but the watched modules, and for those what the other finders say."""
        if self._watchers is None:
            if name in FRAMEWORKS:
                self._watchers = {}
                self._load_watchers()
            return None
        then = self._watchers.pop(name, None)
        if then is None:
            return None
        for finder in [other for other in sys.meta_path if other is not self and hasattr(other, "find_spec")]:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                _call_after(spec, then)
                return spec
        return None

    def _load_watchers(self) -> None:
        sys.path.insert(0, self._folder)
        try:
            import sizer_hook

            self._watchers = sizer_hook.watchers()
        except Exception:
            # The program is not to know; its log is read instead.
            pass
        finally:
            sys.path.remove(self._folder)


def _call_after(spec: Any, then: Callable[[ModuleType], None]) -> None:
    load: Any = getattr(spec.loader, "exec_module", None)

    def load_and_call(module: ModuleType) -> None:
        load(module)
        try:
            del spec.loader.exec_module
            then(module)
        except Exception:
            # A version that is built in another way: its steps are not counted.
            pass

    try:
        if load is not None:
            spec.loader.exec_module = load_and_call
    except AttributeError:
        # A loader of another kind, such as that of a program in one file.
        pass


def install(folder: str) -> None:
    """Watch for the frameworks to be imported by this process, if a run of sizer listens."""
    if os.environ.get("SIZER_EVENTS_PATH"):
        finder: Any = Finder(folder)
        sys.meta_path.insert(0, finder)
