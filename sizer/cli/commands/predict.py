"""predict: what the model expects of configurations, measured or not."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sizer import api
from sizer.cli.arguments import _, add_folder, add_json, opened, option, print_json
from sizer.model.model import Model, WhatIf, WorkloadModel, name_of_disk
from sizer.records import units
from sizer.records.device import DiskRates
from sizer.records.messages import AnyOf, InputError, Lines, Message, NoAnswer
from sizer.records.prediction import Configuration, Prediction, ReasonCode, Refusal, reason
from sizer.words import model as words
from sizer.words.language import ENGLISH, clauses, in_language, in_words
from sizer.words.names import terms_of

WHAT_IF_DISK = "supposed"
"""How a disk is called that is given by its figures alone."""


@dataclass(frozen=True)
class Question:
    """One configuration that is asked about, with what is supposed, or why that cannot be; `filled_in` is what of it
    was not given and could have been otherwise."""

    workload: WorkloadModel
    configuration: Configuration
    filled_in: Configuration | None
    what_if: WhatIf | Refusal


Answered = tuple[Question, Prediction | Refusal]


def arguments(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    option(parser, "--workload", _("needed where the study has several and --at names none"), metavar="W")
    option(parser, "--vcpus", None, units.parse_vcpus, metavar="N")
    option(parser, "--memory", None, units.parse_memory, dest="memory_bytes", metavar="30GiB")
    option(parser, "--disk", _("a disk of the study, or a tier as NAME:SIZE[:6000iops][:500mbps]"), metavar="T")
    option(parser, "--batch-size", None, units.parse_batch_size, metavar="B")
    option(parser, "--gpu", _("an accelerator that was measured"), metavar="NAME")
    option(parser, "--gpu-count", _("how many of it"), partial(units.parse_gpu_count, fewest=1), metavar="N")
    asked = parser.add_argument_group(_("what if"))
    faster, factor = _("as if the accelerator were F times as fast"), {"default": 1.0, "metavar": "F"}
    option(asked, "--gpu-speedup", faster, units.parse_factor, **factor)
    option(asked, "--disk-iops", _("as if the disk gave N IOs a second"), units.parse_iops, metavar="N")
    option(asked, "--disk-mbps", _("as if the disk gave N MB (10^6) a second"), units.parse_mbps, metavar="N")
    size = asked.add_mutually_exclusive_group()
    option(size, "--data-size", _("as if the data set were as large"), units.parse_data_size, metavar="600GiB")
    option(size, "--data-factor", _("as if the data set were F times as large"), units.parse_factor, **factor)
    decoding = _("as if decoding a sample cost F times the CPU, such as 0.5")
    option(asked, "--decode-factor", decoding, units.parse_factor, **factor)
    option(parser, "--at", _("one configuration a row, columns as in measurements.csv"), metavar="FILE.csv")
    elsewhere = parser.add_argument_group(_("on other machines"))
    types = _("instance types of the catalogue, with the rate there, its price and cost")
    option(elsewhere, "--on", types, metavar="PROVIDER/TYPE,...")
    calibration = _("a table with runs of the same workload on instance types, which tell of others with such CPUs")
    option(elsewhere, "--calibrate", calibration, metavar="FILE.csv")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """A configuration without an answer keeps its place; only where none has one is it an error."""
    if arguments.on is not None or arguments.calibrate is not None:
        from sizer.cli import elsewhere

        return elsewhere.run(arguments)
    alone = arguments.workload if arguments.at is None else None
    study = api.stored_study(arguments.folder, alone) or api.fitted_study(opened(arguments.folder))
    answers = _answers(_asked(arguments, study.model, study.disks))
    predicted = {asked.workload.name: asked.workload for asked, answer in answers if isinstance(answer, Prediction)}
    if arguments.json:
        print_json({"predictions": [_form(*answer) for answer in answers]})
    elif not predicted:
        raise NoAnswer(Lines(*dict.fromkeys(_why(*answer) for answer in answers)))
    else:
        for answer in answers:
            print(_line(*answer))
    for name in predicted.keys() & study.contradicted.keys():
        from sizer.words.reasons.phrasing import reason_sentence
        from sizer.words.terminal import warning_said

        why = reason_sentence(study.contradicted[name], terms_of(predicted[name]))
        print(warning_said(_("workload `{workload}`: {why}", workload=name, why=why)), file=sys.stderr)
    return 0 if predicted else NoAnswer.exit_code


def _asked(arguments: argparse.Namespace, model: Model, disks: Sequence[str]) -> list[Question]:
    """Each configuration asked for. What is left out is taken as it was measured with the rest."""
    names = ("workload", "vcpus", "memory_bytes", "disk", "batch_size", "gpu", "gpu_count")
    given = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    if arguments.disk_iops is not None or arguments.disk_mbps is not None:
        if arguments.disk is not None:
            raise InputError(
                "--disk names one disk, and --disk-iops and --disk-mbps describe another; use one or the other."
            )
        given["disk"] = WHAT_IF_DISK
    if arguments.at is None:
        return [_question(given, model, disks, arguments)]
    from sizer.cli.tables import read_configurations

    rows, unknown = read_configurations(Path(arguments.at))
    asked = [_question({**row, **given}, model, disks, arguments, where) for where, row in rows]
    if unknown:
        from sizer.files.tables import named
        from sizer.words.terminal import unknown_columns_ignored

        print(unknown_columns_ignored(arguments.at, in_words(named(unknown))), file=sys.stderr)
    return asked


def _question(
    asked: Mapping[str, Any],
    model: Model,
    disks: Sequence[str],
    arguments: argparse.Namespace,
    where: Message | None = None,
) -> Question:
    """Raises InputError for a workload, disk or GPU that the study does not have, in front of which `where` says the
    row of a table that asks for it."""
    try:
        workload = api.predicting.workload_of(model, asked.get("workload"))
        disk, rates = asked.get("disk"), None
        measured = list(dict.fromkeys([*disks, *(name_of_disk(disk.name) for disk in workload.measured.disks)]))
        if arguments.disk_iops is not None or arguments.disk_mbps is not None:
            rates = DiskRates(read_iops=arguments.disk_iops, read_bytes_per_second=arguments.disk_mbps)
        elif disk is not None and disk not in measured:
            rates = tier_rates(disk, measured)
        configuration = api.predicting.configuration(workload, asked)
    except InputError as error:
        raise error if where is None else InputError("{where}: {problem}", where=where, problem=error) from None
    filled_in = api.predicting.filled_in(workload, configuration, asked)
    return Question(workload, configuration, filled_in, what_if(arguments, workload, rates))


def what_if(arguments: argparse.Namespace, workload: WorkloadModel, disk: DiskRates | None) -> WhatIf | Refusal:
    """What is supposed of one workload; why it cannot be where the size of its data set is needed and not known."""
    own, size, factor = workload.facts.data_bytes, arguments.data_size, arguments.data_factor
    if not own and (size is not None or (factor != 1 and workload.facts.natural)):
        data = {} if size is None else {"data": float(size)}
        return Refusal(reason(ReasonCode.NOT_RECORDED, column="dataset_gib", **data))
    return WhatIf(
        gpu_speedup=arguments.gpu_speedup,
        disk_rates=disk,
        data_bytes_factor=size / own if size is not None and own else factor,
        decode_factor=arguments.decode_factor,
    )


def tier_rates(disk: str, measured: Sequence[str]) -> DiskRates:
    """What a tier of the catalogue gives, written as `units.parse_tier` reads it. Raises InputError for one that is not
    on offer, and for what is neither a tier nor one of the disks `measured`, whose names have neither sign."""
    from sizer.catalog.catalog import Catalog

    name, size, iops, rate = units.parse_tier(disk)
    if "/" not in disk and ":" not in disk:
        raise InputError(
            "disk `{disk}` is not in this study; give {known}, or a tier of `sizer catalog list` with its size, such "
            "as alibaba/cloud_ssd:500GiB.",
            disk=disk,
            known=AnyOf(*measured),
        )
    offer = Catalog.load().disk(name)
    if size is None:
        raise InputError("The rates of {name} depend on its size; write --disk {name}:500GiB.", name=name)
    return offer.rates(size, iops, rate)


def _answers(questions: Sequence[Question]) -> list[Answered]:
    """In their order; those of one workload and what-if are predicted together."""
    answers: dict[int, Prediction | Refusal] = {}
    together: dict[tuple[str, WhatIf], list[int]] = defaultdict(list)
    for number, question in enumerate(questions):
        workload, supposed = question.workload, question.what_if
        if workload.refused and not workload.measured.rates:
            answers[number] = workload.refused
        elif isinstance(supposed, Refusal):
            answers[number] = supposed
        else:
            together[workload.name, supposed].append(number)
    for (_name, supposed), numbers in together.items():
        places = [questions[number].configuration for number in numbers]
        predicted = api.predicting.predict_all(questions[numbers[0]].workload, places, supposed)
        answers |= zip(numbers, predicted, strict=True)
    return [(question, answers[number]) for number, question in enumerate(questions)]


def _why(asked: Question, answer: Prediction | Refusal) -> str:
    """Why there is no prediction, in the reader's language."""
    from sizer.words.reasons.phrasing import refusal_sentences

    return refusal_sentences(answer, terms_of(asked.workload)) if isinstance(answer, Refusal) else ""


