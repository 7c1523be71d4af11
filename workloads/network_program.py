"""What programs that run a network have in common, whatever their samples are."""

from __future__ import annotations

from dataclasses import fields

from .accelerator import EmulatedAccelerator
from .computing import Computing
from .counted import counted
from .data_set import DataSet
from .measured_loop import TimedCompute, emulated
from .options import Options
from .progress import Progress


def array_device(options: Options) -> str:
    """Where arrays live: an emulated device has no memory of its own."""
    return "cpu" if options.device == "emulated" else options.device


def emulated_step(options: Options, samples: int) -> TimedCompute | None:
    """The wait of emulated devices, each for `samples` a step; None where the step is computed."""
    if options.rate is None or options.device != "emulated":
        return None
    return emulated(EmulatedAccelerator(options.rate, count=options.gpu_count, exchange=options.exchange), samples)


def announce(
    program: str,
    options: Options,
    data: DataSet,
    version: str,
    stated: dict[str, bool | int | str],
    progress: Progress,
    sample: str,
) -> None:
    """Print what is about to run and tell it in the `start` event; `sample` is what one of `data` is called.

    Of `stated` an emulated device, which computes nothing, leaves out how it is computed.
    """
    not_so = {each.name for each in fields(Computing)} if options.device == "emulated" else set()
    about = f"{counted(data.samples, sample)}, {data.bytes / 1e6:.1f} MB" if data.samples else "synthetic input"
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
        network=options.network,
        mode=options.mode,
        framework=options.framework,
        framework_version=version,
        format=data.format,
        device=options.device,
        gpu_count=options.gpu_count,
        threads=options.threads,
        stated={name: value for name, value in stated.items() if name not in not_so},
    )
