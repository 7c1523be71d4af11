"""The chart of batch sizes: seconds a sample, the line through them, and the sentence that says which."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

from sizer.bundled.reports.charts.legend import Figure
from sizer.bundled.reports.doubts import largest_batches
from sizer.bundled.reports.figures.scaling import batch_chart
from sizer.bundled.reports.figures.workload import figures
from sizer.bundled.reports.subject import Subject
from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.study import Objective, Study
from tests.tables import runs_of

TABLE = """workload,gpu,gpu_count,batch_size,throughput,outcome
job,V100,1,8,180,
job,V100,1,16,260,
job,V100,1,32,330,
job,V100,1,64,370,
job,V100,1,128,395,
job,V100,1,256,,out_of_memory
"""


def subject_of(folder: Path, study: Study, table: str = TABLE) -> Subject:
    runs = runs_of(folder, table)
    model = fit(runs)
    (answer,) = recommend(model, runs, Objective(), Catalog.load()).workloads
    return Subject("job", study, Objective(), runs, model=model.workload("job"), answer=answer)


def drawn(figure: Figure) -> ElementTree.Element:
    return ElementTree.fromstring(figure.svg)


def test_the_chart_answers_which_batch_size(tmp_path: Path, study: Study) -> None:
    """Each batch is a point with what it gave, the fitted line is there, and what ran out of memory is a cross."""
    figure = batch_chart(subject_of(tmp_path, study))
    assert figure is not None
    assert figure.question == "Which batch size?"
    assert figure.answer.startswith("A batch of 128 gave the best rate")
    assert "256 ran out of memory" in figure.answer
    titles = [element.text or "" for element in drawn(figure).iter() if element.tag.endswith("title")]
    assert any(title.startswith("batch 8: 5.56 ms a sample, 44.4 ms a step, 180 samples/s") for title in titles)
    assert any("256 ran out of memory" in title for title in titles)
    assert {key.text for key in figure.keys} >= {"a fixed time of a step and one for each of its samples, fitted"}


def test_what_is_no_line_is_not_drawn_as_one(tmp_path: Path, study: Study) -> None:
    """Nor said to be one."""
    bent = TABLE.replace("128,395", "128,120").replace("64,370", "64,190")
    figure = batch_chart(subject_of(tmp_path, study, bent))
    assert figure is not None
    assert "no line fits what was measured" in figure.answer
    assert "a fixed time of a step and one for each of its samples, fitted" not in {key.text for key in figure.keys}


def test_without_batch_sizes_there_is_no_chart(tmp_path: Path, study: Study) -> None:
    """What a search found is then said beside the memory floors."""
    subject = subject_of(tmp_path, study)
    assert subject.answer is not None
    assert subject.answer.batch is not None
    assert largest_batches([subject]) == []
    alone = replace(subject, answer=replace(subject.answer, batch=replace(subject.answer.batch, curves=())))
    assert batch_chart(alone) is None
    assert largest_batches([alone]) == ["job: a batch of 128 fits a machine with the V100, and 256 ran out of memory."]
    assert batch_chart(replace(subject, answer=None)) is None


def test_what_differs_in_its_batch_alone_has_one_chart(tmp_path: Path, study: Study) -> None:
    """Throughput by machine, and against batch size, would draw the same figures again; not what else was varied."""
    first = figures(subject_of(tmp_path, study))
    assert [each.title for each in first] == ["Time of a sample against batch size"]
    second = "".join(f"job,T4,1,{batch},{rate},\n" for batch, rate in ((8, 90), (16, 130)))
    first = figures(subject_of(tmp_path, study, TABLE + second))
    assert len(first) > 1
    crashed = TABLE.replace("out_of_memory", "crashed")
    first = figures(subject_of(tmp_path, study, crashed))
    assert "Throughput against batch size" in [each.title for each in first]


def test_cpus_without_vcpus_are_lines_of_their_own(tmp_path: Path, study: Study) -> None:
    """Which machine each is says its name."""
    table = "workload,device,batch_size,throughput\n" + "".join(
        f"job,CPU {name},{batch},{rate * batch}\n"
        for name, rate in (("EPYC 7763", 3), ("i9-10940X", 2))
        for batch in (1, 2)
    )
    drawn = figures(subject_of(tmp_path, study, table))
    (chart,) = (each for each in drawn if each.title == "Throughput against batch size")
    assert {key.text for key in chart.keys} >= {"EPYC 7763", "i9-10940X"}
