"""What the model expects of a configuration, measured or not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sizer.catalog.gpus import meant_gpu
from sizer.model.model import Gpus, Model, WhatIf, WorkloadModel, name_of_disk
from sizer.model.prediction import filled, predict_several
from sizer.records.messages import AnyOf, InputError, Message, typed_line
from sizer.records.prediction import Bottleneck, Configuration, Prediction, Refusal, Refused
from sizer.words.language import ENGLISH, in_language
from sizer.words.names import terms_of


def predict(
    model: Model,
    workload: str | None = None,
    *,
    vcpus: float | None = None,
    memory_bytes: int | None = None,
    disk: str | None = None,
    batch_size: int | None = None,
    gpu: str | None = None,
    gpu_count: int | None = None,
    what_if: WhatIf = WhatIf(),
) -> Prediction:
    """The throughput of a workload in a configuration; what is left out is as it was measured with the rest.

    `workload` may be left out of a study that has one. Raises InputError for a workload, disk or GPU that the study
    does not have, Refused (a NoAnswer) where the runs say nothing of the configuration; its `refusal` has the code.
    """
    given = {"vcpus": vcpus, "memory_bytes": memory_bytes, "disk": disk, "batch_size": batch_size}
    fitted = workload_of(model, workload)
    if fitted.refused and not fitted.measured.rates:
        raise _refused(fitted.refused, fitted)
    names = [name_of_disk(disk.name) for disk in fitted.measured.disks]
    if disk is not None and disk not in names:
        raise InputError(
            "disk `{disk}` was not measured for `{found}`; give {known}.",
            disk=disk,
            found=fitted.name,
            known=AnyOf(*names),
        )
    asked = configuration(fitted, {**given, "gpu": gpu, "gpu_count": gpu_count})
    try:
        return predict_at(fitted, asked, what_if)
    except Refused as error:
        raise _refused(error.refusal, fitted) from error


def _refused(refusal: Refusal, workload: WorkloadModel) -> Refused:
    """The refusal, whose text is the English sentence."""
    from sizer.words.reasons.phrasing import refusal_sentences

    with in_language(ENGLISH):
        return Refused(refusal, refusal_sentences(refusal, terms_of(workload)))


def workload_of(model: Model, name: str | None) -> WorkloadModel:
    """The workload of this name, or the only one. Raises InputError."""
    names = [workload.name for workload in model.workloads]
    if name is None and len(names) == 1:
        name = names[0]
    if name is None:
        typed = AnyOf(*(typed_line([name]) for name in names))
        raise InputError("no workload is named; add --workload with {names}.", names=typed)
    if name not in names:
        raise InputError(
            "workload `{name}` has no runs in this study; give {names}.",
            name=name,
            names=AnyOf(*names),
        )
    return model.workload(name)


def configuration(workload: WorkloadModel, given: Mapping[str, Any]) -> Configuration:
    """The configuration that is meant: what is given, and what is left out as it was measured with that.

    Raises InputError for a GPU that no run of the workload had.
    """
    gpu, count = given.get("gpu"), given.get("gpu_count")
    gpus = accelerator(gpu, count, workload)
    names = ("vcpus", "memory_bytes", "disk", "batch_size")
    asked = {name: given.get(name) for name in names} | {
        "gpu": gpus.gpu if gpu is not None else None,
        "gpu_count": gpus.count if count else None,
    }
    return filled(workload, {name: value for name, value in asked.items() if value is not None})


def filled_in(workload: WorkloadModel, configuration: Configuration, given: Collection[str]) -> Configuration | None:
    """What of a configuration was not given and could have been another measured value; None if nothing."""
    measured = workload.measured
    values = {
        "vcpus": measured.vcpus,
        "memory_bytes": measured.memory_bytes,
        "disk": measured.disks,
        "batch_size": measured.batch_size,
    }
    left = [name for name, several in values.items() if name not in given and len(several) > 1]
    gpus = [gpus for gpus in measured.gpus if "gpu" not in given or gpus.gpu == configuration.gpu]
    if len([gpu for gpu in gpus if "gpu_count" not in given or gpu.count == configuration.gpu_count]) > 1:
        left += ["gpu", "gpu_count"]
    nothing = Configuration(None, None, None, None)
    return replace(nothing, **{name: getattr(configuration, name) for name in left}) if left else None


def predict_at(workload: WorkloadModel, configuration: Configuration, what_if: WhatIf = WhatIf()) -> Prediction:
    """The model's prediction. Raises Refused."""
    (answer,) = predict_all(workload, [configuration], what_if)
    if isinstance(answer, Refusal):
        raise Refused(answer)
    return answer


