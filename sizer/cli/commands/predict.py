"""predict: what the model expects of configurations, measured or not."""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sizer import api
from sizer.cli import values
from sizer.cli.arguments import _, add_folder, add_json, option
from sizer.cli.folders import opened
from sizer.model.model import Model, WhatIf, WorkloadModel, name_of_disk
from sizer.records.configuration import Configuration
from sizer.records.device import DiskRates
from sizer.records.messages import AnyOf, InputError, Lines, Message, NoAnswer
from sizer.records.prediction import Prediction, Reason, ReasonCode, Refusal, Refused, reason
from sizer.records.units import parse_bytes
from sizer.words.language import ENGLISH, clauses, in_language, in_words
from sizer.words.model import (
    assumed_line,
    assumptions,
    configuration_name,
    no_prediction_line,
    prediction_line,
    what_if_disk_name,
)
from sizer.words.names import terms_of


@dataclass(frozen=True)
class Question:
    """One configuration that is asked about; `filled_in` is what of it was not given and could have been otherwise."""

    workload: WorkloadModel
    configuration: Configuration
    filled_in: Configuration | None
    what_if: AskedWhatIf


@dataclass(frozen=True)
class AskedPrediction:
    """The prediction for a question, or why there is none."""

    question: Question
    what_if: WhatIf = WhatIf()
    prediction: Prediction | None = None
    refusal: Refusal | None = None

    @property
    def workload(self) -> WorkloadModel:
        return self.question.workload

    @property
    def configuration(self) -> Configuration:
        return self.question.configuration

    @property
    def why(self) -> str:
        """Why there is no prediction, in the reader's language."""
        from sizer.words.reasons.suggestions import refusal_sentences

        return refusal_sentences(self.refusal, terms_of(self.workload)) if self.refusal is not None else ""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    option(parser, "--workload", _("needed where the study has several and --at names none"), metavar="W")
    parser.add_argument("--vcpus", type=values.vcpus, metavar="N")
    parser.add_argument("--memory", type=values.memory, metavar="30GiB")
    option(parser, "--disk", _("a disk of the study, or a tier of the catalogue as NAME:SIZE"), metavar="T")
    parser.add_argument("--batch-size", type=values.batch_size, metavar="B")
    option(parser, "--gpu", _("an accelerator that was measured"), metavar="NAME")
    option(parser, "--gpu-count", _("how many of it"), values.gpu_count, metavar="N")
    asked = parser.add_argument_group(_("what if"))
    faster, factor = _("as if the accelerator were F times as fast"), {"default": 1.0, "metavar": "F"}
    option(asked, "--gpu-speedup", faster, values.speedup, **factor)
    option(asked, "--disk-iops", _("as if the disk gave N IOs a second"), values.iops, metavar="N")
    option(asked, "--disk-mbps", _("as if the disk gave N MB (10^6) a second"), values.mbps, metavar="N")
    size = asked.add_mutually_exclusive_group()
    option(size, "--data-size", _("as if the data set were as large"), values.data_size, metavar="600GiB")
    option(size, "--data-factor", _("as if the data set were F times as large"), values.speedup, metavar="F")
    decoding = _("as if decoding a sample cost F times the CPU, such as 0.5")
    option(asked, "--decode-factor", decoding, values.speedup, **factor)
    option(parser, "--at", _("one configuration a row, columns as in measurements.csv"), metavar="FILE.csv")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """A configuration without an answer keeps its place; only where none has one is it an error."""
    alone = arguments.workload if arguments.at is None else None
    study = api.stored_study(arguments.folder, alone) or api.fitted_study(opened(arguments.folder))
    answers = _answers(_asked(arguments, study.model, study.disks))
    answered = any(answer.prediction for answer in answers)
    if arguments.json:
        print(json.dumps({"predictions": [_form(each) for each in answers]}, indent=1))
    elif not answered:
        raise NoAnswer(Lines(*dict.fromkeys(answer.why for answer in answers)))
    for each in () if arguments.json else answers:
        print(_in_words(each))
    _print_doubts(answers, study.contradicted)
    return 0 if answered else NoAnswer.exit_code


def _print_doubts(answers: Sequence[AskedPrediction], contradicted: Mapping[str, Reason]) -> None:
    """Of each workload whose runs told rates that are known to be wrong, why."""
    for workload in {each.workload.name: each.workload for each in answers if each.prediction}.values():
        if workload.name in contradicted:
            from sizer.words.reasons import reason_sentence
            from sizer.words.terminal import warning_said

            why = reason_sentence(contradicted[workload.name], terms_of(workload))
            print(warning_said(_("workload `{workload}`: {why}", workload=workload.name, why=why)), file=sys.stderr)


