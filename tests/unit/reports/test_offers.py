"""The table of instance types: one for all workloads, with every price's day and source."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.bundled.reports.figures.disks import disk_answer
from sizer.bundled.reports.figures.workload import figures
from sizer.bundled.reports.offers import instances, instead, place_of_answer, which_gpu
from sizer.bundled.reports.page import render
from sizer.bundled.reports.subject import Material, Subject, subjects
from sizer.records.answer import Answer, GpuOption, InstanceOffer, NoGpuAnswer, PublishedRate, Recommendation
from sizer.records.configuration import Bottleneck, Estimate
from sizer.records.prediction import Spec
from sizer.records.units import GIB, RELATIVE
from sizer.words.answers import disk_answer as disk_answer_in_words
from tests.reported_study import INFER, PREPARE, TRAIN, WORDS


def offered(name: str, **others: object) -> InstanceOffer:
    """An instance type of 8 vCPUs."""
    plain = InstanceOffer("aws", name, 8.0, 32 * GIB, None, 0, 0.5, 0.7, "2026-07-20", "a list")
    return replace(plain, **others)  # type: ignore[arg-type]


def shown(material: Material, *offers: InstanceOffer, unit: str = "image") -> dict[str, object] | None:
    """What the section makes of a first workload that has these offers, and of others without an answer."""
    name = material.study.workloads[0].workload.name
    rate = Estimate(100.0, 90.0, 110.0)
    answer = Answer(name, "recommended", Spec(8.0), rate, unit, instances=offers)
    answered = replace(
        material, runs=(), recommendation=Recommendation(material.study.objective, (answer,)), disk_checks=()
    )
    return instances(answered, subjects(answered))


def test_each_row_says_what_it_costs_since_when_and_by_whom(material: Material) -> None:
    """The first is the cheapest, and says so only where it has a price."""
    found = shown(material, offered("a.large"), offered("b.large", usd_per_hour=None, usd_per_million_samples=None))
    assert found is not None
    first, second = found["rows"]  # type: ignore[misc]
    assert (first["hour"], first["million"], first["rate"]) == ("$0.50", "$0.70", "100 images/s")
    assert (first["source"], first["as_of"]) == ("a list", "as of 2026-07-20")
    assert first["is_cheapest"]
    assert not second["is_cheapest"]
    assert (second["hour"], second["million"]) == ("unknown", "")
    assert second["sorted_by"]["hour"] is None


def test_at_one_price_the_smaller_comes_first_then_names(material: Material) -> None:
    """Behind the machine that the answer names; providers are called as people write them."""
    offers = [offered(name, vcpus=vcpus) for name, vcpus in (("m.a", 8.0), ("z.b", 16.0), ("c.b", 16.0), ("y.c", 8.0))]
    found = shown(material, *offers, offered("a.a", usd_per_hour=0.6, provider="alibaba"))
    assert found is not None
    rows: list[dict[str, object]] = found["rows"]  # type: ignore[assignment]
    assert [row["name"] for row in rows] == ["m.a", "y.c", "c.b", "z.b", "a.a"]
    assert found["providers"] == ["AWS", "Alibaba Cloud"]


def test_spot_prices_have_a_column_only_where_some_are_known(material: Material) -> None:
    """The catalogue that comes with sizer has none."""
    assert shown(material, offered("a"))["has_spot"] is False  # type: ignore[index]
    assert shown(material, offered("a", usd_per_hour_spot=0.2))["has_spot"] is True  # type: ignore[index]


def test_relative_rates_cost_nothing_a_sample(material: Material) -> None:
    """Their samples are not known."""
    found = shown(material, offered("a"), unit=RELATIVE)
    assert found is not None
    assert not found["has_samples"]


@pytest.mark.parametrize("provisional", [True, False])
def test_rates_that_are_known_to_be_wrong_are_not_shown(material: Material, provisional: bool) -> None:
    """Prices an hour stay."""
    name = material.study.workloads[0].workload.name
    answer = Answer(
        name, "recommended", Spec(8.0), Estimate(1, 1, 1), provisional=provisional, instances=(offered("a"),)
    )
    for doubtful, expected in ((True, "–"), (False, "1 sample/s")):
        said = replace(answer, rate_in_doubt=doubtful)
        answered = replace(material, runs=(), recommendation=Recommendation(material.study.objective, (said,)))
        found = instances(answered, subjects(answered))
        assert found is not None
        assert found["rows"][0]["rate"].startswith(expected[:1])
        assert found["rows"][0]["hour"] == "$0.50"


def test_a_spec_that_nothing_holds_is_named(material: Material) -> None:
    """And without any spec there is no table."""
    found = shown(material)
    assert found is not None
    assert found["without"] == [material.study.workloads[0].workload.name]
    assert instances(replace(material, recommendation=None), subjects(replace(material, recommendation=None))) is None


@pytest.fixture(scope="module")
def found(material: Material) -> dict[str, Subject]:
    return {subject.name: subject for subject in subjects(material)}


def _with_spec(subject: Subject, **changed: object) -> Subject:
    assert subject.answer is not None
    assert subject.answer.spec is not None
    spec = replace(subject.answer.spec, **changed)  # type: ignore[arg-type]
    return replace(subject, answer=replace(subject.answer, spec=spec))


def test_each_workload_says_what_would_gain_or_that_nothing_would(
    material: Material, found: dict[str, Subject]
) -> None:
    """With what speaks for it, its interval, and how that is known."""
    shown = instead(material, tuple(found.values()))
    assert shown is not None
    rows = {row["name"][0]: row for row in shown["rows"] if row["name"][0]}
    assert list(rows) == [TRAIN.name, INFER.name, WORDS.name, PREPARE.name]
    for name in (TRAIN.name, INFER.name):
        assert rows[name]["nothing"] == "None of the changes that these runs can judge would gain more than 1 %."
    changes = [row for row in shown["rows"] if "nothing" not in row]
    assert all(row["gain"][0].startswith("+") and row["evidence"] and row["badges"] for row in changes)


def test_without_a_model_there_is_no_section(material: Material, found: dict[str, Subject]) -> None:
    subject = replace(found[TRAIN.name], model=None)
    assert place_of_answer(subject) is None
    assert instead(material, (subject,)) is None
    assert disk_answer(subject) == ""


def test_without_an_answer_it_is_asked_at_the_best_rate(found: dict[str, Subject]) -> None:
    here = place_of_answer(found[WORDS.name])
    assert here is not None
    assert here.vcpus == 2.0


def test_another_format_that_was_measured_is_a_change(material: Material, found: dict[str, Subject]) -> None:
    """Where the study has a workload that differs in nothing else, and is faster at the same configuration."""
    packed = found[TRAIN.name]
    slower = tuple(
        replace(
            run,
            spec=replace(run.spec, workload=replace(run.spec.workload, format="folder")),
            throughput=Estimate(100.0, 98.0, 102.0) if run.throughput is not None else None,
        )
        for run in packed.runs
    )
    files = replace(packed, name="files", runs=slower)
    here = Spec(2.0, 4 * 2**30, "fast", 32)
    assert files.answer is not None
    files = replace(files, answer=replace(files.answer, spec=here))
    shown = instead(material, (files, packed))
    assert shown is not None
    first = shown["rows"][0]
    assert first["change"] == "recordio instead of folder"
    assert "measured" in first["badges"]
    assert first["evidence"] == f"Measured at the same configuration: workload {TRAIN.name}."


def test_a_faster_disk_where_another_resource_binds(found: dict[str, Subject]) -> None:
    """It would gain nothing, and how much the disk is asked for says why."""
    said = disk_answer(found[TRAIN.name])
    assert said.startswith("No: it would gain nothing")
    assert "At the answer the disk is busy 25 % of the time: it reads 24." in said
    assert said.endswith("and fio measured 99.8 MB/s on it.")


def test_a_faster_disk_where_the_disk_binds(found: dict[str, Subject]) -> None:
    said = disk_answer(_with_spec(found[TRAIN.name], disk="slow"))
    assert said.startswith("Yes: up to ")
    assert "busy 98 % of the time" in said


def test_the_picture_of_the_disks_answers_it(found: dict[str, Subject]) -> None:
    """Beside the bars, once."""
    first = figures(found[TRAIN.name])
    (shown,) = (figure for figure in first if figure.answer)
    assert shown.title == "Throughput against disk tier"
    assert shown.question == "Would a faster disk help?"


@pytest.mark.parametrize(
    ("gained", "said"),
    [
        (Estimate(0.0, 0.0, 0.001), "No: it would gain nothing."),
        (Estimate(0.001, 0.0, 0.04), "No: it would gain nothing, at the very most 4 %."),
        (Estimate(0.05, 0.0, 0.4), "Perhaps: by 5.0 %, at the very most 40 %."),
        (Estimate(0.25, 0.18, 0.33), "Yes: up to 25 % (18 % to 33 %)."),
    ],
)
def test_how_sure_it_is_is_in_the_words(gained: Estimate, said: str) -> None:
    assert disk_answer_in_words(gained) == said


@pytest.mark.parametrize(
    ("gained", "said"),
    [
        (-0.59, "Not known: no faster disk was measured; gp3 is slower by 59 %."),
        (0.001, "No: on gp3, the best other disk measured, it runs as fast."),
        (0.2, "Yes: gp3 gains 20 %."),
    ],
)
def test_a_slower_disk_says_nothing_of_a_faster_one(gained: float, said: str) -> None:
    assert disk_answer_in_words(Estimate(gained, gained, gained), "gp3") == said


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
    others = tuple(workload for workload in material.recommendation.workloads if workload.workload != name)
    return replace(material, recommendation=Recommendation(material.study.objective, (answer, *others)))


def test_each_gpu_has_a_row_with_its_source(material: Material) -> None:
    """Rate, what binds, machine and cost, and whose number it is; a missing rate says on which GPUs there is one."""
    found = asked(material, T4, A10G)
    shown = which_gpu(found, subjects(found))
    assert shown is not None
    first, second = shown["groups"][0]["rows"]
    assert first["rate"] == ("111 images/s (61.4–200)", "bound by the GPU")
    assert first["machine"] == "aws g4dn.xlarge (4 vCPUs), $0.526 an hour, $1.32 ($0.732 to $2.38) a million images"
    assert "a table, 2021" in first["known"]
    assert second["rate"].startswith("No answer: no published rate")
    assert "there are rates on T4 and V100; one run of it there would give it" in second["rate"]


def test_without_a_question_there_is_no_section(material: Material) -> None:
    """The page of a study that asks about no GPU has none of it; that of another one has the section."""
    plain = asked(material)
    assert which_gpu(plain, subjects(plain)) is None
    assert 'id="which-gpu"' not in render(plain)
    assert 'id="which-gpu"' in render(asked(material, T4, A10G))
