"""The section of changes, and whether a faster disk would help."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.bundled.reports.figures.disk_question import disk_answer
from sizer.bundled.reports.figures.workload import figures
from sizer.bundled.reports.instead import contents, place_of_answer
from sizer.bundled.reports.material import Material
from sizer.bundled.reports.subject import Subject, subjects
from sizer.records.configuration import Estimate
from sizer.records.prediction import Spec
from sizer.words.answers import disk_answer as disk_answer_in_words
from sizer.words.answers import disk_other
from tests.reported_study import INFER, PREPARE, TRAIN, WORDS


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
    shown = contents(material, tuple(found.values()))
    assert shown is not None
    groups = {group["name"]: group for group in shown["groups"]}
    assert list(groups) == [TRAIN.name, INFER.name, WORDS.name, PREPARE.name]
    for name in (TRAIN.name, INFER.name):
        assert groups[name]["rows"] == []
        assert groups[name]["nothing"] == "None of the changes that these runs can judge would gain more than 1 %."
    rows = [row for group in shown["groups"] for row in group["rows"]]
    assert all(row["gain"].startswith("+") and row["evidence"] and row["badges"] for row in rows)


def test_without_a_model_there_is_no_section(material: Material, found: dict[str, Subject]) -> None:
    subject = replace(found[TRAIN.name], model=None)
    assert place_of_answer(subject) is None
    assert contents(material, (subject,)) is None
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
    shown = contents(material, (files, packed))
    assert shown is not None
    first = shown["groups"][0]["rows"][0]
    assert first["change"] == "recordio instead of folder"
    assert [each.word for each in first["badges"]] == ["measured"]
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
        (0.001, "Hardly: on gp3, the best other disk measured, it runs as fast."),
        (0.2, "Yes: gp3 gains 20 %."),
    ],
)
def test_a_slower_disk_says_nothing_of_a_faster_one(gained: float, said: str) -> None:
    assert disk_other("gp3", Estimate(gained, gained, gained)) == said
