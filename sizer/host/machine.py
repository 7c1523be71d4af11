"""Facts about this machine, and what it lets us measure."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

import psutil

from sizer import __version__
from sizer.host.asking import ask, first_line
from sizer.host.findings import Check, Finding, FindingKind
from sizer.host.frameworks import framework_checks, transformers_check
from sizer.host.gpus import Gpu, gpus
from sizer.host.interpreters import interpreter, look_into
from sizer.host.stored_host import Installed, Virtualization
from sizer.limits.backends.delegation import AS_ROOT
from sizer.limits.detection import detect
from sizer.limits.interface import Capability, LimitsBackend
from sizer.limits.topology import CpuCounts
from sizer.records.frameworks import FRAMEWORKS
from sizer.records.messages import HostError, Message


@dataclass(frozen=True)
class Host:
    """The machine a study was measured on; sizes in bytes.

    `python` and `packages` are the versions that programs of the study run on. Where two frameworks live in two
    interpreters, they are those of the first, with what only the other has; `frameworks` says them apart.
    `sizer` is the version that measured.
    """

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
    frameworks: tuple[Installed, ...] = ()
    sizer: str = ""


def facts(backend: LimitsBackend | None = None) -> Host:
    """This machine, as `backend` limits it, with the versions of every framework that is found without a study."""
    backend = backend or detect()
    processor = _lscpu()
    places = {}
    for framework in FRAMEWORKS:
        with suppress(HostError):
            places[framework] = interpreter(framework)
    installed = _installed(places)
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
        python=_python(installed),
        fio=first_line("fio", "--version"),
        packages=_packages(installed),
        sizer=__version__,
    )


def with_frameworks(
    host: Host, places: Mapping[str, Path], chosen: Collection[str] = (), becoming: Sequence[str] = ()
) -> Host:
    """The host with the versions of these frameworks, each in its interpreter; as it is where there is none.

    The interpreters of `chosen` are asked by `becoming`, the command that gives them another user's rights.
    """
    theirs = {places[framework] for framework in chosen if framework in places}
    installed = _installed(places, dict.fromkeys(theirs, becoming))
    if not installed:
        return host
    return replace(host, python=_python(installed), packages=_packages(installed), frameworks=installed)


def checks(backend: LimitsBackend | None = None) -> tuple[Check, ...]:
    """What `sizer doctor` shows: each control, then the programs, devices and packages that studies use."""
    backend = backend or detect()
    capabilities = backend.capabilities()
    return (
        *(_control_check(backend.name, capability) for capability in capabilities),
        _cpu_check(backend),
        _swap_check(psutil.swap_memory().total, capabilities),
        _pressure_check(backend),
        _program_check("fio", "fio", "--version"),
        _program_check("mkfs.ext4", "e2fsprogs", "-V"),
        _loop_check(Path("/dev/loop-control")),
        *framework_checks(),
        transformers_check(),
    )


def _control_check(backend: str, capability: Capability) -> Check:
    finding = Finding(FindingKind.CONTROL, Message("{backend}: {how}", backend=backend, how=capability.how))
    return Check(capability.control.value, capability.available, finding, capability.fix)


def _cpu_check(backend: LimitsBackend) -> Check:
    count = len(backend.allowed)
    finding = Finding(FindingKind.CPUS, count=count, whole=len(backend.topology.processors))
    return Check("cpus", count >= 2, finding, None if count >= 2 else "taskset -pc 0- $$")


def _swap_check(swap_bytes: int, capabilities: tuple[Capability, ...]) -> Check:
    capped = any(capability.available for capability in capabilities if capability.control.value == "memory")
    if swap_bytes == 0:
        return Check("swap", True, Finding(FindingKind.NO_SWAP))
    finding = Finding(FindingKind.SWAP_KEPT if capped else FindingKind.SWAP_USED, bytes=swap_bytes)
    return Check("swap", capped, finding, None if capped else "sudo swapoff -a")


def _pressure_check(backend: LimitsBackend) -> Check:
    """Good to have and never needed, so that nothing is wrong without it."""
    kind = FindingKind.PRESSURE if backend.tells_pressure else FindingKind.NO_PRESSURE
    return Check("pressure", True, Finding(kind))


def _program_check(program: str, package: str, version: str) -> Check:
    line = first_line(program, version)
    if line is None:
        return Check(program, False, Finding(FindingKind.NOT_INSTALLED), f"sudo apt-get install {package}")
    return Check(program, True, Finding(FindingKind.VERSION, line))


def _loop_check(control: Path) -> Check:
    if not control.exists():
        return Check("loop devices", False, Finding(FindingKind.MISSING, path=str(control)), "sudo modprobe loop")
    if not os.access(control, os.W_OK):
        return Check("loop devices", False, Finding(FindingKind.ROOT_ONLY), AS_ROOT.command("run STUDY.yaml"))
    return Check("loop devices", True, Finding(FindingKind.PRESENT, path=str(control)))


def _lscpu() -> dict[str, str]:
    if shutil.which("lscpu") is None:
        return {}
    pairs = (line.partition(":") for line in ask(["lscpu"], 10).stdout.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux"


def _virtualization(processor: dict[str, str]) -> Virtualization:
    contained = any(Path(sign).exists() for sign in ("/.dockerenv", "/run/.containerenv"))
    return Virtualization(processor.get("Hypervisor vendor"), contained)


def _installed(
    places: Mapping[str, Path], becoming: Mapping[Path, Sequence[str]] | None = None
) -> tuple[Installed, ...]:
    """Each framework with what its interpreter has, which is asked once for all of its frameworks."""
    wanted: dict[Path, list[str]] = {}
    for framework, path in places.items():
        wanted.setdefault(path, []).extend(FRAMEWORKS[framework].versions if framework in FRAMEWORKS else ())
    looked = {path: look_into(path, packages, (), (becoming or {}).get(path, ())) for path, packages in wanted.items()}
    installed = []
    for framework, path in places.items():
        versions = FRAMEWORKS[framework].versions if framework in FRAMEWORKS else ()
        has = looked[path].packages
        packages = {name: has[name] for name in versions if name in has}
        installed.append(Installed(framework, str(path), looked[path].version, packages))
    return tuple(installed)


def _packages(frameworks: tuple[Installed, ...]) -> dict[str, str]:
    """Versions of sizer's own psutil and of what the workloads import, the first framework's before the others'."""
    versions: dict[str, str] = {}
    for installed in frameworks:
        versions |= {name: version for name, version in installed.packages.items() if name not in versions}
    return {**versions, "psutil": metadata.version("psutil")}


def _python(frameworks: tuple[Installed, ...]) -> str | None:
    """The version of the Python that runs the bundled workloads; None where it is not there or does not run."""
    return next((installed.python for installed in frameworks if installed.python), None)
