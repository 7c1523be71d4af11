"""Facts about this machine, and what it lets us measure."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from importlib import metadata
from pathlib import Path

import psutil

from sizer.host.nvml import Gpu, gpus
from sizer.limits import AS_ROOT, MARK, Capability, CpuCounts, LimitsBackend, detect, owned_name
from sizer.records import HostError, Lines, Message, typed_path

PACKAGES = {
    "mxnet": ("mxnet", "numpy", "opencv-python-headless", "lmdb"),
    "pytorch": ("torch", "simplejpeg", "pillow"),
    "tensorflow": ("tensorflow",),
}
"""Whose versions are in a study's record by framework: they decide how fast a workload runs."""

_ASK_VERSIONS = """
import json, platform, sys
from importlib import metadata
found = {"python": platform.python_version()}
for package in sys.argv[1:]:
    try:
        found[package] = metadata.version(package)
    except metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""
PATIENCE_SECONDS = 120
"""Importing MXNet takes 2 s, and a minute where its files come over a network."""

# MXNet 1.9.1 names a type that numpy 1.24 took away; its own workloads put it back before their import.
_IMPORT_MXNET = "import numpy\nif 'bool' not in numpy.__dict__: numpy.bool = numpy.bool_\nimport mxnet"


@dataclass(frozen=True)
class Virtualization:
    """The hypervisor of a virtual machine, None on bare metal, and whether this is a container."""

    hypervisor: str | None
    container: bool


@dataclass(frozen=True)
class Host:
    """The machine a study was measured on; sizes in bytes."""

    cpu_model: str
    cpus: int
    topology: CpuCounts
    hyperthreads: bool
    memory_bytes: int
    swap_bytes: int
    kernel: str
    distribution: str
    virtualization: Virtualization
    limits: str
    gpus: tuple[Gpu, ...]
    python: str | None
    fio: str | None
    packages: dict[str, str]


class FindingKind(str, Enum):
    """What a check found."""

    CONTROL = "control"
    """By what a limit is set, or why it cannot be: `text`."""
    CPUS = "cpus"
    """So many CPUs of this host are usable: `count` of `whole`."""
    NO_SWAP = "no_swap"
    SWAP_KEPT = "swap_kept"
    """The group of a run keeps it from the swap of `bytes`."""
    SWAP_USED = "swap_used"
    """Runs may use the swap of `bytes`."""
    PRESSURE = "pressure"
    """What runs wait for is accounted."""
    NO_PRESSURE = "no_pressure"
    VERSION = "version"
    """What a program or package says of itself: `text`, in the interpreter `path` if that is not ours."""
    NOT_INSTALLED = "not_installed"
    MISSING = "missing"
    """`path` is not there."""
    ROOT_ONLY = "root_only"
    PRESENT = "present"
    """`path` is there."""
    NO_IMPORT = "no_import"
    """A package cannot be imported: `text`, in the interpreter `path` if that is not ours."""
    QUIET = "quiet"
    """Nothing else uses this host."""
    BUSY = "busy"
    """Something else does: `load`."""
    OTHER = "other"
    """`text`, as it is."""


@dataclass(frozen=True)
class BusyBy:
    """Cores that other programs use, and that the hypervisor gives to others; None where that disturbs no run.

    `programs` are the names and cores of those that use most, the busiest first.
    """

    other_cores: float | None = None
    stolen_cores: float | None = None
    programs: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Finding:
    """What a check found, with what its kind needs."""

    kind: FindingKind
    text: str | Message | Lines = ""
    path: str = ""
    count: int = 0
    whole: int = 0
    bytes: int = 0
    load: BusyBy = BusyBy()


@dataclass(frozen=True)
class Check:
    """One thing a study may need: whether it is there, what was found, and the command that would fix it."""

    name: str
    ok: bool
    finding: Finding
    fix: str | None = None


def facts(backend: LimitsBackend | None = None) -> Host:
    """This machine, as `backend` limits it."""
    backend = backend or detect()
    processor = _lscpu()
    return Host(
        cpu_model=processor.get("Model name", platform.machine()),
        cpus=len(backend.allowed),
        topology=backend.topology.counts,
        hyperthreads=backend.topology.hyperthreads,
        memory_bytes=psutil.virtual_memory().total,
        swap_bytes=psutil.swap_memory().total,
        kernel=platform.release(),
        distribution=_distribution(),
        virtualization=_virtualization(processor),
        limits=backend.name,
        gpus=gpus(),
        python=_python(),
        fio=_first_line("fio", "--version"),
        packages=_packages(),
    )


def checks(backend: LimitsBackend | None = None) -> tuple[Check, ...]:
    """What `sizer doctor` shows: each control, then the programs, devices and packages that studies use."""
    backend = backend or detect()
    capabilities = backend.capabilities()
    return (
        *(_control_check(backend.name, each) for each in capabilities),
        _cpu_check(backend),
        _swap_check(psutil.swap_memory().total, capabilities),
        _pressure_check(backend),
        _program_check("fio", "fio", "--version"),
        _program_check("mkfs.ext4", "e2fsprogs", "-V"),
        _loop_check(Path("/dev/loop-control")),
        _mxnet_check(),
    )


def _control_check(backend: str, capability: Capability) -> Check:
    found = Finding(FindingKind.CONTROL, Message("{backend}: {how}", backend=backend, how=capability.how))
    return Check(capability.control.value, capability.available, found, capability.fix)


def _cpu_check(backend: LimitsBackend) -> Check:
    count = len(backend.allowed)
    found = Finding(FindingKind.CPUS, count=count, whole=len(backend.topology.processors))
    return Check("cpus", count >= 2, found, None if count >= 2 else "taskset -pc 0- $$")


def _swap_check(swap_bytes: int, capabilities: tuple[Capability, ...]) -> Check:
    capped = any(each.available for each in capabilities if each.control.value == "memory")
    if swap_bytes == 0:
        return Check("swap", True, Finding(FindingKind.NO_SWAP))
    found = Finding(FindingKind.SWAP_KEPT if capped else FindingKind.SWAP_USED, bytes=swap_bytes)
    return Check("swap", capped, found, None if capped else "sudo swapoff -a")


def _pressure_check(backend: LimitsBackend) -> Check:
    """Good to have and never needed, so that nothing is wrong without it."""
    found = FindingKind.PRESSURE if backend.tells_pressure else FindingKind.NO_PRESSURE
    return Check("pressure", True, Finding(found))


def _program_check(program: str, package: str, version: str) -> Check:
    found = _first_line(program, version)
    if found is None:
        return Check(program, False, Finding(FindingKind.NOT_INSTALLED), f"sudo apt-get install {package}")
    return Check(program, True, Finding(FindingKind.VERSION, found))


def _loop_check(control: Path) -> Check:
    if not control.exists():
        return Check("loop devices", False, Finding(FindingKind.MISSING, path=str(control)), "sudo modprobe loop")
    if not os.access(control, os.W_OK):
        return Check("loop devices", False, Finding(FindingKind.ROOT_ONLY), AS_ROOT.command())
    return Check("loop devices", True, Finding(FindingKind.PRESENT, path=str(control)))


def _mxnet_check() -> Check:
    try:
        python = interpreter("mxnet")
        tried = _run([str(python), "-c", _IMPORT_MXNET], PATIENCE_SECONDS)
    except HostError as error:
        return Check("mxnet", False, Finding(FindingKind.OTHER, error.said), "unset SIZER_MXNET_PYTHON")
    except (OSError, subprocess.TimeoutExpired) as error:
        found = Finding(FindingKind.NO_IMPORT, str(error), str(python))
        return Check("mxnet", False, found, "unset SIZER_MXNET_PYTHON")
    place = "" if python == Path(sys.executable) else str(python)
    if tried.returncode == 0:
        version = _ask(python, ["mxnet"]).get("mxnet", "")
        return Check("mxnet", True, Finding(FindingKind.VERSION, version, place))
    reason = (tried.stderr.strip().splitlines() or [f"exit status {tried.returncode}"])[-1]
    fix = f"{typed_path(python)} -m pip install 'mxnet==1.9.1' 'numpy>=1.23,<2'"
    if "cannot open shared object" in reason:
        fix = "sudo apt-get install libgomp1 libquadmath0"
    return Check("mxnet", False, Finding(FindingKind.NO_IMPORT, reason, place), fix)


def _first_line(program: str, *arguments: str) -> str | None:
    """The first line that a program prints; some print their version to stderr."""
    path = shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if path is None or not os.path.isabs(path):
        return None
    shown = _run([path, *arguments], 20)
    lines = (shown.stdout + shown.stderr).strip().splitlines()
    return lines[0] if lines else program


def _lscpu() -> dict[str, str]:
    if shutil.which("lscpu") is None:
        return {}
    pairs = (line.partition(":") for line in _run(["lscpu"], 10).stdout.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux"


def _virtualization(processor: dict[str, str]) -> Virtualization:
    contained = any(Path(sign).exists() for sign in ("/.dockerenv", "/run/.containerenv"))
    return Virtualization(processor.get("Hypervisor vendor"), contained)


def _packages() -> dict[str, str]:
    """Versions of sizer's own psutil and of what the workloads import, as their interpreters have them."""
    asked: dict[Path, list[str]] = {}
    for framework, packages in PACKAGES.items():
        with suppress(HostError):
            asked.setdefault(interpreter(framework), []).extend(packages)
    found = {name: version for python, packages in asked.items() for name, version in _ask(python, packages).items()}
    found.pop("python", None)
    return {**found, "psutil": metadata.version("psutil")}


