"""Which runs predictions are about, and which isolate a stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sizer.model.isolation import as_asked, end_to_end, isolating
from sizer.records.run import Run
from sizer.records.run_kinds import Purpose


def fed(run: Run, input_: str, cache: str = "cold", purpose: Purpose = Purpose.ASKED) -> Run:
    """The run with another input."""
    workload = replace(run.spec.workload, input=input_, cache=cache)
    return replace(run, spec=replace(run.spec, workload=workload, purpose=purpose))


def test_what_was_planned_to_isolate_a_stage_is_no_whole_job(make_run: Callable[..., Run]) -> None:
    """Also where there is one run as asked for and three of a stage."""
    whole = make_run(100.0, 2.0)
    stages = [
        fed(make_run(200.0 * vcpus, vcpus), "cached", "warm", Purpose.ISOLATES_PIPELINE) for vcpus in (0.5, 1.0, 2.0)
    ]
    two_epochs = fed(make_run(120.0, 2.0, memory=2**30), "disk", "natural", Purpose.TWO_EPOCHS)
    runs = [*stages, whole, two_epochs]
    assert end_to_end(runs) == (whole,)
    assert isolating(runs) == (*stages, two_epochs)
    assert as_asked(runs) == (whole,)


def test_of_what_others_measured_the_input_with_the_most_configurations_counts(make_run: Callable[..., Run]) -> None:
    """Repeats of one configuration are one; of as many, the input that does most."""
    disk = [make_run(100.0 * vcpus, vcpus) for vcpus in (1.0, 2.0)]
    cached = [fed(make_run(150.0, 1.0), "cached", "warm")] * 3
    assert end_to_end([*cached, *disk]) == tuple(disk)
    assert end_to_end([*cached, disk[0]]) == (disk[0],)
    assert isolating([*cached, disk[0]]) == tuple(cached)


def test_a_replay_is_never_the_whole_job(make_run: Callable[..., Run]) -> None:
    """Where there is nothing else, there is nothing to predict."""
    replays = [fed(make_run(500.0, vcpus), "replay") for vcpus in (1.0, 2.0, 4.0)]
    assert end_to_end(replays) == as_asked(replays) == ()
    assert isolating(replays) == tuple(replays)
