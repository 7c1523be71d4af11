"""Conclusions as programs and people read them: JSON, Markdown, Terraform, a Kubernetes job.

The form of JSON is fixed: sizes are GiB, the objective is a word with its target beside it. Each other form is a
template in `templates`. Terraform and Kubernetes have the first instance type of the answer that they can rent. What
sizer cannot know, an image or a network, is a variable or to be filled in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from sizer import __version__
from sizer.catalog.catalog import Catalog
from sizer.files.codec import to_json
from sizer.model.comparison import Comparison
from sizer.model.model import CPU_LABEL, Gpus, Model, WorkloadModel
from sizer.recommend.prices import VOLUME_GIB
from sizer.records.answer import Answer, InstanceOffer, Recommendation, Rejection
from sizer.records.device import DiskRates
from sizer.records.domains import SCHEMA_VERSION
from sizer.records.family import Family
from sizer.records.messages import Lines, NoAnswer
from sizer.records.prediction import Configuration, Prediction, ReasonCode, Spec
from sizer.records.study import DiskTier, Study
from sizer.records.units import GIB, MIB, format_bytes, format_number
from sizer.words.answers import conclusion_line, headline, main_sentences, rejection_line, sure_line
from sizer.words.family import family_lines
from sizer.words.language import ENGLISH, _, in_language, paragraph, vcpus_in_words
from sizer.words.names import Terms, price_an_hour, terms_of_answer
from sizer.words.reasons.phrasing import reason_sentences, refusal_sentences, suggestion_sentences
from sizer.words.terminal import offer_line

DEADLINE = "deadline"
"""The `objective` where a job has a deadline; which job, and when, under `deadline`."""


def recommendation_form(recommendation: Recommendation, model: Model) -> dict[str, Any]:
    """What recommendation.json holds. `emulated` says whether the answer rests on an emulated disk or accelerator;
    `family` is empty of fewer than two workloads, `cross_table` null where nothing is compared."""
    with in_language(ENGLISH):
        answers = []
        for answer in recommendation.workloads:
            workload = model.workload(answer.workload)
            disk, gpu = (answer.spec.disk, answer.spec.gpu or CPU_LABEL) if answer.spec else (None, None)
            beyond = prediction_form(answer.beyond, workload) if answer.beyond else None
            own = {"beyond": beyond, "emulated": is_emulated(workload, disk, gpu)}
            answers.append(_answer_form(answer, workload) | own)
    objective, table = recommendation.objective, recommendation.cross_table
    return {
        "schema_version": SCHEMA_VERSION,
        "objective": DEADLINE if objective.deadline is not None else objective.prefer,
        "target": objective.target,
        "deadline": None if objective.deadline is None else to_json(objective.deadline),
        "at_least": objective.at_least,
        "latency_p99": objective.latency_p99,
        "spot": objective.spot,
        "baseline": objective.baseline,
        "samples": objective.job_samples,
        "interruptions": None if objective.interruptions is None else to_json(objective.interruptions),
        "workloads": answers,
        "family": family_form(recommendation.family) if recommendation.family.shapes else {},
        "cross_table": None if table is None else _in_gibibytes(to_json(table)),
    }


def family_form(family: Family) -> dict[str, Any]:
    """What `sizer family --json` prints, its sentences in English."""
    with in_language(ENGLISH):
        lines = [line.strip() for line in family_lines(family)]
    return {"schema_version": SCHEMA_VERSION, **_in_gibibytes(to_json(family)), "sentences": lines}


def prediction_form(prediction: Prediction, workload: WorkloadModel) -> dict[str, Any]:
    """One entry of `predict --json`."""
    rate, form = prediction.throughput, _form_of_place(prediction.configuration, workload)
    figures = {"throughput": rate.value, "low": rate.low, "high": rate.high, "bottleneck": prediction.bottleneck.value}
    stated = {name: getattr(prediction, name) for name in ("shares", "extrapolated", "out_of_memory", "headroom")}
    return form | figures | stated


def no_prediction_form(
    configuration: Configuration, workload: WorkloadModel, error: str, error_code: ReasonCode | None
) -> dict[str, Any]:
    """The entry of `predict --json` for a configuration without an answer: the same keys, and why, in English."""
    why = {"error": error, "error_code": error_code.value if error_code is not None else None}
    return _form_of_place(configuration, workload) | why


def _form_of_place(configuration: Configuration, workload: WorkloadModel) -> dict[str, Any]:
    return {
        "workload": workload.name,
        **configuration_form(configuration),
        **dict.fromkeys(("throughput", "low", "high", "bottleneck")),
        "shares": {},
        **dict.fromkeys(("extrapolated", "out_of_memory", "headroom")),
        "sample_unit": workload.sample_unit,
        "emulated": is_emulated(workload, configuration.disk, configuration.gpu),
    }


def configuration_form(configuration: Configuration) -> dict[str, Any]:
    """A run's configuration, with the columns of measurements.csv as keys; null is what an import lacks."""
    form: dict[str, Any] = _in_gibibytes(asdict(configuration))
    del form["machine"]
    return form