def _asked(arguments: argparse.Namespace, model: Model, disks: Sequence[str]) -> list[Question]:
    """Each configuration asked for. What is left out is taken as it was measured with the rest."""
    typed = {
        "workload": arguments.workload,
        "vcpus": arguments.vcpus,
        "memory_bytes": arguments.memory,
        "disk": arguments.disk,
        "batch_size": arguments.batch_size,
        "gpu": arguments.gpu,
        "gpu_count": arguments.gpu_count,
    }
    given = {name: value for name, value in typed.items() if value is not None}
    wish = asked_what_if(arguments)
    if wish.what_if.disk_rates is not None:
        given["disk"] = WHAT_IF_DISK
    if arguments.at is None:
        return [_asked_configuration(given, model, disks, wish)]
    from sizer.cli.tables import read_configurations

    rows, unknown = read_configurations(Path(arguments.at))
    asked = [_configuration_of_row(where, {**row, **given}, model, disks, wish) for where, row in rows]
    if unknown:
        from sizer.files.tables import named
        from sizer.words.terminal import unknown_columns_ignored

        names = in_words(named(unknown))
        print(unknown_columns_ignored(arguments.at, names), file=sys.stderr)
    return asked


def _configuration_of_row(
    where: Message, asked: Mapping[str, Any], model: Model, disks: Sequence[str], wish: AskedWhatIf
) -> Question:
    """The same for a row of a table; `where` is its file and line, with which an InputError begins."""
    try:
        return _asked_configuration(asked, model, disks, wish)
    except InputError as error:
        raise InputError("{where}: {problem}", where=where, problem=error) from None


def _asked_configuration(asked: Mapping[str, Any], model: Model, disks: Sequence[str], wish: AskedWhatIf) -> Question:
    """Raises InputError for a workload, disk or GPU that the study does not have."""
    workload = api.predicting.workload_of(model, asked.get("workload"))
    measured = workload.measured
    disk, tier = asked.get("disk"), None
    if disk is not None and wish.what_if.disk_rates is None:
        tier = _tier(disk, list(dict.fromkeys([*disks, *(name_of_disk(disk.name) for disk in measured.disks)])))
    limits = asked.get("vcpus"), asked.get("memory_bytes"), disk, asked.get("batch_size")
    gpus = asked.get("gpu"), asked.get("gpu_count")
    configuration = api.predicting.configuration(workload, *limits, *gpus)
    return Question(workload, configuration, api.predicting.filled_in(workload, configuration, asked), wish.on(tier))


def _tier(disk: str, known: Sequence[str]) -> DiskRates | None:
    """The rates of a tier that the what-if names; None for a disk of the study."""
    if disk in known:
        return None
    if is_tier(disk):
        return tier_rates(disk)
    raise InputError(
        "disk `{disk}` is not in this study; give {known}, or a tier of `sizer catalog list` with its size, such as "
        "alibaba/cloud_ssd:500GiB.",
        disk=disk,
        known=AnyOf(*known),
    )


def _answers(questions: Sequence[Question]) -> list[AskedPrediction]:
    """In their order; those of one workload and what-if are predicted together."""
    found: dict[int, AskedPrediction] = {}
    together: dict[tuple[str, WhatIf], list[int]] = defaultdict(list)
    for number, question in enumerate(questions):
        workload = question.workload
        try:
            if workload.refused and not workload.measured.rates:
                raise Refused(workload.refused)
            together[workload.name, question.what_if.of(workload)].append(number)
        except Refused as error:
            found[number] = AskedPrediction(question, refusal=error.refusal)
    for (_name, what_if), numbers in together.items():
        asked = [questions[number] for number in numbers]
        places = [question.configuration for question in asked]
        predicted = api.predicting.predict_all(asked[0].workload, places, what_if)
        for number, question, each in zip(numbers, asked, predicted, strict=True):
            if isinstance(each, Refusal):
                found[number] = AskedPrediction(question, what_if, refusal=each)
            else:
                found[number] = AskedPrediction(question, what_if, each)
    return [found[number] for number in range(len(questions))]


def _form(answer: AskedPrediction) -> dict[str, Any]:
    """Null is what an imported table does not give; of accelerators only what is known is included."""
    from sizer.exchange.published import no_prediction_form, prediction_form

    workload, configuration = answer.workload, answer.configuration
    if answer.prediction is not None:
        found = prediction_form(answer.prediction, workload)
    else:
        code = answer.refusal.reason.code if answer.refusal is not None else None
        with in_language(ENGLISH):
            found = no_prediction_form(configuration, workload, answer.why, code)
    found |= {"gpu": configuration.gpu or workload.facts.device.gpu, "gpu_count": _gpu_count(answer)}
    found = {key: value for key, value in found.items() if value or key not in ("gpu", "gpu_count")}
    return found | ({"what_if": form(answer.what_if)} if answer.what_if != WhatIf() else {})


