"""What must be true before anything is run, so that a study does not end in its middle for something known before."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sizer.files.given_files import refuse_no_disk
from sizer.files.own_folder import cache_folder
from sizer.host.frameworks import gpus_seen
from sizer.host.gpus import cuda_gpus, gpus, has_driver, visible_gpus
from sizer.host.interpreters import examined, interpreter, what_it_lacks, wrong_interpreter
from sizer.limits.backends.delegation import AS_ROOT
from sizer.limits.interface import Control, LimitsBackend
from sizer.limits.users import ME, run_user
from sizer.records.answer import Doubt, DoubtKind
from sizer.records.frameworks import RUNNABLE, placeholders_in
from sizer.records.kinds import COMMAND, KINDS, OPENCV, OTHER, TRANSFORMERS
from sizer.records.messages import HostError, InputError, Lines, Message
from sizer.records.notes import Note, NoteKind
from sizer.records.study import FrameworkPython, Limits, RunSpec, Study, Workload
from sizer.runner.commands import gpu_environment
from sizer.storage.data_sets import check_cache, check_data
from sizer.storage.disks import missing_for_emulation, mount_answers

"""Frameworks that the workloads have a backend for."""

SMALL_CAP = 2**26
"""Bytes that every host has, to ask whether memory can be limited at all."""

LIMITED = {
    Control.VCPUS: Message("vCPUs"),
    Control.FRACTIONAL_VCPUS: Message("fractions of a vCPU"),
    Control.MEMORY: Message("memory"),
    Control.DISK: Message("disks"),
}


def check_preconditions(specs: Sequence[RunSpec], study: Study, backend: LimitsBackend) -> None:
    """Raises InputError for data or a mount that is not there, HostError for what this host cannot limit or emulate."""
    for workload in dict.fromkeys(spec.workload for spec in specs):
        check_data(workload)
        check_cache(workload, cache_folder(os.environ), study.embedded_images)
        _check_own_program(workload)
        if workload.kind != COMMAND:
            interpreter(workload.framework, study.python(workload.framework))
    _check_mounts(specs, study)
    lacking = _lacking(specs, study, backend)
    if lacking:
        raise HostError(Lines(*lacking))


def check_interpreters(specs: Sequence[RunSpec], study: Study) -> dict[str, Path]:
    """The interpreter of each framework that these runs use; those that the study names are started to see whether
    they can. Raises InputError with the line of one that cannot, and HostError as `check_preconditions`."""
    pythons = {}
    users = _users(spec.workload for spec in specs)
    for framework in interpreted(specs, study):
        chosen = study.python(framework)
        pythons[framework] = interpreter(framework, chosen)
        if chosen is not None:
            networks = _networks(users.get(framework, ()))
            # Who wrote the study has no rights of ours.
            has = examined(framework, pythons[framework], run_user(study.run_as).becoming)
            lack = what_it_lacks(framework, has, networks)
            if lack is not None:
                raise wrong_interpreter(chosen, lack.message)
    return pythons


def interpreted(specs: Sequence[RunSpec], study: Study) -> list[str]:
    """The frameworks that these runs use, and OpenCV, which makes their data, where the study says where it is."""
    used = dict.fromkeys(_users(spec.workload for spec in specs))
    if used and study.python(OPENCV) is not None:
        used[OPENCV] = None
    return list(used)


def _users(workloads: Iterable[Workload]) -> dict[str, list[Workload]]:
    """The workloads of each framework that programs run on."""
    users: dict[str, list[Workload]] = {}
    for workload in dict.fromkeys(workloads):
        if workload.kind != COMMAND and workload.framework in RUNNABLE:
            users.setdefault(workload.framework, []).append(workload)
    return users


def _networks(workloads: Iterable[Workload]) -> list[str]:
    return [workload.network for workload in workloads if workload.network is not None]


def _check_own_program(workload: Workload) -> None:
    """Raises InputError for a folder that is not there, or a variable whose value nobody knows."""
    if workload.cwd is not None and not os.path.isdir(workload.cwd):
        raise InputError(
            "workload `{workload}`: `cwd` is {path}, which is not a folder; make it, or give another one.",
            workload=workload.name,
            path=workload.cwd,
        )
    for variable in workload.env:
        if variable.value_in(os.environ) is None:
            raise InputError(
                "workload `{workload}`: the value of {name} is not stored with the study; set it in the environment, "
                "as by `export {name}=...`, and type the same again.",
                workload=workload.name,
                name=variable.name,
            )


def _check_mounts(specs: Sequence[RunSpec], study: Study) -> None:
    for name in dict.fromkeys(spec.limits.disk for spec in specs if spec.limits.disk is not None):
        path = study.disk(name).path
        if path is not None and not mount_answers(Path(path)):
            raise InputError(
                "disk `{name}`: {path} is not a folder, or does not answer; give the folder where the disk is mounted.",
                name=name,
                path=path,
            )
        if path is not None:
            refuse_no_disk(Path(path), Message("disk `{name}`", name=name))
        if path is not None and not os.access(path, os.W_OK):
            raise InputError("disk `{name}`: you may not write to {path}; give another folder.", name=name, path=path)


def _lacking(specs: Sequence[RunSpec], study: Study, backend: LimitsBackend) -> list[Message]:
    """Each thing that is missing, with the command that would fix it."""
    reasons: dict[tuple[Control, object], Message] = {}
    for spec in specs:
        emulated = spec.limits.disk is not None and study.disk(spec.limits.disk).emulated is not None
        for capability in backend.missing(spec.limits, throttled=emulated):
            if capability.fix is None:
                reasons[capability.control, capability.how] = Message(
                    "{problem}; ask for less, or measure on a larger host.", problem=capability.how
                )
            else:
                reasons[capability.control, capability.how] = Message(
                    "This host cannot limit {control} ({reason}); type: {fix}",
                    control=LIMITED[capability.control],
                    reason=capability.how,
                    fix=capability.fix,
                )
        reason = missing_for_emulation() if emulated else None
        if reason and not any(control is Control.DISK for control, _ in reasons):
            reasons[Control.DISK, reason] = Message("This host cannot emulate disks: {reason}", reason=reason)
    return list(reasons.values())


LEFT_OUT = {
    Control.FRACTIONAL_VCPUS: NoteKind.NO_FRACTIONAL_VCPUS,
    Control.MEMORY: NoteKind.NO_MEMORY_AXIS,
    Control.DISK: NoteKind.NO_DISK_AXIS,
}
"""What is left out of a study that sizer chooses, where a control is lacking."""

Lacking = dict[Control, str]
"""Controls that this host does not give us, each with the command that would fix it."""


def lacking_controls(backend: LimitsBackend, arguments: str) -> Lacking:
    """Those of a backend; the commands end in what is typed after `sizer`."""
    lacking = [capability for capability in backend.capabilities() if not capability.available]
    return {capability.control: capability.fix_for(arguments) or AS_ROOT.command(arguments) for capability in lacking}


def notes_on(lacking: Lacking) -> tuple[Note, ...]:
    """Which axes are left out for want of a control, for the report."""
    return tuple(Note(kind, fix=lacking[control]) for control, kind in LEFT_OUT.items() if control in lacking)


def caps_memory(backend: LimitsBackend) -> bool:
    """Whether runs can be made under a memory cap here."""
    return not backend.missing(Limits(memory_bytes=SMALL_CAP))


def doubts(
    specs: Sequence[RunSpec],
    beside: Path | None = None,
    named: Sequence[FrameworkPython] = (),
    run_as: str = ME,
) -> list[Doubt]:
    """What lets runs end as `unsupported`, `crashed` or `refused` although every limit can be set.

    `beside` is the folder of the study file, `named` are the interpreters that it names: these are no doubts, but
    checked by themselves. `run_as` is the user of its runs.
    """
    workloads = list(dict.fromkeys(spec.workload for spec in specs))
    try:
        run_user(run_as)
    except HostError as error:
        names = tuple(workload.name for workload in workloads)
        return [Doubt(DoubtKind.USER, names, run_as, problem=Message("{error}", error=error))] if names else []
    doubts = _doubts_of_frameworks(workloads, [python.framework for python in named])
    for workload in workloads:
        chosen = next((python for python in named if python.framework == workload.framework), None)
        most = max(spec.gpu_count for spec in specs if spec.workload == workload)
        doubts += doubts_of_gpu(workload, max(1, most), chosen, run_as)
        doubts += _doubts_of_program(workload, beside)
    return doubts


def _doubts_of_frameworks(workloads: Sequence[Workload], named: Sequence[str]) -> list[Doubt]:
    """Frameworks that no program runs on, and those that are not where they are looked for; of each, once."""
    without: dict[str, list[str]] = {}
    for workload in workloads:
        if workload.framework not in RUNNABLE and KINDS[workload.kind].framework != OTHER:
            without.setdefault(str(workload.framework), []).append(workload.name)
    doubts = [Doubt(DoubtKind.FRAMEWORK, tuple(dict.fromkeys(names)), word) for word, names in without.items()]
    for framework, users in _users(workloads).items():
        if framework not in named and framework in RUNNABLE:
            has = examined(framework, interpreter(framework))
            lack, concerned = what_it_lacks(framework, has), users
            if lack is None:
                concerned = [user for user in users if user.network in TRANSFORMERS]
                lack = what_it_lacks(framework, has, _networks(concerned))
            if lack is not None:
                names = tuple(dict.fromkeys(workload.name for workload in concerned))
                doubts.append(Doubt(DoubtKind.INTERPRETER, names, framework, problem=lack.message))
    return doubts


def _doubts_of_program(workload: Workload, beside: Path | None) -> list[Doubt]:
    """Programs that are not there, a command whose files lie where it is not started, variables that are not set."""
    doubts, names, path = [], (workload.name,), workload.search_path(os.environ)
    started = (
        (DoubtKind.SETUP, workload.setup),
        (DoubtKind.BEFORE, workload.before),
        (DoubtKind.PROGRAM, workload.command),
    )
    for kind, words in started:
        if words and not placeholders_in(words[:1]) and shutil.which(words[0], path=path) is None:
            doubts.append(Doubt(kind, names, words[0]))
    if workload.command and workload.cwd is None:
        # A folder may have the name of anything, so only files count; `cwd` is taken from the study file's folder.
        folders = [folder for folder in (beside, Path()) if folder is not None]
        relative = [word for word in workload.command[1:] if not os.path.isabs(word)]
        lying = [(word, folder) for word in relative for folder in folders if os.path.isfile(folder / word)]
        for word, folder in lying[:1]:
            doubts.append(Doubt(DoubtKind.NO_FOLDER, names, word, "." if folder == beside else str(folder.absolute())))
    unset = [name for name in workload.pass_env if "*" not in name and name not in os.environ]
    return [*doubts, *(Doubt(DoubtKind.NOT_PASSED, names, name) for name in unset)]


def lacks_driver(workload: Workload) -> bool:
    """Whether it computes on a GPU and NVIDIA's driver is not here, by NVML or by CUDA alone, which is all that a
    program needs: its programs would only start to fail."""
    computes = workload.computes_on.kind == "cuda" and workload.input != "replay"
    return computes and not has_driver() and cuda_gpus() == 0


def without_lacking(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """Those whose workloads do not lack the driver."""
    lacking = {workload for workload in dict.fromkeys(spec.workload for spec in specs) if lacks_driver(workload)}
    return [spec for spec in specs if spec.workload not in lacking]


def doubts_of_gpu(
    workload: Workload, count: int = 1, chosen: FrameworkPython | None = None, run_as: str = ME
) -> Iterator[Doubt]:
    """Why it will not, of so many GPUs from its device on: there is no driver, no GPU of an index, CUDA_VISIBLE_DEVICES
    does not show it, or its framework, in the interpreter that the study chose, does not see it. Without NVML, which
    nothing but sizer's readings needs, that these will be missing."""
    device, names = workload.computes_on, (workload.name,)
    if device.kind != "cuda":
        return
    first, needed = device.index or 0, (device.index or 0) + count
    present, environment = gpus(), gpu_environment(workload, os.environ)
    readable = has_driver()
    there = len(present) if readable else cuda_gpus()
    shown = len(visible_gpus(present, environment)) if readable else there
    if not readable and there:
        yield Doubt(DoubtKind.NO_NVML, names, str(first))
    if not readable and not there:
        yield Doubt(DoubtKind.NO_DRIVER, names, str(first))
    elif needed > there and (readable or "CUDA_VISIBLE_DEVICES" not in environment):
        yield Doubt(DoubtKind.GPU, names, str(max(first, there)))
    elif needed > shown and "CUDA_VISIBLE_DEVICES" in environment:
        yield Doubt(DoubtKind.HIDDEN_GPU, names, str(max(first, shown)), environment["CUDA_VISIBLE_DEVICES"])
    elif workload.kind != COMMAND and workload.framework is not None:
        python = interpreter(workload.framework, chosen)
        # Who wrote the study has no rights of ours.
        seen = gpus_seen(workload.framework, python, () if chosen is None else run_user(run_as).becoming)
        if seen is not None and needed > len(seen):
            yield Doubt(DoubtKind.UNSEEN_GPU, names, str(max(first, len(seen))), str(python))
