"""sizer itself, but that it tells on a pipe what it is doing, so that a soak can kill it there, and takes less time."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib import import_module
from typing import Any

from sizer.cli import main
from sizer.storage.disk_check import Fio
from sizer.storage.disks import Volume
from sizer.store.study_folder import StudyFolder

PIPE = "SOAK_PHASES_FD"
"""The environment variable with the descriptor that phases are reported on: `> phase`, `< phase`, `stored ID`."""

FIO = Fio(seconds=0.3, figures=("read_iops",))


def tell(line: str) -> None:
    os.write(int(os.environ[PIPE]), f"{line}\n".encode())


def phased(phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which tells when it begins and ends."""

    def wrapped(*arguments: Any, **options: Any) -> Any:
        tell(f"> {phase}")
        try:
            return function(*arguments, **options)
        finally:
            tell(f"< {phase}")

    return wrapped


def phased_volume(make: Callable[..., AbstractContextManager[Volume]]) -> Callable[..., Any]:
    """The context, which tells when the volume is being made and when it is being taken down."""

    @contextmanager
    def wrapped(*arguments: Any) -> Iterator[Volume]:
        context = make(*arguments)
        volume = phased("volume", context.__enter__)()
        try:
            yield volume
        finally:
            phased("taking down", context.__exit__)(*sys.exc_info())

    return wrapped


def storing(folder: StudyFolder, run: Any, add: Callable[..., None] = StudyFolder.add) -> None:
    phased("storing", add)(folder, run)
    tell(f"stored {run.id}")


REPLACED = (
    ("sizer.api.measuring", "remove_what_was_left", partial(phased, "clean-up")),
    ("sizer.api.measuring", "prepare_data", partial(phased, "data")),
    ("sizer.storage.placement", "emulated_volume", phased_volume),
    ("sizer.storage.placement", "_copied", partial(phased, "copying")),
    ("sizer.api.preparing", "check_disk", partial(phased, "fio")),
    ("sizer.api.preparing", "launch", partial(phased, "run")),
    ("sizer.api.measuring", "conclude", partial(phased, "answering")),
    ("sizer.api", "this_host", lambda this_host: partial(this_host, fio=FIO)),
    ("sizer.storage.disk_check", "FILE_BYTES", lambda _: 16 * 2**20),
    ("sizer.storage.disks", "ROOM_BYTES", lambda _: 96 * 10**6),
    ("sizer.runner.sampling", "SAMPLED_SECONDS", lambda _: 0.2),
)
"""What is replaced where the modules that call it find it, and by what: the phases, and what only takes time."""


def install() -> None:
    """Replace each by one that reports what it does."""
    for name, attribute, replacement in REPLACED:
        module = import_module(name)
        setattr(module, attribute, replacement(getattr(module, attribute)))
    StudyFolder.add = storing  # type: ignore[method-assign,assignment]


if __name__ == "__main__":
    install()
    sys.exit(main())