def _form(asked: Question, answer: Prediction | Refusal) -> dict[str, Any]:
    """Null is what an imported table does not give; of accelerators only what is known is included."""
    from sizer.exchange.formats import no_prediction_form, prediction_form

    workload, configuration = asked.workload, asked.configuration
    if isinstance(answer, Prediction):
        form = prediction_form(answer, workload)
    else:
        with in_language(ENGLISH):
            form = no_prediction_form(configuration, workload, _why(asked, answer), answer.reason.code)
    device = workload.facts.device
    count = configuration.gpu_count or (0 if device.kind == "cpu" else 1)
    form |= {"gpu": configuration.gpu or device.gpu, "gpu_count": count}
    form = {key: value for key, value in form.items() if value or key not in ("gpu", "gpu_count")}
    supposed = what_if_form(asked.what_if) if isinstance(asked.what_if, WhatIf) else {}
    return form | ({"what_if": supposed} if supposed else {})


def what_if_form(supposed: WhatIf) -> dict[str, float]:
    """What is supposed, for other programs: only what differs from what was measured."""
    factors = {
        "gpu_speedup": supposed.gpu_speedup,
        "data_factor": supposed.data_bytes_factor,
        "decode_factor": supposed.decode_factor,
    }
    rates = supposed.disk_rates or DiskRates()
    speed = rates.read_bytes_per_second
    disk = {"disk_iops": rates.read_iops, "disk_mbps": None if speed is None else speed / 1e6}
    return {key: factor for key, factor in factors.items() if factor != 1} | {
        key: figure for key, figure in disk.items() if figure is not None
    }


def _line(asked: Question, answer: Prediction | Refusal) -> str:
    workload, terms, disk = asked.workload, terms_of(asked.workload, asked.configuration.gpu), None
    supposed = asked.what_if if isinstance(asked.what_if, WhatIf) else WhatIf()
    if supposed.disk_rates is not None:
        name = asked.configuration.disk
        disk = words.what_if_disk_name(None if name == WHAT_IF_DISK else name)
    where = words.configuration_name(asked.configuration, workload, terms, disk)
    if isinstance(answer, Refusal):
        return words.no_prediction_line(workload.name, where, _why(asked, answer))
    assumed = [words.configuration_name(asked.filled_in, workload, terms) if asked.filled_in is not None else ""]
    assumed = [*filter(None, [*assumed, words.assumptions(supposed, workload)])]
    line = words.prediction_line(answer, where, terms)
    return words.assumed_line(line, clauses(assumed)) if assumed else line
