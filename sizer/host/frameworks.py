"""The frameworks that programs run on, as `sizer doctor` tells of them: imported, each in a child of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from sizer.host.asking import ask
from sizer.host.findings import Check, Finding, FindingKind
from sizer.host.interpreters import (
    MAKES_NETWORKS,
    MAKES_NETWORKS_INSTALL,
    Interpreter,
    examined,
    install_command,
    interpreter,
    what_it_lacks,
)
from sizer.records.frameworks import FRAMEWORKS
from sizer.records.kinds import PYTORCH, TRANSFORMERS
from sizer.records.messages import HostError

IMPORTED = tuple(name for name, framework in FRAMEWORKS.items() if framework.gpus_seen)
"""Those that are asked which GPUs they see."""

SHARED_LIBRARIES = "sudo apt-get install libgomp1 libquadmath0"
"""Debian's packages that MXNet's wheel does not bring."""


def framework_checks(frameworks: Sequence[str] = IMPORTED) -> tuple[Check, ...]:
    """Whether each can be imported, in which interpreter, and which GPUs it sees.

    All at the same time: an import takes seconds of a core. Where a framework is not installed, none is tried.
    """
    with ThreadPoolExecutor(len(frameworks)) as pool:
        return tuple(pool.map(_check, frameworks))


def transformers_check() -> Check:
    """Whether PyTorch's interpreter has what makes today's networks; it is not imported, which takes seconds."""
    try:
        path = interpreter(PYTORCH)
    except HostError as error:
        return Check(MAKES_NETWORKS, False, Finding(FindingKind.OTHER, error.content), _unset(PYTORCH))
    python = examined(PYTORCH, path)
    if MAKES_NETWORKS in python.modules:
        version = python.packages.get(MAKES_NETWORKS, "")
        return Check(MAKES_NETWORKS, True, Finding(FindingKind.PACKAGE, version, str(path)))
    lack = what_it_lacks(PYTORCH, python, TRANSFORMERS)
    if lack is None or lack.command is None:
        problem = "" if lack is None else lack.problem
        return Check(MAKES_NETWORKS, False, Finding(FindingKind.OTHER, problem), _other(PYTORCH, path))
    missing = what_it_lacks(PYTORCH, python) is not None
    fix = install_command(PYTORCH, path, MAKES_NETWORKS_INSTALL) if missing else lack.command
    return Check(MAKES_NETWORKS, False, Finding(FindingKind.NOT_INSTALLED, path=str(path)), fix)


def _check(framework: str) -> Check:
    try:
        path = interpreter(framework)
    except HostError as error:
        return Check(framework, False, Finding(FindingKind.OTHER, error.content), _unset(framework))
    python = examined(framework, path)
    lack = what_it_lacks(framework, python)
    if lack is None:
        return _imported(framework, python)
    if lack.command is not None and FRAMEWORKS[framework].module not in python.modules:
        return Check(framework, False, Finding(FindingKind.NOT_INSTALLED, path=str(path)), lack.command)
    return Check(framework, False, Finding(FindingKind.OTHER, lack.problem), lack.command or _other(framework, path))


def _imported(framework: str, python: Interpreter, becoming: Sequence[str] = ()) -> Check:
    path = str(python.path)
    try:
        tried = ask([path, "-c", FRAMEWORKS[framework].gpus_seen], becoming=becoming)
        tried.check_returncode()
        version, gpus = json.loads(tried.stdout.strip().splitlines()[-1])
    except subprocess.CalledProcessError as error:
        reason = (error.stderr.strip().splitlines() or [f"exit status {error.returncode}"])[-1]
        fix = SHARED_LIBRARIES if "cannot open shared object" in reason else install_command(framework, python.path)
        return Check(framework, False, Finding(FindingKind.NO_IMPORT, reason, path), fix)
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        return Check(framework, False, Finding(FindingKind.NO_IMPORT, str(error), path), _other(framework, python.path))
    return Check(framework, True, Finding(FindingKind.FRAMEWORK, str(version), path, gpus=tuple(gpus)))


@cache
def gpus_seen(framework: str, path: Path, becoming: tuple[str, ...] = ()) -> tuple[str, ...] | None:
    """The GPUs that a framework sees in an interpreter, asked as `look_into` does; None where it cannot be asked."""
    if framework not in IMPORTED:
        return None
    check = _imported(framework, examined(framework, path, becoming), becoming)
    return check.finding.gpus if check.ok else None


def _other(framework: str, path: Path) -> str:
    """What helps where this interpreter cannot be used: our own, or the framework installed once more."""
    return install_command(framework, path) if path == Path(sys.executable) else _unset(framework)


def _unset(framework: str) -> str:
    return f"unset SIZER_{framework.upper()}_PYTHON"
