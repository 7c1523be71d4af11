"""What to do about failures and warnings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.bundled.reports.subject import Material
from sizer.records.run import Cause, CauseKind, Failure, LimitedBy, LimitedByKind, Run, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.words.failures import remedy_of_failure
from sizer.words.warnings import meaning_of_warning


@pytest.fixture
def run(material: Material) -> Run:
    return material.runs[0]


def ended(run: Run, outcome: Outcome, *kinds: CauseKind, **figures: float) -> str:
    """The remedy for a run that ended so, for these causes."""
    causes = [Cause(kind, figures if number == 0 else {}) for number, kind in enumerate(kinds)]
    error = Failure(causes[0], tuple(causes[1:]), "its last line") if causes else None
    return remedy_of_failure(replace(run, outcome=outcome, error=error))


@pytest.mark.parametrize("cause", CauseKind)
@pytest.mark.parametrize("outcome", [each for each in Outcome if each is not Outcome.COMPLETED])
def test_every_way_of_failing_has_a_remedy(run: Run, outcome: Outcome, cause: CauseKind) -> None:
    """One or two sentences, with a command where something is to be done."""
    said = ended(run, outcome, cause)
    assert said.endswith(".")
    assert "`sizer resume DIR" in said or outcome is Outcome.OUT_OF_MEMORY


def test_a_kill_for_memory_is_a_finding(run: Run) -> None:
    """With a cap; without one it is the host or its accelerator that has too little."""
    capped = replace(run, spec=replace(run.spec, limits=replace(run.spec.limits, memory_bytes=2**28)))
    assert ended(capped, Outcome.OUT_OF_MEMORY, CauseKind.MEMORY_CAP).startswith("Nothing: ")
    free = replace(run, spec=replace(run.spec, limits=replace(run.spec.limits, memory_bytes=None)))
    assert "smaller `batch_size`" in ended(free, Outcome.OUT_OF_MEMORY, CauseKind.HOST_MEMORY)


def test_more_time_is_named_in_seconds(run: Run) -> None:
    """Twice as many as it had; and that other times make other runs, which `--retry` does not."""
    said = ended(run, Outcome.TIMEOUT, CauseKind.DEADLINE, seconds=300.0)
    assert "`timeout: 600` under `measure`" in said
    assert "Every run is then measured anew." in said
    assert "--retry" in ended(run, Outcome.TIMEOUT, CauseKind.HUNG, seconds=300.0)


def test_what_failed_for_its_cause_alone_is_tried_again(run: Run) -> None:
    """`--retry` where the same run may go well; what is mended in the study file is another run."""
    assert "--retry" in ended(run, Outcome.CRASHED, CauseKind.EXIT_STATUS)
    assert "Make room" in ended(run, Outcome.CRASHED, CauseKind.EXIT_STATUS, CauseKind.DISK_FULL)
    assert "--retry" not in ended(run, Outcome.CRASHED, CauseKind.NOT_FOUND)
    assert "--retry" not in ended(run, Outcome.REFUSED, CauseKind.REFUSED)
    assert "sizer doctor" in ended(run, Outcome.REFUSED, CauseKind.REFUSED)
    assert "sizer pattern" in ended(run, Outcome.TIMEOUT, CauseKind.DEADLINE, CauseKind.NO_MATCH)


def test_what_was_measured_elsewhere_is_not_measured_here(run: Run) -> None:
    """No command of sizer makes a row of somebody's table again."""
    imported = replace(run, limited_by=LimitedBy(LimitedByKind.IMPORTED, text="table.csv"))
    assert "sizer resume" not in ended(imported, Outcome.CRASHED, CauseKind.IMPORTED)
    assert ended(imported, Outcome.OUT_OF_MEMORY, CauseKind.IMPORTED).startswith("Nothing: ")


@pytest.mark.parametrize("kind", WarningKind)
def test_what_a_warning_means_is_short(kind: WarningKind) -> None:
    """Nothing, or one or two sentences that are read once."""
    said = meaning_of_warning(kind)
    assert said == "" or said.endswith(".")
    assert len(said) < 150