def predict_all(
    workload: WorkloadModel, configurations: Sequence[Configuration], what_if: WhatIf = WhatIf()
) -> list[Prediction | Refusal]:
    """The model's predictions of many configurations, or why it has none; where the vCPUs are not known, what is left
    over from the other stages is the CPU's by default alone, so it is called ambiguous."""
    answers = predict_several(workload, configurations, what_if)
    return [answer if isinstance(answer, Refusal) else _as_known(workload, answer) for answer in answers]


def _as_known(workload: WorkloadModel, prediction: Prediction) -> Prediction:
    measured = workload.measured
    guessed = prediction.bottleneck in (Bottleneck.CPU, Bottleneck.SERIAL) and not measured.vcpus
    if guessed and measured.evidence_at(prediction.configuration) is not prediction.bottleneck:
        return replace(prediction, bottleneck=Bottleneck.AMBIGUOUS)
    return prediction


def accelerator(gpu: str | None, count: int | None, workload: WorkloadModel) -> Gpus:
    """The accelerator of the model that is meant; what is left out is the usual one, as many as of it were measured.

    Raises InputError for a GPU that no run of the workload had.
    """
    measured = workload.measured.gpus or (Gpus(),)
    if gpu is None:
        alike = [gpus for gpus in measured if gpus.gpu == measured[0].gpu]
    else:
        names = tuple(dict.fromkeys(gpus.gpu for gpus in measured if gpus.gpu))
        meant = meant_gpu(gpu, names) or gpu
        alike = [gpus for gpus in measured if _means(meant, gpus, workload)]
        if not alike:
            raise _not_measured(gpu, workload)
    if not count:
        return alike[0]
    if workload.facts.device.kind == "cpu" and not any(gpus.gpu or gpus.count for gpus in measured):
        raise InputError(
            "`{workload}` was measured without a GPU, so {count} cannot be predicted; leave the GPU out.",
            workload=workload.name,
            count=count,
        )
    same = next((gpus for gpus in alike if max(1, gpus.count or 0) == count), None)
    return same or Gpus(alike[0].gpu, count)


def _means(gpu: str, gpus: Gpus, workload: WorkloadModel) -> bool:
    device = workload.facts.device
    alone = len({other.gpu for other in workload.measured.gpus}) == 1
    names = {gpus.gpu, device.label} if alone else {gpus.gpu}
    names |= {device.gpu, device.label, workload.facts.accelerator} if gpus.gpu is None else set()
    return gpu.lower() in {name.lower().removeprefix(prefix) for name in names if name for prefix in ("", "emulated:")}


def _not_measured(gpu: str, workload: WorkloadModel) -> InputError:
    device = workload.facts.device
    if (
        meant_gpu(gpu, [configuration.gpu for configuration in workload.measured.did_not_fit if configuration.gpu])
        is not None
    ):
        return InputError(
            "No run of `{workload}` on GPU `{gpu}` completed: it ran out of memory.", workload=workload.name, gpu=gpu
        )
    names = dict.fromkeys(gpu.gpu for gpu in workload.measured.gpus if gpu.gpu)
    usual = [device.gpu or device.label] if device.kind != "cpu" else [Message("none, as its runs had")]
    return InputError(
        "GPU `{gpu}` was not measured for `{workload}`; give {names}.",
        gpu=gpu,
        workload=workload.name,
        names=AnyOf(*(names or usual)),
    )