def is_emulated(workload: WorkloadModel, disk: str | None, gpu: str | None) -> bool:
    """Whether the accelerator of that label is emulated, or this disk: without a name, any that the workload was
    measured on."""
    disks = workload.measured.disks if disk is None else [workload.measured.disk(disk)]
    device = workload.facts.device_called(gpu)
    return device.kind == "emulated" or any(one is not None and one.emulated for one in disks)


def _answer_form(answer: Answer, workload: WorkloadModel) -> dict[str, Any]:
    """An answer with its reasons as English sentences, and their codes beside them."""
    terms = terms_of_answer(answer, workload)
    suggestion = answer.next_run
    emulated = [reason for reason in answer.reasons if reason.code is ReasonCode.EMULATED]
    form = {
        **to_json(answer),
        "reasons": reason_sentences(answer.reasons, terms),
        "reason_codes": [reason.code.value for reason in answer.reasons],
        "rejected": [_rejection_form(rejection, terms) for rejection in answer.rejected],
        "next_run": None if suggestion is None else suggestion_sentences(suggestion, terms),
        "next_run_suggestion": None if suggestion is None else to_json(suggestion),
        "instances": [_offer_form(offer, terms) for offer in answer.instances],
        "accelerator_counts_missing": [
            to_json(refusal) | {"why": refusal_sentences(refusal, terms)}
            for refusal in answer.accelerator_counts_missing
        ],
        "emulated_rate": next((dict(reason.figures) for reason in emulated if not reason.has("disk")), None),
    }
    return {key: _in_gibibytes(value) if key != "beyond" else value for key, value in form.items()}


def _rejection_form(rejection: Rejection, terms: Terms) -> dict[str, Any]:
    form = to_json(rejection)
    del form["why"]
    why, codes = paragraph(reason_sentences(rejection.why, terms)), [reason.code.value for reason in rejection.why]
    return {"spec": form.pop("spec"), "why": why, "codes": codes} | form


def _offer_form(offer: InstanceOffer, terms: Terms) -> dict[str, Any]:
    form = to_json(offer)
    del form["notes"], form["own"]
    notes = {
        "note": " ".join(reason_sentences(offer.notes, terms)),
        "note_codes": [note.code.value for note in offer.notes],
    }
    return form | notes


