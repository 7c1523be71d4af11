"""RunSpec -> Run: one limited child process, watched from its start to its end."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

from sizer.analysis.monitor import RunMonitor, Stop, reading_seconds
from sizer.analysis.record import ChildResult, run_record
from sizer.host.gpu_watch import GpuWatch, watched
from sizer.host.gpus import Gpu, gpus, visible_gpus
from sizer.limits.interface import LimitsBackend, Throttle
from sizer.limits.users import OWN_MOUNTS, RunUser, has_own_mounts, run_user
from sizer.records.device import HOST_DISK, GpuUse
from sizer.records.frameworks import filled
from sizer.records.kinds import COMMAND
from sizer.records.messages import HostError
from sizer.records.prediction import Configuration
from sizer.records.run import Cause, CauseKind, DataSet, DiskCheck, Failure, MeterKind, Run, RunWarning, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import RunSpec, Study
from sizer.runner import commands
from sizer.runner.child import EventFifo, event_fifo, started
from sizer.runner.circumstances import (
    Files,
    Room,
    asked_for_input,
    data_changed,
    files_below,
    files_changed,
    left_in_memory,
    missing_data,
    not_in_folder,
    shared_memory,
)
from sizer.runner.commands import shut_out_by, with_events
from sizer.runner.preparatory import prepare
from sizer.runner.processes import client_in
from sizer.runner.run_log import Log
from sizer.runner.sampling import Sampler
from sizer.runner.secrets import Secrets
from sizer.runner.watching import UNWATCHED, Hooks, observe, stop
from sizer.storage.page_cache import evict, files_of, resident_bytes


@dataclass(frozen=True)
class RunContext:
    """What surrounds one run: where its data lies, the tier under it, and this host's own size.

    `start_up_seconds` are those to its first step that other runs of its workload let expect, None where none does.
    `processes`: how many processes and threads it may have.
    """

    paths: commands.RunPaths
    data_set: DataSet | None
    throttle: Throttle | None
    disk: DiskCheck | None
    host_vcpus: int
    host_memory_bytes: int
    environment: Mapping[str, str]
    log_path: Path
    user: RunUser = field(default_factory=run_user)
    processes: int = Study.max_processes
    start_up_seconds: float | None = None


def launch(spec: RunSpec, context: RunContext, backend: LimitsBackend, hooks: Hooks = UNWATCHED) -> Run:
    """Measure one configuration. Whatever the run's child does, and a host that refuses, is an outcome of the Run.

    What passes is what would fail every run alike: InputError for a workload that cannot be put into a command line,
    KeyboardInterrupt, and a fault of sizer.
    """
    began, started_at = hooks.clock(), datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    configuration = _configuration(spec, context.host_vcpus, context.host_memory_bytes)
    child_run = _ChildRun(spec, context, backend, hooks, began)
    try:
        child_run.measure()
    except (HostError, OSError) as error:
        if child_run.measured is None:
            refusal = Failure(Cause(CauseKind.REFUSED, text=str(error)))
            failure = error.failure if isinstance(error, _NotBegun) else refusal
            run = replace(
                refused(spec, failure, context.host_vcpus, context.host_memory_bytes),
                started_at=started_at,
                wall_seconds=hooks.clock() - began,
                data_set=context.data_set,
                disk=context.disk,
            )
            return child_run.secrets.out_of(run)
        child_run.troubles.append(RunWarning(WarningKind.LEFT_BEHIND, text=str(error)))
    wall_seconds = child_run.watched_until - began
    run = run_record(child_run.result(), configuration, context.data_set, context.disk, started_at, wall_seconds)
    return child_run.secrets.out_of(run)


class _NotBegun(HostError):
    """The data set is no longer what it was when the study began, or what makes the run ready has failed."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.cause.kind.value)
        self.failure = failure