def _python() -> str | None:
    """The version of the Python that runs the bundled workloads; None where it is not there or does not run."""
    with suppress(HostError):
        return _ask(interpreter("mxnet"), ()).get("python")
    return None


def _ask(python: Path, packages: Sequence[str]) -> dict[str, str]:
    """The versions that an interpreter has, its own as `python`; none where it does not run, which its check says."""
    try:
        shown = _run([str(python), "-c", _ASK_VERSIONS, *packages], PATIENCE_SECONDS)
        shown.check_returncode()
        found: dict[str, str] = json.loads(shown.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    return found


def _run(argv: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str]:
    """A program of this host, in a folder that is root's: `python -c` looks for modules in the one it is started in
    first, which may be somebody else's and hold a json.py. Errors as subprocess.run."""
    return subprocess.run(
        argv,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        cwd="/",
        stdin=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C", MARK: owned_name(Path(argv[0]).name)},
    )


INSTALLED_WITH = {"opencv": "mxnet"}
"""A framework that has no interpreter of its own is looked for where this one is."""


def interpreter(framework: str | None) -> Path:
    """SIZER_MXNET_PYTHON and the like, or our own, as an absolute path, because programs start in other folders.

    Raises HostError when that is not a program.
    """
    names = list(filter(None, [framework, INSTALLED_WITH.get(framework or "")]))
    variables = [f"SIZER_{name.upper()}_PYTHON" for name in names]
    variable = next((each for each in variables if each in os.environ), None)
    if variable is None:
        return Path(sys.executable)
    chosen = os.environ[variable]
    # A bare name is looked for as a shell does, and never in this folder, which may be somebody else's.
    found = chosen if "/" in chosen else shutil.which(chosen)
    if not found or not os.access(found, os.X_OK) or Path(found).is_dir():
        raise HostError(
            "{variable} is {chosen}, which is not a program; give the path of a Python interpreter.",
            variable=variable,
            chosen=chosen,
        )
    return Path(os.path.abspath(found))
