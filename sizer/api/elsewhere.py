"""What a workload does on instance types that it was not measured on: its model moved to their CPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sizer.api.predicting import configuration, predict_all
from sizer.catalog.catalog import Catalog
from sizer.catalog.machines import InstanceType
from sizer.catalog.processors import UNKNOWN, processor_called, processor_of, supposed_processor
from sizer.model.model import WhatIf, WorkloadModel, gpus_of
from sizer.model.prediction import filled
from sizer.model.transfer import knowing, on_machines, processor_at
from sizer.recommend.beside import about_hardware
from sizer.recommend.prices import accelerators_of, has_gpus
from sizer.recommend.sizes import spec_of
from sizer.records.device import Processor
from sizer.records.messages import AllOf, InputError, NoAnswer
from sizer.records.prediction import (
    Action,
    Configuration,
    Prediction,
    Reason,
    ReasonCode,
    Refusal,
    Suggestion,
    reason,
)

if TYPE_CHECKING:
    from sizer.records.run import Run
    from sizer.store.study_folder import StudyFolder

AXES = ("vcpus", "memory_bytes", "batch_size")
MEASURED_ON = "measured_on"
"""What host.json calls the instance type that the rows of an imported table were measured on."""


@dataclass(frozen=True)
class There:
    """What is told of a workload on one instance type, or why nothing is; `notes` are what to know of it beside."""

    instance: InstanceType
    configuration: Configuration
    answer: Prediction | Refusal
    notes: tuple[Reason, ...] = ()


def machines_of(folder: StudyFolder) -> tuple[Processor, ...]:
    """The machine that all runs of a study were made on, as far as its speed is known: by the probes beside the runs,
    or by the instance type that an imported table was measured on."""
    if folder.speed is not None:
        return (folder.speed.processor,)
    name = folder.host.get(MEASURED_ON)
    if not isinstance(name, str):
        return ()
    processors = (processor_of(instance) for instance in Catalog.load().called(name))
    return tuple(processor for processor in processors if processor is not None)[:1]


def checked_type(name: str, catalog: Catalog) -> InstanceType:
    """The instance type, also one that is retired; InputError where none is so called, or nobody measured its CPU."""
    called = catalog.called(name) or (catalog.instance(name),)
    if processor_of(called[0]) is None:
        raise InputError("How fast the CPU of `{name}` is was not published; leave out --measured-on.", name=name)
    return called[0]


def refuse_other_types(runs: Sequence[Run], measured_on: InstanceType, source: Path, catalog: Catalog) -> None:
    """Raise InputError where runs that all were made on this type have more vCPUs, or name another one."""
    most = max((run.configuration.vcpus or 0.0 for run in runs), default=0.0)
    if most > measured_on.vcpus:
        raise InputError(
            "{path} has a row with {most} vCPUs, and {name} has {own}; give --measured-on the type that it was "
            "measured on.",
            path=source,
            most=f"{most:g}",
            name=measured_on.name,
            own=f"{measured_on.vcpus:g}",
        )
    for name in dict.fromkeys(run.declared.machine.name for run in runs if run.declared.machine is not None):
        others = catalog.called(name or "")
        if others and measured_on.name not in [other.name for other in others]:
            raise InputError(
                "{path} says that a row was measured on {name}; leave out --measured-on, or that column.",
                path=source,
                name=name,
            )


def model_elsewhere(
    model: WorkloadModel, runs: Sequence[Run], home: Sequence[Processor], calibration: Sequence[Run], catalog: Catalog
) -> WorkloadModel:
    """The model of one workload that can be asked about other machines; with the runs of `calibration` fitted again
    from its `runs`, as where a table names the instance types of its rows. Raises NoAnswer where no CPU is known."""
    if model.facts.measured_on and not calibration:
        return model
    alike = [_as_of_study(run, runs[0], model) for run in calibration]
    machines = {id(run): machine for run in (*runs, *alike) if (machine := _machine_of(run, home, catalog)) is not None}
    for run in alike:
        if id(run) not in machines:
            raise InputError(
                "`{name}`, of which --calibrate has a run, is neither an instance type nor a CPU of the catalogue; "
                "name one that `sizer catalog list` shows, or its CPU.",
                name=run.declared.machine and run.declared.machine.name,
            )
    usable = [run for run in (*runs, *alike) if id(run) in machines]
    if all(machine.deviation >= UNKNOWN for machine in machines.values()):
        raise NoAnswer(
            "How fast the CPU is that `{workload}` was measured on is not known; name its instance type: "
            "sizer import DIR/measurements.csv --out NEW --measured-on PROVIDER/TYPE; or measure it again.",
            workload=model.name,
        )
    from sizer.model.fitting import fit

    named, processors = on_machines(usable, machines)
    return fit(named, None, processors).workload(model.name)


def _as_of_study(run: Run, own: Run, model: WorkloadModel) -> Run:
    """A run of a table as one of the study's workload: what the table does not say is as it was measured there."""
    given = {name: value for name, value in vars(run.configuration).items() if value is not None and name in AXES}
    at = filled(model, given)
    return replace(
        run, spec=replace(run.spec, workload=own.spec.workload), configuration=at, sample_unit=own.sample_unit
    )