class _ChildRun:
    """One child from the eviction of its data to its end, and what came out of it so far."""

    def __init__(self, spec: RunSpec, context: RunContext, backend: LimitsBackend, hooks: Hooks, began: float) -> None:
        self.measured: ChildResult | None = None
        self.troubles: list[RunWarning] = []
        self._spec = spec
        self._context = context
        self._backend = backend
        self._hooks = hooks
        self._seen = RunMonitor(
            spec,
            began,
            start_up_seconds=context.start_up_seconds,
            reading_seconds=reading_seconds(spec, context.data_set, context.disk),
        )
        self._room: Room | None = None
        self._shared_memory: dict[str, int] = {}
        self._log: Log | None = None
        self._files: Files | None = None
        self._folder = Path(spec.workload.cwd) if spec.workload.cwd is not None else context.paths.scratch
        self.secrets = Secrets(commands.hidden_values(spec.workload, context.environment))

    def measure(self) -> None:
        """Measure the child. Raises HostError or OSError; what was measured by then is kept in `measured`."""
        spec, context, hooks = self._spec, self._context, self._hooks
        missing = missing_data(context.data_set, spec)
        if missing:
            raise _NotBegun(Failure(missing))
        host = context.host_vcpus, context.host_memory_bytes
        argv = commands.argv(spec, context.paths, *host)
        ours = context.user.environment(context.environment)
        environment = commands.environment(spec, context.paths, *host, ours)
        client = client_in(argv)
        if client is not None:
            raise _NotBegun(Failure(Cause(CauseKind.CONTAINER, text=client)))
        self._make_ready(environment)
        # Pages belong to whoever touched them first, so none may be left from the run before.
        if context.data_set is not None:
            evict(files_of(Path(context.data_set.path)))
        resident = _resident(context.data_set)
        self._shared_memory = shared_memory()
        self._files = self._files_now()
        self._room = Room(context.paths.scratch, context.paths.output)
        with (
            self._backend.open(spec.id, spec.limits, context.throttle, context.processes) as group,
            watched(_gpus_used(spec, environment)) as watch,
            _fifo_of(spec, context.user) as fifo,
        ):
            if fifo is not None:
                environment = with_events(environment, fifo.path, spec.workload.may_be_hooked, spec.batch_size)
            sampler = Sampler(group, hooks.clock, (lambda: watch.latest) if watch else tuple)
            at_once = spec.workload.kind == COMMAND
            mounts = OWN_MOUNTS if has_own_mounts() else ()
            with started(
                group,
                argv,
                environment,
                self._folder,
                context.log_path,
                at_once,
                self.secrets,
                mounts,
                context.user.becoming,
            ) as child:
                self._log = child.log
                if watch:
                    watch.tell_own(child.has_process)
                # What was done before, such as its `before`, is no time of the program's.
                self._seen.began = hooks.clock()
                observe(child, self._seen, sampler, self._room, hooks, group, fifo, self.secrets)
                self._seen.over = hooks.clock()
                at_the_end = child.seen()
                exit_status = child.exit_status() if self._seen.stop is None else stop(child, self._seen, hooks.clock)
                sampler.tick()
                self.measured = ChildResult(
                    seen=self._seen,
                    exit_status=exit_status,
                    joined=child.joined(),
                    samples=tuple(sampler.samples),
                    gpus=_as_recorded(watch) if watch else (),
                    accounted=group.accounted,
                    limited_by=replace(
                        group.limited_by, user=context.user.name, own_mounts=bool(mounts), host_cpus=os.cpu_count()
                    ),
                    last_lines="",
                    resident_bytes=resident,
                    resident_after_bytes=_resident(context.data_set),
                    throttles_buffered_writes=self._backend.throttles_buffered_writes,
                    at_the_end=at_the_end,
                    reasons=(Cause(CauseKind.PROCESSES, {"most": context.processes}),)
                    if group.ran_out_of_processes
                    else (),
                )

    def _make_ready(self, environment: Mapping[str, str]) -> None:
        """Run what the workload wants to be run before. Raises _NotBegun where that fails."""
        spec, context = self._spec, self._context
        if not spec.workload.before:
            return
        values = commands.placeholders(spec, context.paths, context.host_vcpus, context.host_memory_bytes)
        failure = prepare(
            CauseKind.BEFORE_FAILED,
            context.user,
            [filled(word, values) for word in spec.workload.before],
            environment,
            self._folder,
            context.log_path,
            self.secrets,
            self._hooks.stop_now,
        )
        if failure is not None:
            raise _NotBegun(failure)

    @property
    def watched_until(self) -> float:
        """Now, or where sizer stood still, until then: what is left out was nobody's time."""
        return self._seen.watched_until if self._seen.stop is Stop.STOOD_STILL else self._hooks.clock()

    def _files_now(self) -> Files | None:
        """The files of the folder that the run is started in, if it is one of the user's."""
        return files_below(self._folder, self._context.log_path) if self._spec.workload.cwd is not None else None

    def result(self) -> ChildResult:
        """All that came out of the child, now that it is gone."""
        assert self.measured is not None
        assert self._log is not None
        assert self._room is not None
        spec, last_lines = self._spec, self._log.last_lines()
        missing = missing_data(self._context.data_set, spec)
        asked = asked_for_input(last_lines, self._log.ends_in_a_line)
        lost = None if spec.workload.cwd else not_in_folder(spec.workload.command, self._folder, last_lines)
        changed = data_changed(missing) if missing else None
        left = left_in_memory(self._shared_memory, shared_memory())
        files = files_changed(self._files, self._files_now())
        warnings = [warning for warning in (changed, left, files, self._log.trouble) if warning is not None]
        if spec.workload.may_be_hooked and (self._seen.meter is None or self._seen.meter.kind is MeterKind.LOG):
            option = shut_out_by(spec.workload.command)
            if option:
                warnings.append(RunWarning(WarningKind.NOT_HOOKED, text=option))
            elif self._seen.kept_out:
                warnings.append(RunWarning(WarningKind.HOOK_KEPT_OUT))
        return replace(
            self.measured,
            last_lines=last_lines,
            silent=self._log.is_empty,
            reasons=(*self.measured.reasons, *filter(None, (missing, asked, lost)), *self._room.want(last_lines)),
            troubles=(*self.troubles, *warnings),
        )


