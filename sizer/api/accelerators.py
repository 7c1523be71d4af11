"""Which measured accelerator, and how many of it, a person means."""

from __future__ import annotations

from sizer.catalog.gpus import meant_gpu
from sizer.model.model import Gpus, WorkloadModel
from sizer.records.errors import InputError
from sizer.records.messages import AnyOf


def accelerator(gpu: str | None, count: int | None, workload: WorkloadModel) -> Gpus:
    """The accelerator of the model that is meant; what is left out is the usual one, as many as of it were measured.

    Raises InputError for a GPU that no run of the workload had.
    """
    known = workload.measured.gpus or (Gpus(),)
    if gpu is None:
        alike = [each for each in known if each.gpu == known[0].gpu]
    else:
        names = tuple(dict.fromkeys(each.gpu for each in known if each.gpu))
        meant = meant_gpu(gpu, names) or gpu
        alike = [each for each in known if _means(meant, each, workload)]
        if not alike:
            raise _not_measured(gpu, workload)
    if not count:
        return alike[0]
    if workload.facts.device.kind == "cpu" and not any(each.gpu or each.count for each in known):
        raise InputError(
            "`{workload}` was measured without a GPU, so {count} cannot be predicted; leave the GPU out.",
            workload=workload.name,
            count=count,
        )
    same = next((each for each in alike if max(1, each.count or 0) == count), None)
    return same or Gpus(alike[0].gpu, count)


def _means(gpu: str, each: Gpus, workload: WorkloadModel) -> bool:
    device = workload.facts.device
    names = {each.gpu} if each.gpu is not None else {device.gpu, device.label, workload.facts.accelerator}
    return gpu.lower() in {name.lower().removeprefix(prefix) for name in names if name for prefix in ("", "emulated:")}


def _not_measured(gpu: str, workload: WorkloadModel) -> InputError:
    device = workload.facts.device
    if meant_gpu(gpu, [each.gpu for each in workload.measured.did_not_fit if each.gpu]) is not None:
        return InputError(
            "No run of `{workload}` on GPU `{gpu}` completed: it ran out of memory.", workload=workload.name, gpu=gpu
        )
    names = tuple(dict.fromkeys(each.gpu for each in workload.measured.gpus if each.gpu))
    usual = (device.gpu or device.label,) if device.kind != "cpu" else ()
    if not names and not usual:
        return InputError(
            "GPU `{gpu}` was not measured for `{workload}`, which was measured without one.",
            gpu=gpu,
            workload=workload.name,
        )
    return InputError(
        "GPU `{gpu}` was not measured for `{workload}`; give {names}.",
        gpu=gpu,
        workload=workload.name,
        names=AnyOf(*(names or usual)),
    )
