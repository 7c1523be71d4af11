"""How a command's environment brings sizer's hook in, and when it cannot. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

PATH_VARIABLE = "SIZER_EVENTS_PATH"
BATCH_SIZE_VARIABLE = "SIZER_BATCH_SIZE"

HOOK = Path(__file__).resolve().parent.parent / "hook"
"""Its `sitecustomize.py` is run by every Python that has this folder on its path."""

_PYTHON = re.compile(r"(python|pypy)[\d.]*t?")
_TAKES_A_WORD = frozenset({"-c", "-m", "-W", "-X", "--check-hash-based-pycs"})


def with_events(environment: Mapping[str, str], fifo: Path, hooked: bool, batch_size: int = 1) -> dict[str, str]:
    """The environment with the path of the run's FIFO; where it is `hooked` also with the hook on Python's path, and
    with the batch size, if the study gives one, which counts where no loader names its own."""
    added = {**environment, PATH_VARIABLE: str(fifo)}
    if hooked:
        if batch_size > 1:
            added[BATCH_SIZE_VARIABLE] = str(batch_size)
        own = environment.get("PYTHONPATH")
        added["PYTHONPATH"] = f"{HOOK}:{own}" if own else str(HOOK)
    return added


def shut_out_by(command: Sequence[str]) -> str | None:
    """The option, such as `-I`, with which Python passes over what its environment says or does not run `site`."""
    words = iter(command)
    if not any(_PYTHON.fullmatch(Path(word).name) for word in words):
        return None
    for word in words:
        if not word.startswith("-") or word == "-":
            return None
        flags = "" if word.startswith("--") else re.split("[cmWX]", word[1:], maxsplit=1)[0]
        found = next((flag for flag in flags if flag in "ISE"), None)
        if found is not None:
            return f"-{found}"
        if word in ("-c", "-m") or word[1:2] in ("c", "m"):
            return None
        if word in _TAKES_A_WORD:
            next(words, None)
    return None
