"""Runs that their study folder would not take: kept in the cache until the study is gone on with.

A disk can become read-only, a network mount can go away, a folder can be removed while a run of an hour is measured.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sizer.codec import read_json, write_json
from sizer.continuing import SAME_MACHINE
from sizer.errors import HostError, InputError
from sizer.files import ASIDE_SUFFIX
from sizer.records import Run


def keep(run: Run, study: Path, host: Mapping[str, Any], cache: Path) -> Path:
    """Store the run in the cache, and return the file. Raises HostError when it cannot be written there either."""
    folder = place(study, host, cache)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{folder}: cannot be written ({error.strerror or error})") from error
    path = folder / f"{run.id}.json"
    write_json(path, run)
    return path


def take_back(study: Path, host: Mapping[str, Any], cache: Path, store: Callable[[Run], bool]) -> int:
    """Hand each run that the cache holds of this study folder to `store`, and remove there what it took. How many.

    Files that are no runs are left where they are.
    """
    folder, taken = place(study, host, cache), 0
    for path in sorted(folder.glob("*.json")):
        with suppress(InputError, HostError):
            if store(read_json(Run, path)):
                path.unlink(missing_ok=True)
                taken += 1
    with suppress(OSError):
        for path in folder.glob(f".*{ASIDE_SUFFIX}"):
            path.unlink()
        folder.rmdir()
    return taken


def place(study: Path, host: Mapping[str, Any], cache: Path) -> Path:
    """Where the cache keeps a study's runs.

    By the study folder's place and the machine: a cache may lie on a network mount that several machines share.
    """
    facts = [str(study.resolve()), *(host.get(fact) for fact in SAME_MACHINE)]
    return cache / "unsaved" / hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]