def _in_gibibytes(value: Any) -> Any:
    """Every `memory_bytes` as `memory_gib`: exact, since dividing by a power of two loses no digit; `nodes` only where
    there are several."""
    if isinstance(value, list):
        return [_in_gibibytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    form = {key: _in_gibibytes(item) for key, item in value.items() if (key, item) != ("nodes", 1)}
    if form.get("memory_bytes") is not None:
        form["memory_bytes"] /= GIB
    return {"memory_gib" if key == "memory_bytes" else key: item for key, item in form.items()}


def comparison_form(comparison: Comparison) -> dict[str, Any]:
    """What `compare --json` prints: of A and of B in this order, where a figure has two; `unlike` is how the studies
    differ."""
    form = _in_gibibytes(to_json(comparison))
    return {"schema_version": SCHEMA_VERSION, "unlike": form.pop("study_differences"), **form}


MOST_OFFERS = 5
RESOURCES = {
    "aws": "aws_instance",
    "gcp": "google_compute_instance",
    "azure": "azurerm_linux_virtual_machine",
    "alibaba": "alicloud_instance",
}
"""By provider what Terraform calls a machine."""
DISKS = {
    "aws": re.compile(r"(?P<kind>gp[23]|io[12]|st1|sc1)(-block-express)?"),
    "gcp": re.compile(r"(?P<kind>pd-(standard|balanced|ssd|extreme)|hyperdisk-(balanced|extreme))"),
    "azure": re.compile(r"(?P<kind>premium-ssd|standard-ssd|standard-hdd)-[PES]\d+"),
    "alibaba": re.compile(r"(?P<kind>cloud(_efficiency|_ssd|_essd(_entry|_autopl)?)?)(_pl(?P<level>[0-3]))?(-2018)?"),
}
"""The tiers that a machine of a provider gets with its own resource."""
CALLED = {
    "premium-ssd": "Premium_LRS",
    "standard-ssd": "StandardSSD_LRS",
    "standard-hdd": "Standard_LRS",
    "cloud_essd_autopl": "cloud_auto",
}
"""Kinds of disks that Terraform calls otherwise."""
IOPS_BOUGHT = {"gp3", "io1", "io2", "hyperdisk-balanced", "hyperdisk-extreme"}
RATE_BOUGHT = {"gp3", "hyperdisk-balanced"}
"""Tiers whose IOPS are bought, and those whose MB/s are."""
DEVICES = (
    ("MI|Radeon|V620|V710|S7150", "amd.com/gpu"),
    ("Gaudi", "habana.ai/gaudi"),
    ("Inferentia|Trainium", "aws.amazon.com/neuron"),
    ("TPU", "google.com/tpu"),
)
"""By how an accelerator's name begins, what its plugin of Kubernetes calls it; all others are NVIDIA's."""
SPOT_NODES = {
    "aws": ("eks.amazonaws.com/capacityType", "SPOT"),
    "azure": ("kubernetes.azure.com/scalesetpriority", "spot"),
    "gcp": ("cloud.google.com/gke-spot", "true"),
}
"""By provider the label, and where it has one the taint, of a spot node."""
LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
"""What Kubernetes takes for the value of a label."""
KEPT_MEMORY = ((0, 0.25), (0.2, 0.2), (1, 0.1), (1.64, 0.06), (6.76, 0.02))
KEPT_CPUS = ((0, 0.06), (0.02, 0.04), (0.06, 0.02), (0.1, 0.01))
"""By pairs, a start and a share of all GiB, or CPUs: a node keeps the least of these for itself. The most that a great
provider keeps: memory as GKE (25 % of the first 4 GiB, 20 % of the next 4 and so on), CPUs as AKS."""
NOT_SEEN = 0.075
"""The share of a machine's memory that its node never has: Karpenter's supposition of hypervisor and kernel."""
SYSTEM_CPUS, SYSTEM_MEMORY = 0.3, 500 * MIB
"""What runs on every node (network, proxy, logs: aws/karpenter-provider-aws#6509), and 100 MiB until it evicts."""


@dataclass(frozen=True)
class HandedOver:
    """What a file is made of: answers, their model and study, and the day of the last run where one is said."""

    recommendation: Recommendation
    model: Model
    study: Study
    measured: str | None

    @property
    def source(self) -> str:
        """`From the study resnet-sizing, measured 2026-11-21; sizer 0.3.0, 2026-11-26.`"""
        day = f"measured {self.measured}" if self.measured else "measured on a day that it does not say"
        return f"From the study {self.study.name}, {day}; sizer {__version__}, {date.today()}."

    def terms(self, answer: Answer) -> Terms:
        return terms_of_answer(answer, self.model.workload(answer.workload))

    def disk(self, answer: Answer) -> DiskTier | None:
        """That of the spec as the study has it; of a table the tier of that name."""
        name = answer.spec.disk if answer.spec is not None else None
        own = next((tier for tier in self.study.disks if tier.name == name), None)
        if own is not None or name is None:
            return own
        sold = Catalog.load(keep=True).tier(name)
        return DiskTier(name, catalog_name=None if sold is None else sold.name)


def markdown(given: HandedOver) -> str:
    """For a person, in their language: a section a workload, its reasons and the machines that hold it."""
    answers = []
    for answer in given.recommendation.workloads:
        terms, next_run = given.terms(answer), answer.next_run
        lines = [
            sure_line(answer),
            *main_sentences(answer, terms),
            *(rejection_line(its, terms) for its in answer.rejected),
        ]
        lines += [_("Next: {suggestion}", suggestion=suggestion_sentences(next_run, terms))] if next_run else []
        offers = [_cells(offer) for offer in answer.instances if offer.is_priced][:MOST_OFFERS]
        answers.append((answer.workload, headline(answer, terms), [*filter(None, lines)], offers))
    return _filled("markdown.md", given, study=given.study.name, answers=answers)


def _cells(offer: InstanceOffer) -> list[str]:
    gpus = f"{offer.gpu_count} x {offer.gpu}" if offer.gpu else "–"
    size = [f"{offer.vcpus:g}", format_number(offer.memory_bytes / GIB)]
    price = price_an_hour(offer.usd_per_hour, foreign=offer.foreign)
    return [offer.called(offer.provider), *size, gpus, price, f"{offer.as_of} {offer.source}"]


def kubernetes(given: HandedOver) -> str:
    """A job a workload on a node of its instance type, with what the spec asks for or all that such a node leaves.

    Raises NoAnswer where no workload has an answer or a machine.
    """
    return _filled("kubernetes.yaml", given, machines=_machines(given, "-", None))


def terraform(given: HandedOver) -> str:
    """A resource a workload; what sizer cannot know are variables. Raises NoAnswer as `kubernetes` does."""
    machines = _machines(given, "_", RESOURCES)
    text = _filled("terraform.tf", given, machines=machines, spot=given.recommendation.objective.spot)
    for empty in (r"^ +\w+ += *\n", r"^ +\w+ {\n +}\n"):
        text = re.sub(empty, "", text, flags=re.MULTILINE)
    for name in dict.fromkeys(re.findall(r"\bvar\.(\w+)", text)):
        kind = "list(string)" if name.endswith("s") else "string"
        text += f'\nvariable "{name}" {{\n  type = {kind}\n}}\n'
    return text


def _machines(given: HandedOver, separator: str, providers: Container[str] | None) -> list[Mapping[str, Any]]:
    """What the templates show of each workload: its machine, of one of these providers, or in `about` why not."""
    used: set[str] = set()
    machines: list[Mapping[str, Any]] = []
    for answer in given.recommendation.workloads:
        rentable = (offer for offer in answer.instances if providers is None or offer.provider in providers)
        offer = next(rentable, None) if answer.spec is not None else None
        own = {} if offer is None else _machine(given, answer, offer, plain_name(answer.workload, used, separator))
        machines.append({"offer": offer, "about": _about(given, answer, offer), **own})
    if not any(machine["offer"] for machine in machines):
        raise NoAnswer(Lines(*(_missing(given, answer) for answer in given.recommendation.workloads)))
    return machines


def _missing(given: HandedOver, answer: Answer) -> str:
    """Why a workload has no machine in the file."""
    line = conclusion_line(answer, given.terms(answer))
    return line if answer.spec is None else _("{line}. No instance type that this format can rent holds it.", line=line)


def _about(given: HandedOver, answer: Answer, offer: InstanceOffer | None) -> list[str]:
    """What stands above a machine as comments, in English."""
    with in_language(ENGLISH):
        if offer is None:
            return [_missing(given, answer)]
        terms, disk = given.terms(answer), given.disk(answer)
        lines = [headline(answer, terms), offer_line(offer, terms.unit)]
        if disk is not None:
            lines.append(f"Disk {disk.name}" + (f": {disk.catalog_name}" if disk.catalog_name else ""))
        if answer.instances[0] is not offer:
            first = offer_line(answer.instances[0], terms.unit)
            lines.append(f"It comes before this one, but is not of a provider that this file knows: {first}")
        return lines


def _machine(given: HandedOver, answer: Answer, offer: InstanceOffer, name: str) -> dict[str, Any]:
    """Its figures are of each of several nodes."""
    spec, nodes, type_ = answer.spec, offer.nodes, re.split(r"[+:]", offer.instance_type)[0].strip()
    assert spec is not None, "only an answer has a machine"
    gpus = Gpus(spec.gpu, spec.gpu_count).number(given.model.workload(answer.workload).facts.device)
    gpu = (offer.gpu or "").partition("-")[0].lower()
    is_added = gpus and gpu and type_.startswith("n1-") and offer.provider in ("gcp", "")
    added = f"nvidia-tesla-{gpu}" if is_added else ""
    label, value = SPOT_NODES.get(offer.provider, ("", "")) if given.recommendation.objective.spot else ("", "")
    selector = {
        "node.kubernetes.io/instance-type": type_ if LABEL.fullmatch(type_) else "",
        "cloud.google.com/gke-accelerator": added,
        label: value,
    }
    return {
        "name": name,
        "provider": offer.provider,
        "resource": RESOURCES.get(offer.provider),
        "type": type_,
        "nodes": nodes,
        **_requests(spec, offer, -(-gpus // nodes)),
        "gpus": gpus,
        "added": added,
        "added_count": -(-max(gpus, offer.gpu_count) // nodes),
        "selector": {key: its for key, its in selector.items() if its},
        "taint": (label, value) if label else None,
        "disk": _disk(given.disk(answer), offer.provider),
    }


def _requests(spec: Spec, offer: InstanceOffer, gpus: int) -> dict[str, Any]:
    """What a pod asks for: what the spec has, or all that its node leaves; then `left` says so."""
    nodes = offer.nodes
    vcpus, memory = offer.vcpus / nodes, offer.memory_bytes / nodes
    wanted, needed = (spec.vcpus or offer.vcpus) / nodes, (spec.memory_bytes or offer.memory_bytes) / nodes
    cpu = max(0.1, min(wanted, vcpus - _kept(vcpus, KEPT_CPUS) - SYSTEM_CPUS))
    free = (1 - NOT_SEEN) * memory - _kept(memory / GIB, KEPT_MEMORY) * GIB - SYSTEM_MEMORY
    held = max(64 * MIB, min(needed, free)) if memory else 0.0
    asked = {"cpu": f"{int(cpu * 1000)}m", "memory": memory and f"{int(held / MIB)}Mi"}
    left = f"{asked['cpu']} of {vcpus_in_words(vcpus)}"
    if memory:
        left += f" and {asked['memory']} of {format_bytes(memory)}"
    device = next((device for begin, device in DEVICES if re.match(begin, offer.gpu or "")), "nvidia.com/gpu")
    return {"asked": {**asked, device: gpus}, "left": left if cpu < wanted or 0 < held < needed else ""}


def _kept(size: float, lines: Sequence[tuple[float, float]]) -> float:
    return min(start + share * size for start, share in lines)


def _disk(tier: DiskTier | None, provider: str) -> dict[str, Any]:
    """A tier of this provider as Terraform has it; empty for any other disk."""
    owner, _slash, name = ("", "", "") if tier is None else (tier.catalog_name or "").partition("/")
    kind = DISKS[provider].fullmatch(name) if owner == provider in DISKS else None
    if tier is None or kind is None:
        return {}
    called, level, rates = kind["kind"], kind.groupdict().get("level"), tier.emulated or DiskRates()
    return {
        "kind": _hcl(CALLED.get(called, called)),
        "gib": -(-(tier.size_bytes or VOLUME_GIB * GIB) // GIB),
        "level": level and f'"PL{level}"',
        "iops": round(rates.read_iops or 0) if called in IOPS_BOUGHT else 0,
        "mibps": round((rates.read_bytes_per_second or 0) / MIB) if called in RATE_BOUGHT else 0,
    }


def plain_name(name: str, used: set[str], separator: str) -> str:
    """A name as a label of DNS, an identifier or a file has it, each once."""
    plain = re.sub(r"[^a-z0-9]+", separator, name.lower()).strip(separator)[:50] or "workload"
    plain = plain if plain[0].isalpha() else f"w{separator}{plain}"
    own = next(n for n in (plain, *(f"{plain}{separator}{k}" for k in range(2, 10_000))) if n not in used)
    used.add(own)
    return own


def _filled(template: str, given: HandedOver, **values: object) -> str:
    from jinja2 import Environment, FileSystemLoader

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        trim_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: " ".join(str(value).split()) if value else "",
    )
    environment.filters |= {"hcl": _hcl, "json": json.dumps, "plain": _plain}
    environment.globals["_"] = _
    return environment.get_template(template).render(source=given.source, **values)


def _hcl(text: str) -> str:
    return json.dumps(text).replace("${", "$${").replace("%{", "%%{")


def _plain(text: str) -> str:
    """A text in which a name of the user's is no markup."""
    return re.sub(r"([\\*_\[\]<>|#])", r"\\\1", text)


FORMATS: Mapping[str, tuple[str, Callable[[HandedOver], str]]] = {
    "markdown": ("md", markdown),
    "json": ("json", lambda given: json.dumps(recommendation_form(given.recommendation, given.model), indent=1) + "\n"),
    "terraform": ("tf", terraform),
    "kubernetes": ("yaml", kubernetes),
}
"""By name how a file of it ends, and what is in it."""
