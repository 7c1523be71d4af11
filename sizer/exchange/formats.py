"""An answer as a file for whoever rents the machine: Markdown to read, JSON, Terraform, a Kubernetes job.

Terraform and Kubernetes have the first instance type of the answer that they can rent: the cheapest that holds it. What
sizer cannot know (an image, a network) is a variable, or says that it is to be filled in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sizer import __version__
from sizer.exchange.published import recommendation_form
from sizer.model.model import Model
from sizer.recommend.prices import Accelerators
from sizer.records.answer import Answer, InstanceOffer, Recommendation
from sizer.records.messages import Lines, NoAnswer
from sizer.records.study import DiskTier, Study
from sizer.records.units import GIB, MIB, format_number, format_price
from sizer.words.answers import conclusion_line, headline, main_sentences, rejection_line, sure_line
from sizer.words.language import ENGLISH, _, in_language
from sizer.words.names import Terms, terms_of
from sizer.words.reasons.suggestions import suggestion_sentences
from sizer.words.terminal import offer_line

MOST_OFFERS = 5


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
        return terms_of(self.model.workload(answer.workload))

    def gpus(self, answer: Answer) -> int:
        """How many the job uses."""
        device, spec = self.model.workload(answer.workload).facts.device, answer.spec
        return 0 if spec is None else Accelerators(spec.gpu, spec.gpu_count).number(device)

    def tier(self, answer: Answer) -> DiskTier | None:
        """The disk of the spec as the study has it; of a table the name alone."""
        name = answer.spec.disk if answer.spec is not None else None
        own = next((tier for tier in self.study.disks if tier.name == name), None)
        return own or (DiskTier(name) if name is not None else None)


def markdown(given: HandedOver) -> str:
    """For a person, in their language: a section a workload, its reasons and the machines that hold it."""
    lines = [f"# {_plain(given.study.name)}", "", f"<!-- {given.source} -->"]
    for answer in given.recommendation.workloads:
        terms = given.terms(answer)
        said = [sure_line(answer), *main_sentences(answer, terms), *(rejection_line(r, terms) for r in answer.rejected)]
        if answer.next_run is not None:
            said.append(_("Next: {suggestion}", suggestion=suggestion_sentences(answer.next_run, terms)))
        lines += ["", f"## {_plain(answer.workload)}", "", f"**{_plain(headline(answer, terms))}**", ""]
        lines += [f"- {_plain(line)}" for line in said if line]
        priced = [offer for offer in answer.instances if offer.price is not None][:MOST_OFFERS]
        lines += ["", *_table(priced)] if priced else []
    return "\n".join(lines) + "\n"


def _table(offers: Sequence[InstanceOffer]) -> Iterator[str]:
    yield f"| {_('Instance type')} | {_('vCPUs')} | GiB | {_('GPUs')} | {_('An hour')} | {_('Price from')} |"
    yield "|---|---|---|---|---|---|"
    for offer in offers:
        gpus = f"{offer.gpu_count} x {offer.gpu}" if offer.gpu else "–"
        size = f"{offer.vcpus:g} | {format_number(offer.memory_bytes / GIB)}"
        price = format_price(*offer.price) if offer.price else ""
        cells = (_plain(offer.called(offer.provider)), size, gpus, price, f"{offer.as_of} {_plain(offer.source)}")
        yield f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """A text in which a name of the user's is no markup."""
    return re.sub(r"([\\*_\[\]<>|#])", r"\\\1", " ".join(text.split()))


def as_json(given: HandedOver) -> str:
    """As recommendation.json."""
    return json.dumps(recommendation_form(given.recommendation, given.model), indent=1) + "\n"


def _rented(given: HandedOver, rentable: Callable[[InstanceOffer], bool]) -> list[tuple[Answer, InstanceOffer | None]]:
    """Each workload with its instance type. Raises NoAnswer where none has an answer, or none a type to rent."""
    answers = given.recommendation.workloads
    chosen = [(answer, next(filter(rentable, answer.instances), None)) for answer in answers]
    if not any(answer.spec and offer for answer, offer in chosen):
        raise NoAnswer(Lines(*(_missing(given, answer) for answer in answers)))
    return chosen


def _missing(given: HandedOver, answer: Answer) -> str:
    """Why a workload has no machine in the file."""
    line = conclusion_line(answer, given.terms(answer))
    return line if answer.spec is None else _("{line}. No instance type that this format can rent holds it.", line=line)