def _gpus_used(spec: RunSpec, environment: Mapping[str, str]) -> tuple[Gpu, ...]:
    """The GPUs that a run computes on, from its device on, by what CUDA shows to a program with this environment.

    What a program does that its study says nothing of, such as another GPU that it takes, is not seen.
    """
    device = spec.workload.computes_on
    if device.kind != "cuda" or spec.workload.input == "replay":
        return ()
    index = device.index or 0
    return visible_gpus(gpus(), environment)[index : index + max(1, spec.gpu_count)]


@contextmanager
def _fifo_of(spec: RunSpec, user: RunUser) -> Iterator[EventFifo | None]:
    """The FIFO of a command, whose processes may inherit no descriptor; sizer's own programs need none."""
    if spec.workload.kind != COMMAND:
        yield None
        return
    with event_fifo(user) as fifo:
        yield fifo


def _as_recorded(watch: GpuWatch) -> tuple[GpuUse, ...]:
    """What is known of the GPUs before any figure of theirs."""
    return tuple(
        GpuUse(gpu.index, gpu.name, gpu.uuid, gpu.memory_bytes, pcie_counted=counted)
        for gpu, counted in zip(watch.gpus, watch.pcie_counted, strict=True)
    )


_OUTCOMES = {CauseKind.INTERRUPTED: Outcome.INTERRUPTED, CauseKind.UNSUPPORTED: Outcome.UNSUPPORTED}


def refused(spec: RunSpec, failure: Failure, host_vcpus: int, host_memory_bytes: int) -> Run:
    """The record of a run that could not begin, because this host lacks what it needs or it was interrupted before."""
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    configuration = _configuration(spec, host_vcpus, host_memory_bytes)
    outcome = _OUTCOMES.get(failure.cause.kind, Outcome.REFUSED)
    return Run(spec, outcome, configuration, now, 0.0, error=failure)


def _configuration(spec: RunSpec, host_vcpus: int, host_memory_bytes: int) -> Configuration:
    """The limits, with this host's own values for what is not limited."""
    limits = spec.limits
    return Configuration(
        vcpus=limits.vcpus if limits.vcpus is not None else float(host_vcpus),
        memory_bytes=limits.memory_bytes if limits.memory_bytes is not None else host_memory_bytes,
        disk=limits.disk if limits.disk is not None else HOST_DISK,
        batch_size=spec.batch_size,
        gpu_count=spec.gpu_count,
    )


def _resident(data_set: DataSet | None) -> int | None:
    """Bytes of the data set in the page cache."""
    return None if data_set is None else resident_bytes(files_of(Path(data_set.path)))
