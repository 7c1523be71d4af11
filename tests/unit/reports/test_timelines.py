"""How runs went on, as data that is small enough for a page of 1,000 runs."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from sizer.bundled.reports.page import render
from sizer.bundled.reports.runs import timelines
from sizer.bundled.reports.subject import Material, Subject, subjects
from sizer.records.run import Outcome, Run, RunWarning, Sample, Step, WarningKind
from sizer.records.study import Purpose

MIB = 2**20


def went_on(run: Run, seconds: int = 20, busy: float | None = None) -> Run:
    """The run with a step of 32 samples and a sample of its counters each second, from its fourth second on."""
    samples = tuple(
        Sample(
            time=1000.0 + second,
            core_seconds=1.5 * second,
            memory_bytes=(100 + 10 * second) * MIB,
            anonymous_bytes=100 * MIB,
            page_cache_bytes=10 * second * MIB,
            read_bytes=max(0, second - 10) * 5_000_000,
            accelerator_busy=busy * second if busy is not None else None,
        )
        for second in range(seconds + 1)
    )
    steps = tuple(Step(1000.0 + second, 32, 0.0, epoch=second // 12) for second in range(4, seconds + 1))
    return replace(run, samples=samples, steps=steps, warm_up_seconds=2.0, measured_seconds=10.0)


def unpacked(packed: Sequence[Any], count: int) -> list[float]:
    """As the script reads it."""
    most, digits = packed
    return [most * int(digits[2 * at : 2 * at + 2], 36) / 1295 if digits else 0.0 for at in range(count)]


def inflated(packed: str) -> dict[str, Any]:
    """The timelines by the id of their run, as a browser inflates them."""
    found: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(packed)))
    return found


@pytest.fixture
def subject(material: Material) -> Subject:
    return subjects(material)[0]


def test_a_timeline_tells_what_was_sampled(material: Material) -> None:
    """Rates from counters, levels as they were, the samples of a step over the time that it took."""
    found = timelines.timeline(went_on(material.runs[0], busy=0.5), 48)
    assert (found["t"], found["n"], found["u"], found["b"]) == (20.0, 20, "images/s", "MiB")
    series = {name: unpacked(packed, found["n"]) for name, packed in found["s"].items()}
    assert series["x"] == pytest.approx([0.0] * 4 + [32.0] * 16, rel=1e-3)
    assert series["c"] == pytest.approx([1.5] * 20, rel=1e-3)
    assert series["a"] == pytest.approx([100.0] * 20)
    assert series["p"][-1] == pytest.approx(200.0)
    assert series["r"] == pytest.approx([0.0] * 10 + [5.0] * 10, rel=1e-3)
    assert series["w"] == [0.0] * 20
    assert series["g"] == pytest.approx([50.0] * 20, rel=1e-3)


def test_its_stages_are_marked(material: Material) -> None:
    """Where measuring began and ended, and the first epoch; of a run without a rate, nothing was measured."""
    run = went_on(material.runs[0])
    found = timelines.timeline(run, 48)
    assert (found["f"], found["e"], found["o"]) == (6.0, 16.0, 11.0)
    assert found["l"] == material.runs[0].configuration.vcpus
    assert found["k"] == "4 GiB"
    crashed = timelines.timeline(replace(run, outcome=Outcome.CRASHED, throughput=None), 48)
    assert not {"f", "e"} & crashed.keys()


def test_a_long_run_has_no_more_points(material: Material) -> None:
    """And nothing of it is lost: the mean stays what it was."""
    found = timelines.timeline(went_on(material.runs[0], seconds=3000), 48)
    values = unpacked(found["s"]["x"], found["n"])
    assert found["n"] == len(values) == 48
    assert sum(values) / 48 == pytest.approx(32 * 2996 / 3000, rel=1e-3)
    assert len(json.dumps(found, separators=(",", ":"))) < 700


@pytest.mark.parametrize("lacking", ["steps", "samples"])
def test_what_was_not_seen_is_not_drawn(material: Material, subject: Subject, lacking: str) -> None:
    """A run that made no step still has its memory; one that was not sampled has no timeline."""
    run = replace(went_on(material.runs[0]), **{lacking: ()})
    block = timelines.contents(material, [replace(subject, runs=(run,))])
    if lacking == "samples":
        assert block is None
    else:
        assert timelines.timeline(run, 48)["s"]["x"] == [0, ""]


def test_counters_that_start_anew_grow_by_nothing(material: Material) -> None:
    """As where a program was replaced by another in its cgroup."""
    run = went_on(material.runs[0])
    samples = tuple(replace(sample, core_seconds=sample.core_seconds % 10, read_bytes=0) for sample in run.samples)
    values = unpacked(timelines.timeline(replace(run, samples=samples), 48)["s"]["c"], 20)
    assert min(values) == 0
    assert max(values) == pytest.approx(1.5, rel=1e-3)


def test_where_not_all_fit_those_that_matter_stay(
    material: Material, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Failed runs, those at the answer, references, those with warnings; of the others the page names the file."""
    plain, failed, reference, warned = (
        went_on(replace(run, warnings=(), configuration=replace(run.configuration, batch_size=7)))
        for run in material.runs[:4]
    )
    failed = replace(failed, outcome=Outcome.TIMEOUT, throughput=None)
    reference = replace(reference, spec=replace(reference.spec, purpose=Purpose.REFERENCE))
    warned = replace(warned, warnings=(RunWarning(WarningKind.SHORT, {"seconds": 1.0}),))
    runs = [(run, subject) for run in (plain, warned, reference, failed)]
    size = len(json.dumps(timelines.timeline(plain, 48), separators=(",", ":"))) + 12
    monkeypatch.setattr(timelines, "ROOM", 3 * size + 100)
    text = re.fullmatch(r"<script [^>]*>(.*)</script>", str(timelines.timelines(runs)))
    assert text is not None
    found = json.loads(text[1])
    assert list(inflated(found["packed"])) == [failed.id, reference.id, warned.id]
    assert found["left"] == [plain.id]


def test_no_unit_ends_the_block(material: Material) -> None:
    """A program says itself what it counts."""
    evil = "</script><script>alert(1)</script>"
    runs = tuple(went_on(replace(run, sample_unit=evil)) for run in material.runs[:3])
    page = render(replace(material, runs=runs, model=None, recommendation=None))
    assert "<script>alert" not in page
    assert page.count('<script type="application/json" id="timelines">') == 1