def _about(given: HandedOver, answer: Answer, offer: InstanceOffer | None) -> list[str]:
    """What stands above a machine as comments, in English."""
    with in_language(ENGLISH):
        if offer is None or answer.spec is None:
            return [f"# {' '.join(_missing(given, answer).split())}"]
        said = [headline(answer, given.terms(answer)), offer_line(offer)]
        tier = given.tier(answer)
        if tier is not None:
            said.append(f"Disk {tier.name}" + (f": {tier.catalog_name}" if tier.catalog_name else ""))
        cheaper = answer.instances[0]
        if cheaper is not offer and cheaper.price is not None:
            said.append(f"Cheaper, but not of a provider that this file knows: {offer_line(cheaper)}")
        return [f"# {' '.join(line.split())}" for line in said]


def plain_name(name: str, used: set[str], separator: str) -> str:
    """A name as a label of DNS or an identifier, each once."""
    plain = re.sub(r"[^a-z0-9]+", separator, name.lower()).strip(separator)[:50] or "workload"
    plain = plain if plain[0].isalpha() else f"w{separator}{plain}"
    own = next(n for n in (plain, *(f"{plain}{separator}{k}" for k in range(2, 10_000))) if n not in used)
    used.add(own)
    return own


# Kubernetes.

RESERVED = ((4, 0.25), (8, 0.20), (16, 0.10), (128, 0.06), (float("inf"), 0.02))
"""Up to so many GiB the share of memory that a node keeps for itself, and of CPUs below: as GKE documents it, which
keeps the most of the great providers, and 100 MiB until it evicts."""
RESERVED_CPU = ((1, 0.06), (2, 0.01), (4, 0.005), (float("inf"), 0.0025))
EVICTION = 100 * MIB
SYSTEM_PODS = 0.25
"""CPUs of what runs on every node: network, proxy and logs. By hand."""


def kubernetes(given: HandedOver) -> str:
    """A job a workload, on a node of its instance type, with all that such a node leaves or the spec asks for."""
    used: set[str] = set()
    lines = [f"# {given.source}"]
    for answer, offer in _rented(given, lambda offer: bool(offer.instance_type)):
        about = _about(given, answer, offer)
        if offer is not None and answer.spec is not None:
            lines += ["---"] if used else []
            about += _job(given, answer, offer, plain_name(answer.workload, used, "-"))
        lines += about
    return "\n".join(lines) + "\n"