def _machine_of(run: Run, home: Sequence[Processor], catalog: Catalog) -> Processor | None:
    """The instance type that a table names, or the CPU that it names instead; else that of the whole study."""
    machine = run.declared.machine
    if machine is None or machine.name is None:
        return home[0] if home else None
    called = catalog.called(machine.name)
    if not called:
        return processor_called(machine.name, run.configuration.vcpus or 1.0)
    return processor_of(called[0]) or supposed_processor(called[0])


def there(
    model: WorkloadModel, instances: Sequence[InstanceType], given: Mapping[str, Any], what_if: WhatIf = WhatIf()
) -> list[There]:
    """What a model of `model_elsewhere` says of each instance type with all of its vCPUs, or those given.

    Raises InputError where `given` names what was not measured.
    """
    measured = {processor.cpu for processor in model.facts.measured_on}
    processors = [processor_of(instance) or supposed_processor(instance) for instance in instances]
    model = knowing(model, [one for one in processors if one.deviation < UNKNOWN or one.cpu in measured])
    places = [_place(model, instance, given) for instance in instances]
    answers = iter(predict_all(model, [at for at, why in places if why is None], what_if))
    told = []
    for instance, (at, why) in zip(instances, places, strict=True):
        answer = next(answers) if why is None else why
        rate = answer.throughput.value if isinstance(answer, Prediction) else 0.0
        spec = spec_of(model, at, at.vcpus, at.memory_bytes)
        notes = tuple(about_hardware(instance, model, spec, rate)) if why is None else ()
        told.append(There(instance, at, answer, notes))
    return told


def _place(
    model: WorkloadModel, instance: InstanceType, given: Mapping[str, Any]
) -> tuple[Configuration, Refusal | None]:
    """The job on that machine, never with more memory than was measured; why nothing can be said of it."""
    sizes = model.measured.memory_bytes
    held = max((size for size in sizes if size <= instance.memory_bytes), default=instance.memory_bytes)
    own = {"vcpus": instance.vcpus if model.measured.vcpus else None, "memory_bytes": held if sizes else None}
    at = configuration(model, {**own, **{name: value for name, value in given.items() if value is not None}})
    at = replace(at, machine=instance.name)
    if instance.shared_cpu and instance.name not in [machine.name for machine in model.facts.measured_on]:
        return at, Refusal(reason(ReasonCode.NOT_MEASURED, there=instance.name, shared=True))
    if (at.vcpus or 0.0) > instance.vcpus or (given.get("memory_bytes") or 0) > instance.memory_bytes > 0:
        size = {"vcpus": instance.vcpus, "memory_bytes": float(instance.memory_bytes)}
        return at, Refusal(reason(ReasonCode.NOT_SOLD, there=instance.name, **size))
    if processor_at(model.facts, instance.name) is None:
        why = reason(ReasonCode.NOT_MEASURED, cpu=instance.cpu_model, there=instance.name)
        return at, Refusal(why, Suggestion(Action.MEASURE, machine=instance.name))
    device, kind = model.facts.device, accelerators_of(at)
    count, gpu = kind.number(device), kind.catalog_name(device)
    has = has_gpus(instance, gpu, count) if gpu is not None else instance.gpu_count >= count
    if count and not has:
        here = instance.gpu or "cpu"
        why = reason(ReasonCode.NOT_MEASURED, gpu=here, gpus_measured=(f"{max(1, gpus_of(at))} x {gpu or 'GPU'}",))
        return at, Refusal(why, Suggestion(Action.MEASURE, gpu=instance.gpu) if instance.gpu else None)
    return at, None


def calibration_runs(path: Path, workload: str, catalog: Catalog) -> tuple[Run, ...]:
    """The runs of a workload in a table whose rows name their instance type; of a table with one alone, that one.

    Raises InputError for a row that names none, and for a table that cannot be read or has no such run.
    """
    from sizer.exchange.imported import read_measurements

    runs = read_measurements(path, catalog).runs
    names = {run.spec.workload.name for run in runs}
    own = tuple(run for run in runs if len(names) == 1 or run.spec.workload.name == workload)
    if not own:
        raise InputError(
            "{path} has no run of `{workload}`, only of {names}.", path=path, workload=workload, names=AllOf(*names)
        )
    if any(run.declared.machine is None or run.declared.machine.name is None for run in own):
        raise InputError("{path}: each row must say its `instance_type`; add that column.", path=path)
    return own
