"""RunSpec -> Run: one limited child process, watched from its start to its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from sizer import commands, page_cache
from sizer.child import Child, started
from sizer.errors import HostError
from sizer.events import EventError
from sizer.limits import LimitsBackend, Throttle
from sizer.log_rates import LogRates
from sizer.nvml import busy_share
from sizer.observation import Live, Observation
from sizer.records import HOST_DISK, Configuration, DataSet, Device, DiskCheck, Outcome, Run, RunSpec
from sizer.run_record import Measured, run_record
from sizer.sampler import Sampler

TICK_SECONDS = 0.5
"""Between two samplings; one takes about 0.1 ms."""

GRACE_SECONDS = 10.0
"""For the present step to end after SIGTERM, before the group is killed."""


@dataclass(frozen=True)
class Setting:
    """What surrounds one run: where its data lies, the tier under it, and this host's own size."""

    place: commands.Place
    data_set: DataSet | None
    throttle: Throttle | None
    disk: DiskCheck | None
    host_vcpus: int
    host_memory_bytes: int
    environment: Mapping[str, str]
    log_path: Path


@dataclass(frozen=True)
class Hooks:
    """How the caller looks on and interferes: `watch` sees each tick, `stop_now` ends the run in hand."""

    watch: Callable[[Live], None] = lambda _: None
    stop_now: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic


def launch(spec: RunSpec, setting: Setting, backend: LimitsBackend, hooks: Hooks = Hooks()) -> Run:
    """Measure one configuration. Whatever the run's child does, and a host that refuses, is an outcome of the Run.

    What passes is what would fail every run alike: InputError for a workload that cannot be put into a command line,
    KeyboardInterrupt, and a fault of sizer.
    """
    began, started_at = hooks.clock(), datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    configuration = _configuration(spec, setting)
    try:
        resident = _evict(setting.data_set)
        with backend.open(spec.id, spec.limits, setting.throttle) as group, _busy(spec.workload.device) as busy:
            argv = commands.argv(spec, setting.place, setting.host_vcpus)
            environment = commands.environment(spec, setting.place, setting.host_vcpus, setting.environment)
            sampler = Sampler(group, hooks.clock, busy)
            seen = Observation(spec, began)
            at_once = spec.workload.pattern is not None
            with started(group, argv, environment, setting.place.scratch, setting.log_path, at_once) as child:
                _observe(child, seen, sampler, hooks)
                exit_status = child.exit_status() if seen.stop is None else _stop(child, seen, hooks.clock)
                sampler.tick()
            measured = Measured(
                seen=seen,
                exit_status=exit_status,
                samples=tuple(sampler.samples),
                accounted=group.accounted,
                limited_by=group.description,
                last_lines=child.log.last_lines(),
                resident_bytes=resident,
                resident_after_bytes=_resident(setting.data_set),
                throttles_buffered_writes=backend.throttles_buffered_writes,
            )
    except (HostError, OSError) as error:
        return Run(
            spec,
            Outcome.REFUSED,
            configuration,
            started_at,
            hooks.clock() - began,
            error=str(error),
            data_set=setting.data_set,
            disk=setting.disk,
        )
    return run_record(measured, configuration, setting.data_set, setting.disk, started_at, hooks.clock() - began)


@contextmanager
def _busy(device: Device) -> Iterator[Callable[[], float | None] | None]:
    """How to ask a real accelerator for its busy share; None where there is none to ask."""
    if device.kind != "cuda":
        yield None
        return
    with busy_share(device.index) as read:
        yield read


def _configuration(spec: RunSpec, setting: Setting) -> Configuration:
    """The limits, with this host's own values for what is not limited."""
    limits = spec.limits
    return Configuration(
        vcpus=limits.vcpus if limits.vcpus is not None else float(setting.host_vcpus),
        memory_bytes=limits.memory_bytes if limits.memory_bytes is not None else setting.host_memory_bytes,
        disk=limits.disk if limits.disk is not None else HOST_DISK,
        batch_size=spec.batch_size,
    )


def _evict(data_set: DataSet | None) -> int | None:
    """Pages belong to whoever touched them first, so none may be left from the run before. Bytes that stayed."""
    if data_set is not None:
        page_cache.evict(page_cache.files_of(Path(data_set.path)))
    return _resident(data_set)


def _resident(data_set: DataSet | None) -> int | None:
    """Bytes of the data set in the page cache."""
    return None if data_set is None else page_cache.resident_bytes(page_cache.files_of(Path(data_set.path)))


def _observe(child: Child, seen: Observation, sampler: Sampler, hooks: Hooks) -> None:
    """Take events and samplings until the run has shown enough, ends by itself, or must end."""
    workload = seen.spec.workload
    log_rates = LogRates(workload.pattern, seen.spec.batch_size, hooks.clock) if workload.pattern else None
    next_tick = hooks.clock()
    while seen.stop is None:
        ended = child.exit_status() is not None
        try:
            events, printed = child.wait(max(0.0, next_tick - hooks.clock()))
            seen.take(events)
            seen.steps += log_rates.feed(printed) if log_rates else []
        except EventError as error:
            seen.broke(error)
        if hooks.clock() >= next_tick:
            sampler.tick()
            seen.decide(hooks.clock(), hooks.stop_now())
            hooks.watch(seen.live(hooks.clock(), sampler.samples))
            next_tick = hooks.clock() + TICK_SECONDS
        if ended and child.is_silent():
            return


def _stop(child: Child, seen: Observation, clock: Callable[[], float]) -> int | None:
    """Let the present step end, but not for long. The exit status if the child had ended by itself before."""
    status = child.exit_status()
    if status is not None:
        return status
    child.ask_to_stop()
    deadline = clock() + GRACE_SECONDS
    while child.exit_status() is None and clock() < deadline:
        try:
            child.wait(0.1)
        except EventError as error:
            seen.detail = seen.detail or str(error)
            break
    return None
