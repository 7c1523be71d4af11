"""An answer as a file: what renters' programs read, and a sentence where there is nothing to rent."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
import yaml

from sizer.exchange.formats import FORMATS, HandedOver, kubernetes, markdown, terraform
from sizer.model.model import MeasuredRange, Model, WorkloadFacts, WorkloadModel
from sizer.records.answer import Answer, InstanceOffer, Recommendation
from sizer.records.device import Device, DiskRates
from sizer.records.messages import NoAnswer
from sizer.records.prediction import Bottleneck, Estimate, Spec
from sizer.records.study import DiskTier, Objective, Study
from sizer.records.units import GIB

NAME = 'tr "${x}"|a'
"""A name that means something in each form."""


def offer(provider: str, name: str, gpu: str | None = "V100", nodes: int = 1) -> InstanceOffer:
    size: dict[str, Any] = {
        "vcpus": 8.0 * nodes,
        "memory_bytes": 32 * GIB * nodes,
        "gpu": gpu,
        "gpu_count": nodes if gpu else 0,
    }
    return InstanceOffer(
        provider,
        name,
        **size,
        usd_per_hour=1.0,
        usd_per_million_samples=1.0,
        as_of="2026-11-01",
        source="list",
        nodes=nodes,
    )


def given(*offers: InstanceOffer, spec: Spec | None = None, disk: str = "", spot: bool = False) -> HandedOver:
    """A job on one GPU, as measured with an emulated one on a disk of 500 GiB."""
    device = Device("emulated", 0, "V100", 300.0)
    model = WorkloadModel(NAME, "image", WorkloadFacts("image_training", device), MeasuredRange())
    rate = Estimate(200.0, 190.0, 210.0) if spec else None
    answer = Answer(
        NAME, "recommended" if spec else "refused", spec, rate, "image", 0.95, Bottleneck.CPU, instances=offers
    )
    tier = DiskTier("data", None, DiskRates(6000.0, 524288000.0), "ssd", disk or None, 500 * GIB)
    study = Study("resnet", (), disks=(tier,))
    return HandedOver(Recommendation(Objective(spot=spot), (answer,)), Model((model,)), study, "2026-11-21")


SPEC = Spec(8.0, 16 * GIB, "data", 32, None, 1)


TERRAFORM = {
    ("aws", "p3.2xlarge", "aws/gp3"): """
        resource "aws_instance" | instance_type = "p3.2xlarge" | volume_type = "gp3" | volume_size = 500
        iops = 6000 | throughput = 500 | market_type = "spot" """,
    ("gcp", "n1-highmem-8+1xV100", "gcp/pd-ssd"): """
        resource "google_compute_instance" | machine_type = "n1-highmem-8" | type = "nvidia-tesla-v100" | size = 500
        type = "pd-ssd" | preemptible = true""",
    ("gcp", "n1-highmem-8", "aws/gp3"): """
        machine_type = "n1-highmem-8" | type = "nvidia-tesla-v100" | count = 1""",
    ("azure", "Standard_NC6s_v3", "azure/premium-ssd-P20"): """
        resource "azurerm_linux_virtual_machine" | size = "Standard_NC6s_v3" | priority = "Spot"
        storage_account_type = "Premium_LRS" | disk_size_gb = 500""",
    ("azure", "Standard_NC6s_v3", "aws/gp3"): """
        storage_account_type = "StandardSSD_LRS" | network_interface_ids = [var.tr_x_a_network_interface_id]""",
    ("gcp", "n4-standard-8", "aws/gp3"): """
        type = "hyperdisk-balanced" """,
    ("alibaba", "ecs.gn6v-c8g1.2xlarge", "alibaba/cloud_essd_pl1"): """
        resource "alicloud_instance" | instance_type = "ecs.gn6v-c8g1.2xlarge" | category = "cloud_essd"
        performance_level = "PL1" | spot_strategy = "SpotAsPriceGo" """,
}


@pytest.mark.parametrize(("machine", "wanted"), TERRAFORM.items())
def test_terraform(machine: tuple[str, str, str], wanted: str) -> None:
    """The resource of the provider with type and disk; every variable that is used is declared once."""
    provider, name, disk = machine
    text = terraform(given(offer("hetzner", "cx"), offer(provider, name), spec=SPEC, disk=disk, spot=True))
    text = re.sub(r" +=", " =", text)
    assert text.startswith("# From the study resnet, measured 2026-11-21; sizer ")
    assert (
        "# It comes before this one, but is not of a provider that this file knows: hetzner cx: $1.00 an hour" in text
    )
    assert [part for part in map(str.strip, re.split(r"[|\n]", wanted)) if part not in text] == []
    assert sorted(set(re.findall(r"var\.(\w+)", text))) == sorted(re.findall(r'variable "(\w+)"', text))
    code = [line for line in text.splitlines() if not line.startswith("#")]
    assert sum(line.endswith("{") for line in code) == sum(line.strip() == "}" for line in code)
    for line in code:
        assert re.fullmatch(r'|\s*}|\s*\w+( "\w+")* {|\s*\w+ = ("[^"$]*"|\d+|true|false|string|\[?var\.\w+]?)', line), (
            line
        )


def test_kubernetes() -> None:
    """No more is asked than a node of the type leaves, as else the job would wait for ever."""
    several = Spec(32.0, None, None, 32, "V100", 2, nodes=2)
    (job,) = yaml.safe_load_all(kubernetes(given(offer("aws", "p3.2xlarge"), spec=SPEC)))
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert job["kind"] == "Job"
    assert job["spec"]["template"]["spec"]["nodeSelector"] == {"node.kubernetes.io/instance-type": "p3.2xlarge"}
    assert container["resources"]["limits"] == container["resources"]["requests"]
    assert container["resources"]["limits"] == {"cpu": "7520m", "memory": "16384Mi", "nvidia.com/gpu": 1}
    (job,) = yaml.safe_load_all(kubernetes(given(offer("gcp", "n1-highmem-8+1xV100", nodes=2), spec=several)))
    selector = job["spec"]["template"]["spec"]["nodeSelector"]
    assert selector["cloud.google.com/gke-accelerator"] == "nvidia-tesla-v100"
    assert (job["spec"]["parallelism"], selector["node.kubernetes.io/instance-type"]) == (2, "n1-highmem-8")


NODES = {
    ("", "n1-standard-8 + V100"): {"instance-type": "n1-standard-8", "gke-accelerator": "nvidia-tesla-v100"},
    ("", "the box under my desk"): {},
    ("oci", "VM.Standard.E4.Flex:8vcpu:64gib"): {"instance-type": "VM.Standard.E4.Flex"},
    ("gcp", "a2-highgpu-1g"): {"instance-type": "a2-highgpu-1g", "gke-spot": "true"},
    ("azure", "Standard_NC6s_v3"): {"instance-type": "Standard_NC6s_v3", "scalesetpriority": "spot"},
}


@pytest.mark.parametrize(("machine", "wanted"), NODES.items())
def test_the_node_of_a_pod(machine: tuple[str, str], wanted: dict[str, str]) -> None:
    """By labels that such a node has: a type as its provider writes it, added GPUs, and at spot prices spot nodes."""
    spec = Spec(None, None, None, 32, None, 1)
    (job,) = yaml.safe_load_all(kubernetes(given(offer(*machine), spec=spec, spot=True)))
    pod = job["spec"]["template"]["spec"]
    selector = {label.rpartition("/")[2]: value for label, value in pod.get("nodeSelector", {}).items()}
    assert selector == wanted
    assert [taint["effect"] for taint in pod.get("tolerations", ())] == ["NoSchedule"] * (
        machine[0] in ("gcp", "azure")
    )
    # 8 vCPUs and 32 GiB: AKS keeps 0.18 vCPUs, GKE 3.56 GiB of what the hypervisor leaves.
    assert pod["containers"][0]["resources"]["requests"] == {"cpu": "7520m", "memory": "26164Mi", "nvidia.com/gpu": 1}


def test_gpus_that_are_added_are_all_that_its_type_has() -> None:
    """Google sells so many vCPUs only with so many V100, also where the job uses one."""
    two = replace(offer("gcp", "n1-highmem-16+2xV100"), gpu_count=2)
    assert "count = 2" in terraform(given(two, spec=SPEC))


def test_markdown() -> None:
    text = markdown(given(offer("aws", "p3.2xlarge"), spec=SPEC))
    assert '## tr "${x}"\\|a' in text
    assert "| aws p3.2xlarge | 8 | 32 | 1 x V100 | $1.00 an hour | 2026-11-01, list |" in text
    assert "<!-- From the study resnet, measured 2026-11-21" in text


@pytest.mark.parametrize("form", ["terraform", "kubernetes"])
@pytest.mark.parametrize(("offers", "spec", "why"), [((), SPEC, "No instance type"), ((), None, "no recommendation")])
def test_nothing_to_rent_is_a_sentence(
    form: str, offers: tuple[InstanceOffer, ...], spec: Spec | None, why: str
) -> None:
    with pytest.raises(NoAnswer, match=why):
        FORMATS[form][1](given(*offers, spec=spec))