def _job(given: HandedOver, answer: Answer, offer: InstanceOffer, name: str) -> Iterator[str]:
    spec, gpus, nodes = answer.spec, given.gpus(answer), offer.nodes
    assert spec is not None, "only answers have a job"
    whole, room = offer.vcpus / nodes, offer.memory_bytes / nodes
    left = whole - _kept(whole, RESERVED_CPU) - SYSTEM_PODS
    free = (room - _kept(room / GIB, RESERVED) * GIB - EVICTION) if room else None
    cpu = max(0.1, min((spec.vcpus or whole) / nodes, left))
    asked = [size for size in (spec.memory_bytes and spec.memory_bytes / nodes, free) if size]
    limits = {"cpu": f"{int(cpu * 1000)}m", **({"memory": f"{int(min(asked) / MIB)}Mi"} if asked else {})}
    device = _resource(offer.gpu) if gpus else None
    own = {} if device is None else {device: str(-(-gpus // nodes))}
    if cpu < (spec.vcpus or whole) / nodes:
        yield f"# A node keeps some CPUs and memory for itself: {limits['cpu']} of {whole:g} vCPUs are left."
    yield from ("apiVersion: batch/v1", "kind: Job", "metadata:", f"  name: {name}", "spec:")
    if nodes > 1:
        yield from (f"  completions: {nodes}", f"  parallelism: {nodes}", "  completionMode: Indexed")
    yield from ("  template:", "    spec:", "      restartPolicy: Never", "      nodeSelector:")
    yield f"        node.kubernetes.io/instance-type: {json.dumps(offer.instance_type.partition('+')[0])}"
    if "+" in offer.instance_type:
        yield f"        cloud.google.com/gke-accelerator: {json.dumps(_accelerator_type(offer))}"
    yield from ("      containers:", f"        - name: {name}", "          image: IMAGE  # yours")
    yield from ("          resources:", "            requests:")
    yield from (f"              {key}: {json.dumps(value)}" for key, value in (limits | own).items())
    yield "            limits:"
    yield from (f"              {key}: {json.dumps(value)}" for key, value in (limits | own).items())


def _kept(size: float, steps: Sequence[tuple[float, float]]) -> float:
    """What of a node's CPUs or GiB is kept, each step of it by its share."""
    lows = (0.0, *(end for end, _share in steps[:-1]))
    return sum(max(0.0, min(size, end) - low) * share for low, (end, share) in zip(lows, steps, strict=True))


def _resource(gpu: str | None) -> str | None:
    """What its device plugin calls it."""
    if not gpu:
        return None
    named = (("MI", "amd.com/gpu"), ("Gaudi", "habana.ai/gaudi"), ("Inferentia", "aws.amazon.com/neuron"))
    others = (*named, ("Trainium", "aws.amazon.com/neuron"), ("TPU", "google.com/tpu"))
    return next((resource for begin, resource in others if gpu.startswith(begin)), "nvidia.com/gpu")


# Terraform.

Block = dict[str, object]
"""Arguments and, as dictionaries, blocks within."""


def _aws(offer: InstanceOffer, tier: DiskTier | None, spot: bool) -> Block:
    block: Block = {"ami": "var.ami", "instance_type": offer.instance_type}
    if tier is not None:
        kind = _type_of(tier, "aws").partition("-")[0]
        sold = {"volume_type": kind, **_size(tier, "volume_size"), **_bought(tier, "iops", "throughput")}
        block["ebs_block_device"] = {"device_name": "/dev/sdf", **sold}
    return block | ({"instance_market_options": {"market_type": "spot"}} if spot else {})


def _gcp(offer: InstanceOffer, tier: DiskTier | None, spot: bool) -> Block:
    disk = {} if tier is None else {**_size(tier, "size"), "type": _type_of(tier, "gcp")}
    bought = {} if tier is None else _bought(tier, "provisioned_iops", "provisioned_throughput")
    block: Block = {
        "name": "@name",
        "zone": "var.zone",
        "machine_type": offer.instance_type.partition("+")[0],
        "boot_disk": {"initialize_params": {"image": "var.image", **disk, **bought}},
        "network_interface": {"network": "var.network"},
    }
    if "+" in offer.instance_type:
        block["guest_accelerator"] = {"type": _accelerator_type(offer), "count": offer.gpu_count // offer.nodes}
    stops: Block = {"on_host_maintenance": "TERMINATE"} if offer.gpu or spot else {}
    stops |= {"preemptible": True, "automatic_restart": False, "provisioning_model": "SPOT"} if spot else {}
    return block | ({"scheduling": stops} if stops else {})


def _azure(offer: InstanceOffer, tier: DiskTier | None, spot: bool) -> Block:
    kinds = {"premium-ssd": "Premium_LRS", "standard-ssd": "StandardSSD_LRS", "standard-hdd": "Standard_LRS"}
    own = "" if tier is None else _type_of(tier, "azure").rpartition("-")[0]
    disk = {} if tier is None else _size(tier, "disk_size_gb")
    return {
        "name": "@name",
        "resource_group_name": "var.resource_group_name",
        "location": "var.location",
        "size": offer.instance_type,
        "admin_username": "var.admin_username",
        "network_interface_ids": ["var.network_interface_id"],
        "admin_ssh_key": {"username": "var.admin_username", "public_key": "var.public_key"},
        "os_disk": {"caching": "ReadWrite", "storage_account_type": kinds.get(own, "Premium_LRS"), **disk},
        "source_image_id": "var.image_id",
        **({"priority": "Spot", "eviction_policy": "Deallocate"} if spot else {}),
    }


def _alibaba(offer: InstanceOffer, tier: DiskTier | None, spot: bool) -> Block:
    disk: Block = {}
    if tier is not None:
        kind, _pl, level = _type_of(tier, "alibaba").partition("-")[0].partition("_pl")
        own = {"cloud_essd_autopl": "cloud_auto"}.get(kind, kind)
        disk = {"name": "data", "category": own, **_size(tier, "size")}
        disk |= {"performance_level": f"PL{level}"} if level else {}
    return {
        "image_id": "var.image_id",
        "instance_type": offer.instance_type,
        "security_groups": ["var.security_group_id"],
        "vswitch_id": "var.vswitch_id",
        **({"data_disks": disk} if disk else {}),
        **({"spot_strategy": "SpotAsPriceGo"} if spot else {}),
    }


_DISKS = {
    "aws": re.compile(r"gp[23]|io[12](-.*)?|st1|sc1"),
    "gcp": re.compile(r"pd-(standard|balanced|ssd|extreme)|hyperdisk-(balanced|extreme)"),
    "azure": re.compile(r"(premium|standard)-(ssd|hdd)-[PES]\d+"),
    "alibaba": re.compile(r"cloud(_(efficiency|ssd|essd_pl[0-3]|essd_autopl|essd_entry))?(-2018)?"),
}
"""The tiers that a machine of a provider gets with its own resource."""
PROVIDERS: Mapping[str, tuple[str, Callable[[InstanceOffer, DiskTier | None, bool], Block]]] = {
    "aws": ("aws_instance", _aws),
    "gcp": ("google_compute_instance", _gcp),
    "azure": ("azurerm_linux_virtual_machine", _azure),
    "alibaba": ("alicloud_instance", _alibaba),
}
"""By provider the resource of Terraform, and what it is given."""


def terraform(given: HandedOver) -> str:
    """A resource a workload; what sizer cannot know are variables."""
    used: set[str] = set()
    texts = [f"# {given.source}"]
    for answer, offer in _rented(given, lambda offer: offer.provider in PROVIDERS):
        about = _about(given, answer, offer)
        if offer is not None and answer.spec is not None:
            kind, arguments = PROVIDERS[offer.provider]
            name, tier = plain_name(answer.workload, used, "_"), given.tier(answer)
            own = tier if tier is not None and _type_of(tier, offer.provider) else None
            block = arguments(offer, own, given.recommendation.objective.spot)
            block |= {"count": offer.nodes} if offer.nodes > 1 else {}
            about += [f'resource "{kind}" "{name}" {{', *_arguments(block, _instance_name(name, offer.nodes)), "}"]
        texts.append("\n".join(about))
    variables = dict.fromkeys(re.findall(r"\bvar\.(\w+)", "\n".join(texts)))
    texts += [f'variable "{name}" {{\n  type = string\n}}' for name in variables]
    return "\n\n".join(texts) + "\n"


def _instance_name(name: str, nodes: int) -> str:
    """Of each of several machines its own, as Terraform writes it."""
    return f'"{name.replace("_", "-")}{"-${count.index}" if nodes > 1 else ""}"'


def _arguments(block: Block, name: str, depth: int = 1) -> Iterator[str]:
    space = "  " * depth
    for key, value in block.items():
        if isinstance(value, dict):
            yield from (f"{space}{key} {{", *_arguments(value, name, depth + 1), f"{space}}}")
        else:
            yield f"{space}{key} = {name if value == '@name' else _literal(value)}"


def _literal(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, str) and value.startswith("var."):
        return value
    return json.dumps(value).replace("${", "$${").replace("%{", "%%{")


def _type_of(tier: DiskTier, provider: str) -> str:
    """The tier as its provider calls it; empty for a disk of another provider, or that a machine cannot get so."""
    owner, _slash, kind = (tier.catalog_name or tier.name).partition("/")
    return kind if owner == provider and _DISKS[provider].fullmatch(kind) else ""


def _size(tier: DiskTier, argument: str) -> Block:
    return {argument: -(-tier.size_bytes // GIB)} if tier.size_bytes else {}


def _bought(tier: DiskTier, iops: str, throughput: str) -> Block:
    """IOPS and MiB/s that a tier sells beside its size."""
    rates, kind = tier.emulated, (tier.catalog_name or "").partition("/")[2]
    sells = re.match(r"(?P<both>gp3|hyperdisk-balanced)|io[12]|hyperdisk-extreme", kind)
    if rates is None or sells is None or not rates.read_iops:
        return {}
    rate = rates.read_bytes_per_second if sells["both"] else None
    return {iops: round(rates.read_iops), **({throughput: round(rate / MIB)} if rate else {})}


def _accelerator_type(offer: InstanceOffer) -> str:
    """As Google names what it adds to a host: `nvidia-tesla-v100`."""
    return f"nvidia-tesla-{(offer.gpu or '').partition('-')[0].lower()}"


FORMATS: Mapping[str, tuple[str, Callable[[HandedOver], str]]] = {
    "markdown": ("md", markdown),
    "json": ("json", as_json),
    "terraform": ("tf", terraform),
    "kubernetes": ("yaml", kubernetes),
}
"""By name how a file of it ends, and what is in it."""
