"""The page's rows of GPUs: one for each that was asked about, with or without an answer, and none where none was."""

from __future__ import annotations

from dataclasses import replace

from sizer.bundled.reports.offers import which_gpu as contents
from sizer.bundled.reports.page import render
from sizer.bundled.reports.subject import Material, subjects
from sizer.records.answer import Answer, Recommendation
from sizer.records.configuration import Bottleneck, Estimate
from sizer.records.gpu_options import GpuOption, NoGpuAnswer, PublishedRate
from sizer.records.prediction import Spec

RATE = Estimate(110.8, 61.4, 199.9)
T4 = GpuOption(
    "T4",
    accelerator=PublishedRate(RATE, "published", "fp32", 32, "TensorFlow", ("a table",), "2021"),
    input_rate=Estimate(400.0, 236.0, 678.0),
    throughput=RATE,
    bottleneck=Bottleneck.ACCELERATOR,
    bottleneck_sure=True,
    vcpus=4.0,
    provider="aws",
    instance_type="g4dn.xlarge",
    usd_per_hour=0.526,
    usd_per_million_samples=1.32,
)
A10G = GpuOption("A10G", missing=NoGpuAnswer.NO_RATE, published_on=("T4", "V100"))


def asked(material: Material, *options: GpuOption) -> Material:
    """The same, whose first workload was asked about these."""
    name = material.study.workloads[0].workload.name
    answer = Answer(name, "recommended", Spec(8.0), Estimate(100.0, 90.0, 110.0), "image", gpus=options)
    others = tuple(each for each in material.recommendation.workloads if each.workload != name)
    return replace(material, recommendation=Recommendation(material.study.objective, (answer, *others)))


def test_each_gpu_has_a_row_with_its_source(material: Material) -> None:
    """Rate, what binds, machine and cost, and whose number it is; a missing rate says on which GPUs there is one."""
    found = asked(material, T4, A10G)
    shown = contents(found, subjects(found))
    assert shown is not None
    first, second = shown["groups"][0]["rows"]
    assert first["rate"] == ("111 images/s (61.4–200)", "bound by the GPU")
    assert first["machine"] == "aws g4dn.xlarge (4 vCPUs), $0.526 an hour, $1.32 ($0.732 to $2.38) a million images"
    assert "a table, 2021" in first["known"]
    assert second["rate"].startswith("No answer: no published rate")
    assert second["rate"].endswith("there are rates on T4 and V100.")


def test_without_a_question_there_is_no_section(material: Material) -> None:
    """The page of a study that asks about no GPU has none of it; that of another one has the section."""
    plain = asked(material)
    assert contents(plain, subjects(plain)) is None
    assert 'id="which-gpu"' not in render(plain)
    assert 'id="which-gpu"' in render(asked(material, T4, A10G))