def _gpu_count(answer: AskedPrediction) -> int:
    device = answer.workload.facts.device
    return answer.configuration.gpu_count or (0 if device.kind == "cpu" else 1)


def _in_words(answer: AskedPrediction) -> str:
    workload, prediction = answer.workload, answer.prediction
    terms, disk = terms_of(workload), None
    if answer.what_if.disk_rates is not None:
        name = answer.configuration.disk
        disk = what_if_disk_name(None if name == WHAT_IF_DISK else name)
    where = configuration_name(answer.configuration, workload, terms, disk)
    if prediction is None:
        return no_prediction_line(workload.name, where, answer.why)
    filled = answer.question.filled_in
    parts = [configuration_name(filled, workload, terms)] if filled is not None else []
    parts += [said] if (said := assumptions(answer.what_if, workload)) else []
    line = prediction_line(prediction, where, terms)
    return assumed_line(line, clauses(parts)) if parts else line


WHAT_IF_DISK = "supposed"
"""How a disk is called that is given by its figures alone."""


@dataclass(frozen=True)
class AskedWhatIf:
    """What was asked for; `data_bytes` is the size of a data set, which is a factor of each workload's own."""

    what_if: WhatIf = WhatIf()
    data_bytes: int | None = None

    @property
    def anything(self) -> bool:
        return self.data_bytes is not None or self.what_if != WhatIf()

    def of(self, workload: WorkloadModel) -> WhatIf:
        """For one workload. Raises Refused where the size of its data set is needed and not known."""
        own = workload.facts.data_bytes
        if self.data_bytes is None:
            if self.what_if.data_bytes_factor != 1 and workload.facts.natural and not own:
                raise Refused(Refusal(reason(ReasonCode.NOT_RECORDED, column="dataset_gib")))
            return self.what_if
        if not own:
            unknown = reason(ReasonCode.NOT_RECORDED, column="dataset_gib", data=float(self.data_bytes))
            raise Refused(Refusal(unknown))
        return replace(self.what_if, data_bytes_factor=self.data_bytes / own)

    def on(self, disk: DiskRates | None) -> AskedWhatIf:
        """The same on a disk of these rates, where there are any."""
        return self if disk is None else replace(self, what_if=replace(self.what_if, disk_rates=disk))


def asked_what_if(arguments: argparse.Namespace) -> AskedWhatIf:
    """What the options ask for. Raises InputError where a disk is given in two ways."""
    disk = None
    if arguments.disk_iops is not None or arguments.disk_mbps is not None:
        if arguments.disk is not None:
            raise InputError(
                "--disk names one disk, and --disk-iops and --disk-mbps describe another; use one or the other."
            )
        disk = DiskRates(read_iops=arguments.disk_iops, read_bytes_per_second=arguments.disk_mbps)
    what_if = WhatIf(
        gpu_speedup=arguments.gpu_speedup,
        disk_rates=disk,
        data_bytes_factor=1.0 if arguments.data_factor is None else arguments.data_factor,
        decode_factor=arguments.decode_factor,
    )
    return AskedWhatIf(what_if, arguments.data_size)


def is_tier(disk: str) -> bool:
    """Whether this means a tier of the catalogue: no disk of a study has such a name."""
    return "/" in disk or ":" in disk


def tier_rates(disk: str) -> DiskRates:
    """What a tier of the catalogue, `NAME:SIZE`, gives. Raises InputError for one that is not on offer."""
    from sizer.catalog.catalog import Catalog

    name, _, size = disk.partition(":")
    offer = Catalog.load().disk(name)
    if not size:
        raise InputError("The rates of {name} depend on its size; write --disk {name}:500GiB.", name=name)
    rates = offer.rates(parse_bytes(size))
    return DiskRates(rates.read_iops, rates.read_bytes_per_second, rates.write_iops, rates.write_bytes_per_second)


def form(what_if: WhatIf) -> dict[str, object]:
    """The same for other programs: only what differs from what was measured."""
    rates = what_if.disk_rates or DiskRates()
    factors = {
        "gpu_speedup": what_if.gpu_speedup,
        "data_factor": what_if.data_bytes_factor,
        "decode_factor": what_if.decode_factor,
    }
    disk = {"disk_iops": rates.read_iops, "disk_mbps": _megabytes(rates)}
    found: dict[str, object] = {key: factor for key, factor in factors.items() if factor != 1}
    return found | {key: figure for key, figure in disk.items() if figure is not None}


def _megabytes(rates: DiskRates) -> float | None:
    return None if rates.read_bytes_per_second is None else rates.read_bytes_per_second / 1e6
