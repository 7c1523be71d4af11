"""The programs that run a network, whatever their samples are: prepare input and network; in a loop wait for a batch,
compute it and account for both."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, fields
from typing import Any

from .accelerator import EmulatedAccelerator, StepTime
from .backends.data_parallel import joined
from .backends.interface import Backend, Compute, Input, Settings, open_backend
from .data_sets.data_set import DataSet
from .faults import InputFault
from .options import Computing, Options
from .page_cache import CacheState
from .process import StopRequest, limit_threads
from .progress import Events, Progress, Step, counted

TimedCompute = Callable[[Any], "float | None"]
"""Computes a batch; returns its latency: seconds from having the batch to having its result. None where the step waits
for the batches of other accelerators."""


def same_batch(batch: Any) -> Generator[Any, None, None]:
    """Synthetic input: the same batch for ever."""
    while True:
        yield batch


@dataclass(frozen=True)
class Loop:
    """What is joined: batches from `source`, computed, with the data set's cache kept in its state.

    `samples` are those of a step: of one batch, or of a batch for each of several accelerators. `clock` begins
    to time a step on the accelerator; None where what computes is waited for.
    """

    source: Input
    compute: TimedCompute
    cache: CacheState
    samples: int
    report_latency: bool
    clock: Callable[[], StepTime] | None = None

    def run(self, progress: Progress) -> None:
        """Go on until `progress` says it is over. Raises InputFault if an epoch has no batch."""
        epoch, empty, input_wait = 0, False, 0.0
        while not progress.over:
            begin = time.perf_counter()
            batch = self.source.next_batch()
            input_wait += time.perf_counter() - begin
            if batch is None:
                if empty:
                    raise InputFault(
                        "the data set gives no batch: give --data one with more samples, or a smaller --batch-size"
                    )
                self.cache.between_epochs()
                self.source.restart()
                epoch, empty = epoch + 1, True
                continue
            empty = False
            step_time = self.clock() if self.clock is not None else None
            latency = self.compute(batch)
            if latency is None:
                continue
            if step_time is not None:
                step_time.end()
            progress.step(Step(self.samples, input_wait, epoch, latency if self.report_latency else None, step_time))
            input_wait = 0.0


@dataclass(frozen=True)
class Job:
    """What is measured: batches of `samples` from `source`, opened once the cache is in its state, each given to what
    `compute` makes. `stated` is what a record has to tell beside the backend's own."""

    unit: str
    data: DataSet
    samples: int
    source: Callable[[], Input]
    compute: Callable[[], Compute]
    stated: dict[str, bool | int | str] = field(default_factory=dict)
    report_latency: bool = False


Prepare = Callable[[Options, Settings, "Backend | None"], AbstractContextManager[Job]]
"""The job of a rank; the backend is None where the reads alone are replayed."""


def run_network(program: str, options: Options, prepare: Prepare) -> None:
    """Measure as the options say; of several ranks, each is a process that comes through here."""
    events, stop = Events.from_environment(), StopRequest.on_signals()
    with joined(options) as (own, rank):
        limit_threads(own.threads)
        # An emulated device has no memory of its own.
        device = "cpu" if own.device == "emulated" else own.device
        settings = Settings(device, own.threads, own.seed, own.batch_size, own.computing, own.reading, rank)
        backend = None if own.input == "replay" else open_backend(own.framework, settings)
        with prepare(own, settings, backend) as job:
            cache = CacheState(() if rank.number else job.data.files, own.cache_state)
            progress = Progress(f"{program} {own.network}", job.unit, events, stop, own.extent)
            cache.before_run(progress.reading)
            with closing(job.source()) as source:
                _announce(program, own, job, backend, progress)
                compute, clock = _compute(own, job, backend), backend.clock if backend is not None else None
                samples = job.samples * own.gpu_count
                Loop(source, compute, cache, samples, job.report_latency, clock).run(progress)
        replayed, on_clock = own.input == "replay", own.device == "emulated"
        progress.end(" (read only)" if replayed else " (emulated device)" if on_clock else "")


def _compute(options: Options, job: Job, backend: Backend | None) -> TimedCompute:
    if backend is None:
        return lambda _batch: 0.0
    if options.rate is not None and options.device == "emulated":
        device = EmulatedAccelerator(options.rate, count=options.gpu_count, exchange=options.exchange)
        return lambda _batch: device.accept(job.samples)
    compute = job.compute()

    def timed(batch: Any) -> float:
        begin = time.perf_counter()
        compute(batch)
        return time.perf_counter() - begin

    return timed


def _announce(program: str, options: Options, job: Job, backend: Backend | None, progress: Progress) -> None:
    """Print what is about to run and tell it in the `start` event.

    Of what is stated an emulated device, which computes nothing, leaves out how it is computed.
    """
    version, stated = ("not used", {}) if backend is None else (backend.version, backend.stated)
    unsaid = {field.name for field in fields(Computing)} if options.device == "emulated" else set()
    data = job.data
    about = f"{counted(data.samples, job.unit)}, {data.bytes / 1e6:.1f} MB" if data.samples else "synthetic input"
    print(
        f"{program}: {options.network}, {options.mode}, batch {options.batch_size}, {about}, {options.devices}, "
        f"{counted(options.threads, 'thread')}, {options.framework} {version}",
        flush=True,
    )
    progress.start(
        data.bytes,
        data.samples,
        options.batch_size,
        program=program,
        framework_version=version,
        format=data.format,
        stated={name: value for name, value in (stated | job.stated).items() if name not in unsaid},
        **{name: getattr(options, name) for name in ("network", "mode", "framework", "device", "gpu_count", "threads")},
    )
